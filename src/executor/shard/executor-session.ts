import { reasonOf, StoreUnavailableError } from '../../domain/errors.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { ClaimAnswer, ClaimedWork, JobSource, WorkEnd } from '../../ports/jobs.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { CallRunner } from '../calls/call-runner.ts'
import { countedAs } from './finish-outcome.ts'
import { createFinisher, type Finisher } from './finisher.ts'
import { createLeaseKeeper, type LeaseKeeper } from './lease-keeper.ts'
import type { ShardNews } from '../shard-news.ts'
import type { DelayedPromoter } from './delayed-promoter.ts'
import {
  NOTHING_BROUGHT,
  type Hold,
  type SlotGrant,
  type SlotScheduler,
  type SlotWorker,
} from '../slots/slot-scheduler.ts'

/** The executor, as its workers know it. */
export interface ShardWorkerOwner {
  leaseMade(): void
  /** `isEarly` = Redis ended it before our own deadline: others may be gone as well. */
  leaseLost(isEarly: boolean): void
  /** Looks whether this machine was suspended: then every worker is put in doubt. */
  checkSuspension(): void
}

/**
 * A worker's time under one executor id and one lease. Owns every job it claimed until the job's end is written: asks
 * for slots, claims for what it is granted, begins the calls, releases the slots.
 *
 *     new → working ⇄ doubtful (is the lease held still? nothing is asked for) → ended → left
 *                         ↓
 *                       lost (calls cut, results worth nothing) → ended → left
 *
 * A claim without an answer for 1 s keeps no slots from others. `drain` waits for the claim under way and until nothing
 * is held, `leave` for Redis.
 */
export interface ExecutorSession extends SlotWorker, ShardNews {
  /** Makes the lease and begins to claim. Throws StoreUnavailableError, and may be tried again. */
  start(): Promise<void>
  isHeld(): boolean
  /** The lease may be gone unseen: nothing is begun until Redis has said that it stands. */
  doubt(): void
  /** Resolves when the lease was lost and every call has ended. */
  readonly lost: Promise<void>
  /** Claims no more; resolves when every call has ended and is written. */
  drain(): Promise<void>
  /** Cuts the calls short: their jobs are given back. */
  cut(): void
  /** What Redis does not answer is given up, so that `drain` comes to an end. */
  discard(): void
  /** Gives back what Redis says is held still, and ends the lease. After `drain`, or after the lease was lost. */
  leave(): Promise<void>
}

const CONTENDED_WAIT_MS = 5
const RETRY_CLAIM_MS = 200
/** A claim that is not answered for so long keeps no slots. */
const SILENCE_MS = 1_000
/** A timer that comes so much later shows that it was us who slept. */
const LAG_MS = 250
/** Whoever was passed over for want of room looks this often for others, whose hint may have been lost; */
const PROBE_MS = 250
/** and follows a hint this long after it last looked: queues of full teams come and go. */
const NEWS_WAIT_MS = 50
/** What a hint tells of is found by the second claim: the first asks the queues that were named before. */
const LOOKS = 2
const EMPTY_CLAIMS_MAX = 3
/** Mismatches between what Redis and we think we hold that are seen in a row before anything is given back. */
const MISMATCHES_MAX = 2

export interface ShardSessionOptions {
  readonly source: JobSource
  readonly scheduler: SlotScheduler
  readonly runner: CallRunner
  readonly watcher: Pick<DelayedPromoter, 'noteNextDue'>
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly owner: Pick<ShardWorkerOwner, 'leaseLost' | 'checkSuspension'>
}

type Claimed = Extract<ClaimAnswer, { status: 'claimed' }>

export function createExecutorSession(options: ShardSessionOptions): ExecutorSession {
  return new LeasedShardSession(options)
}

class LeasedShardSession implements ExecutorSession {
  readonly shard: number
  readonly lost: Promise<void>
  readonly #tellLost: () => void
  readonly #options: ShardSessionOptions
  readonly #redisNowMs: () => number
  /** By the work, not its id: a callback has the id of the job it reports. null = given back for want of a slot. */
  readonly #held = new Map<ClaimedWork, Hold | null>()
  readonly #finisher: Finisher
  readonly #lease: LeaseKeeper
  readonly #calls = new AbortController()
  #state: 'new' | 'working' | 'ending' = 'new'
  #isLost = false
  #confirming: Promise<void> | null = null
  /** Of the claim that is under way. */
  #grant: SlotGrant | null = null
  #isStanding = false
  #hasNews = false
  #looks = 0
  #emptyClaims = 0
  #newsFromMs = 0
  #cancelAsk: (() => void) | null = null
  #cancelSilence: () => void = () => undefined
  #mismatches = 0
  #whenIdle: () => void = () => undefined

  constructor(options: ShardSessionOptions) {
    const { source, clock, logger } = options
    const { promise, resolve } = Promise.withResolvers<void>()
    this.lost = promise
    this.#tellLost = resolve
    this.shard = source.shard
    this.#options = options
    this.#redisNowMs = () => source.redisNowMs()
    this.#finisher = createFinisher({
      source,
      clock,
      logger,
      onSettled: (ends, outcomes) => this.#settle(ends, outcomes),
      onFault: () => this.#lose('ends could not be written', false),
    })
    this.#lease = createLeaseKeeper({
      source,
      clock,
      logger,
      onLost: (reason, isEarly) => this.#lose(reason, isEarly),
      onHeld: (held) => this.#compareHeld(held),
    })
  }

  async start(): Promise<void> {
    await this.#lease.register()
    if (this.#state !== 'new') return
    this.#state = 'working'
    this.wake()
  }

  isHeld(): boolean {
    return this.#state === 'working' && this.#confirming === null && this.#lease.isHeld()
  }

  wake(): void {
    this.#hasNews = true
    this.#looks = LOOKS
    this.#emptyClaims = 0
    if (this.#grant !== null) return
    const waitMs = this.#newsFromMs - this.#options.clock.monotonicMs()
    if (waitMs > 0) this.#askAfter(waitMs)
    else this.#ask()
  }

  nudge(): void {
    if (this.#grant === null && !this.#isStanding && this.#cancelAsk === null) this.#ask()
  }

  doubt(): void {
    if (this.#state !== 'working' || this.#confirming !== null) return
    this.#rest()
    this.#confirming = this.#lease.confirm().then(() => {
      this.#confirming = null
      this.wake()
    })
  }

  drain(): Promise<void> {
    this.#state = 'ending'
    this.#rest()
    return new Promise((resolve) => {
      const before = this.#whenIdle
      this.#whenIdle = () => {
        before()
        resolve()
      }
      this.#checkIdle()
    })
  }

  cut(): void {
    this.#calls.abort()
  }

  discard(): void {
    this.#finisher.discard()
    this.#closeGrant()
  }

  async leave(): Promise<void> {
    this.#lease.stop()
    await this.#options.source.leave()
  }

  #ask(): void {
    this.#cancelAsking()
    if (this.#state !== 'working' || this.#confirming !== null) return
    this.#isStanding = true
    this.#options.scheduler.ask(this)
  }

  /** For more of the same. Who must wait for room looks now and then all the same. */
  #askAgain(passedOver: readonly string[]): void {
    this.#isStanding = true
    const isInLine = this.#options.scheduler.askAgain(this, passedOver)
    if (isInLine) return
    this.#emptyClaims = 0
    if (this.#grant === null) this.#askAfter(PROBE_MS)
  }

  #askAfter(delayMs: number): void {
    this.#cancelAsking()
    if (this.#state === 'working') this.#cancelAsk = this.#options.clock.after(delayMs, () => this.#ask())
  }

  #cancelAsking(): void {
    this.#cancelAsk?.()
    this.#cancelAsk = null
  }

  #rest(): void {
    this.#cancelAsking()
    this.#isStanding = false
    this.#options.scheduler.withdraw(this)
  }

  granted(grant: SlotGrant): void {
    this.#cancelAsking()
    this.#isStanding = false
    this.#grant = grant
    // From here on: a hint that comes while the claim is under way may be of a job that it was too early for.
    this.#hasNews = false
    this.#watchSilence(grant)
    this.#claim(grant).catch((error: unknown) => {
      this.#options.logger.error('A claim ended in a defect', { shard: this.shard, reason: reasonOf(error) })
      this.#lose('a claim ended in a defect', false)
    })
  }

  async #claim(grant: SlotGrant): Promise<void> {
    const answer = await this.#answerTo(grant)
    this.#options.owner.checkSuspension()
    if (this.#confirming !== null) await this.#confirming
    if (this.#grant !== grant) return
    this.#cancelSilence()
    if (answer?.status === 'lease_lost') this.#lose('a claim was refused', this.#lease.isHeld())
    else if (answer === null) this.#closeGrant()
    else if (!this.#lease.isHeld()) this.#lose('the lease ran out', false)
    else this.#beginAll(grant, answer)
  }

  /** Sends the claim until it is answered; null when that is given up. */
  async #answerTo(grant: SlotGrant): Promise<ClaimAnswer | null> {
    const { source, logger, clock } = this.#options
    while (this.#grant === grant) {
      try {
        return await source.claim(grant)
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) {
          logger.error('A claim failed', { shard: source.shard, reason: reasonOf(error) })
        }
      }
      if (this.#state !== 'ending') await new Promise<void>((resolve) => clock.after(RETRY_CLAIM_MS, resolve))
      if (this.#state === 'ending') return null
    }
    return null
  }

  #beginAll(grant: SlotGrant, answer: Claimed): void {
    const { scheduler, watcher } = this.#options
    this.#grant = null
    const holds = scheduler.bind(grant, answer)
    answer.work.forEach((work, i) => this.#begin(work, holds[i] ?? null))
    watcher.noteNextDue(answer.nextDueMs)
    if (this.#state === 'working') this.#goOn(answer)
    this.#checkIdle()
  }

  #begin(work: ClaimedWork, hold: Hold | null): void {
    this.#held.set(work, hold)
    // Claimed while it was told to end, or after others took the slots: back at once, others may have some.
    if (hold === null || this.#state !== 'working') this.#finisher.add({ type: 'released', work })
    else this.#run(work)
  }

  #goOn({ runnable, work, throttledTeams, bytesWanted }: Claimed): void {
    const { clock } = this.#options
    this.#looks = Math.max(0, this.#looks - 1)
    this.#emptyClaims = work.length > 0 ? 0 : this.#emptyClaims + 1
    this.#newsFromMs = work.length === 0 && throttledTeams.length > 0 ? clock.monotonicMs() + NEWS_WAIT_MS : 0
    const isContended = work.length === 0 && throttledTeams.length === 0 && bytesWanted === null
    if (this.#hasNews) this.wake()
    else if (runnable === 0) this.#rest()
    else if (isContended || this.#emptyClaims > EMPTY_CLAIMS_MAX) {
      // Others were quicker: a short rest instead of a race for the same queues.
      this.#rest()
      this.#askAfter(CONTENDED_WAIT_MS)
    } else if (bytesWanted !== null || this.#looks > 0) this.#ask()
    else this.#askAgain(throttledTeams)
  }

  #run(work: ClaimedWork): void {
    const { runner, logger, metrics } = this.#options
    if (work.kind === 'job') metrics.jobStarted(work.startedAtMs - work.scheduledAtMs)
    runner
      .run(work, this.#calls.signal, this.#redisNowMs)
      .catch((error: unknown): WorkEnd => {
        logger.error('A job could not be run; it waits', { jobId: work.jobId, reason: reasonOf(error) })
        return { type: 'released', work }
      })
      .then((end) => this.#finisher.add(end))
      .catch((error: unknown) => logger.error('An end was lost', { reason: reasonOf(error) }))
  }

  #settle(ends: readonly WorkEnd[], outcomes: ReadonlyArray<'done' | 'stale'>): void {
    const { scheduler, metrics } = this.#options
    const holds: Hold[] = []
    ends.forEach((end, i) => {
      const hold = this.#held.get(end.work)
      this.#held.delete(end.work)
      if (hold !== undefined && hold !== null) holds.push(hold)
      const counted = countedAs(end, outcomes[i] ?? 'stale')
      if (counted !== null) metrics.jobFinished(counted, 1)
    })
    scheduler.release(holds)
    this.#checkIdle()
  }

  #watchSilence(grant: SlotGrant): void {
    const { clock, scheduler } = this.#options
    const dueMs = clock.monotonicMs() + SILENCE_MS
    this.#cancelSilence = clock.after(SILENCE_MS, () => {
      if (this.#grant !== grant) return
      // Had we slept, the answer may be here: it is read first.
      if (clock.monotonicMs() - dueMs > LAG_MS) this.#watchSilence(grant)
      else scheduler.late(grant)
    })
  }

  #lose(reason: string, isEarly: boolean): void {
    const { logger, metrics } = this.#options
    if (this.#isLost) return
    this.#isLost = true
    this.#lease.stop()
    this.#finisher.discard()
    this.#calls.abort()
    this.#closeGrant()
    if (this.#state === 'ending' && this.#held.size === 0) return
    metrics.leaseLost()
    logger.warn('The lease of a shard was lost; its calls are cut and their results discarded', {
      shard: this.shard,
      reason,
    })
    void this.drain().then(this.#tellLost)
    this.#options.owner.leaseLost(isEarly)
  }

  /** What its claim still brings is not begun: `leave` gives it back. */
  #closeGrant(): void {
    this.#cancelSilence()
    if (this.#grant === null) return
    const grant = this.#grant
    this.#grant = null
    this.#options.scheduler.bind(grant, NOTHING_BROUGHT)
    this.#checkIdle()
  }

  #checkIdle(): void {
    if (this.#state === 'ending' && this.#grant === null && this.#held.size === 0) this.#whenIdle()
  }

  /** A claim whose answer never came leaves jobs that Redis thinks we hold. */
  #compareHeld(inRedis: number): void {
    const { source, logger } = this.#options
    const isComparable = this.#grant === null && this.#finisher.isIdle()
    this.#mismatches = isComparable && inRedis > this.#held.size ? this.#mismatches + 1 : 0
    if (this.#mismatches < MISMATCHES_MAX) return
    this.#mismatches = 0
    source.releaseUnknown(new Set([...this.#held.keys()].map(({ jobId }) => jobId))).then(
      (jobs) => logger.warn('Jobs of a lost claim were given back', { shard: source.shard, jobs }),
      (error: unknown) => logger.debug('Jobs of a lost claim wait on', { reason: reasonOf(error) }),
    )
  }
}
