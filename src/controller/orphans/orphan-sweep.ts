import { reasonOf, ResourceApiError } from '../../domain/errors.ts'
import { pause } from '../../domain/pause.ts'
import type { Informer, ObjectKey, ResourceWriter } from '../../ports/kubernetes.ts'
import type { KubeObject } from '../../ports/resource-store.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import { parseKey, queueKey } from '../../resources/queue-owner.ts'
import type { Orphans } from '../reconcile/resource-reconciler.ts'

export interface OrphanSweepOptions {
  readonly what: 'Queues' | 'Crons'
  readonly informer: Pick<Informer<KubeObject>, 'isSynced' | 'all'>
  readonly writer: Pick<ResourceWriter<KubeObject>, 'read'>
  /** Reads the keys of all resources of a namespace from the API server itself. */
  readonly readKeys: (namespace: string) => Promise<readonly ObjectKey[]>
  /** Reads a page of what is applied and should have a resource. A null cursor starts, and ends. */
  readonly readApplied: (cursor: string | null) => Promise<AppliedPage>
  readonly hasResource: (key: ObjectKey) => boolean
  readonly isWatched: (namespace: string) => boolean
  readonly enqueue: (key: ObjectKey) => void
  readonly clock: Clock
  readonly logger: Logger
  /** Sets the metric of orphans found. */
  readonly count: (orphans: number) => void
}

interface AppliedPage {
  readonly refs: ReadonlyArray<{ readonly team: string; readonly name: string }>
  readonly cursor: string | null
}

/** Resources tend to disappear in bulk, so the sweep waits until one bulk deletion can be judged as a whole. */
const SWEEP_DELAY_MS = 10_000
/** A sweep that failed, or found orphans it must not remove, is repeated after this time. */
const SWEEP_AGAIN_MS = 300_000
/** This many resources are read from the API server as a probe, as any of them may have just been deleted. */
const PROBES_MAX = 3
/** At most this many orphans are removed in any case; more only up to `ORPHANS_SHARE` of everything applied. */
export const ORPHANS_FEW = 20
export const ORPHANS_SHARE = 0.1
/** The log names at most this many when orphans are left alone. */
const EXAMPLES_MAX = 10

/**
 * Finds queues or crons in Redis whose resource is gone without its finalizer: it was deleted by force, or while there
 * was no leader. It only confirms orphans; the reconciler removes them. Owns the orphans confirmed by the last sweep.
 *
 *     idle → requested → sweeping → idle, or requested again after a while
 */
export class OrphanSweep implements Orphans {
  readonly #options: OrphanSweepOptions
  /** A request aborts it, which ends the wait for the next sweep. */
  #wake = new AbortController()
  #confirmed = new Set<ObjectKey>()

  constructor(options: OrphanSweepOptions) {
    this.#options = options
  }

  takeConfirmed(key: ObjectKey): boolean {
    return this.#confirmed.delete(key)
  }

  request(): void {
    this.#wake.abort()
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger, what } = this.#options
    while (!signal.aborted) {
      await this.#requested(signal)
      await pause(clock, SWEEP_DELAY_MS, signal)
      if (signal.aborted) return
      this.#wake = new AbortController()
      try {
        if (await this.#sweep(signal)) continue
      } catch (error) {
        logger.warn(`${what} without a resource could not be searched for`, { reason: reasonOf(error) })
      }
      await pause(clock, SWEEP_AGAIN_MS, signal)
      this.request()
    }
  }

  async #requested(signal: AbortSignal): Promise<void> {
    const woken = AbortSignal.any([signal, this.#wake.signal])
    if (woken.aborted) return
    await new Promise((resolve) => woken.addEventListener('abort', resolve, { once: true }))
  }

  /** @returns false when orphans are left that must not be removed */
  async #sweep(signal: AbortSignal): Promise<boolean> {
    const { what, count, logger, enqueue } = this.#options
    const { suspects, kept } = await this.#find(signal)
    count(suspects.length)
    if (suspects.length === 0 || signal.aborted) return true
    const doubt = (await this.#doubtOfInformer()) ?? doubtOfNumber(suspects.length, kept)
    if (doubt !== null) {
      logger.error(`${what} without a resource are left alone`, {
        count: suspects.length,
        reason: doubt,
        examples: suspects.slice(0, EXAMPLES_MAX),
      })
      return false
    }
    const orphans = await this.#withoutResource(suspects)
    count(orphans.length)
    this.#confirmed = new Set(orphans)
    for (const key of orphans) enqueue(key)
    return true
  }

  async #find(signal: AbortSignal): Promise<{ suspects: readonly ObjectKey[]; kept: number }> {
    const { readApplied, hasResource, isWatched } = this.#options
    const suspects: ObjectKey[] = []
    let kept = 0
    let cursor: string | null = null
    do {
      const page: AppliedPage = await readApplied(cursor)
      for (const { team, name } of page.refs) {
        if (!isWatched(team)) continue
        const key = queueKey(team, name)
        if (hasResource(key)) kept += 1
        else suspects.push(key)
      }
      cursor = page.cursor
    } while (cursor !== null && !signal.aborted)
    return { suspects, kept }
  }

  /**
   * An empty or wrong answer must not pass for deletions: the API server itself must still have one of the resources
   * that the informer has. If the informer has none, there is nothing to compare with, and nothing is removed.
   */
  async #doubtOfInformer(): Promise<string | null> {
    const { informer, writer } = this.#options
    if (!informer.isSynced()) return 'the resources are not all known yet'
    let doubt = 'there is no resource at all'
    for (const known of Iterator.from(informer.all()).take(PROBES_MAX)) {
      try {
        const found = await writer.read(known.metadata.namespace, known.metadata.name)
        if (found?.metadata.uid === known.metadata.uid) return null
        doubt = 'the API server does not have a resource that the controller has seen'
      } catch (error) {
        if (!(error instanceof ResourceApiError)) throw error
        doubt = reasonOf(error)
      }
    }
    return doubt
  }

  /**
   * The informer may be minutes behind, and in a new leader further than in the one that applied the settings: a
   * resource it does not have yet must not lose its jobs or ticks. Throws ResourceApiError.
   */
  async #withoutResource(suspects: readonly ObjectKey[]): Promise<readonly ObjectKey[]> {
    const known = new Set<ObjectKey>()
    for (const namespace of new Set(suspects.map((key) => parseKey(key).team))) {
      for (const key of await this.#options.readKeys(namespace)) known.add(key)
    }
    return suspects.filter((key) => !known.has(key))
  }
}

/** Many orphans at once point to a mistake in the cluster rather than to deletions that users meant. */
function doubtOfNumber(orphans: number, kept: number): string | null {
  const allowed = Math.max(ORPHANS_FEW, Math.floor((orphans + kept) * ORPHANS_SHARE))
  return orphans <= allowed ? null : `they are more than ${allowed}`
}
