import { reasonOf, StorageFullError } from '../../domain/errors.ts'
import { TICK_BATCH_MAX, UPCOMING_CRONS_MAX } from '../../domain/limits.ts'
import type { CronSource, DecidedCron, DueCron, PreparedTicks, TickAnswer } from '../../ports/crons.ts'
import type { LoopHealth } from '../../ports/loops/loop-health.ts'
import type { Runtime } from '../../ports/runtime.ts'
import type { WindowSource } from '../../ports/windows.ts'
import { PollLoop } from '../poll-loop.ts'
import { CronDecider } from './cron-decider.ts'
import { holdsUntilMs } from './cron-decision.ts'
import { TickWriter } from './tick-writer.ts'
import { deferCron, heldUntilMs, type NamedCron } from './held-crons.ts'

export interface CronTickerOptions extends Runtime {
  readonly source: CronSource
  readonly loops: LoopHealth
  readonly windows: WindowSource
  /** 0–1; leads executors to different crons. */
  random(): number
  /** Claims wait, within bounds; answers what ends that. */
  pauseClaims(): () => void
  /** Runs were made and are ready. */
  onWork(): void
}

/** A poll costs one read. Ticks are whole minutes, so only a cron created just before its tick may wait this long. */
const POLL_MS = 250
const RETRY_MS = 200
/** Wait for ticks that Redis counts as due slightly later than our estimate of its time. */
const EARLY_WAIT_MS = 2
const SKIPPED_MAX = 8 * TICK_BATCH_MAX
/** How long before they are due ticks are prepared. */
const AHEAD_MS = 5_000
/** Ticks this close together share a step, which is sent when the last of them is due. */
const STEP_SPAN_MS = 20
const STEPS_AT_ONCE = 2
/** More ticks than this that are due at once make claims wait: fewer are written before a claim could delay them. */
const UNPAUSED_TICKS_MAX = 2 * TICK_BATCH_MAX
/** Redis counts as having memory after this long without a refusal: when nearly full, it refuses only some steps. */
const FULL_MS = 10_000

/** A step of ticks that are all due by `dueMs`. From `validUntilMs` on its decisions are outdated. */
interface PreparedStep {
  readonly dueMs: number
  readonly validUntilMs: number
  readonly crons: readonly NamedCron[]
  readonly ticks: PreparedTicks
}

/**
 * Ticks one shard's crons. Ticks are decided and prepared before they are due, so that at the due time they only need to
 * be sent; a cron that was unknown then, such as a new one, is decided when it is due. A cron that a maintenance window
 * holds is put off for a while. Every executor runs one; several at once do no harm. Owns its loop and the prepared steps. `stop` waits for the steps in progress.
 */
export class CronTicker extends PollLoop {
  readonly #options: CronTickerOptions
  readonly #decider: CronDecider
  readonly #writer: TickWriter
  /** Ordered by due time. */
  #prepared: PreparedStep[] = []
  /** Everything due up to this time has been prepared. */
  #preparedUntilMs = 0
  /** Due crons to skip because other executors are ticking the first ones. */
  #skip = 0
  /** Time at which Redis was last found full; null = it has memory. */
  #lastFullMs: number | null = null

  constructor(options: CronTickerOptions) {
    const { clock, loops, source } = options
    super({ clock, iterations: loops.of('tick', source.shard), retryMs: RETRY_MS })
    this.#options = options
    this.#writer = new TickWriter(source)
    this.#decider = new CronDecider(source, clock)
  }

  protected override async poll(): Promise<number> {
    try {
      return await this.#step()
    } catch (error) {
      if (error instanceof StorageFullError) this.#noteFull(error)
      this.#dropPrepared()
      throw error
    }
  }

  /** Logged once until Redis has memory again. */
  #noteFull(error: StorageFullError): void {
    const { source, clock, logger } = this.#options
    const fields = { shard: source.shard, reason: reasonOf(error) }
    logger[this.#lastFullMs === null ? 'warn' : 'debug']('Crons are not ticked while Redis is full', fields)
    this.#lastFullMs = clock.monotonicMs()
  }

  async #sendStep(ticks: PreparedTicks): Promise<TickAnswer> {
    const { source, clock, logger } = this.#options
    const answer = await this.#writer.send(ticks)
    if (this.#lastFullMs !== null && clock.monotonicMs() - this.#lastFullMs > FULL_MS) {
      this.#lastFullMs = null
      logger.info('Crons are ticked again: Redis has memory', { shard: source.shard })
    }
    return answer
  }

  /** Does the most urgent thing; answers how long to sleep, ms. */
  async #step(): Promise<number> {
    const { source } = this.#options
    const steps = this.#takeDue()
    if (steps.length > 0) {
      await this.#sendBeforeClaims(steps)
      return 0
    }
    const nextDueMs = await source.nextDueMs()
    if (nextDueMs === null) return POLL_MS
    const nowMs = source.redisNowMs()
    // The clock of Redis went back: what was prepared is not due for a long time.
    if (this.#preparedUntilMs > nowMs + 2 * AHEAD_MS) this.#dropPrepared()
    const preparedMs = this.#prepared[0]?.dueMs ?? Infinity
    const isPrepared = preparedMs - nextDueMs <= STEP_SPAN_MS
    if (nextDueMs <= nowMs && !isPrepared) return this.#tickDue()
    if (nextDueMs > this.#preparedUntilMs && nextDueMs <= nowMs + AHEAD_MS) {
      await this.#prepare(nowMs)
      return 0
    }
    const wakeMs = isPrepared ? preparedMs : Math.min(preparedMs, nextDueMs)
    return Math.max(0, Math.min(POLL_MS, wakeMs - source.redisNowMs()))
  }

  #dropPrepared(): void {
    this.#prepared = []
    this.#preparedUntilMs = 0
  }

  /** The steps that are due, rotated at random so that executors begin with different ones. */
  #takeDue(): PreparedStep[] {
    const nowMs = this.#options.source.redisNowMs()
    const first = this.#prepared.findIndex(({ dueMs }) => dueMs > nowMs)
    const due = this.#prepared.splice(0, first === -1 ? this.#prepared.length : first)
    const from = due.length > 1 ? Math.floor(this.#options.random() * due.length) : 0
    return [...due.slice(from), ...due.slice(0, from)]
  }

  async #sendBeforeClaims(steps: readonly PreparedStep[]): Promise<void> {
    const due = steps.reduce((sum, { ticks }) => sum + ticks.crons, 0)
    if (due <= UNPAUSED_TICKS_MAX) return this.#send(steps)
    const resumeClaims = this.#options.pauseClaims()
    try {
      await this.#send(steps)
    } finally {
      resumeClaims()
    }
  }

  /**
   * Stops early when other executors have sent the same ticks: the rest is still due then. `onWork` comes after the last
   * step, because claims would delay ticks that are just as old.
   */
  async #send(steps: readonly PreparedStep[]): Promise<void> {
    const { source } = this.#options
    const remaining = steps.values()
    let sent = 0
    let isContended = false
    const sendNext = async (): Promise<void> => {
      for (const { ticks, crons, validUntilMs } of remaining) {
        if (isContended || this.isStopped) return
        const nowMs = source.redisNowMs()
        if (nowMs >= validUntilMs || this.#isAnyHeld(crons, nowMs)) continue
        const { started, outdated } = await this.#sendStep(ticks)
        sent += started
        isContended ||= outdated * 2 > ticks.crons
      }
    }
    const results = await Promise.allSettled(Array.from({ length: STEPS_AT_ONCE }, sendNext))
    if (sent > 0) this.#announceWork()
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }

  async #prepare(nowMs: number): Promise<void> {
    const { source } = this.#options
    const afterMs = Math.max(nowMs, this.#preparedUntilMs)
    const untilMs = nowMs + AHEAD_MS
    const limit = UPCOMING_CRONS_MAX - this.#prepared.reduce((sum, { ticks }) => sum + ticks.crons, 0)
    const listed = limit <= 0 ? [] : await source.upcoming(afterMs, untilMs, limit)
    // A cron that was ticked or edited after it was listed may be due later.
    const crons = listed
      .filter((cron) => dueOf(cron) <= untilMs)
      .filter((cron) => this.#writer.judge(cron, () => !this.#isHeld(cron, dueOf(cron))))
      .toSorted((a, b) => dueOf(a) - dueOf(b))
    for (const group of groupsOf(crons)) {
      if (this.isStopped) return
      const { decided } = await this.#decider.decideAll(group, dueOf)
      const dueMs = Math.max(...group.map(dueOf))
      const validUntilMs = Math.min(...decided.map(holdsUntilMs))
      const crons = group.map(({ team, name }) => ({ team, name }))
      for (const ticks of await this.#writer.prepare(decided))
        this.#prepared.push({ dueMs, validUntilMs, crons, ticks })
    }
    this.#prepared.sort((a, b) => a.dueMs - b.dueMs)
    this.#preparedUntilMs = untilMs
  }

  /** Ticks one page of crons that are due and were not prepared. */
  async #tickDue(): Promise<number> {
    const { source, random } = this.#options
    const due = await source.due(this.#skip)
    if (due.length === 0) {
      const wasSkipping = this.#skip > 0
      this.#skip = 0
      return wasSkipping ? 0 : EARLY_WAIT_MS
    }
    const nowMs = source.redisNowMs()
    const held: DecidedCron[] = []
    const free = due.filter((cron) => {
      const untilMs = this.#writer.judge(cron, () => heldUntilMs(this.#options.windows, cron, nowMs))
      if (typeof untilMs === 'number') held.push(deferCron(cron, untilMs, nowMs))
      return untilMs === null
    })
    const { decided, blocking } = await this.#decider.decideAll(free, () => nowMs)
    decided.push(...held)
    if (decided.length === 0) {
      this.#skip += blocking
      return blocking > 0 ? RETRY_MS : EARLY_WAIT_MS
    }
    const sum = { started: 0, outdated: 0 }
    for (const ticks of await this.#writer.prepare(decided)) {
      const { started, outdated } = await this.#sendStep(ticks)
      sum.started += started
      sum.outdated += outdated
    }
    if (sum.started > 0) this.#announceWork()
    // Other executors were faster with these: read the next page elsewhere.
    const isContended = sum.outdated * 2 > due.length
    this.#skip = isContended ? Math.floor(random() * SKIPPED_MAX) : 0
    return sum.started === 0 && !isContended ? EARLY_WAIT_MS : 0
  }

  /** One that cannot be judged counts as held: its step is decided anew, and quarantines it. */
  #isAnyHeld(crons: readonly NamedCron[], atMs: number): boolean {
    try {
      return crons.some((cron) => this.#isHeld(cron, atMs))
    } catch {
      return true
    }
  }

  #isHeld(cron: NamedCron, atMs: number): boolean {
    return heldUntilMs(this.#options.windows, cron, atMs) !== null
  }

  #announceWork(): void {
    this.#options.onWork()
    this.#options.source.hint()
  }
}

function dueOf({ expectedMs, spreadMs }: DueCron): number {
  return expectedMs + spreadMs
}

/** Groups of crons that are due close together, each at most as large as one step. */
function groupsOf(crons: readonly DueCron[]): DueCron[][] {
  const groups: DueCron[][] = []
  let group: DueCron[] = []
  for (const cron of crons) {
    const isFar = group[0] !== undefined && dueOf(cron) > dueOf(group[0]) + STEP_SPAN_MS
    if (isFar || group.length >= TICK_BATCH_MAX) {
      groups.push(group)
      group = []
    }
    group.push(cron)
  }
  if (group.length > 0) groups.push(group)
  return groups
}
