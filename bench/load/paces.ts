/** At how many jobs a second lateness is measured. */
export interface Paces {
  /** Half of each contender's own end-to-end rate. */
  readonly own: Readonly<Record<string, number>>
  /** The least of these: one rate for all, which every contender can bear. */
  readonly equal: number
  /** Whose it is. */
  readonly slowest: string
}

/** @param rates end-to-end jobs a second by contender; null without any */
export function pacesOf(rates: ReadonlyMap<string, number>): Paces | null {
  const own = [...rates].map(([name, rate]) => [name, Math.max(1, Math.floor(rate / 2))] as const)
  const slowest = own.toSorted(([, a], [, b]) => a - b)[0]
  if (slowest === undefined) return null
  return { own: Object.fromEntries(own), equal: slowest[1], slowest: slowest[0] }
}
