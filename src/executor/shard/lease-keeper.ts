import { LEASE_BEAT_MS, LEASE_MARGIN_MS, LEASE_MS } from '../../domain/limits.ts'
import { reasonOf } from '../../domain/errors.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { JobSource } from '../../ports/jobs.ts'

/**
 * Keeps one shard's lease. Owns: the local deadline, by the monotonic clock, counted from before each beat was sent,
 * so it always ends before the lease that Redis holds.
 *
 *     new → kept (a beat and a deadline are always set) → stopped (neither is)
 *
 * Past the deadline, or when Redis says the lease is gone, it stops itself and calls `onLost`, once. `stop` waits for
 * nothing: the answer of a beat that is under way is only counted, no other follows it.
 */
export interface LeaseKeeper {
  /** Makes the lease; throws StoreUnavailableError. */
  register(): Promise<void>
  /** Asks Redis at once, and as often as it takes, whether the lease stands; resolves when it does, or when it is lost. */
  confirm(): Promise<void>
  /** False past the deadline, though its timer may be still to come: who was frozen finds old answers first. */
  isHeld(): boolean
  stop(): void
}

export interface LeaseKeeperOptions {
  readonly source: JobSource
  readonly clock: Clock
  readonly logger: Logger
  /** `isEarly` = Redis ended it before our own deadline: other leases may be gone as well. */
  onLost(reason: string, isEarly: boolean): void
  /** Redis says how many jobs this executor holds. */
  onHeld(held: number): void
}

/** After a beat that failed the next one goes out soon: a short outage must not cost the lease. */
const RETRY_BEAT_MS = 500

export function createLeaseKeeper(options: LeaseKeeperOptions): LeaseKeeper {
  return new BeatingLeaseKeeper(options)
}

class BeatingLeaseKeeper implements LeaseKeeper {
  readonly #options: LeaseKeeperOptions
  #deadlineMs = 0
  #beats = 0
  /** Who waits for the answer to a beat after this one. */
  #confirming: { readonly after: number; readonly tell: () => void } | null = null
  #isStopped = false
  #cancelBeat: () => void = () => undefined
  #cancelDeadline: () => void = () => undefined

  constructor(options: LeaseKeeperOptions) {
    this.#options = options
  }

  async register(): Promise<void> {
    await this.#beat(true)
    this.#beatAfter(LEASE_BEAT_MS)
  }

  async confirm(): Promise<void> {
    if (this.#isStopped) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#confirming = { after: this.#beats, tell: resolve }
    void this.#renew()
    await promise
  }

  isHeld(): boolean {
    return !this.#isStopped && this.#options.clock.monotonicMs() < this.#deadlineMs
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelBeat()
    this.#cancelDeadline()
    this.#confirming?.tell()
  }

  #lose(reason: string): void {
    if (this.#isStopped) return
    const isEarly = this.isHeld()
    this.stop()
    this.#options.onLost(reason, isEarly)
  }

  async #beat(register: boolean): Promise<'ok' | 'lost'> {
    const { source, clock } = this.#options
    this.#beats += 1
    const beat = this.#beats
    const sentAtMs = clock.monotonicMs()
    const answer = await source.beat(register)
    if (answer.status === 'lease_lost') return 'lost'
    if (!this.#isStopped) this.#watchDeadline(sentAtMs + LEASE_MS - LEASE_MARGIN_MS)
    if (this.#confirming !== null && beat > this.#confirming.after) this.#confirming.tell()
    this.#options.onHeld(answer.held)
    return 'ok'
  }

  /** Of two beats under way the answers may come in either order. */
  #watchDeadline(deadlineMs: number): void {
    if (deadlineMs <= this.#deadlineMs) return
    const { clock } = this.#options
    this.#deadlineMs = deadlineMs
    this.#cancelDeadline()
    this.#cancelDeadline = clock.after(Math.max(0, deadlineMs - clock.monotonicMs()), () =>
      this.#lose('the lease ran out'),
    )
  }

  #beatAfter(delayMs: number): void {
    if (this.#isStopped) return
    this.#cancelBeat()
    this.#cancelBeat = this.#options.clock.after(delayMs, () => void this.#renew())
  }

  async #renew(): Promise<void> {
    // Whoever was frozen past the deadline must not save a lease that he took for lost.
    if (!this.isHeld()) return this.#lose('the lease ran out')
    let status: 'ok' | 'lost'
    try {
      status = await this.#beat(false)
    } catch (error) {
      this.#options.logger.debug('A lease could not be renewed yet', { reason: reasonOf(error) })
      this.#beatAfter(RETRY_BEAT_MS)
      return
    }
    if (status === 'ok') this.#beatAfter(LEASE_BEAT_MS)
    else this.#lose('Redis had ended the lease')
  }
}
