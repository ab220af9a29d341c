import { cronScheduleOf, type CronFieldProblem, type CronSettings } from '../../domain/crons/cron.ts'
import type { CronSchedule } from '../../domain/crons/cron-schedule.ts'
import { reasonOf, StorageFullError, StoreUnavailableError } from '../../domain/errors.ts'
import { TICK_BATCH_MAX, UPCOMING_CRONS_MAX } from '../../domain/limits.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { CronSource, DecidedCron, DueCron, PreparedTicks, TickAnswer } from '../../ports/crons.ts'
import { decideCron, holdsUntilMs } from './cron-decision.ts'
import type { ShardNews } from '../shard-news.ts'
import { createSignal, type Signal } from '../signal.ts'

/**
 * Runs one shard's crons. Ticks that come soon are made ready before they are due, so that of many at one instant
 * each needs only to be sent; what was not known then, such as a cron made just now, is decided about when it is due.
 * Every executor runs one; several at once do no harm. Owns: the loop, the ticks made ready, and the schedules it has
 * read.
 *
 *     new → running (sends what is due; decides about what else is due; makes ready; rests) → stopping → at rest
 *
 * `stop` waits for the steps that are under way.
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
  readonly news: ShardNews
}

/** A look costs one read. Ticks are whole minutes, so only those of a cron made just before one may wait for it. */
const LOOK_MS = 250
const RETRY_MS = 200
/** When Redis has it a little earlier than we think. */
const EARLY_WAIT_MS = 2
const SCHEDULES_KEPT_MAX = 10_000
const SKIPPED_MAX = 8 * TICK_BATCH_MAX
/** Ticks are made ready this long before they are due. */
const AHEAD_MS = 5_000
/** Ticks this close together go in one step, which is sent when the last of them is due. */
const STEP_SPAN_MS = 20
const STEPS_AT_ONCE = 2
/** After so long of deciding others have their turn: leases are kept on the same event loop. */
const DECIDING_MS = 10
/** For so long Redis must not have been full to count as one that has room: one that is nearly full is now and then. */
const FULL_MS = 10_000

/** A step of ticks that are due by `dueMs`; not to be sent after `untilMs`. */
interface ReadyStep {
  readonly dueMs: number
  readonly untilMs: number
  readonly ticks: PreparedTicks
}

export function createCronTicker(options: CronTickerOptions): CronTicker {
  return new LoopingCronTicker(options)
}

class LoopingCronTicker implements CronTicker {
  readonly #options: CronTickerOptions
  readonly #awake: Signal
  /** A problem = this version does not understand it. */
  readonly #schedules = new Map<string, CronSchedule | CronFieldProblem>()
  /** By when they are due. */
  #ready: ReadyStep[] = []
  /** What is due up to then has been made ready. */
  #readyUntilMs = 0
  /** Due crons that are passed over, for others are at work on the first. */
  #skip = 0
  #toldDefect: string | null = null
  /** When Redis was last found full, which was told; null = it has room. */
  #lastFullMs: number | null = null
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
    while (!this.#isStopped) {
      let restMs = RETRY_MS
      try {
        restMs = await this.#step()
        this.#toldDefect = null
      } catch (error) {
        this.#tell(error)
        this.#forgetReady()
      }
      if (!this.#isStopped && restMs > 0) await this.#awake.wait(restMs)
    }
  }

  /** A Redis that is away is told of elsewhere. One that is full, and what else holds up crons, is told of once. */
  #tell(error: unknown): void {
    const { source, clock, logger } = this.#options
    const reason = reasonOf(error)
    const fields = { shard: source.shard, reason }
    if (error instanceof StorageFullError) {
      logger[this.#lastFullMs === null ? 'warn' : 'debug']('Crons are not ticked while Redis is full', fields)
      this.#lastFullMs = clock.monotonicMs()
      return
    }
    const isDefect = !(error instanceof StoreUnavailableError)
    const log = isDefect && reason !== this.#toldDefect ? 'error' : 'debug'
    if (isDefect) this.#toldDefect = reason
    logger[log]('Crons could not be ticked; it is tried again', fields)
  }

  async #sendStep(ticks: PreparedTicks): Promise<TickAnswer> {
    const { source, clock, logger } = this.#options
    const answer = await ticks.send()
    if (this.#lastFullMs !== null && clock.monotonicMs() - this.#lastFullMs > FULL_MS) {
      this.#lastFullMs = null
      logger.info('Crons are ticked again: Redis has room', { shard: source.shard })
    }
    return answer
  }

  /** The most urgent thing there is to do. Answers how long to rest then. */
  async #step(): Promise<number> {
    const { source } = this.#options
    const steps = this.#takeDue()
    if (steps.length > 0) {
      await this.#send(steps)
      return 0
    }
    const nextDueMs = await source.nextDueMs()
    if (nextDueMs === null) return LOOK_MS
    const nowMs = source.redisNowMs()
    // A clock that was put back leaves nothing of what was made ready.
    if (this.#readyUntilMs > nowMs + 2 * AHEAD_MS) this.#forgetReady()
    const readyMs = this.#ready[0]?.dueMs ?? Infinity
    const isInStep = readyMs - nextDueMs <= STEP_SPAN_MS
    if (nextDueMs <= nowMs && !isInStep) return this.#tickDue()
    if (nextDueMs > this.#readyUntilMs && nextDueMs <= nowMs + AHEAD_MS) {
      await this.#makeReady(nowMs)
      return 0
    }
    const wakeMs = isInStep ? readyMs : Math.min(readyMs, nextDueMs)
    return Math.max(0, Math.min(LOOK_MS, wakeMs - source.redisNowMs()))
  }

  /** What comes due then is decided about anew. */
  #forgetReady(): void {
    this.#ready = []
    this.#readyUntilMs = 0
  }

  /** The steps that are due, from a place on that other executors do not begin with. */
  #takeDue(): ReadyStep[] {
    const nowMs = this.#options.source.redisNowMs()
    const first = this.#ready.findIndex(({ dueMs }) => dueMs > nowMs)
    const due = this.#ready.splice(0, first === -1 ? this.#ready.length : first)
    const from = due.length > 1 ? Math.floor(this.#options.random() * due.length) : 0
    return [...due.slice(from), ...due.slice(0, from)]
  }

  /**
   * Ends early where others have been: what is left is still due then. Nobody is told to claim before the last is sent,
   * for claims would hold up the ticks that are as old as the first.
   */
  async #send(steps: readonly ReadyStep[]): Promise<void> {
    const { source } = this.#options
    const left = steps.values()
    let sent = 0
    let isContended = false
    const sendNext = async (): Promise<void> => {
      for (const { ticks, untilMs } of left) {
        if (isContended || this.#isStopped) return
        if (source.redisNowMs() >= untilMs) continue
        const { started, outdated } = await this.#sendStep(ticks)
        sent += started
        isContended ||= outdated * 2 > ticks.crons
      }
    }
    const ends = await Promise.allSettled(Array.from({ length: STEPS_AT_ONCE }, sendNext))
    if (sent > 0) this.#tellRunnable()
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  async #makeReady(nowMs: number): Promise<void> {
    const { source } = this.#options
    const afterMs = Math.max(nowMs, this.#readyUntilMs)
    const untilMs = nowMs + AHEAD_MS
    const left = UPCOMING_CRONS_MAX - this.#ready.reduce((sum, { ticks }) => sum + ticks.crons, 0)
    const listed = left <= 0 ? [] : await source.upcoming(afterMs, untilMs, left)
    // What was ticked or edited after it was listed comes due later than it was listed for.
    const crons = listed.filter((cron) => dueOf(cron) <= untilMs).toSorted((a, b) => dueOf(a) - dueOf(b))
    for (const group of groupsOf(crons)) {
      if (this.#isStopped) return
      const { decided } = await this.#decideAll(group, dueOf)
      const dueMs = Math.max(...group.map(dueOf))
      const validMs = Math.min(...decided.map(holdsUntilMs))
      for (const ticks of await source.prepare(decided)) this.#ready.push({ dueMs, untilMs: validMs, ticks })
    }
    this.#ready.sort((a, b) => a.dueMs - b.dueMs)
    this.#readyUntilMs = untilMs
  }

  /** One page of what is due and was not made ready. */
  async #tickDue(): Promise<number> {
    const { source } = this.#options
    const due = await source.due(this.#skip)
    if (due.length === 0) {
      const wasSkipping = this.#skip > 0
      this.#skip = 0
      return wasSkipping ? 0 : EARLY_WAIT_MS
    }
    const nowMs = source.redisNowMs()
    const { decided, inTheWay } = await this.#decideAll(due, () => nowMs)
    if (decided.length === 0) {
      this.#skip += inTheWay
      return inTheWay > 0 ? RETRY_MS : EARLY_WAIT_MS
    }
    const sum = { started: 0, outdated: 0 }
    for (const ticks of await source.prepare(decided)) {
      const { started, outdated } = await this.#sendStep(ticks)
      sum.started += started
      sum.outdated += outdated
    }
    if (sum.started > 0) this.#tellRunnable()
    // Others were quicker with these: the next page is drawn somewhere else.
    const isContended = sum.outdated * 2 > due.length
    this.#skip = isContended ? Math.floor(this.#options.random() * SKIPPED_MAX) : 0
    return sum.started === 0 && !isContended ? EARLY_WAIT_MS : 0
  }

  #tellRunnable(): void {
    const { source, news } = this.#options
    news.wake()
    source.hint()
  }

  /** What this version does not understand is set aside: another one may. `inTheWay` of them could not be. */
  async #decideAll(
    crons: readonly DueCron[],
    nowMsOf: (cron: DueCron) => number,
  ): Promise<{ readonly decided: DecidedCron[]; readonly inTheWay: number }> {
    const { clock, source } = this.#options
    const decided: DecidedCron[] = []
    let inTheWay = 0
    let sinceMs = clock.monotonicMs()
    for (const cron of crons) {
      const schedule = this.#scheduleOf(cron.settings)
      if (!('problem' in schedule)) decided.push(decideCron(schedule, cron, nowMsOf(cron)))
      else if (!source.setAside(cron, `${schedule.field} ${schedule.problem}`)) inTheWay += 1
      if (clock.monotonicMs() - sinceMs < DECIDING_MS) continue
      await new Promise<void>((resolve) => clock.nextTurn(resolve))
      sinceMs = clock.monotonicMs()
    }
    return { decided, inTheWay }
  }

  #scheduleOf(settings: CronSettings): CronSchedule | CronFieldProblem {
    const key = keyOf(settings)
    const known = this.#schedules.get(key)
    if (known !== undefined) return known
    const schedule = cronScheduleOf(settings)
    if (this.#schedules.size >= SCHEDULES_KEPT_MAX) this.#schedules.clear()
    this.#schedules.set(key, schedule)
    return schedule
  }
}

function dueOf({ expectedMs, spreadMs }: DueCron): number {
  return expectedMs + spreadMs
}

/** Crons due close together, at most as many as one step takes. */
function groupsOf(crons: readonly DueCron[]): DueCron[][] {
  const groups: DueCron[][] = []
  let group: DueCron[] = []
  for (const cron of crons) {
    const isOther = group[0] !== undefined && dueOf(cron) > dueOf(group[0]) + STEP_SPAN_MS
    if (isOther || group.length >= TICK_BATCH_MAX) {
      groups.push(group)
      group = []
    }
    group.push(cron)
  }
  if (group.length > 0) groups.push(group)
  return groups
}

function keyOf({ cronExpression, timeZone }: CronSettings): string {
  return `${timeZone} ${cronExpression}`
}
