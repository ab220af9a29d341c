import { reasonOf, ResourceApiError } from '../../domain/errors.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { KubeObject, ObjectKey, Informer, ResourceWriter } from '../../ports/kubernetes.ts'
import { placeOfKey, queueKey } from '../../resources/queue-owner.ts'
import { pause } from '../../domain/pause.ts'
import type { Vanished } from './orphans.ts'

export interface OrphanSweepParts {
  readonly what: 'Queues' | 'Crons'
  readonly view: Pick<Informer<KubeObject>, 'isSynced' | 'all'>
  readonly writer: Pick<ResourceWriter<KubeObject>, 'read'>
  /** Keys of all resources of a namespace, asked of the API server itself. */
  readonly readKeys: (namespace: string) => Promise<readonly ObjectKey[]>
  /** What is in force and should have a resource, a page at a time; null ends. */
  readonly page: (cursor: string | null) => Promise<InForcePage>
  readonly hasResource: (key: ObjectKey) => boolean
  /** Whether resources of this namespace are ours to look at. */
  readonly isWatched: (namespace: string) => boolean
  /** Puts a key in line for the reconciler. */
  readonly enqueue: (key: ObjectKey) => void
  readonly clock: Clock
  readonly logger: Logger
  /** How many were found. */
  readonly count: (orphans: number) => void
}

interface InForcePage {
  readonly places: ReadonlyArray<{ readonly team: string; readonly name: string }>
  readonly cursor: string | null
}

/**
 * Finds queues or crons in force whose resource is gone without its finalizer: deleted by force, or while nobody led.
 * It only names them; the reconciler removes them in their turn.
 */
export interface OrphanSweep extends Vanished {
  /** Sweeps soon. */
  request(): void
  run(signal: AbortSignal): Promise<void>
}

/** Vanishing resources come in crowds: it waits, so that a crowd is seen as one. */
const SWEEP_DELAY_MS = 10_000
/** After a sweep that could not be done, or must not. */
const SWEEP_AGAIN_MS = 300_000
/** Resources that are asked for at most: one may have been deleted a moment ago. */
const PROOFS_MAX = 3
/** So many orphans are removed without a question; above, only as this part of all that have a resource. */
export const ORPHANS_FEW = 20
export const ORPHANS_SHARE = 0.1
/** Named in the log, of those that are left alone. */
const TOLD_MAX = 10

export function createOrphanSweep(parts: OrphanSweepParts): OrphanSweep {
  return new Sweep(parts)
}

class Sweep implements OrphanSweep {
  readonly #parts: OrphanSweepParts
  #isRequested = false
  #wake: () => void = () => undefined
  #doomed = new Set<ObjectKey>()

  constructor(parts: OrphanSweepParts) {
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
      await pause(clock, SWEEP_DELAY_MS, signal)
      if (signal.aborted) return
      this.#isRequested = false
      try {
        if (await this.#sweep(signal)) continue
      } catch (error) {
        logger.warn(`${this.#parts.what} without a resource could not be looked for`, {
          reason: reasonOf(error),
        })
      }
      await pause(clock, SWEEP_AGAIN_MS, signal)
      this.#isRequested = true
    }
  }

  #requested(signal: AbortSignal): Promise<void> {
    if (this.#isRequested || signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const end = () => {
        signal.removeEventListener('abort', end)
        resolve()
      }
      this.#wake = end
      signal.addEventListener('abort', end, { once: true })
    })
  }

  /** @returns false when orphans are left that must not be removed */
  async #sweep(signal: AbortSignal): Promise<boolean> {
    const { what, count, logger, enqueue } = this.#parts
    const { orphans, kept } = await this.#find(signal)
    count(orphans.length)
    if (orphans.length === 0 || signal.aborted) return true
    const doubt = (await this.#doubtOfView()) ?? doubtOfNumber(orphans.length, kept)
    if (doubt !== null) {
      logger.error(`${what} without a resource are left alone`, {
        count: orphans.length,
        reason: doubt,
        examples: orphans.slice(0, TOLD_MAX),
      })
      return false
    }
    const doomed = await this.#unknownToServer(orphans)
    count(doomed.length)
    this.#doomed = new Set(doomed)
    for (const key of doomed) enqueue(key)
    return true
  }

  /**
   * The view may be minutes behind, in whoever leads only now more than in whoever has put it in force: what it does
   * not show yet must not cost jobs or ticks. Throws ResourceApiError.
   */
  async #unknownToServer(orphans: readonly ObjectKey[]): Promise<readonly ObjectKey[]> {
    const known = new Set<ObjectKey>()
    for (const namespace of new Set(orphans.map((key) => placeOfKey(key).team))) {
      for (const key of await this.#parts.readKeys(namespace)) known.add(key)
    }
    return orphans.filter((key) => !known.has(key))
  }

  async #find(signal: AbortSignal): Promise<{ orphans: readonly ObjectKey[]; kept: number }> {
    const { page: pageAt, hasResource, isWatched } = this.#parts
    const orphans: ObjectKey[] = []
    let kept = 0
    let cursor: string | null = null
    do {
      const page: InForcePage = await pageAt(cursor)
      for (const { team, name } of page.places) {
        if (!isWatched(team)) continue
        const key = queueKey(team, name)
        if (hasResource(key)) kept += 1
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
