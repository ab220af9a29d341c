import { reasonOf, ResourceApiError } from '../domain/errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { ControllerMetrics } from '../ports/controller-metrics.ts'
import type { ObjectKey } from '../ports/kube-object.ts'
import type { Logger } from '../ports/logger.ts'
import type { QueueCensus } from '../ports/queue-census.ts'
import type { ResourceView } from '../ports/resource-view.ts'
import type { ResourceWriter } from '../ports/resource-writer.ts'
import { placeOfKey, queueKey, queueKeyOf } from '../resources/queue-owner.ts'
import type { HttpQueue } from './kinds.ts'
import { pause } from '../domain/pause.ts'
import { BY_QUEUE, type VanishedQueues } from './vanished-queues.ts'

export interface OrphanQueuesParts {
  readonly view: Pick<ResourceView<HttpQueue>, 'isSynced' | 'all' | 'byIndex'>
  readonly writer: Pick<ResourceWriter<HttpQueue>, 'read' | 'readAll'>
  readonly census: Pick<QueueCensus, 'page'>
  /** Whether resources of this namespace are ours to look at. */
  readonly isWatched: (namespace: string) => boolean
  /** Puts a key in line for the reconciler. */
  readonly enqueue: (key: ObjectKey) => void
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Pick<ControllerMetrics, 'orphanQueues'>
}

/**
 * Finds queues in force whose resource is gone without its finalizer: deleted by force, or while nobody led. It only
 * names them; the reconciler removes them in their turn.
 */
export interface OrphanQueues extends VanishedQueues {
  /** Searches soon. */
  request(): void
  run(signal: AbortSignal): Promise<void>
}

/** Vanishing resources come in crowds: it waits, so that a crowd is seen as one. */
const SEARCH_DELAY_MS = 10_000
/** After a search that could not be done, or must not. */
const SEARCH_AGAIN_MS = 300_000
/** Resources that are asked for at most: one may have been deleted a moment ago. */
const PROOFS_MAX = 3
/** So many orphans are removed without a question; above, only as this part of all queues with a resource. */
export const ORPHANS_FEW = 20
export const ORPHANS_SHARE = 0.1

export function createOrphanQueues(parts: OrphanQueuesParts): OrphanQueues {
  return new Orphans(parts)
}

class Orphans implements OrphanQueues {
  readonly #parts: OrphanQueuesParts
  #isRequested = false
  #wake: () => void = () => undefined
  #doomed = new Set<ObjectKey>()

  constructor(parts: OrphanQueuesParts) {
    this.#parts = parts
  }

  note(): void {
    this.request()
  }

  takeDoomed(key: ObjectKey): boolean {
    return this.#doomed.delete(key)
  }

  request(): void {
    this.#isRequested = true
    this.#wake()
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#parts
    while (!signal.aborted) {
      await this.#requested(signal)
      await pause(clock, SEARCH_DELAY_MS, signal)
      if (signal.aborted) return
      this.#isRequested = false
      try {
        if (await this.#search(signal)) continue
      } catch (error) {
        logger.warn('Queues without a resource could not be looked for', { reason: reasonOf(error) })
      }
      await pause(clock, SEARCH_AGAIN_MS, signal)
      this.#isRequested = true
    }
  }

  #requested(signal: AbortSignal): Promise<void> {
    if (this.#isRequested || signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      this.#wake = resolve
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }

  /** @returns false when orphans are left that must not be removed */
  async #search(signal: AbortSignal): Promise<boolean> {
    const { metrics, logger, enqueue } = this.#parts
    const { orphans, kept } = await this.#find(signal)
    metrics.orphanQueues(orphans.length)
    if (orphans.length === 0 || signal.aborted) return true
    const doubt = (await this.#doubtOfView()) ?? doubtOfNumber(orphans.length, kept)
    if (doubt !== null) {
      logger.error('Queues without a resource are left alone', { queues: orphans.length, reason: doubt })
      return false
    }
    const doomed = await this.#unknownToServer(orphans)
    metrics.orphanQueues(doomed.length)
    this.#doomed = new Set(doomed)
    for (const key of doomed) enqueue(key)
    return true
  }

  /**
   * The view may be minutes behind, in whoever leads only now more than in whoever has put the queue in force: what
   * it does not show yet must not cost the jobs. Throws ResourceApiError.
   */
  async #unknownToServer(orphans: readonly ObjectKey[]): Promise<readonly ObjectKey[]> {
    const known = new Set<ObjectKey>()
    for (const namespace of new Set(orphans.map((key) => placeOfKey(key).team))) {
      for (const queue of await this.#parts.writer.readAll(namespace)) known.add(queueKeyOf(queue))
    }
    return orphans.filter((key) => !known.has(key))
  }

  async #find(signal: AbortSignal): Promise<{ orphans: readonly ObjectKey[]; kept: number }> {
    const { census, view, isWatched } = this.#parts
    const orphans: ObjectKey[] = []
    let kept = 0
    let cursor: string | null = null
    do {
      const page: Awaited<ReturnType<QueueCensus['page']>> = await census.page(cursor)
      for (const { team, name, isPushed } of page.queues) {
        if (isPushed || !isWatched(team)) continue
        const key = queueKey(team, name)
        if (view.byIndex(BY_QUEUE, key).length > 0) kept += 1
        else orphans.push(key)
      }
      cursor = page.cursor
    } while (cursor !== null && !signal.aborted)
    return { orphans, kept }
  }

  /**
   * An empty or a foreign answer must not look like deletions: the API server itself must still have a resource that
   * the view has. With none in view there is nothing to ask for, and nothing is removed.
   */
  async #doubtOfView(): Promise<string | null> {
    const { view, writer } = this.#parts
    if (!view.isSynced()) return 'the resources are not all known'
    let doubt = 'there is no resource at all'
    for (const known of Iterator.from(view.all()).take(PROOFS_MAX)) {
      try {
        const found = await writer.read(known.metadata.namespace, known.metadata.name)
        if (found?.metadata.uid === known.metadata.uid) return null
        doubt = 'the API server does not have what was seen'
      } catch (error) {
        if (!(error instanceof ResourceApiError)) throw error
        doubt = reasonOf(error)
      }
    }
    return doubt
  }
}

/** Many at once are rather a mistake with the cluster than the wish of its users. */
function doubtOfNumber(orphans: number, kept: number): string | null {
  const allowed = Math.max(ORPHANS_FEW, Math.floor((orphans + kept) * ORPHANS_SHARE))
  return orphans <= allowed ? null : `they are more than ${allowed}`
}
