import { cronScheduleOf, type CronSettings } from '../domain/cron.ts'
import type { CronSchedule } from '../domain/cron-schedule.ts'
import { reasonOf } from '../domain/errors.ts'
import { TICK_BATCH_MAX } from '../domain/limits.ts'
import type { Clock } from '../ports/clock.ts'
import type { CronSource, DecidedCron, DueCron } from '../ports/cron-source.ts'
import type { Logger } from '../ports/logger.ts'
import { decideCron } from './cron-decision.ts'
import { createSignal, type Signal } from './signal.ts'

/**
 * Runs one shard's crons: decides about ticks the moment they are due. Every executor runs one; several at once do no
 * harm. Owns: the loop, and the schedules it has read.
 *
 *     new → running (a page of due crons, or a rest until the next is due) → stopping → at rest
 *
 * `stop` waits for the page that is under way.
 */
export interface CronTicker {
  start(): void
  /** Resolves when the loop is at rest. */
  stop(): Promise<void>
}

export interface CronTickerOptions {
  readonly source: CronSource
  readonly clock: Clock
  readonly logger: Logger
  /** 0–1; leads several executors to different crons. */
  random(): number
  /** There is something to claim. */
  onRunnable(): void
}

/** A look costs one read. Ticks are whole minutes, so only those of a cron made just before one may wait for it. */
const LOOK_MS = 250
const RETRY_MS = 200
/** When Redis has it a little earlier than we think. */
const EARLY_WAIT_MS = 2
const SCHEDULES_KEPT_MAX = 10_000

export function createCronTicker(options: CronTickerOptions): CronTicker {
  return new LoopingCronTicker(options)
}

class LoopingCronTicker implements CronTicker {
  readonly #options: CronTickerOptions
  readonly #awake: Signal
  readonly #schedules = new Map<string, CronSchedule>()
  /** Due crons that are passed over, for others are at work on the first. */
  #skip = 0
  #isStopped = false
  #loop: Promise<void> = Promise.resolve()

  constructor(options: CronTickerOptions) {
    this.#options = options
    this.#awake = createSignal(options.clock)
  }

  start(): void {
    this.#loop = this.#run()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#awake.notify()
    await this.#loop
  }

  async #run(): Promise<void> {
    const { source, logger } = this.#options
    while (!this.#isStopped) {
      let restMs = RETRY_MS
      try {
        restMs = await this.#step()
      } catch (error) {
        logger.debug('Crons could not be ticked; it is tried again', {
          shard: source.shard,
          reason: reasonOf(error),
        })
      }
      if (!this.#isStopped && restMs > 0) await this.#awake.wait(restMs)
    }
  }

  /** One page, if any is due. Answers how long to rest then. */
  async #step(): Promise<number> {
    const { source } = this.#options
    const nextDueMs = await source.nextDueMs()
    const waitMs = nextDueMs === null ? LOOK_MS : nextDueMs - source.redisNowMs()
    if (waitMs > 0) return Math.min(LOOK_MS, waitMs)
    const due = await source.due(this.#skip)
    if (due.length === 0) {
      const wasSkipping = this.#skip > 0
      this.#skip = 0
      return wasSkipping ? 0 : EARLY_WAIT_MS
    }
    const nowMs = source.redisNowMs()
    const { started, outdated } = await source.tick(due.flatMap((cron) => this.#decide(cron, nowMs)))
    if (started > 0) this.#options.onRunnable()
    // Others were quicker with these: the next page is drawn somewhere else.
    const isContended = outdated * 2 > due.length
    this.#skip = isContended ? Math.floor(this.#options.random() * SKIPPED_MAX) : 0
    return started === 0 && !isContended ? EARLY_WAIT_MS : 0
  }

  #decide(cron: DueCron, nowMs: number): DecidedCron[] {
    const schedule = this.#scheduleOf(cron)
    if (schedule === null) return []
    return [decideCron(schedule, cron, nowMs)]
  }

  /** null when this version does not understand it: another one may. */
  #scheduleOf({ cronId, settings }: DueCron): CronSchedule | null {
    const key = keyOf(settings)
    const known = this.#schedules.get(key)
    if (known !== undefined) return known
    const schedule = cronScheduleOf(settings)
    if ('problem' in schedule) {
      this.#options.logger.error('A cron cannot be ticked', { cronId, reason: schedule.problem })
      return null
    }
    if (this.#schedules.size >= SCHEDULES_KEPT_MAX) this.#schedules.clear()
    this.#schedules.set(key, schedule)
    return schedule
  }
}

const SKIPPED_MAX = 8 * TICK_BATCH_MAX

function keyOf({ cronExpression, timeZone }: CronSettings): string {
  return `${timeZone} ${cronExpression}`
}
