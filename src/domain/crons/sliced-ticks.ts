import type { SlicedWork } from '../shares/cost-gate.ts'
import type { CronSchedule } from './cron-schedule.ts'

/** Lists ticks like `between` of the schedule, with a stop after each: the next one can be years away. */
export function* slicedTicks(
  schedule: CronSchedule,
  { afterMs, untilMs, limit }: { readonly afterMs: number; readonly untilMs: number; readonly limit: number },
): SlicedWork<number[]> {
  const ticks: number[] = []
  while (ticks.length < limit) {
    const [tick] = schedule.between(ticks.at(-1) ?? afterMs, untilMs, 1)
    if (tick === undefined) break
    ticks.push(tick)
    yield
  }
  return ticks
}
