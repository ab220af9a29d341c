import type { CronSource, DecidedCron, TickAnswer } from '../../../src/ports/crons.ts'

/** Prepares decisions and sends them at once. */
export async function tickAll(source: CronSource, decided: readonly DecidedCron[]): Promise<TickAnswer> {
  const sum = { started: 0, outdated: 0 }
  for (const ticks of await source.prepare(decided)) {
    const { started, outdated } = await ticks.send()
    sum.started += started
    sum.outdated += outdated
  }
  return sum
}
