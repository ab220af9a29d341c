import {
  ResourceApiError,
  StorageFullError,
  StoreUnavailableError,
  reasonOf,
  type ResourceApiFault,
} from '../../domain/errors.ts'
import { pause } from '../../domain/pause.ts'
import type { Informer, Leadership, ObjectKey, Reconciler } from '../../ports/kubernetes.ts'
import type { KubeObject } from '../../ports/resource-store.ts'
import type { QueuePriority, ReconcileMetrics, ReconcileResult } from '../../ports/metrics.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import { Deadline } from '../client/deadline.ts'
import { keyOf } from '../informer/indexer.ts'
import { needsReconcile } from './predicates.ts'
import { BACKOFF_MAX_MS, Workqueue, type WorkResult } from './workqueue.ts'

export interface ReconcileLoopOptions<T extends KubeObject> {
  /** The controller's name: the kind in lower case. */
  readonly name: string
  readonly informer: Informer<T>
  /** Maps an object to the keys to reconcile, if not its own: several objects may share one. */
  readonly keysOf?: ((object: T) => readonly ObjectKey[]) | undefined
  readonly reconciler: Reconciler
  readonly leadership: Leadership
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: ReconcileMetrics
  /** 0 ≤ x < 1. */
  random(): number
}

/** Reconciles mostly wait for Redis and the API server, so many may run at once. */
const WORKERS_MAX = 16
/** After this time the signal of the reconcile aborts; each of its requests has an earlier deadline. */
const RECONCILE_TIMEOUT_MS = 120_000
const RESYNC_MIN_MS = 600_000
const RESYNC_MAX_MS = 1_800_000

type Failure = 'conflict' | 'outage' | 'other'

const BACKOFFS_MAX_MS: Readonly<Record<Failure, number>> = {
  // The next try reads a fresh copy, which the watch delivers in a moment.
  conflict: 1_000,
  // When Redis or the API server is back, everything should be applied again soon.
  outage: 10_000,
  other: BACKOFF_MAX_MS,
}

/** Refused credentials are no fault of the resource either: they are read again. */
const OUTAGES: ReadonlySet<ResourceApiFault> = new Set(['unavailable', 'too_many', 'unauthorized'])

/**
 * Reconciles the objects of one kind while this process leads: what controller-runtime calls a Controller. Once the informer
 * has synced, every key is added with low priority, and again at each resync, every 10 to 30 minutes; a changed object adds
 * its keys with high priority. Owns one workqueue per leader epoch; an epoch ends when its signal aborts and the last
 * reconcile has returned.
 */
export class ReconcileLoop<T extends KubeObject> {
  readonly #options: ReconcileLoopOptions<T>
  #queue: Workqueue | null = null
  /** true = an outage was logged, and no reconcile has succeeded since. */
  #isOutage = false

  constructor(options: ReconcileLoopOptions<T>) {
    this.#options = options
  }

  /** May be called once; from then on the loop works in every epoch. */
  start(): void {
    this.#options.leadership.onLead((signal) => this.#lead(signal))
  }

  /** Serves a change outside the objects themselves. Does nothing while this process does not lead. */
  enqueue(key: ObjectKey, priority: QueuePriority = 'high'): void {
    this.#queue?.add(key, priority)
  }

  async #lead(signal: AbortSignal): Promise<void> {
    const { name, informer, clock, metrics } = this.#options
    if (!(await isSynced(informer, signal))) return
    const queue = new Workqueue({
      name,
      workersMax: WORKERS_MAX,
      clock,
      metrics,
      work: (key) => this.#reconcile(key, signal),
    })
    const unsubscribe = informer.onChange((_key, before, after) => {
      if (!needsReconcile(before, after)) return
      for (const key of this.#keysOf([before, after])) queue.add(key, 'high')
    })
    this.#queue = queue
    while (!signal.aborted) {
      for (const key of this.#keysOf([...informer.all()])) queue.add(key, 'low')
      await pause(clock, this.#resyncMs(), signal)
    }
    this.#queue = null
    unsubscribe()
    await queue.stop()
  }

  #keysOf(objects: ReadonlyArray<T | undefined>): ReadonlySet<ObjectKey> {
    const { keysOf = (object: T) => [keyOf(object)] } = this.#options
    return new Set(objects.flatMap((object) => (object === undefined ? [] : keysOf(object))))
  }

  async #reconcile(key: ObjectKey, signal: AbortSignal): Promise<WorkResult> {
    const { reconciler, leadership, clock } = this.#options
    const startedMs = clock.monotonicMs()
    // The epoch may be over before its signal aborts; the next leader reconciles every key.
    if (signal.aborted || !leadership.isLeader()) return { status: 'done', requeueAfterMs: null }
    const deadline = new Deadline(clock, { timeoutMs: RECONCILE_TIMEOUT_MS, signals: [signal] })
    try {
      const { requeueAfterMs } = await reconciler.reconcile(key, deadline.signal)
      this.#isOutage = false
      this.#count(requeueAfterMs === null ? 'success' : 'requeued', startedMs)
      return { status: 'done', requeueAfterMs }
    } catch (error) {
      const failure = failureOf(error)
      this.#count(failure === 'conflict' ? 'conflict' : 'error', startedMs)
      if (!signal.aborted) this.#log(key, failure, error)
      const retryAfterMs = error instanceof ResourceApiError ? error.retryAfterMs : null
      return { status: 'failed', backoffMsMin: retryAfterMs ?? 0, backoffMsMax: BACKOFFS_MAX_MS[failure] }
    } finally {
      deadline.end()
    }
  }

  #count(result: ReconcileResult, startedMs: number): void {
    const { name, clock, metrics } = this.#options
    metrics.reconciled(name, result, (clock.monotonicMs() - startedMs) / 1000)
  }

  #log(key: ObjectKey, failure: Failure, error: unknown): void {
    const { name, logger } = this.#options
    const fields = { controller: name, key, reason: reasonOf(error) }
    if (failure === 'other') logger.warn('Reconciling a resource failed; retrying', fields)
    else if (failure === 'conflict' || this.#isOutage) logger.debug('Retrying a reconcile', fields)
    else logger.warn('Reconciling waits for Redis or the API server; retrying', fields)
    if (failure === 'outage') this.#isOutage = true
  }

  #resyncMs(): number {
    return RESYNC_MIN_MS + this.#options.random() * (RESYNC_MAX_MS - RESYNC_MIN_MS)
  }
}

/** Waits for the first list, before which every object would seem deleted. Answers false when the epoch ended first. */
async function isSynced(informer: Informer<KubeObject>, signal: AbortSignal): Promise<boolean> {
  try {
    await informer.whenSynced(signal)
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return !signal.aborted
}

function failureOf(error: unknown): Failure {
  if (error instanceof StoreUnavailableError || error instanceof StorageFullError) return 'outage'
  if (!(error instanceof ResourceApiError)) return 'other'
  if (error.fault === 'conflict') return 'conflict'
  return OUTAGES.has(error.fault) ? 'outage' : 'other'
}
