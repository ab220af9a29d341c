import { ResourceApiError, type ResourceApiFault, reasonOf, isFault } from '../../domain/errors.ts'
import { pause } from '../../domain/pause.ts'
import type { EventRecorder, ResourceEvent } from '../../ports/kubernetes.ts'
import type { ReconcileMetrics } from '../../ports/metrics.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import { ignoreNotFound } from '../client/api-errors.ts'
import type { Transport } from '../client/transport.ts'
import { eventBody, eventName, seriesBody, seriesKey, type EventSource } from './event-body.ts'

export interface EventRecorderOptions {
  readonly transport: Transport
  readonly source: EventSource
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: ReconcileMetrics
  /** 0 ≤ x < 1. */
  random(): number
  /** Unique, of lower-case letters and digits. */
  newId(): string
}

const WAITING_MAX = 1_000
/** Beyond this many the oldest series is dropped, and its next event becomes a new object. */
const SERIES_MAX = 2_000
// Tries, retry pause, and the ages at which a series ends or is refreshed are those of client-go.
const TRIES_MAX = 12
const RETRY_MS = 10_000
const FINISH_MS = 360_000
const REFRESH_MS = 1_800_000
const SWEEP_MS = 60_000
const FLUSH_TIMEOUT_MS = 5_000
/** These faults do not lie in the event, so another try may succeed. */
const TRANSIENT: ReadonlySet<ResourceApiFault> = new Set(['unavailable', 'too_many', 'unauthorized'])

interface Series {
  readonly key: string
  readonly name: string
  readonly event: ResourceEvent
  /** The time of the first event by the wall clock. */
  readonly firstMs: number
  lastMs: number
  /** When the last event came, by the monotonic clock. */
  seenMs: number
  count: number
  /** The count that the API server has; 0 = it does not have the event. */
  sentCount: number
  sentMs: number
}

/**
 * Sends Events one after another, and equal ones as one object with a series, as client-go's broadcaster does. The first is
 * sent at once and the second starts the series; further ones are only counted here, and the count is sent after 30 minutes,
 * after 6 minutes without another, or at the stop. Owns the recent series, those waiting to be sent, and the sender. `stop`
 * sends what is unsent, for at most 5 s; later events are dropped.
 */
export class SeriesRecorder implements EventRecorder {
  readonly #options: EventRecorderOptions
  readonly #series = new Map<string, Series>()
  readonly #waiting = new Set<Series>()
  /** The series that is being sent. */
  #current: Series | null = null
  readonly #stopping = new AbortController()
  readonly #flushTimeout = new AbortController()
  #sender: Promise<void> | null = null
  #cancelSweep: (() => void) | null = null
  /** The kind of failure that was logged last, until something is sent. */
  #logged: string | null = null

  constructor(options: EventRecorderOptions) {
    this.#options = options
  }

  record(event: ResourceEvent): void {
    if (this.#stopping.signal.aborted) return
    const key = seriesKey(event)
    const series = this.#series.get(key)
    if (series !== undefined) this.#count(series)
    else if (this.#waiting.size < WAITING_MAX) this.#open(key, event)
    else this.#drop(1, 'full', `more than ${WAITING_MAX} are waiting`)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#cancelSweep?.()
    for (const series of this.#series.values()) if (this.#mustSend(series)) this.#enqueue(series)
    const cancel = this.#options.clock.after(FLUSH_TIMEOUT_MS, () => this.#flushTimeout.abort())
    await this.#sender
    cancel()
  }

  #open(key: string, event: ResourceEvent): void {
    const { clock, newId } = this.#options
    this.#dropOldest()
    const [nowMs, wallMs] = [clock.monotonicMs(), clock.wallMs()]
    const series: Series = {
      key,
      name: eventName(event, newId()),
      event,
      firstMs: wallMs,
      lastMs: wallMs,
      seenMs: nowMs,
      count: 1,
      sentCount: 0,
      sentMs: nowMs,
    }
    this.#series.set(key, series)
    this.#enqueue(series)
    this.#cancelSweep ??= clock.after(SWEEP_MS, () => this.#sweep())
  }

  #count(series: Series): void {
    const { clock } = this.#options
    series.count += 1
    series.lastMs = clock.wallMs()
    series.seenMs = clock.monotonicMs()
    if (this.#mustSend(series) && this.#waiting.size < WAITING_MAX) this.#enqueue(series)
  }

  #dropOldest(): void {
    if (this.#series.size < SERIES_MAX) return
    for (const series of this.#series.values()) {
      if (this.#waiting.has(series)) continue
      this.#series.delete(series.key)
      return
    }
  }

  /** Drops series that are finished, and sends counts that are due. */
  #sweep(): void {
    const { clock } = this.#options
    const nowMs = clock.monotonicMs()
    for (const series of this.#series.values()) {
      const isSent = series.sentCount === series.count
      const isFinished = nowMs - series.seenMs >= FINISH_MS
      if (isSent && isFinished) this.#series.delete(series.key)
      else if (!isSent && (isFinished || nowMs - series.sentMs >= REFRESH_MS)) this.#enqueue(series)
    }
    this.#cancelSweep = this.#series.size === 0 ? null : clock.after(SWEEP_MS, () => this.#sweep())
  }

  #enqueue(series: Series): void {
    this.#waiting.add(series)
    this.#sender ??= this.#sendAll()
  }

  async #sendAll(): Promise<void> {
    for (const series of this.#waiting) {
      this.#waiting.delete(series)
      this.#current = series
      await this.#sendWithRetries(series)
      this.#current = null
      if (this.#mustSend(series)) this.#waiting.add(series)
    }
    this.#sender = null
  }

  /**
   * Tells whether the series must be sent, not just counted: its second event starts the series, and a stop sends every
   * count.
   */
  #mustSend(series: Series): boolean {
    if (series === this.#current || this.#series.get(series.key) !== series) return false
    return series.count > series.sentCount && (series.sentCount === 1 || this.#stopping.signal.aborted)
  }

  async #sendWithRetries(series: Series): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        this.#flushTimeout.signal.throwIfAborted()
        await this.#send(series)
        this.#logged = null
        return
      } catch (error) {
        const isTransient = error instanceof ResourceApiError && TRANSIENT.has(error.fault)
        if (!isTransient || tries === TRIES_MAX || this.#stopping.signal.aborted) {
          this.#giveUp(series, error)
          return
        }
        const { clock, random } = this.#options
        const retryMs = Math.max(error.retryAfterMs ?? 0, RETRY_MS * (0.5 + random()))
        await pause(clock, retryMs, this.#stopping.signal)
      }
    }
  }

  #giveUp(series: Series, error: unknown): void {
    if (this.#series.get(series.key) === series) this.#series.delete(series.key)
    const failure = error instanceof ResourceApiError ? error.fault : 'failed'
    this.#drop(series.count - series.sentCount, failure, reasonOf(error))
  }

  async #send(series: Series): Promise<void> {
    const count = series.count
    if (count === series.sentCount) return
    if (series.sentCount === 0 || !(await this.#patch(series))) await this.#create(series)
    series.sentCount = Math.max(series.sentCount, count)
    series.sentMs = this.#options.clock.monotonicMs()
  }

  async #create(series: Series): Promise<void> {
    const { transport, source } = this.#options
    const { signal } = this.#flushTimeout
    try {
      const body = eventBody(series, source)
      await transport.request({ method: 'POST', path: pathOf(series), body, signal })
    } catch (error) {
      if (!isFault(error, 'conflict')) throw error
      // An earlier try has created the Event, and its answer was lost.
      if (series.count > 1) await this.#patch(series)
    }
  }

  /** Answers false when the Event has expired, as the API server keeps one for about an hour. */
  async #patch(series: Series): Promise<boolean> {
    const patched = this.#options.transport.request({
      method: 'PATCH',
      path: `${pathOf(series)}/${series.name}`,
      body: seriesBody(series),
      patchType: 'merge',
      signal: this.#flushTimeout.signal,
    })
    return (await ignoreNotFound(patched)) !== null
  }

  #drop(count: number, failure: string, reason: string): void {
    this.#options.metrics.eventsDropped(count)
    if (this.#logged === failure) return
    this.#logged = failure
    this.#options.logger.warn('Events are dropped', { reason })
  }
}

function pathOf({ event }: Series): string {
  return `/apis/events.k8s.io/v1/namespaces/${event.regarding.namespace}/events`
}
