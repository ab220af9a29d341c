import { ResourceApiError, type ResourceApiFault, reasonOf } from '../../domain/errors.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { EventRecorder, ResourceEvent } from '../../ports/kubernetes.ts'
import type { ReconcileMetrics } from '../../ports/metrics.ts'
import { isFault } from '../client/api-errors.ts'
import { eventBody, eventName, seriesBody, seriesKey, type EventSource } from './event-body.ts'
import { pause } from '../../domain/pause.ts'
import type { Transport } from '../client/transport.ts'

/**
 * Sends events, one after another, equal ones as one object. The first is sent at once, the second makes it a series;
 * from then on they are counted here and told after 30 minutes, after 6 minutes without another, or at the stop. Owns:
 * the series of the last minutes, those that wait to be sent, and the sending. `stop` sends what has not been told,
 * for 5 s at most.
 */
export interface SeriesRecorder extends EventRecorder {
  /** What is recorded from now on is not kept. */
  stop(): Promise<void>
}

export interface EventRecorderOptions {
  readonly transport: Transport
  readonly source: EventSource
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: ReconcileMetrics
  /** From 0 to below 1. */
  random(): number
  /** Unique, of lower-case letters and digits. */
  newId(): string
}

const WAITING_MAX = 1_000
/** Beyond it the oldest is forgotten: its next event is a new object. */
const SERIES_MAX = 2_000
const TRIES_MAX = 12
const RETRY_MS = 10_000
const FINISH_MS = 360_000
const REFRESH_MS = 1_800_000
const SWEEP_MS = 60_000
const FLUSH_MAX_MS = 5_000
const PASSING: ReadonlySet<ResourceApiFault> = new Set(['unavailable', 'too_many', 'unauthorized'])

export function createEventRecorder(options: EventRecorderOptions): SeriesRecorder {
  return new QueueingRecorder(options)
}

interface Series {
  readonly key: string
  readonly name: string
  readonly event: ResourceEvent
  /** By the wall clock. */
  readonly firstMs: number
  lastMs: number
  /** By the monotonic clock. */
  seenMs: number
  count: number
  /** The count that the API server has; 0 = it knows nothing. */
  toldCount: number
  toldMs: number
}

class QueueingRecorder implements SeriesRecorder {
  readonly #options: EventRecorderOptions
  readonly #series = new Map<string, Series>()
  readonly #waiting = new Set<Series>()
  /** What is being sent. */
  #current: Series | null = null
  readonly #stopping = new AbortController()
  readonly #givingUp = new AbortController()
  #sending: Promise<void> | null = null
  #cancelSweep: (() => void) | null = null
  /** The kind of the last trouble, until something is sent: the log has it, once. */
  #trouble: string | null = null

  constructor(options: EventRecorderOptions) {
    this.#options = options
  }

  record(event: ResourceEvent): void {
    if (this.#stopping.signal.aborted) return
    const key = seriesKey(event)
    const series = this.#series.get(key)
    if (series !== undefined) this.#count(series)
    else if (this.#waiting.size < WAITING_MAX) this.#open(key, event)
    else this.#drop(1, 'full', `more than ${WAITING_MAX} wait`)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#cancelSweep?.()
    for (const series of this.#series.values()) if (this.#isToTell(series)) this.#line(series)
    const cancel = this.#options.clock.after(FLUSH_MAX_MS, () => this.#givingUp.abort())
    await this.#sending
    cancel()
  }

  #open(key: string, event: ResourceEvent): void {
    const { clock, newId } = this.#options
    this.#forgetOldest()
    const [nowMs, wallMs] = [clock.monotonicMs(), clock.wallMs()]
    const series: Series = {
      key,
      name: eventName(event, newId()),
      event,
      firstMs: wallMs,
      lastMs: wallMs,
      seenMs: nowMs,
      count: 1,
      toldCount: 0,
      toldMs: nowMs,
    }
    this.#series.set(key, series)
    this.#line(series)
    this.#cancelSweep ??= clock.after(SWEEP_MS, () => this.#sweep())
  }

  #count(series: Series): void {
    const { clock } = this.#options
    series.count += 1
    series.lastMs = clock.wallMs()
    series.seenMs = clock.monotonicMs()
    if (this.#isToTell(series) && this.#waiting.size < WAITING_MAX) this.#line(series)
  }

  #forgetOldest(): void {
    if (this.#series.size < SERIES_MAX) return
    for (const series of this.#series.values()) {
      if (this.#waiting.has(series)) continue
      this.#series.delete(series.key)
      return
    }
  }

  #sweep(): void {
    const { clock } = this.#options
    const nowMs = clock.monotonicMs()
    for (const series of this.#series.values()) {
      const isTold = series.toldCount === series.count
      const isOver = nowMs - series.seenMs >= FINISH_MS
      if (isTold && isOver) this.#series.delete(series.key)
      else if (!isTold && (isOver || nowMs - series.toldMs >= REFRESH_MS)) this.#line(series)
    }
    this.#cancelSweep = this.#series.size === 0 ? null : clock.after(SWEEP_MS, () => this.#sweep())
  }

  #line(series: Series): void {
    this.#waiting.add(series)
    this.#sending ??= this.#sendAll()
  }

  async #sendAll(): Promise<void> {
    for (const series of this.#waiting) {
      this.#waiting.delete(series)
      this.#current = series
      await this.#send(series)
      this.#current = null
      if (this.#isToTell(series)) this.#waiting.add(series)
    }
    this.#sending = null
  }

  /** Not only counted on: its second event makes an object a series, and at the stop all that was counted is told. */
  #isToTell(series: Series): boolean {
    if (series === this.#current || this.#series.get(series.key) !== series) return false
    return series.count > series.toldCount && (series.toldCount === 1 || this.#stopping.signal.aborted)
  }

  async #send(series: Series): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        this.#givingUp.signal.throwIfAborted()
        await this.#tell(series)
        this.#trouble = null
        return
      } catch (error) {
        const isLast = tries === TRIES_MAX || this.#stopping.signal.aborted
        if (isLast || !isPassing(error)) {
          this.#giveUp(series, error)
          return
        }
        await this.#pauseAfter(error)
      }
    }
  }

  #giveUp(series: Series, error: unknown): void {
    if (this.#series.get(series.key) === series) this.#series.delete(series.key)
    const trouble = error instanceof ResourceApiError ? error.fault : 'failed'
    this.#drop(series.count - series.toldCount, trouble, reasonOf(error))
  }

  #pauseAfter(error: unknown): Promise<void> {
    const { clock, random } = this.#options
    const askedMs = error instanceof ResourceApiError ? (error.retryAfterMs ?? 0) : 0
    return pause(clock, Math.max(askedMs, RETRY_MS * (0.5 + random())), this.#stopping.signal)
  }

  async #tell(series: Series): Promise<void> {
    const count = series.count
    if (count === series.toldCount) return
    if (series.toldCount === 0 || !(await this.#patch(series))) await this.#create(series)
    series.toldCount = Math.max(series.toldCount, count)
    series.toldMs = this.#options.clock.monotonicMs()
  }

  async #create(series: Series): Promise<void> {
    const { transport, source } = this.#options
    const body = eventBody(series.name, series.event, source, series)
    try {
      await transport.request({ method: 'POST', path: pathOf(series), body, signal: this.#givingUp.signal })
    } catch (error) {
      if (!isFault(error, 'conflict')) throw error
      // The answer to an earlier try was lost.
      if (series.count > 1) await this.#patch(series)
    }
  }

  /** False when it is gone: events are kept for an hour or so. */
  async #patch(series: Series): Promise<boolean> {
    try {
      await this.#options.transport.request({
        method: 'PATCH',
        path: `${pathOf(series)}/${series.name}`,
        body: seriesBody(series),
        contentType: 'application/merge-patch+json',
        signal: this.#givingUp.signal,
      })
      return true
    } catch (error) {
      if (isFault(error, 'not_found')) return false
      throw error
    }
  }

  #drop(count: number, trouble: string, reason: string): void {
    this.#options.metrics.eventsDropped(count)
    if (this.#trouble === trouble) return
    this.#trouble = trouble
    this.#options.logger.warn('Events are not kept', { reason })
  }
}

function pathOf({ event }: Series): string {
  return `/apis/events.k8s.io/v1/namespaces/${event.regarding.namespace}/events`
}

/** The fault is not in the event: worth another try. */
function isPassing(error: unknown): boolean {
  return error instanceof ResourceApiError && PASSING.has(error.fault)
}
