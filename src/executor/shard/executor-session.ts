import { reasonOf } from '../../domain/errors.ts'
import { LinkedList, type Link } from '../../domain/linked-list.ts'
import type { ClaimedJob, ClaimedWork, JobSource, WorkEnd } from '../../ports/jobs.ts'
import type { LoopHealth } from '../../ports/loops/loop-health.ts'
import type { FinishOutcome, Metrics } from '../../ports/metrics.ts'
import type { Runtime } from '../../ports/runtime.ts'
import type { CallRunner } from '../calls/call-runner.ts'
import type { NoteDefect } from '../defect-notes.ts'
import type { OccupiedSlot } from '../slots/contender.ts'
import type { SlotScheduler } from '../slots/slot-scheduler.ts'
import { AnswerClock } from './answer-clock.ts'
import { ClaimLoop, type ClaimedAnswer } from './claim-loop.ts'
import { Finisher, type Ending, type SettledCode } from './finisher.ts'
import { LeaseKeeper } from './lease-keeper.ts'

export interface ExecutorSessionOptions extends Runtime {
  readonly source: JobSource
  readonly scheduler: SlotScheduler
  readonly runCall: CallRunner
  readonly metrics: Metrics
  readonly loops: LoopHealth
  readonly noteDefect: NoteDefect
  /** 0–1. */
  random(): number
  /** A claim saw when the next delayed job is due, Unix ms by Redis time; null = none. */
  onNextDue(nextDueMs: number | null): void
  /** `isEarly` = Redis ended the lease before our own deadline, so other leases may have ended too. */
  onLeaseLost(isEarly: boolean): void
  /** Calls `confirmLease` of all sessions when this machine was suspended. */
  checkSuspended(): void
}

/** How a lease was lost. */
export interface Loss {
  /** Redis ended the lease before our own deadline, so other leases may have ended too. */
  readonly isEarly: boolean
  /** The error, if a defect of ours made this executor give the lease up. */
  readonly defect?: unknown
}

interface WorkInFlight {
  readonly work: ClaimedWork
  /** null = no slot was left for this work, so it is released. */
  readonly slot: OccupiedSlot | null
}

/** Consecutive beats for which Redis must list more jobs than this session holds before they are released. */
const MISMATCHES_MAX = 2
/** A job of a queue with a rate waits no longer than this for its time, which is at most the lead of its claim away. */
const BEGIN_WAIT_MS_MAX = 1_500

/**
 * An executor's work on one shard under one executor id and one lease. Owns every job it claimed until the job's end is
 * written: claims, starts the calls, writes their ends, frees the slots.
 *
 *     new → working ⇄ confirming (Redis is asked whether the lease stands; nothing starts) → ending → left
 *              ↓
 *            lost (calls are aborted, their results discarded) → ending → left
 *
 * `drain` waits for the claim in progress and until the end of every job is written; `leave` waits for Redis.
 */
export class ExecutorSession {
  readonly #options: ExecutorSessionOptions
  readonly #redisNowMs: () => number
  readonly #inFlight = new LinkedList<WorkInFlight>()
  readonly #answers: AnswerClock
  readonly #claims: ClaimLoop
  readonly #finisher: Finisher<Link<WorkInFlight>>
  readonly #lease: LeaseKeeper
  readonly #calls = new AbortController()
  readonly #lost: PromiseWithResolvers<Loss> = Promise.withResolvers()
  #state: 'new' | 'working' | 'ending' = 'new'
  #isLost = false
  #confirming: Promise<void> | null = null
  #mismatches = 0
  #onIdle: () => void = () => undefined

  constructor(options: ExecutorSessionOptions) {
    this.#options = options
    this.#answers = new AnswerClock(options.clock)
    this.#redisNowMs = () => options.source.redisNowMs()
    this.#claims = new ClaimLoop({
      ...options,
      answers: this.#answers,
      confirmLease: () => {
        options.checkSuspended()
        return this.#confirming
      },
      isLeaseHeld: () => this.#lease.isHeld(),
      onClaimed: (answer, slots) => this.#startAll(answer, slots),
      onLeaseLost: (reason, loss) => this.#lose(reason, loss),
      onAbandoned: () => this.#checkIdle(),
    })
    this.#finisher = new Finisher({
      ...options,
      iterations: options.loops.of('finish', options.source.shard),
      onSettled: (endings, codes) => this.#settle(endings, codes),
    })
    this.#lease = new LeaseKeeper({
      ...options,
      answers: this.#answers,
      onLost: (reason, isEarly) => this.#lose(reason, { isEarly }),
      onListed: (jobs) => this.#compareListed(jobs),
    })
  }

  /** Creates the lease and begins to claim. Throws StoreUnavailableError; may be called again then. */
  async start(): Promise<void> {
    await this.#lease.register()
    if (this.#state !== 'new') return
    this.#state = 'working'
    this.#claims.open()
  }

  /** Resolves when the lease was lost and every call has ended. */
  get lost(): Promise<Loss> {
    return this.#lost.promise
  }

  isHeld(): boolean {
    return this.#state === 'working' && this.#confirming === null && this.#lease.isHeld()
  }

  /** This executor itself has made work ready. */
  foundWork(): void {
    this.#claims.foundWork()
  }

  /** There is something new to claim. */
  wake(): void {
    this.#claims.wake()
  }

  /** There is something to claim, new or not. */
  nudge(): void {
    this.#claims.nudge()
  }

  /** Starts nothing until Redis has confirmed the lease, which may have ended unnoticed. */
  confirmLease(): void {
    if (this.#state !== 'working' || this.#confirming !== null) return
    this.#claims.close()
    this.#confirming = this.#lease.confirm().then(() => {
      this.#confirming = null
      this.#claims.open()
    })
  }

  /** Claims no more. Resolves when the end of every job is written. */
  drain(): Promise<void> {
    this.#state = 'ending'
    this.#claims.end()
    return new Promise((resolve) => {
      const before = this.#onIdle
      this.#onIdle = () => {
        before()
        resolve()
      }
      this.#checkIdle()
    })
  }

  /** Aborts the calls; their jobs are released. */
  abort(): void {
    this.#calls.abort()
  }

  /** Gives up what Redis does not answer, so that `drain` can resolve. */
  discard(): void {
    this.#finisher.discard()
    this.#claims.abandon()
  }

  /** Releases the jobs that Redis still lists for this session, and ends the lease. After `drain` or `lost`. */
  async leave(): Promise<void> {
    this.#lease.stop()
    await this.#options.source.leave()
  }

  /** Whatever throws here, all of the work is started or released, and its slots are known. */
  #startAll(answer: ClaimedAnswer, slots: readonly OccupiedSlot[]): void {
    answer.work.forEach((work, i) => this.#start(work, slots[i] ?? null))
    const [first] = answer.work
    try {
      this.#options.onNextDue(answer.nextDueMs)
    } catch (error) {
      if (first !== undefined) this.#options.noteDefect('aside', error, first)
    }
    this.#checkIdle()
  }

  #start(work: ClaimedWork, slot: OccupiedSlot | null): void {
    const entry = this.#inFlight.append({ work, slot })
    if (slot === null || this.#state !== 'working') this.#finisher.add({ type: 'released', work }, entry)
    else if (work.kind === 'job' && work.beginsWithin !== undefined)
      void this.#runWithin(work, work.beginsWithin, entry)
    else void this.#run(work, entry)
  }

  /**
   * Runs a call of a queue with a rate. Its claim has counted it at `fromMs`. If the answer to the claim was held up for
   * longer than the rate allows for, the job goes back and begins when it is counted again: beside the next ones it would
   * break the limit at the target.
   */
  async #runWithin(
    work: ClaimedJob,
    { fromMs, toMs }: NonNullable<ClaimedJob['beginsWithin']>,
    entry: Link<WorkInFlight>,
  ): Promise<void> {
    const mayBegin = this.#answers.until(fromMs) <= 0 || (await this.#waitUntil(fromMs))
    const isLate = this.#answers.until(toMs) < 0
    if (mayBegin && !isLate) return this.#run(work, entry)
    if (isLate) this.#countLate(work)
    this.#finisher.add({ type: 'released', work }, entry)
  }

  /** Waits for a time of Redis. Answers whether a call may begin then: nobody waits for a clock of Redis that was set back. */
  async #waitUntil(redisMs: number): Promise<boolean> {
    const { clock } = this.#options
    const { stalledMs } = this.#answers
    const giveUpMs = clock.monotonicMs() + BEGIN_WAIT_MS_MAX
    for (;;) {
      const waitMs = this.#answers.until(redisMs)
      // After a stall it is not known how long the wait was.
      if (this.#answers.stalledMs !== stalledMs) return false
      if (waitMs <= 0) return this.isHeld()
      if (clock.monotonicMs() + waitMs > giveUpMs) return false
      await new Promise<void>((resolve) => clock.after(Math.ceil(waitMs), resolve))
    }
  }

  #countLate(work: ClaimedJob): void {
    const { metrics, noteDefect } = this.#options
    try {
      metrics.claimAnsweredLate()
    } catch (error) {
      noteDefect('aside', error, work)
    }
  }

  /**
   * Runs a call. If anything throws, the call may have been made, so the job is not released: it would be called again.
   */
  async #run(work: ClaimedWork, entry: Link<WorkInFlight>): Promise<void> {
    const { runCall, noteDefect } = this.#options
    this.#countStart(work)
    let end: WorkEnd
    try {
      end = await runCall(work, this.#calls.signal, this.#redisNowMs)
    } catch (error) {
      noteDefect('end', error, work)
      end = { type: 'quarantined', work }
    }
    this.#finisher.add(end, entry)
  }

  #countStart(work: ClaimedWork): void {
    const { metrics, noteDefect } = this.#options
    try {
      if (work.kind !== 'job') return
      metrics.jobStarted(work.startedAtMs - work.scheduledAtMs, work.request.trace)
    } catch (error) {
      noteDefect('aside', error, work)
    }
  }

  /** Slots are freed whatever throws: of a slot that nobody frees, everybody has one less for good. */
  #settle(endings: ReadonlyArray<Ending<Link<WorkInFlight>>>, codes: readonly SettledCode[]): void {
    const { scheduler } = this.#options
    const slots: OccupiedSlot[] = []
    for (const { entry } of endings) {
      this.#inFlight.remove(entry)
      if (entry.value.slot !== null) slots.push(entry.value.slot)
    }
    try {
      scheduler.free(slots)
    } finally {
      this.#checkIdle()
      this.#countEnds(endings, codes)
    }
  }

  #countEnds(endings: ReadonlyArray<Ending<Link<WorkInFlight>>>, codes: readonly SettledCode[]): void {
    const { metrics } = this.#options
    endings.forEach(({ end }, i) => {
      const outcome = outcomeOf(end, codes[i] ?? 'stale')
      if (outcome !== null) metrics.jobFinished(outcome, 1)
    })
  }

  #lose(reason: string, loss: Loss): void {
    const { source, logger, metrics } = this.#options
    if (this.#isLost) return
    this.#isLost = true
    this.#lease.stop()
    this.#finisher.discard()
    this.#calls.abort()
    this.#claims.abandon()
    if (this.#state === 'ending' && this.#inFlight.length === 0) return
    metrics.leaseLost()
    const fields = { shard: source.shard, reason }
    logger.warn('The lease of a shard was lost; its calls are aborted and their results discarded', fields)
    void this.drain().then(() => this.#lost.resolve(loss))
    this.#options.onLeaseLost(loss.isEarly)
  }

  #checkIdle(): void {
    if (this.#state === 'ending' && !this.#claims.isClaiming && this.#inFlight.length === 0) this.#onIdle()
  }

  /** Redis lists jobs that this session does not know when the answer of a claim was lost. */
  #compareListed(inRedis: number): void {
    const { source, logger } = this.#options
    const isComparable = !this.#claims.isClaiming && this.#finisher.isIdle()
    this.#mismatches = isComparable && inRedis > this.#inFlight.length ? this.#mismatches + 1 : 0
    if (this.#mismatches < MISMATCHES_MAX) return
    this.#mismatches = 0
    source.releaseUnknown(new Set(Array.from(this.#inFlight, ({ work }) => work.jobId))).then(
      (jobs) => logger.warn('Jobs of a lost claim were released', { shard: source.shard, jobs }),
      (error: unknown) =>
        logger.debug('Jobs of a lost claim could not be released yet', { reason: reasonOf(error) }),
    )
  }
}

/** null for what is counted elsewhere: callbacks by the call runner, damaged jobs where they are quarantined. */
function outcomeOf(end: WorkEnd, code: SettledCode): FinishOutcome | null {
  if (code === 'stale') return 'stale'
  if (end.type === 'released') return 'released'
  if (end.type === 'callback_ended' || end.type === 'quarantined') return null
  switch (end.end.kind) {
    case 'retry':
      return 'retrying'
    case 'dead_letter':
      return 'dead_lettered'
    case 'success':
    case 'failed_no_retries':
      return end.end.kind
  }
}
