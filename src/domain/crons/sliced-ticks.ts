import type { SlicedWork } from '../cost-gate.ts'
import type { CronSchedule } from './cron-schedule.ts'

/** Ticks that are found between two stops: one can be years away. */
const TICKS_AT_ONCE = 4

/** As `between` of the schedule, with stops. */
export function* slicedTicks(
  schedule: CronSchedule,
  { afterMs, untilMs, limit }: { readonly afterMs: number; readonly untilMs: number; readonly limit: number },
): SlicedWork<number[]> {
  const ticks: number[] = []
  let fromMs = afterMs
  while (ticks.length < limit) {
    const found = schedule.between(fromMs, untilMs, Math.min(TICKS_AT_ONCE, limit - ticks.length))
    ticks.push(...found)
    if (found.length < TICKS_AT_ONCE) break
    fromMs = found.at(-1) ?? fromMs
    yield
  }
  return ticks
}
