import type { CronSchedule } from '../../domain/crons/cron-schedule.ts'
import { cronScheduleOf, type CronFieldProblem, type CronSettings } from '../../domain/crons/cron.ts'
import { reasonOf } from '../../domain/errors.ts'
import { LruCache } from '../../domain/lru-cache.ts'
import type { CronSource, DecidedCron, DueCron } from '../../ports/crons.ts'
import type { Clock } from '../../ports/runtime.ts'
import { decideCron } from './cron-decision.ts'

const SCHEDULES_KEPT_MAX = 10_000
/** Longest time of deciding before others get the event loop, because leases are renewed on it too. */
const DECIDING_MS = 10

/** Decides what becomes of due crons. Owns the schedules parsed last. */
export class CronDecider {
  readonly #source: CronSource
  readonly #clock: Clock
  /** A problem = this version does not understand the schedule. */
  readonly #schedules = new LruCache<string, CronSchedule | CronFieldProblem>(SCHEDULES_KEPT_MAX)

  constructor(source: CronSource, clock: Clock) {
    this.#source = source
    this.#clock = clock
  }

  /**
   * A cron that this version does not understand, or throws over, is quarantined, because another version may understand
   * it; `blocking` of them could not be.
   */
  async decideAll(
    crons: readonly DueCron[],
    nowMsOf: (cron: DueCron) => number,
  ): Promise<{ readonly decided: DecidedCron[]; readonly blocking: number }> {
    const [source, clock] = [this.#source, this.#clock]
    const decided: DecidedCron[] = []
    let blocking = 0
    let sinceMs = clock.monotonicMs()
    for (const cron of crons) {
      const found = this.#decide(cron, nowMsOf(cron))
      if (typeof found !== 'string') decided.push(found)
      else if (!source.quarantine(cron, found)) blocking += 1
      if (clock.monotonicMs() - sinceMs < DECIDING_MS) continue
      await new Promise<void>((resolve) => clock.nextTurn(resolve))
      sinceMs = clock.monotonicMs()
    }
    return { decided, blocking }
  }

  /** Answers why it cannot be decided, if so. */
  #decide(cron: DueCron, nowMs: number): DecidedCron | string {
    try {
      const schedule = this.#scheduleOf(cron.settings)
      return 'problem' in schedule
        ? `${schedule.field} ${schedule.problem}`
        : decideCron(schedule, cron, nowMs)
    } catch (error) {
      return reasonOf(error)
    }
  }

  #scheduleOf(settings: CronSettings): CronSchedule | CronFieldProblem {
    const key = `${settings.timeZone} ${settings.cronExpression}`
    const known = this.#schedules.get(key)
    if (known !== undefined) return known
    const schedule = cronScheduleOf(settings)
    this.#schedules.set(key, schedule)
    return schedule
  }
}
