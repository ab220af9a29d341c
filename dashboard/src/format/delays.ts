import { formatSeconds } from './times.ts'

/** The numbers of a text such as `60, 1800`. */
export function numbersIn(text: string): Array<number | string> {
  return text
    .split(/[\s,]+/)
    .filter((part) => part !== '')
    .map(numberOr)
}

/** What is no number goes as it is: the server says what it should be. */
export function numberOr(text: string): number | string {
  const trimmed = text.trim()
  return /^-?\d+(?:\.\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed
}

/** Such as `After 1 min, then 30 min.` */
export function toldDelays(delays: ReadonlyArray<number | string>): string {
  const told = delays.map((delay) => (typeof delay === 'number' ? formatSeconds(delay) : `“${delay}”?`))
  return `After ${told.join(', then ')}.`
}
