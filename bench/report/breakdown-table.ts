import { OUR_CODE, OUTER_PLACES } from '../profiling/places.ts'
import { numberText, table } from './markdown.ts'
import type { Breakdown } from './results.ts'

/** Folders that take less than this everywhere share a row. */
const SHARE_MIN = 0.01
const ALL_OURS = 'our code, all folders'
const OTHER_FOLDERS = 'other folders'

/** A row a place; our folders follow their sum, the greatest first. */
export function breakdownLines(breakdowns: readonly Breakdown[]): string[] {
  if (breakdowns.length === 0) return []
  const shareOf = (place: string): number[] => breakdowns.map(({ shares }) => shares[place] ?? 0)
  const known = new Set(breakdowns.flatMap(({ shares }) => Object.keys(shares)))
  const folders = [...known].filter((place) => place.startsWith(OUR_CODE))
  const isLarge = (place: string): boolean => shareOf(place).some((share) => share >= SHARE_MIN)
  const large = folders.filter(isLarge).toSorted((a, b) => sum(shareOf(b)) - sum(shareOf(a)))
  const small = folders.filter((place) => !isLarge(place))
  const together = (places: readonly string[]): number[] =>
    breakdowns.map(({ shares }) => sum(places.map((place) => shares[place] ?? 0)))
  const row = (name: string, shares: readonly number[]): string[] => [
    name,
    ...shares.map((share, index) => cellText(share, breakdowns[index] as Breakdown)),
  ]
  const rows = [
    ...OUTER_PLACES.filter((place) => known.has(place)).map((place) => row(place, shareOf(place))),
    row(ALL_OURS, together(folders)),
    ...large.map((place) => row(`— of it \`${place}\``, shareOf(place))),
    ...(small.length === 0 ? [] : [row(`— of it ${OTHER_FOLDERS}`, together(small))]),
    ['a job', ...breakdowns.map(({ perJob, unit }) => costText(perJob, unit))],
  ]
  return [
    'Two full runs under the inspector (`make bench ONLY=profile`). Each cell is a share of the main thread’s busy time, or of the bytes it allocates, and what that share comes to for a job. Native code and libraries of Node (buffers, URLs, hashes, compression) count as their caller’s. The profilers cost CPU themselves, and a thread that waits for a core while it has work counts as busy.',
    '',
    ...table(['Place', ...breakdowns.map(({ name }) => name)], rows),
  ]
}

function cellText(share: number, { perJob, unit }: Breakdown): string {
  const percent = (share * 100).toFixed(1)
  return percent === '0.0' ? '–' : `${percent} %, ${costText(share * perJob, unit)}`
}

function costText(value: number, unit: string): string {
  return `${numberText(value >= 100 ? Math.round(value) : Math.round(value * 10) / 10)} ${unit}`
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
