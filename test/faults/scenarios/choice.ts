import type { Scenario } from '../runner/scenario.ts'

/** What CI runs each time; a minute of its time. */
const A_DAY = 2

/** Those of a row whose names contain a text. @param row such as `F09`; '' = all */
export function chosenScenarios(scenarios: readonly Scenario[], row: string, text = ''): readonly Scenario[] {
  const ofRow = scenarios.filter((one) => row === '' || one.row === row)
  const chosen = ofRow.filter(({ name }) => name.includes(text))
  if (chosen.length > 0) return chosen
  if (ofRow.length > 0)
    throw new Error(`NAME is ${text}; there are ${ofRow.map(({ name }) => `"${name}"`).join(', ')}`)
  const rows = [...new Set(scenarios.map((one) => one.row))]
  throw new Error(`ROW is ${row}; there are scenarios for ${rows.join(', ')}, and today`)
}

/** Cheap ones in turn: another pick each day, and every one of them within a few days. */
export function ofToday(scenarios: readonly Scenario[], now: Date): readonly Scenario[] {
  const cheap = scenarios.filter(({ isCheap }) => isCheap)
  const day = Math.floor(now.getTime() / 86_400_000)
  const picks = Array.from(
    { length: Math.min(A_DAY, cheap.length) },
    (_, at) => (day * A_DAY + at) % cheap.length,
  )
  return picks.flatMap((at) => cheap[at] ?? [])
}
