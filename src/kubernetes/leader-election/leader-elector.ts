import { type ResourceApiError, reasonOf } from '../../domain/errors.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { Leadership } from '../../ports/kubernetes.ts'
import type { ReconcileMetrics } from '../../ports/metrics.ts'
import { createLeaseClaim, type Attempt, type LeaseTakeover } from './lease-takeover.ts'
import type { LeaseLock } from './lease-lock.ts'
import { pause } from '../../domain/pause.ts'
import { createDeadline } from '../client/deadline.ts'
import { unlessAborted } from '../client/unless-aborted.ts'

/**
 * Elects one leader among the processes that share a Lease.
 *
 *     new → waiting ⇄ leading → handing over → waiting, or released
 *
 * Leading: our last renewal was sent less than 10 s ago, by this machine's monotonic clock; the others wait for 15 s
 * without a change, so that we stop 5 s before anyone may begin. That time is looked at whenever someone asks, so a
 * process that was stopped for a while does not lead when it wakes. Work that fails ends the term as well. A term that was over once never comes back; the
 * next begins when all work of the last has ended. Handing over: the terms' signal is aborted, its work ends. `stop`
 * waits for that work, then gives the Lease away, 3 s at most.
 *
 * What is on its way to Redis or the API server when a term ends may arrive after another's beginning: those who take
 * it must refuse a past term by themselves. So must they when someone deletes the Lease and a process starts that has
 * never seen it: it leads at once, while the old leader learns of the deletion at its next renewal.
 */
export interface Elector extends Leadership {
  start(): void
  stop(): Promise<void>
  /** Why this process should be started anew; null = all is well. */
  failure(): string | null
}

export interface ElectorOptions {
  readonly store: LeaseLock
  /** Of this very process: the pod's name and something random. */
  readonly identity: string
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: ReconcileMetrics
  /** From 0 to below 1. */
  random(): number
}

/** The times of client-go and controller-runtime. */
const LEASE_DURATION_MS = 15_000
const RENEW_DEADLINE_MS = 10_000
const RETRY_PERIOD_MS = 2_000
/** Those who wait come at different times. Little, for it adds to the time without a leader. */
const RETRY_JITTER = 0.2
/** Leaves time for a second renewal when the first has no answer. */
const ATTEMPT_TIMEOUT_MS = 5_000
const RELEASE_TIMEOUT_MS = 3_000
const HAND_OVER_MAX_MS = 60_000
/** Longer than those who wait look away. */
const YIELD_MS = 5_000
const WORK_FAILED = 'its work has failed'
/** The same trouble is told this often. */
const COMPLAIN_EVERY_MS = 60_000

export function createElector(options: ElectorOptions): Elector {
  return new LeaseElector(options)
}

type Lead = (signal: AbortSignal) => Promise<void>

interface Term {
  untilMs: number
  readonly end: AbortController
  /** Some of its work has failed: nobody would do it for as long as this process leads. */
  readonly failure: AbortController
  readonly work: Set<Promise<void>>
}

class LeaseElector implements Elector {
  readonly #options: ElectorOptions
  readonly #claim: LeaseTakeover
  readonly #leads: Lead[] = []
  readonly #stopping = new AbortController()
  #term: Term | null = null
  #handingOverSinceMs: number | null = null
  #complaint: { readonly reason: string; readonly atMs: number } | null = null
  #loop: Promise<void> | null = null

  constructor(options: ElectorOptions) {
    const { store, clock, identity } = options
    this.#options = options
    this.#claim = createLeaseClaim({ store, clock, identity, durationMs: LEASE_DURATION_MS })
  }

  isLeader(): boolean {
    return this.#term !== null && this.#nowMs() < this.#term.untilMs
  }

  onLead(lead: Lead): void {
    this.#leads.push(lead)
    if (this.#term !== null) this.#begin(lead, this.#term)
  }

  start(): void {
    this.#options.metrics.leading(false)
    this.#loop ??= this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#loop
  }

  failure(): string | null {
    const sinceMs = this.#handingOverSinceMs
    if (sinceMs === null || this.#nowMs() - sinceMs <= HAND_OVER_MAX_MS) return null
    return 'the work of the last term as leader does not end'
  }

  async #run(): Promise<void> {
    const { clock } = this.#options
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const attempt = await this.#attempt(ATTEMPT_TIMEOUT_MS)
      if (attempt?.status === 'held') await this.#serve(attempt.sentMs + RENEW_DEADLINE_MS)
      else await pause(clock, this.#pauseMs(attempt), signal)
    }
    await this.#release()
  }

  /** The Lease of another is tried for the moment it is past. */
  #pauseMs(attempt: Attempt | null): number {
    const retryMs = RETRY_PERIOD_MS * (1 + this.#options.random() * RETRY_JITTER)
    return attempt?.status === 'other' ? Math.min(retryMs, attempt.freeAtMs - this.#nowMs()) : retryMs
  }

  async #serve(untilMs: number): Promise<void> {
    const { logger, metrics, identity } = this.#options
    const term: Term = {
      untilMs,
      end: new AbortController(),
      failure: new AbortController(),
      work: new Set(),
    }
    this.#term = term
    metrics.leading(true)
    logger.info('Leading begins', { identity })
    for (const lead of this.#leads) this.#begin(lead, term)
    const reason = await this.#renew(term)
    this.#term = null
    this.#handingOverSinceMs = this.#nowMs()
    term.end.abort()
    metrics.leading(false)
    logger.info('Leading ends', { identity, reason })
    await Promise.all(term.work)
    this.#handingOverSinceMs = null
    if (reason === WORK_FAILED) await this.#yield()
  }

  /** To another that may fare better, or to ourselves after a while. */
  async #yield(): Promise<void> {
    await this.#release()
    await pause(this.#options.clock, YIELD_MS, this.#stopping.signal)
  }

  #begin(lead: Lead, term: Term): void {
    const work = Promise.try(lead, term.end.signal)
      .catch((error: unknown) => {
        this.#options.logger.error('Work of the leader has failed', { reason: reasonOf(error) })
        term.failure.abort()
      })
      .finally(() => term.work.delete(work))
    term.work.add(work)
  }

  /** Answers why the term is over. */
  async #renew(term: Term): Promise<string> {
    const early = AbortSignal.any([this.#stopping.signal, term.failure.signal])
    const leftMs = () => term.untilMs - this.#nowMs()
    for (;;) {
      await pause(this.#options.clock, Math.min(RETRY_PERIOD_MS, leftMs()), early)
      if (this.#stopping.signal.aborted) return 'stopping'
      if (term.failure.signal.aborted) return WORK_FAILED
      const attempt = leftMs() > 0 ? await this.#attempt(Math.min(ATTEMPT_TIMEOUT_MS, leftMs())) : null
      // Also when an answer came: whoever asked meanwhile was told that the term is over.
      if (leftMs() <= 0) return 'the Lease could not be renewed in time'
      if (attempt?.status === 'other') return `the Lease is held by ${attempt.holder}`
      if (attempt?.status === 'held') term.untilMs = attempt.sentMs + RENEW_DEADLINE_MS
    }
  }

  /** null = no answer, or a refusal: known to the log. */
  async #attempt(timeoutMs: number): Promise<Attempt | null> {
    const deadline = createDeadline(this.#options.clock, timeoutMs, [this.#stopping.signal])
    try {
      // Whatever the store does about its signal, the election goes on.
      const attempt = await unlessAborted(this.#claim.attempt(deadline.signal), deadline.signal)
      this.#complaint = null
      return attempt
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#complain(deadline.explain('An attempt at the Lease', error))
      return null
    } finally {
      deadline.end()
    }
  }

  async #release(): Promise<void> {
    const { clock, logger } = this.#options
    const deadline = createDeadline(clock, RELEASE_TIMEOUT_MS, [])
    try {
      await unlessAborted(this.#claim.release(deadline.signal), deadline.signal)
    } catch (error) {
      logger.info('The Lease was not given away; it runs out by itself', { reason: reasonOf(error) })
    } finally {
      deadline.end()
    }
  }

  #complain(error: ResourceApiError): void {
    const { logger } = this.#options
    if (error.fault === 'conflict') return
    const isTold = this.#complaint?.reason === error.message
    if (isTold && this.#nowMs() - this.#complaint!.atMs < COMPLAIN_EVERY_MS) return
    this.#complaint = { reason: error.message, atMs: this.#nowMs() }
    if (error.fault === 'forbidden') {
      const rights = 'get, create and update leases of coordination.k8s.io'
      logger.error('The Lease is forbidden to this process: it cannot lead', {
        rights,
        reason: error.message,
      })
    } else {
      logger.warn('The Lease could not be read or written; it is tried again', { reason: error.message })
    }
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs()
  }
}
