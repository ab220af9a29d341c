/**
 * Lists the objects of one kind, then watches them, for ever: one loop with one request under way. `listing` until all
 * objects are in; `watching` from the version of that list on, each watch from where the last one ended; back to
 * `listing` when that version is too old or in doubt; in between a pause after each failure. `stop` ends the loop wherever
 * it is and waits for that; nothing is told afterwards.
 */
import { ResourceApiError, reasonOf } from '../../domain/errors.ts'
import type { WatchEnd } from '../../ports/metrics.ts'
import type { KubeObject } from '../../ports/kubernetes.ts'
import type { Logger } from '../../ports/runtime.ts'
import { isFault } from '../client/api-errors.ts'
import { RETRY_PAUSE_MS_MAX, WATCHES_BARREN_MAX, WATCH_SHORT_MS } from '../client/bounds.ts'
import { listObjects } from './reflector-list.ts'
import type { ReflectorOptions } from './reflector-options.ts'
import { watchObjects, type WatchStory } from './reflector-watch.ts'
import { pause } from '../../domain/pause.ts'
import { createRetryPause, type RetryPause } from './backoff.ts'

export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>
  readonly #logger: Logger
  readonly #retryPause: RetryPause
  readonly #stopping = new AbortController()
  #loop: Promise<void> | null = null
  /** From which the next watch goes on; null = list first. */
  #version: string | null = null
  /** Watches in a row that began and told nothing. */
  #barren = 0
  #lastEnd: WatchEnd | null = null

  constructor(options: ReflectorOptions<T>) {
    const { clock, logger, random, kind, namespace } = options
    this.#options = options
    this.#logger = logger.child({ resource: kind.plural, namespace: namespace ?? 'all' })
    this.#retryPause = createRetryPause(clock, random)
  }

  start(): void {
    if (!this.#stopping.signal.aborted) this.#loop ??= this.#run(this.#stopping.signal)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#loop
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const pauseMs = await this.#turn(signal)
      if (pauseMs > 0) await pause(this.#options.clock, pauseMs, signal)
    }
  }

  /** Lists when it must, then watches to the end. @returns how long to wait before the next turn */
  async #turn(signal: AbortSignal): Promise<number> {
    try {
      this.#version ??= await this.#list(signal)
      const story = await watchObjects(this.#options, this.#version, signal)
      return signal.aborted ? 0 : this.#afterWatch(story)
    } catch (error) {
      // What our own stop breaks is no failure.
      return signal.aborted ? 0 : this.#afterFailure(error)
    }
  }

  async #list(signal: AbortSignal): Promise<string> {
    const { sink, namespace, metrics, kind } = this.#options
    const { objects, version } = await listObjects({ ...this.#options, known: sink.known }, signal)
    signal.throwIfAborted()
    sink.replace(namespace, objects as readonly T[])
    metrics.watchHeard(kind.plural, namespace)
    this.#barren = 0
    return version
  }

  #afterWatch({ end, version, livedMs, events, error }: WatchStory): number {
    this.#version = version
    this.#barren = events > 0 ? 0 : this.#barren + 1
    if (end === 'expired' || this.#barren >= WATCHES_BARREN_MAX) this.#version = null
    this.#options.metrics.watchEnded(this.#options.kind.plural, end)
    // The usual end: the time that the watch asked for is over.
    if (end === 'closed' && livedMs >= WATCH_SHORT_MS) return 0
    return this.#pauseAfter(end, error)
  }

  /** A list or the beginning of a watch failed. */
  #afterFailure(error: unknown): number {
    const end: WatchEnd = isFault(error, 'gone') ? 'expired' : 'failed'
    // A version that the server does not take is none of its own, or no more.
    if (end === 'expired' || isFault(error, 'invalid')) this.#version = null
    this.#options.metrics.watchEnded(this.#options.kind.plural, end)
    return this.#pauseAfter(end, error)
  }

  #pauseAfter(end: WatchEnd, error: unknown): number {
    // The server is there and has been elsewhere, restarted most often: a list mends that. Only once in a row.
    if (end === 'expired' && this.#lastEnd !== 'expired') this.#retryPause.reset()
    this.#lastEnd = end
    const askedMs = error instanceof ResourceApiError ? (error.retryAfterMs ?? 0) : 0
    const pauseMs = Math.max(this.#retryPause.next(), Math.min(askedMs, RETRY_PAUSE_MS_MAX))
    const reason = error === null ? end : reasonOf(error)
    this.#logger.warn('the watch ended and goes on after a pause', {
      end,
      reason,
      pauseMs: Math.round(pauseMs),
    })
    return pauseMs
  }
}
