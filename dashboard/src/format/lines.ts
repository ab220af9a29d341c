/** Headers and tags as they are typed: `name: value`, one a line. */

export type Pairs = ReadonlyArray<readonly [name: string, value: string]>

export interface ReadLines {
  readonly pairs: Pairs
  /** The first mistake; null = there is none. */
  readonly mistake: string | null
}

/** Empty lines count as absent; the name ends at the first colon. */
export function readLines(text: string): ReadLines {
  const pairs: Array<[string, string]> = []
  const names = new Set<string>()
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).trim()
    if (colon === -1 || name === '') return { pairs, mistake: `Line ${index + 1} is not "name: value".` }
    if (names.has(name)) return { pairs, mistake: `${name} is given twice.` }
    names.add(name)
    pairs.push([name, line.slice(colon + 1).trim()])
  }
  return { pairs, mistake: null }
}

export function toLines(object: Readonly<Record<string, string>>): string {
  return Object.entries(object)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}
