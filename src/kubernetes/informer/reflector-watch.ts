import { isFault } from '../../domain/errors.ts'
import type { KubeObject } from '../../ports/resource-store.ts'
import type { ClusterMetrics, WatchEnd } from '../../ports/metrics.ts'
import type { Clock } from '../../ports/runtime.ts'
import { errorOfStatus } from '../client/api-errors.ts'
import { received } from '../client/received-object.ts'
import { collectionPath, type ResourceKind } from '../client/resource-path.ts'
import type { Transport } from '../client/transport.ts'
import type { Indexer } from './indexer.ts'
import { watchEventsOf, type WatchEvent } from './watch-events.ts'

/**
 * Each watch asks for a random duration in this range, so that they do not all reconnect at once. client-go does the
 * same.
 */
const WATCH_SECONDS_MIN = 300
const WATCH_SECONDS_MAX = 600
/** Bookmarks come about every minute: a watch without a byte for this long is dead, whatever TCP says. */
export const WATCH_SILENCE_MS = 150_000

export interface WatchOptions<T extends KubeObject> {
  readonly clock: Clock
  readonly metrics: ClusterMetrics
  readonly transport: Transport
  /** 0 ≤ x < 1; spreads the backoff and the duration of watches. */
  readonly random: () => number
  readonly kind: ResourceKind
  /** null = all namespaces. */
  readonly namespace: string | null
  /** Selects objects by labels, so that one that loses them counts as deleted; absent = all. */
  readonly labelSelector?: string | undefined
  /** Gets a full list at first and whenever events may have been missed. */
  readonly store: Pick<Indexer<T>, 'get' | 'replace' | 'put' | 'delete'>
  /** Reduces each object before it is kept, as client-go's SetTransform. */
  readonly transform?: ((object: KubeObject) => KubeObject) | undefined
}

/** Says how a watch that had begun ended. */
export interface WatchResult {
  readonly end: WatchEnd
  /** The version of the last event or bookmark, from which the next watch starts. */
  readonly version: string
  readonly durationMs: number
  /** How many events came, bookmarks included. */
  readonly events: number
  /** null = the server ended the watch in order. */
  readonly error: unknown
}

/** Feeds the store until the watch ends. Throws ResourceApiError when the watch does not begin. */
export async function watchObjects<T extends KubeObject>(
  options: WatchOptions<T>,
  from: string,
  signal: AbortSignal,
): Promise<WatchResult> {
  const { clock, metrics, kind, namespace } = options
  const silence = new SilenceTimer(clock)
  let version = from
  let events = 0
  let error: unknown = null
  const body = await openWatch(options, from, AbortSignal.any([signal, silence.signal]))
  const beganMs = clock.monotonicMs()
  silence.start()
  try {
    const tapped = tap(body, () => {
      silence.reset()
      metrics.watchHeard(kind.plural, namespace)
    })
    for await (const event of watchEventsOf(tapped)) {
      // A store that was stopped gets nothing more, not even what has been received.
      if (signal.aborted) break
      version = applyEvent(options, event)
      events += 1
    }
  } catch (thrown) {
    error = thrown
  } finally {
    silence.stop()
  }
  const end = endOf(error, silence.signal)
  return { end, version, events, error, durationMs: clock.monotonicMs() - beganMs }
}

function openWatch<T extends KubeObject>(
  { random, transport, kind, namespace, labelSelector }: WatchOptions<T>,
  resourceVersion: string,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const timeoutSeconds = WATCH_SECONDS_MIN + Math.floor(random() * (WATCH_SECONDS_MAX - WATCH_SECONDS_MIN))
  const query = { watch: true, allowWatchBookmarks: true, resourceVersion, timeoutSeconds, labelSelector }
  return transport.watch({ path: collectionPath(kind, namespace), query }, signal)
}

/** @returns the version after the event. Throws the error of an ERROR event, which is the last of its watch. */
function applyEvent<T extends KubeObject>(
  { store, kind, transform }: WatchOptions<T>,
  { type, object }: WatchEvent,
): string {
  if (type === 'ERROR') throw errorOfStatus(object)
  if (type === 'DELETED') store.delete(received(object, kind, transform) as T)
  else if (type !== 'BOOKMARK') store.put(received(object, kind, transform) as T)
  return object.metadata.resourceVersion
}

function endOf(error: unknown, silence: AbortSignal): WatchEnd {
  if (error === null) return 'closed'
  if (silence.aborted) return 'silent'
  return isFault(error, 'gone') ? 'expired' : 'failed'
}

async function* tap(body: AsyncIterable<Uint8Array>, onChunk: () => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    onChunk()
    yield chunk
  }
}

/** Aborts its signal when nothing has been received for too long. One timer that checks again, not one per chunk. */
class SilenceTimer {
  readonly #clock: Clock
  readonly #tooLong = new AbortController()
  readonly signal = this.#tooLong.signal
  #heardAtMs = 0
  #cancel = (): void => undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  start(): void {
    this.reset()
    this.#check()
  }

  reset(): void {
    this.#heardAtMs = this.#clock.monotonicMs()
  }

  stop(): void {
    this.#cancel()
  }

  #check(): void {
    const leftMs = this.#heardAtMs + WATCH_SILENCE_MS - this.#clock.monotonicMs()
    if (leftMs <= 0) this.#tooLong.abort()
    else this.#cancel = this.#clock.after(leftMs, () => this.#check())
  }
}
