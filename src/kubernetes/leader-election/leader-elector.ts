import { type ResourceApiError, reasonOf } from '../../domain/errors.ts'
import { pause } from '../../domain/pause.ts'
import type { Leadership } from '../../ports/kubernetes.ts'
import type { ReconcileMetrics } from '../../ports/metrics.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import { Deadline, abortable } from '../client/deadline.ts'
import type { LeaseLock } from './lease-lock.ts'
import { LeaseTakeover, type AcquireResult } from './lease-takeover.ts'

export interface LeaderElectorOptions {
  readonly lock: LeaseLock
  /** Names this process: by its pod's name and something random. */
  readonly identity: string
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: ReconcileMetrics
  /** 0 ≤ x < 1. */
  random(): number
}

// Lease duration, renew deadline and retry period are those of client-go and controller-runtime.
const LEASE_DURATION_MS = 15_000
const RENEW_DEADLINE_MS = 10_000
const RETRY_PERIOD_MS = 2_000
/** Spreads the retries of standbys. It is small because it lengthens the time without a leader. */
const RETRY_JITTER = 0.2
/** Leaves time for a second renewal when the first gets no answer. */
const ATTEMPT_TIMEOUT_MS = 5_000
const RELEASE_TIMEOUT_MS = 3_000
const HANDOVER_MS_MAX = 60_000
/** Longer than the standbys' retry period, so that one of them takes over. */
const YIELD_MS = 5_000
/** The same failure is logged again after this time. */
const LOG_AGAIN_MS = 60_000
const WORK_FAILED = 'its work has failed'

type Lead = (signal: AbortSignal) => Promise<void>

/** One period of leading, from acquiring the Lease to the end of its work. */
interface Epoch {
  /** The renew deadline, by the monotonic clock. */
  untilMs: number
  readonly end: AbortController
  /** Aborts when some of the work has failed, because nobody would do that work while this process leads. */
  readonly failure: AbortController
  readonly work: Set<Promise<void>>
}

/**
 * Elects one leader among the processes that share a Lease.
 *
 *     standby ⇄ leading → handing over → standby, or released
 *
 * Leading: the last successful renewal was sent less than 10 s ago by the monotonic clock. Standbys take over after 15 s
 * without a change, so we stop at least 5 s before. The deadline is checked on every call of `isLeader`: a process that was
 * frozen does not lead when it wakes. A failure of the work also ends the epoch. An epoch never resumes; the next one
 * begins when all work of the last has ended. Handing over: the signal is aborted and the work ends. `stop` waits for the
 * work, then releases the Lease within 3 s.
 *
 * A request to Redis or the API server that is in flight when an epoch ends may arrive after the next leader has begun: its
 * receiver must reject stale epochs. The same holds when someone deletes the Lease and a process starts that has never
 * seen it: it leads at once, while the old leader learns of the deletion only at its next renewal.
 */
export class LeaderElector implements Leadership {
  readonly #options: LeaderElectorOptions
  readonly #takeover: LeaseTakeover
  readonly #leads: Lead[] = []
  readonly #stopping = new AbortController()
  #epoch: Epoch | null = null
  #handingOverSinceMs: number | null = null
  #logged: { readonly reason: string; readonly atMs: number } | null = null
  #loop: Promise<void> | null = null

  constructor(options: LeaderElectorOptions) {
    const { lock, clock, identity } = options
    this.#options = options
    this.#takeover = new LeaseTakeover({ lock, clock, identity, durationMs: LEASE_DURATION_MS })
  }

  isLeader(): boolean {
    return this.#epoch !== null && this.#nowMs() < this.#epoch.untilMs
  }

  onLead(lead: Lead): void {
    this.#leads.push(lead)
    if (this.#epoch !== null) this.#begin(lead, this.#epoch)
  }

  start(): void {
    this.#options.metrics.leading(false)
    this.#loop ??= this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#loop
  }

  /** Says why this process should be restarted; null = it is healthy. */
  failure(): string | null {
    const sinceMs = this.#handingOverSinceMs
    if (sinceMs === null || this.#nowMs() - sinceMs <= HANDOVER_MS_MAX) return null
    return 'the work of the last time as leader does not end'
  }

  async #run(): Promise<void> {
    const { clock } = this.#options
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const result = await this.#tryAcquireOrRenew(ATTEMPT_TIMEOUT_MS)
      if (result?.status === 'held') await this.#lead(result.sentMs + RENEW_DEADLINE_MS)
      else await pause(clock, this.#retryMs(result), signal)
    }
    await this.#release()
  }

  /** Chooses a moment to try again: another's Lease is tried as it expires. */
  #retryMs(result: AcquireResult | null): number {
    const retryMs = RETRY_PERIOD_MS * (1 + this.#options.random() * RETRY_JITTER)
    return result?.status === 'other' ? Math.min(retryMs, result.freeAtMs - this.#nowMs()) : retryMs
  }

  async #lead(untilMs: number): Promise<void> {
    const { clock, logger, metrics, identity } = this.#options
    const epoch: Epoch = {
      untilMs,
      end: new AbortController(),
      failure: new AbortController(),
      work: new Set(),
    }
    this.#epoch = epoch
    metrics.leading(true)
    logger.info('Became the leader', { identity })
    for (const lead of this.#leads) this.#begin(lead, epoch)
    const reason = await this.#renewUntilLost(epoch)
    this.#epoch = null
    this.#handingOverSinceMs = this.#nowMs()
    epoch.end.abort()
    metrics.leading(false)
    logger.info('Stopped leading', { identity, reason })
    await Promise.all(epoch.work)
    this.#handingOverSinceMs = null
    if (reason !== WORK_FAILED) return
    // A standby gets a chance, and may do better. If none takes over, this process leads again.
    await this.#release()
    await pause(clock, YIELD_MS, this.#stopping.signal)
  }

  #begin(lead: Lead, epoch: Epoch): void {
    const work = Promise.try(lead, epoch.end.signal)
      .catch((error: unknown) => {
        this.#options.logger.error('Work of the leader has failed', { reason: reasonOf(error) })
        epoch.failure.abort()
      })
      .finally(() => epoch.work.delete(work))
    epoch.work.add(work)
  }

  /** @returns why the epoch is over */
  async #renewUntilLost(epoch: Epoch): Promise<string> {
    const early = AbortSignal.any([this.#stopping.signal, epoch.failure.signal])
    const leftMs = () => epoch.untilMs - this.#nowMs()
    for (;;) {
      await pause(this.#options.clock, Math.min(RETRY_PERIOD_MS, leftMs()), early)
      if (this.#stopping.signal.aborted) return 'stopping'
      if (epoch.failure.signal.aborted) return WORK_FAILED
      const result =
        leftMs() > 0 ? await this.#tryAcquireOrRenew(Math.min(ATTEMPT_TIMEOUT_MS, leftMs())) : null
      // This is checked even after a successful renewal, because `isLeader` may have returned false meanwhile.
      if (leftMs() <= 0) return 'the Lease could not be renewed in time'
      if (result?.status === 'other') return `the Lease is held by ${result.holder}`
      if (result?.status === 'held') epoch.untilMs = result.sentMs + RENEW_DEADLINE_MS
    }
  }

  /** null = there was no answer or a refusal, which is logged. */
  async #tryAcquireOrRenew(timeoutMs: number): Promise<AcquireResult | null> {
    const deadline = new Deadline(this.#options.clock, { timeoutMs, signals: [this.#stopping.signal] })
    try {
      // The lock need not heed its signal for this to end in time.
      const result = await abortable(this.#takeover.tryAcquireOrRenew(deadline.signal), deadline.signal)
      this.#logged = null
      return result
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#log(deadline.explain('A request for the Lease', error))
      return null
    } finally {
      deadline.end()
    }
  }

  async #release(): Promise<void> {
    const { clock, logger } = this.#options
    const deadline = new Deadline(clock, { timeoutMs: RELEASE_TIMEOUT_MS, signals: [] })
    try {
      await abortable(this.#takeover.release(deadline.signal), deadline.signal)
    } catch (error) {
      logger.info('The Lease was not released; it will expire', { reason: reasonOf(error) })
    } finally {
      deadline.end()
    }
  }

  #log({ fault, message: reason }: ResourceApiError): void {
    const { logger } = this.#options
    if (fault === 'conflict') return
    const isRepeated = this.#logged?.reason === reason
    if (isRepeated && this.#nowMs() - this.#logged!.atMs < LOG_AGAIN_MS) return
    this.#logged = { reason, atMs: this.#nowMs() }
    if (fault === 'forbidden') {
      const rights = 'get, create and update leases of coordination.k8s.io'
      logger.error('This process may not use the Lease and cannot lead', { rights, reason })
    } else {
      logger.warn('The Lease could not be read or written; retrying', { reason })
    }
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs()
  }
}
