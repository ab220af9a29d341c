import type { Clock } from '../ports/clock.ts'
import type { JobSource } from '../ports/job-source.ts'
import type { Logger } from '../ports/logger.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { CallRunner } from './call-runner.ts'
import type { JobPool } from './job-pool.ts'
import { createShardSession, type ShardSession } from './shard-session.ts'

/**
 * One executor id's time in all shards, from its leases to their end. A lease lost in one shard ends the tenure in
 * all: whoever froze long enough to lose one cannot trust the others. The executor then begins a new one. Owns: a
 * session per shard, and the signal that cuts their calls.
 *
 *     starting → running → stopping → left
 *         ↓         ↓
 *       failed     lost → left
 *
 * Running: every shard has a lease. Failed, lost and left: no call is open and every slot is free again. `stop` waits
 * for the calls, `graceMs` at most, for their ends to be written, 3 s more at most, and for the leases to be given up.
 */
export interface Tenure {
  /** Makes the leases; throws StoreUnavailableError. */
  start(): Promise<void>
  wake(shard: number): void
  slotFreed(): void
  onNextDue(listener: (shard: number, nextDueMs: number | null) => void): void
  /** Resolves when a lease was lost and every call has been cut. */
  readonly lost: Promise<void>
  /** Claims no more; calls get `graceMs` to end, the rest is cut and given back. */
  stop(graceMs: number): Promise<void>
  /** Gives back what Redis still says this tenure holds; best effort. */
  leave(): Promise<void>
}

export interface TenureOptions {
  readonly sources: readonly JobSource[]
  readonly pool: JobPool
  readonly runner: CallRunner
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  isPaused(): boolean
}

/** After the calls are cut, Redis has this long to take their ends. */
const WRITE_GRACE_MS = 3_000

export function createTenure(options: TenureOptions): Tenure {
  return new ShardedTenure(options)
}

class ShardedTenure implements Tenure {
  readonly lost: Promise<void>
  readonly #options: TenureOptions
  readonly #sessions: readonly ShardSession[]
  readonly #calls = new AbortController()
  readonly #tellLost: () => void
  #isLost = false

  constructor(options: TenureOptions) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.lost = promise
    this.#tellLost = resolve
    this.#options = options
    this.#sessions = options.sources.map((source) =>
      createShardSession({
        source,
        pool: options.pool,
        runner: options.runner,
        clock: options.clock,
        logger: options.logger,
        metrics: options.metrics,
        signal: this.#calls.signal,
        isPaused: options.isPaused,
        onLost: (reason) => this.#lose(source.shard, reason),
      }),
    )
  }

  async start(): Promise<void> {
    const results = await Promise.allSettled(this.#sessions.map((session) => session.start()))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed === undefined) return
    this.#calls.abort()
    this.#discardAll()
    await this.#drainAll()
    throw failed.reason
  }

  wake(shard: number): void {
    this.#sessions[shard]?.wake()
  }

  slotFreed(): void {
    for (const session of this.#sessions) session.slotFreed()
  }

  onNextDue(listener: (shard: number, nextDueMs: number | null) => void): void {
    for (const session of this.#sessions) {
      session.onNextDue((nextDueMs) => listener(session.shard, nextDueMs))
    }
  }

  async stop(graceMs: number): Promise<void> {
    const { clock } = this.#options
    const cancelCut = clock.after(graceMs, () => this.#calls.abort())
    const cancelDiscard = clock.after(graceMs + WRITE_GRACE_MS, () => this.#discardAll())
    await this.#drainAll()
    cancelCut()
    cancelDiscard()
    await this.leave()
  }

  async leave(): Promise<void> {
    const results = await Promise.allSettled(this.#sessions.map((session) => session.leave()))
    if (results.some((result) => result.status === 'rejected')) {
      this.#options.logger.warn(
        'Not everything could be given back; the others take it when the lease has run out',
      )
    }
  }

  #lose(shard: number, reason: string): void {
    if (this.#isLost) return
    this.#isLost = true
    const { logger, metrics } = this.#options
    metrics.leaseLost()
    logger.warn('A lease was lost; open calls are cut and their results discarded', { shard, reason })
    this.#calls.abort()
    void this.#drainAll().then(this.#tellLost)
  }

  async #drainAll(): Promise<void> {
    await Promise.all(this.#sessions.map((session) => session.drain()))
  }

  #discardAll(): void {
    for (const session of this.#sessions) session.discard()
  }
}
