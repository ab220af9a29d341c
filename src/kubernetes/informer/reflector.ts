import { ResourceApiError, reasonOf, isFault } from '../../domain/errors.ts'
import { pause } from '../../domain/pause.ts'
import type { KubeObject } from '../../ports/resource-store.ts'
import type { WatchEnd } from '../../ports/metrics.ts'
import type { Logger } from '../../ports/runtime.ts'
import { BACKOFF_MAX_MS, Backoff } from './backoff.ts'
import { listObjects } from './reflector-list.ts'
import { watchObjects, type WatchOptions, type WatchResult } from './reflector-watch.ts'

/** A watch that the server ends sooner is reopened only after a backoff. */
const WATCH_SHORT_MS = 1_000
/**
 * After this many watches in a row without an event or bookmark the objects are listed again: the version may be of
 * another history.
 */
const EMPTY_WATCHES_MAX = 3

export interface ReflectorOptions<T extends KubeObject> extends WatchOptions<T> {
  readonly logger: Logger
}

/**
 * Lists the objects of one kind, then watches them, forever: one loop with one request at a time. It is
 *
 *     listing → watching ⇄ backing off → watching, or listing again
 *
 * Each watch resumes at the version where the last one ended; when that version has expired or is in doubt, it lists
 * again. `stop` ends the loop in any state and waits for it; the store gets nothing afterwards.
 */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>
  readonly #logger: Logger
  readonly #backoff: Backoff
  readonly #stopping = new AbortController()
  #loop: Promise<void> | null = null
  /** Where the next watch starts; null = list first. */
  #version: string | null = null
  /** Watches in a row that began and brought nothing. */
  #emptyWatches = 0
  #lastEnd: WatchEnd | null = null

  constructor(options: ReflectorOptions<T>) {
    const { clock, logger, random, kind, namespace } = options
    this.#options = options
    this.#logger = logger.child({ resource: kind.plural, namespace: namespace ?? 'all' })
    this.#backoff = new Backoff(clock, random)
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
      const backoffMs = await this.#listAndWatch(signal)
      if (backoffMs > 0) await pause(this.#options.clock, backoffMs, signal)
    }
  }

  /** Lists if necessary, then watches until the watch ends. @returns how long to wait before the next one */
  async #listAndWatch(signal: AbortSignal): Promise<number> {
    try {
      this.#version ??= await this.#list(signal)
      const result = await watchObjects(this.#options, this.#version, signal)
      return signal.aborted ? 0 : this.#afterWatch(result)
    } catch (error) {
      // A request that our own stop has cut off is no failure.
      return signal.aborted ? 0 : this.#afterFailure(error)
    }
  }

  async #list(signal: AbortSignal): Promise<string> {
    const { store, namespace, metrics, kind } = this.#options
    const { objects, version } = await listObjects(
      { ...this.#options, known: (key) => store.get(key) },
      signal,
    )
    signal.throwIfAborted()
    store.replace(namespace, objects as readonly T[])
    metrics.watchHeard(kind.plural, namespace)
    this.#emptyWatches = 0
    return version
  }

  #afterWatch({ end, version, durationMs, events, error }: WatchResult): number {
    this.#version = version
    this.#emptyWatches = events > 0 ? 0 : this.#emptyWatches + 1
    if (end === 'expired' || this.#emptyWatches >= EMPTY_WATCHES_MAX) this.#version = null
    this.#options.metrics.watchEnded(this.#options.kind.plural, end)
    // The normal end: the duration that the watch asked for has passed.
    if (end === 'closed' && durationMs >= WATCH_SHORT_MS) return 0
    return this.#backoffAfter(end, error)
  }

  /** Decides about a list that failed, or a watch that did not begin. */
  #afterFailure(error: unknown): number {
    const end: WatchEnd = isFault(error, 'gone') ? 'expired' : 'failed'
    // The server has never known the version, or no longer knows it.
    if (end === 'expired' || isFault(error, 'invalid')) this.#version = null
    this.#options.metrics.watchEnded(this.#options.kind.plural, end)
    return this.#backoffAfter(end, error)
  }

  #backoffAfter(end: WatchEnd, error: unknown): number {
    // The server answers and most likely was restarted, which a list repairs. The backoff is reset only once in a row.
    if (end === 'expired' && this.#lastEnd !== 'expired') this.#backoff.reset()
    this.#lastEnd = end
    const retryAfterMs = error instanceof ResourceApiError ? (error.retryAfterMs ?? 0) : 0
    const pauseMs = Math.max(this.#backoff.nextMs(), Math.min(retryAfterMs, BACKOFF_MAX_MS))
    const reason = error === null ? end : reasonOf(error)
    this.#logger.warn('The watch ended and resumes after a pause', {
      end,
      reason,
      pauseMs: Math.round(pauseMs),
    })
    return pauseMs
  }
}
