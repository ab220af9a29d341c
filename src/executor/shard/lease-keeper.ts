import { LEASE_BEAT_MS, LEASE_MARGIN_MS, LEASE_MS } from '../../domain/limits.ts'
import type { JobSource } from '../../ports/jobs.ts'
import type { LoopHealth, LoopIterations } from '../../ports/loops/loop-health.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { AnswerClock } from './answer-clock.ts'

export interface LeaseKeeperOptions {
  readonly source: JobSource
  readonly clock: Clock
  readonly loops: LoopHealth
  readonly answers: AnswerClock
  /** `isEarly` = Redis ended it before our own deadline, so other leases may have ended too. */
  onLost(reason: string, isEarly: boolean): void
  /** The number of jobs that Redis lists for this executor. */
  onListed(jobs: number): void
}

/** Shorter than a beat, so that a short outage does not cost the lease. */
const RETRY_BEAT_MS = 500

/**
 * Keeps one shard's lease by beats. Owns the local deadline, which counts by the monotonic clock from before a beat is
 * sent and therefore always ends before the lease in Redis.
 *
 *     new → kept (a beat and a deadline are always scheduled) → stopped
 *
 * Past the deadline, or when Redis has ended the lease, it stops and calls `onLost`, once. `stop` waits for nothing: a
 * beat in progress has no effect any more.
 */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions
  readonly #iterations: LoopIterations
  #deadlineMs = 0
  #beats = 0
  /** Waits for the answer of a beat after `afterBeat`. */
  #confirming: { readonly afterBeat: number; readonly resolve: () => void } | null = null
  #isStopped = false
  #cancelBeat: () => void = () => undefined
  #cancelDeadline: () => void = () => undefined

  constructor(options: LeaseKeeperOptions) {
    this.#options = options
    this.#iterations = options.loops.of('lease', options.source.shard)
  }

  /** Creates the lease. Throws StoreUnavailableError. */
  async register(): Promise<void> {
    await this.#beat(true)
    this.#beatAfter(LEASE_BEAT_MS)
  }

  /** Beats at once, and retries; resolves when Redis has confirmed the lease, or when it is lost. */
  async confirm(): Promise<void> {
    if (this.#isStopped) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#confirming = { afterBeat: this.#beats, resolve }
    void this.#renew()
    await promise
  }

  /** False from the deadline on, even before its timer runs: after a freeze, old answers are read first. */
  isHeld(): boolean {
    return !this.#isStopped && this.#options.clock.monotonicMs() < this.#deadlineMs
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelBeat()
    this.#cancelDeadline()
    this.#confirming?.resolve()
  }

  #lose(reason: string): void {
    if (this.#isStopped) return
    const isEarly = this.isHeld()
    this.stop()
    this.#options.onLost(reason, isEarly)
  }

  async #beat(register: boolean): Promise<'ok' | 'lost'> {
    const { source, clock, answers } = this.#options
    this.#beats += 1
    const beat = this.#beats
    const sentAtMs = clock.monotonicMs()
    const sentMs = answers.nowMs()
    const answer = await source.beat(register)
    this.#iterations.succeeded()
    if (answer.status === 'lease_lost') return 'lost'
    answers.note(answer.redisMs, sentMs)
    if (!this.#isStopped) this.#extendDeadline(sentAtMs + LEASE_MS - LEASE_MARGIN_MS)
    if (this.#confirming !== null && beat > this.#confirming.afterBeat) this.#confirming.resolve()
    this.#options.onListed(answer.listed)
    return 'ok'
  }

  #extendDeadline(deadlineMs: number): void {
    // Two beats in progress may be answered in either order.
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
    // After a freeze past the deadline the lease counts as lost, even if Redis would still renew it.
    if (!this.isHeld()) return this.#lose('the lease ran out')
    let status: 'ok' | 'lost'
    try {
      status = await this.#beat(false)
    } catch (error) {
      // However long a defect has lasted, the lease must not run out when it ends.
      this.#beatAfter(Math.min(LEASE_BEAT_MS, this.#iterations.failed(error) ?? RETRY_BEAT_MS))
      return
    }
    if (status === 'ok') this.#beatAfter(LEASE_BEAT_MS)
    else this.#lose('Redis had ended the lease')
  }
}
