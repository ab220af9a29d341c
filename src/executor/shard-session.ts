import { CLAIM_BATCH_BYTES_MAX, CLAIM_BATCH_MAX } from '../domain/limits.ts'
import { reasonOf, StoreUnavailableError } from '../domain/errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { ClaimAnswer, ClaimedWork, ClaimGrant, JobSource, WorkEnd } from '../ports/job-source.ts'
import type { Logger } from '../ports/logger.ts'
import type { FinishOutcome, Metrics } from '../ports/metrics.ts'
import type { CallRunner } from './call-runner.ts'
import { createFinisher, type Finisher } from './finisher.ts'
import type { JobPool } from './job-pool.ts'
import { createLeaseKeeper, type LeaseKeeper } from './lease-keeper.ts'
import { createSignal, type Signal } from './signal.ts'

/**
 * One executor's work on one shard under one lease. Owns every job it claimed, and the job's slot, until its end is
 * written.
 *
 *     registering → claiming → draining (stop) → left
 *                      ↓
 *                    lost (lease gone: calls cut, results worth nothing)
 *
 * Registering: no lease, nothing is held. Claiming: the lease is kept and every held job has a slot and a call or an
 * end on its way. Draining: no new claim; the lease is kept for what is held. Lost: the lease is no longer kept and
 * ends are discarded. `drain` waits for the claim under way and until nothing is held, `leave` for Redis.
 */
export interface ShardSession {
  readonly shard: number
  /** Makes the lease and begins to claim. Throws StoreUnavailableError. */
  start(): Promise<void>
  /** There may be something to claim. */
  wake(): void
  /** A slot is free. */
  slotFreed(): void
  /** Claims no more; resolves when every call has ended and is written. */
  drain(): Promise<void>
  /** Ends that Redis does not take are given up, so that `drain` comes to an end. */
  discard(): void
  /** Gives back what is left and ends the lease. After `drain`, or after the session was lost. */
  leave(): Promise<void>
  /** When the shard's next delayed job is due, as the last claim saw it. */
  onNextDue(listener: (nextDueMs: number | null) => void): void
}

/** A loop without work or slots turns this often; hints, freed slots and the shard's watcher wake it before. */
const IDLE_WAIT_MS = 1_000
const CONTENDED_WAIT_MS = 5
const RETRY_CLAIM_MS = 200
/** Mismatches between what Redis and we think we hold that are seen in a row before anything is given back. */
const MISMATCHES_MAX = 2

export interface ShardSessionOptions {
  readonly source: JobSource
  readonly pool: JobPool
  readonly runner: CallRunner
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  /** Cuts this executor's calls short. */
  readonly signal: AbortSignal
  /** true while claiming would only spin: this machine cannot open connections. */
  isPaused(): boolean
  onLost(reason: string): void
}

type Claimed = Extract<ClaimAnswer, { status: 'claimed' }>

const NOTHING_CLAIMED: Claimed = {
  status: 'claimed',
  work: [],
  runnable: 0,
  nextDueMs: null,
  heldBack: [],
  bytesWanted: null,
}

const EVERY_ROOM: Omit<ClaimGrant, 'slots' | 'bytes'> = {
  teamRooms: new Map(),
  otherTeamsRoom: CLAIM_BATCH_MAX,
  queueRooms: new Map(),
  otherQueuesRoom: CLAIM_BATCH_MAX,
}

export function createShardSession(options: ShardSessionOptions): ShardSession {
  return new LeasedShardSession(options)
}

class LeasedShardSession implements ShardSession {
  readonly shard: number
  readonly #options: ShardSessionOptions
  /** By the work, not its id: a callback has the id of the job it reports, whose end may still be on its way. */
  readonly #held = new Set<ClaimedWork>()
  readonly #finisher: Finisher
  readonly #lease: LeaseKeeper
  readonly #awake: Signal
  readonly #dueListeners: Array<(nextDueMs: number | null) => void> = []
  #mayHaveWork = true
  /** As many as the last claim found wanting. */
  #bytes = CLAIM_BATCH_BYTES_MAX
  #isEnding = false
  #isClaiming = false
  #mismatches = 0
  #loop: Promise<void> = Promise.resolve()
  #whenEmpty: (() => void) | null = null
  #draining: Promise<void> | null = null

  constructor(options: ShardSessionOptions) {
    const { source, clock, logger } = options
    this.shard = source.shard
    this.#options = options
    this.#awake = createSignal(clock)
    this.#finisher = createFinisher({
      source,
      clock,
      logger,
      onSettled: (end, outcome) => this.#settle(end, outcome),
      onFault: () => this.#lose('ends could not be written'),
    })
    this.#lease = createLeaseKeeper({
      source,
      clock,
      logger,
      onLost: (reason) => this.#lose(reason),
      onHeld: (held) => this.#compareHeld(held),
    })
  }

  async start(): Promise<void> {
    await this.#lease.register()
    this.#loop = this.#claimLoop()
  }

  wake(): void {
    this.#mayHaveWork = true
    this.#awake.notify()
  }

  slotFreed(): void {
    this.#awake.notify()
  }

  drain(): Promise<void> {
    return (this.#draining ??= this.#drain())
  }

  discard(): void {
    this.#finisher.discard()
  }

  async leave(): Promise<void> {
    this.#lease.stop()
    await this.#options.source.leave()
  }

  onNextDue(listener: (nextDueMs: number | null) => void): void {
    this.#dueListeners.push(listener)
  }

  async #drain(): Promise<void> {
    this.#isEnding = true
    this.#awake.notify()
    await this.#loop
    if (this.#held.size > 0) {
      await new Promise<void>((resolve) => {
        this.#whenEmpty = resolve
      })
    }
  }

  async #claimLoop(): Promise<void> {
    const { pool } = this.#options
    let slots = 0
    while (!this.#isEnding) {
      if (slots === 0 && this.#mayHaveWork && !this.#options.isPaused()) slots = pool.reserve(CLAIM_BATCH_MAX)
      if (slots === 0) {
        await this.#awake.wait(IDLE_WAIT_MS)
        continue
      }
      const answer = await this.#claim(slots)
      // The same claim goes out again and may still bring as many jobs as it first asked for: its slots stay reserved.
      if (answer === null) continue
      const used = answer.work.length
      if (used < slots) pool.release(slots - used)
      slots = 0
      // Others were quicker: a short rest instead of a race for the same queues. The signal would not let it rest, for
      // it has just been told of our own slots.
      if (used === 0 && answer.runnable > 0) await this.#rest(CONTENDED_WAIT_MS)
    }
    if (slots > 0) pool.release(slots)
  }

  /** Begins what the claim brings. null, after a rest, when there was no answer. */
  async #claim(slots: number): Promise<Claimed | null> {
    const { source, logger } = this.#options
    this.#isClaiming = true
    // From here on: a hint that comes while the claim is under way may be of a job that it was too early for.
    this.#mayHaveWork = false
    try {
      const answer = await source.claim({ ...EVERY_ROOM, slots, bytes: this.#bytes })
      if (answer.status === 'lease_lost') {
        this.#lose('a claim was refused')
        return NOTHING_CLAIMED
      }
      if (answer.runnable > 0) this.#mayHaveWork = true
      this.#bytes = Math.max(CLAIM_BATCH_BYTES_MAX, answer.bytesWanted ?? 0)
      for (const listener of this.#dueListeners) listener(answer.nextDueMs)
      for (const work of answer.work) this.#begin(work)
      return answer
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) {
        logger.error('A claim failed', { shard: source.shard, reason: reasonOf(error) })
      }
      await this.#rest(RETRY_CLAIM_MS)
      return null
    } finally {
      this.#isClaiming = false
    }
  }

  #begin(work: ClaimedWork): void {
    this.#held.add(work)
    // Claimed while the session was told to end: back at once, others may have slots.
    if (this.#isEnding) this.#finisher.add({ type: 'given_back', work })
    else this.#run(work)
  }

  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => this.#options.clock.after(ms, resolve))
  }

  #run(work: ClaimedWork): void {
    const { source, runner, logger, metrics, signal } = this.#options
    if (work.kind === 'job') metrics.jobStarted(work.startedAtMs - work.scheduledAtMs)
    runner
      .run(work, signal, () => source.redisNowMs())
      .catch((error: unknown): WorkEnd => {
        logger.error('A job could not be run; it waits', { jobId: work.jobId, reason: reasonOf(error) })
        return { type: 'given_back', work }
      })
      .then((end) => this.#finisher.add(end))
      .catch((error: unknown) => logger.error('An end was lost', { reason: reasonOf(error) }))
  }

  #settle(end: WorkEnd, outcome: 'done' | 'stale'): void {
    const { pool, metrics } = this.#options
    this.#held.delete(end.work)
    pool.release(1)
    const counted = countedAs(end, outcome)
    if (counted !== null) metrics.jobFinished(counted, 1)
    if (this.#held.size === 0) this.#whenEmpty?.()
  }

  #lose(reason: string): void {
    if (this.#isEnding && this.#held.size === 0) return
    this.#isEnding = true
    this.#lease.stop()
    this.#finisher.discard()
    this.#awake.notify()
    this.#options.onLost(reason)
  }

  /** A claim whose answer never came leaves jobs that Redis thinks we hold. */
  #compareHeld(inRedis: number): void {
    const { source, logger } = this.#options
    const isComparable = !this.#isClaiming && this.#finisher.isIdle()
    this.#mismatches = isComparable && inRedis > this.#held.size ? this.#mismatches + 1 : 0
    if (this.#mismatches < MISMATCHES_MAX) return
    this.#mismatches = 0
    source.giveBackUnknown(new Set([...this.#held].map(({ jobId }) => jobId))).then(
      (jobs) => logger.warn('Jobs of a lost claim were given back', { shard: source.shard, jobs }),
      (error: unknown) => logger.debug('Jobs of a lost claim wait on', { reason: reasonOf(error) }),
    )
  }
}

/** null for a callback, which its runner has counted. */
function countedAs(end: WorkEnd, outcome: 'done' | 'stale'): FinishOutcome | null {
  if (outcome === 'stale') return 'stale'
  if (end.type === 'given_back') return 'released'
  if (end.type === 'callback_ended') return null
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
