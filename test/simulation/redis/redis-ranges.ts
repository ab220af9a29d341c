/** Arguments of `slice` for a range of Redis: both ends are inclusive, negative ones count from the end. */
export function range(length: number, from: number, to: number): [number, number] {
  const at = (index: number) => (index < 0 ? length + index : index)
  return [Math.max(0, at(from)), Math.max(0, at(to) + 1)]
}

/** A bound is `-inf`, `+inf` or a score; `(` excludes the score. */
export function isBetween(from: string, to: string): (entry: { score: number }) => boolean {
  const [lower, upper] = [boundOf(from), boundOf(to)]
  return ({ score }) =>
    (lower.isExclusive ? score > lower.score : score >= lower.score) &&
    (upper.isExclusive ? score < upper.score : score <= upper.score)
}

function boundOf(text: string): { score: number; isExclusive: boolean } {
  const isExclusive = text.startsWith('(')
  const score = Number(text.slice(isExclusive ? 1 : 0).replace('inf', 'Infinity'))
  if (Number.isNaN(score)) throw new Error('ERR min or max is not a float')
  return { score, isExclusive }
}

/** Supports a star at the end, and no other pattern. */
export function matcher(glob: string): (text: string) => boolean {
  const start = glob.replace(/\*$/, '')
  return (text) => text.startsWith(start)
}
