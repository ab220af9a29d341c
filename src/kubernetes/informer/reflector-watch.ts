import type { WatchEnd } from '../../ports/metrics.ts'
import type { Clock } from '../../ports/runtime.ts'
import type { KubeObject } from '../../ports/kubernetes.ts'
import { errorOfStatus, isFault } from '../client/api-errors.ts'
import { WATCH_SECONDS_MAX, WATCH_SECONDS_MIN, WATCH_SILENCE_MS } from '../client/bounds.ts'
import { received } from '../client/received-object.ts'
import type { ReflectorOptions } from './reflector-options.ts'
import { collectionPath } from '../client/resource-path.ts'
import { watchEventsOf, type WatchEvent } from './watch-events.ts'

/** What became of a watch that had begun. */
export interface WatchStory {
  readonly end: WatchEnd
  /** Of the last event, bookmarks included: the next watch goes on from here. */
  readonly version: string
  readonly livedMs: number
  /** Bookmarks included. */
  readonly events: number
  /** What ended it; null when the server did, in order. */
  readonly error: unknown
}

/** Watches to the end, telling the sink. Throws ResourceApiError when the watch does not begin. */
export async function watchObjects<T extends KubeObject>(
  options: ReflectorOptions<T>,
  from: string,
  signal: AbortSignal,
): Promise<WatchStory> {
  const { clock, metrics, kind, namespace } = options
  const silence = createSilence(clock)
  let version = from
  let events = 0
  let error: unknown = null
  const body = await openWatch(options, from, AbortSignal.any([signal, silence.signal]))
  const beganMs = clock.monotonicMs()
  silence.begin()
  try {
    const heard = tapped(body, () => {
      silence.broken()
      metrics.watchHeard(kind.plural, namespace)
    })
    for await (const event of watchEventsOf(heard)) {
      // Whoever has stopped is told nothing more, also of what has been received already.
      if (signal.aborted) break
      version = tell(options, event)
      events += 1
    }
  } catch (thrown) {
    error = thrown
  } finally {
    silence.end()
  }
  const end = endOf(error, silence.signal)
  return { end, version, events, error, livedMs: clock.monotonicMs() - beganMs }
}

function openWatch<T extends KubeObject>(
  { random, transport, kind, namespace }: ReflectorOptions<T>,
  resourceVersion: string,
  life: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const timeoutSeconds = WATCH_SECONDS_MIN + Math.floor(random() * (WATCH_SECONDS_MAX - WATCH_SECONDS_MIN))
  const query = { watch: true, allowWatchBookmarks: true, resourceVersion, timeoutSeconds }
  return transport.watch({ path: collectionPath(kind, namespace), query }, life)
}

/** @returns the version after the event. Throws what an ERROR event says: it is the last of its watch. */
function tell<T extends KubeObject>({ sink, kind, lean }: ReflectorOptions<T>, event: WatchEvent): string {
  switch (event.type) {
    case 'ERROR':
      throw errorOfStatus(event.object)
    case 'BOOKMARK':
      break
    case 'ADDED':
    case 'MODIFIED':
      sink.put(received(event.object, kind, lean) as T)
      break
    case 'DELETED':
      sink.remove(received(event.object, kind, lean) as T)
      break
  }
  return event.object.metadata.resourceVersion
}

function endOf(error: unknown, silence: AbortSignal): WatchEnd {
  if (error === null) return 'closed'
  if (silence.aborted) return 'silent'
  return isFault(error, 'gone') ? 'expired' : 'failed'
}

async function* tapped(body: AsyncIterable<Uint8Array>, hear: () => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    hear()
    yield chunk
  }
}

/** Aborts when nothing has been heard for too long. */
interface Silence {
  readonly signal: AbortSignal
  begin(): void
  broken(): void
  end(): void
}

function createSilence(clock: Clock): Silence {
  const tooLong = new AbortController()
  let heardAtMs = 0
  let cancel = (): void => undefined
  // One timer that looks again, not one for each chunk.
  function look(): void {
    const leftMs = heardAtMs + WATCH_SILENCE_MS - clock.monotonicMs()
    if (leftMs <= 0) tooLong.abort()
    else cancel = clock.after(leftMs, look)
  }
  return {
    signal: tooLong.signal,
    begin: () => {
      heardAtMs = clock.monotonicMs()
      look()
    },
    broken: () => {
      heardAtMs = clock.monotonicMs()
    },
    end: () => cancel(),
  }
}
