import { CLAIM_BATCH_MAX } from '../domain/limits.ts'
import { StoreUnavailableError } from '../domain/errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { ClaimedWork, JobSource, WorkEnd } from '../ports/job-source.ts'
import type { Logger } from '../ports/logger.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { CallRunner } from './call-runner.ts'
import { createFinisher } from './finisher.ts'
import type { JobPool } from './job-pool.ts'
import { createLeaseKeeper } from './lease-keeper.ts'
import { createSignal } from './signal.ts'

/**
 * One executor's work on one shard under one lease. Owns every job it claimed until its end is written.
 *
 *     registering → claiming → draining (stop) → left
 *                      ↓
 *                    lost (lease gone: calls cut, results worth nothing)
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

export function createShardSession(options: ShardSessionOptions): ShardSession {
  const { source, pool, runner, clock, logger, metrics } = options
  const held = new Set<number>()
  const awake = createSignal(clock)
  const dueListeners: Array<(nextDueMs: number | null) => void> = []
  let mayHaveWork = true
  let isEnding = false
  let isClaiming = false
  let mismatches = 0
  let loop: Promise<void> = Promise.resolve()
  let whenEmpty: (() => void) | null = null
  let draining: Promise<void> | null = null

  const finisher = createFinisher({
    source,
    clock,
    logger,
    onSettled: settle,
    onFault: () => lose('ends could not be written'),
  })
  const lease = createLeaseKeeper({ source, clock, logger, onLost: lose, onHeld: compareHeld })

  function settle(end: WorkEnd, outcome: 'done' | 'stale'): void {
    held.delete(end.work.jobId)
    pool.release(1)
    count(end, outcome)
    if (held.size === 0) whenEmpty?.()
  }

  function count(end: WorkEnd, outcome: 'done' | 'stale'): void {
    if (outcome === 'stale') return metrics.jobFinished('stale', 1)
    if (end.type === 'given_back') return metrics.jobFinished('released', 1)
    if (end.type === 'callback_ended') return
    const { kind } = end.end
    metrics.jobFinished(kind === 'retry' ? 'retrying' : kind === 'dead_letter' ? 'dead_lettered' : kind, 1)
  }

  function lose(reason: string): void {
    if (isEnding && held.size === 0) return
    isEnding = true
    lease.stop()
    finisher.discard()
    awake.notify()
    options.onLost(reason)
  }

  /** A claim whose answer never came leaves jobs that Redis thinks we hold. */
  function compareHeld(inRedis: number): void {
    const isComparable = !isClaiming && finisher.isIdle()
    mismatches = isComparable && inRedis > held.size ? mismatches + 1 : 0
    if (mismatches < MISMATCHES_MAX) return
    mismatches = 0
    source.giveBackUnknown(new Set(held)).then(
      (jobs) => logger.warn('Jobs of a lost claim were given back', { shard: source.shard, jobs }),
      (error: Error) => logger.debug('Jobs of a lost claim wait on', { reason: error.message }),
    )
  }

  async function claimLoop(): Promise<void> {
    while (!isEnding) {
      const slots = mayHaveWork && !options.isPaused() ? pool.reserve(CLAIM_BATCH_MAX) : 0
      if (slots === 0) {
        await awake.wait(IDLE_WAIT_MS)
        continue
      }
      const used = await claim(slots)
      if (used < slots) pool.release(slots - used)
      // Others were quicker: a short rest instead of a race for the same queues.
      if (used === 0 && mayHaveWork) await awake.wait(CONTENDED_WAIT_MS)
    }
  }

  /** Answers how many of the slots are in use now. */
  async function claim(slots: number): Promise<number> {
    isClaiming = true
    try {
      const answer = await source.claim(slots)
      if (answer.status === 'lease_lost') {
        lose('a claim was refused')
        return 0
      }
      mayHaveWork = answer.runnable > 0
      for (const listener of dueListeners) listener(answer.nextDueMs)
      for (const work of answer.work) start(work)
      return answer.work.length
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) {
        logger.error('A claim failed', { shard: source.shard, reason: (error as Error).message })
      }
      await new Promise<void>((resolve) => clock.after(RETRY_CLAIM_MS, resolve))
      return 0
    } finally {
      isClaiming = false
    }
  }

  function start(work: ClaimedWork): void {
    held.add(work.jobId)
    if (work.kind === 'job') metrics.jobStarted(work.startedAtMs - work.scheduledAtMs)
    runner
      .run(work, options.signal, () => source.redisNowMs())
      .catch((error: Error): WorkEnd => {
        logger.error('A job could not be run; it waits', { jobId: work.jobId, reason: error.message })
        return { type: 'given_back', work }
      })
      .then((end) => finisher.add(end))
      .catch((error: Error) => logger.error('An end was lost', { reason: error.message }))
  }

  async function drain(): Promise<void> {
    isEnding = true
    awake.notify()
    await loop
    if (held.size > 0) {
      await new Promise<void>((resolve) => {
        whenEmpty = resolve
      })
    }
  }

  return {
    shard: source.shard,
    start: async () => {
      await lease.register()
      loop = claimLoop()
    },
    wake: () => {
      mayHaveWork = true
      awake.notify()
    },
    slotFreed: () => awake.notify(),
    drain: () => (draining ??= drain()),
    discard: () => finisher.discard(),
    leave: async () => {
      lease.stop()
      await source.leave()
    },
    onNextDue: (listener) => {
      dueListeners.push(listener)
    },
  }
}
