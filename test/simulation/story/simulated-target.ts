import type { HttpCall, HttpCaller, HttpCallResult } from '../../../src/ports/http-caller.ts'
import type { Scheduler } from './scheduler.ts'
import type { SeededRandom } from './seeded-random.ts'
import type { SimulatedProcess } from './simulated-process.ts'

/** One request as the target saw it, by virtual time. */
export interface Delivery {
  readonly process: SimulatedProcess
  readonly webhookId: string
  /** null for a callback. */
  readonly jobId: number | null
  readonly url: string
  readonly attempt: number
  readonly token: string
  /** When the executor made the call; it reaches the target a little later. */
  readonly calledAtMs: number
  readonly startedAtMs: number
  endedAtMs: number | null
  outcome: 'open' | 'ok' | 'failed' | 'timeout' | 'aborted' | 'killed'
  /** What the caller counted it as; null while it does not know. */
  seen: Outcome | null
}

/** Behaviours of targets, each with its share of the calls. */
export interface TargetHabits {
  readonly failing: number
  readonly hanging: number
  readonly slow: number
  /** Slow answers take up to this long. */
  readonly slowMs: number
  readonly localFault: number
  /** Every other job that fails is told to come again in 2 s. */
  readonly isAsking: boolean
}

export interface SimulatedTargetOptions {
  readonly scheduler: Scheduler
  readonly random: SeededRandom
  readonly habits: () => TargetHabits
  readonly onStart: (delivery: Delivery) => void
  readonly trace: (line: () => string) => void
}

const NOTHING_FOUND: ReadonlySet<string> = new Set()
const NO_TIMINGS = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null, bodyMs: null }

/** All targets of a simulation and the network to them. Logs each request from its arrival to its end. */
export class SimulatedTarget {
  readonly deliveries: Delivery[] = []
  readonly #options: SimulatedTargetOptions

  constructor(options: SimulatedTargetOptions) {
    this.#options = options
  }

  callerOf(process: SimulatedProcess): HttpCaller {
    return { call: (call, signal) => this.#call(process, call, signal), close: () => Promise.resolve() }
  }

  #call(process: SimulatedProcess, call: HttpCall, signal: AbortSignal): Promise<HttpCallResult> {
    const { scheduler, random, habits } = this.#options
    const sentAtMs = scheduler.nowMs
    const base = () => ({
      durationMs: scheduler.nowMs - sentAtMs,
      timings: NO_TIMINGS,
      requestHeaders: [],
    })
    return new Promise((resolve) => {
      if (signal.aborted) return resolve({ kind: 'aborted', ...base() })
      if (random.chance(habits().localFault)) {
        process.deliver(scheduler.nowMs, () => resolve({ kind: 'local_fault', message: 'EMFILE', ...base() }))
        return
      }
      new Exchange(this.#options, this.deliveries, process, call, signal, (outcome) => {
        if (outcome === 'ok' || outcome === 'failed') {
          const isAsking = habits().isAsking && Number(call.identity['Job-Id'] ?? 0) % 64 < 32
          const answer = {
            status: outcome === 'ok' ? 200 : isAsking ? 503 : 500,
            headers: isAsking ? [['Retry-After', '2'] as const] : [],
            body: new Uint8Array(),
            bodyTruncated: false,
            isBodyCutShort: false,
            protocolNotes: [],
            found: NOTHING_FOUND,
          }
          resolve({ kind: 'answered', ...answer, ...base() })
        } else if (outcome === 'timeout') {
          resolve({ kind: 'failed', reason: 'timeout', message: 'no answer in time', ...base() })
        } else resolve({ kind: 'aborted', ...base() })
      }).send()
    })
  }
}

type Outcome = 'ok' | 'failed' | 'timeout' | 'aborted'

/** One call: on the wire from its arrival until the target answered or the caller aborted it. */
class Exchange {
  readonly #options: SimulatedTargetOptions
  readonly #deliveries: Delivery[]
  readonly #process: SimulatedProcess
  readonly #call: HttpCall
  readonly #signal: AbortSignal
  readonly #report: (outcome: Outcome) => void
  #delivery: Delivery | null = null
  #isOver = false
  #calledAtMs = 0
  #cancelTimeout: () => void = () => undefined

  // One parameter a field; the only caller is above.
  // eslint-disable-next-line max-params
  constructor(
    options: SimulatedTargetOptions,
    deliveries: Delivery[],
    process: SimulatedProcess,
    call: HttpCall,
    signal: AbortSignal,
    report: (outcome: Outcome) => void,
  ) {
    this.#options = options
    this.#deliveries = deliveries
    this.#process = process
    this.#call = call
    this.#signal = signal
    this.#report = report
  }

  send(): void {
    const { scheduler, random } = this.#options
    this.#calledAtMs = scheduler.nowMs
    this.#cancelTimeout = this.#process.clock.after(this.#call.timeoutMs, () => this.#end('timeout'))
    this.#signal.addEventListener('abort', () => this.#end('aborted'))
    this.#process.onDeath(() => {
      this.#isOver = true
      this.#close('killed')
    })
    scheduler.after(random.between(0.2, 2), () => this.#arrive())
  }

  #arrive(): void {
    const { scheduler, random, habits, trace } = this.#options
    if (this.#isOver) return
    const { identity, webhookId } = this.#call
    const id = identity['Job-Id']
    const delivery: Delivery = {
      process: this.#process,
      webhookId,
      jobId: id === undefined ? null : Number(id),
      url: this.#call.url,
      attempt: Number(identity['Attempt'] ?? 0),
      token: identity['Fencing-Token'] ?? '',
      calledAtMs: this.#calledAtMs,
      startedAtMs: scheduler.nowMs,
      endedAtMs: null,
      outcome: 'open',
      seen: null,
    }
    this.#delivery = delivery
    this.#deliveries.push(delivery)
    trace(() => `target gets job ${id ?? webhookId} attempt ${delivery.attempt} of ${this.#process.name}`)
    this.#options.onStart(delivery)
    const { hanging, failing, slow, slowMs } = habits()
    if (random.chance(hanging)) return
    const outcome = random.chance(failing) ? 'failed' : 'ok'
    const tookMs = random.chance(slow) ? random.between(400, slowMs) : random.between(2, 400)
    scheduler.after(tookMs, () => this.#answer(outcome))
  }

  /** The target is done; the caller notices when it can. */
  #answer(outcome: 'ok' | 'failed'): void {
    const { scheduler, random } = this.#options
    if (this.#delivery?.endedAtMs !== null) return
    this.#close(outcome)
    this.#process.deliver(scheduler.nowMs + random.between(0.1, 1), () => this.#finish(outcome))
  }

  /** The caller aborts it. */
  #end(outcome: 'timeout' | 'aborted'): void {
    if (this.#isOver) return
    this.#close(outcome)
    this.#isOver = true
    if (this.#delivery !== null) this.#delivery.seen = outcome
    this.#process.deliver(this.#options.scheduler.nowMs, () => this.#report(outcome))
  }

  #finish(outcome: 'ok' | 'failed'): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#cancelTimeout()
    if (this.#delivery !== null) this.#delivery.seen = outcome
    this.#report(outcome)
  }

  #close(outcome: Delivery['outcome']): void {
    const delivery = this.#delivery
    if (delivery === null || delivery.endedAtMs !== null) return
    delivery.endedAtMs = this.#options.scheduler.nowMs
    delivery.outcome = outcome
    this.#options.trace(() => `target ends job ${delivery.jobId ?? delivery.webhookId}: ${outcome}`)
  }
}
