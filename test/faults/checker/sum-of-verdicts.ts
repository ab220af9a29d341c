import type { Figures, Verdict } from './figures.ts'

/** Of those, the highest counts; all others add up. */
const HIGHEST: ReadonlySet<keyof Figures> = new Set([
  'overLimit',
  'longestPushGapMs',
  'longestCallGapMs',
  'slowestRefusalMs',
])

/** What several plays on one installation came to. @param verdicts at least one */
export function sumOf(verdicts: readonly Verdict[]): Verdict {
  const [first, ...others] = verdicts
  if (first === undefined) throw new Error('nothing was played')
  const figures = others.reduce((sum, one) => added(sum, one.figures), first.figures)
  return { figures, complaints: verdicts.flatMap(({ complaints }) => complaints) }
}

function added(one: Figures, other: Figures): Figures {
  const names = Object.keys(one) as (keyof Figures)[]
  const sums = names.map((name) => {
    const [a, b] = [one[name], other[name]]
    if (a === null || b === null) return [name, a ?? b] as const
    return [name, HIGHEST.has(name) ? Math.max(a, b) : a + b] as const
  })
  return Object.fromEntries(sums) as unknown as Figures
}
