import {
  ResourceApiError,
  StorageFullError,
  StoreUnavailableError,
  reasonOf,
  type ResourceApiFault,
} from '../../domain/errors.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { KubeObject, ObjectKey, Leadership, Reconciler, Informer } from '../../ports/kubernetes.ts'
import type { QueuePriority, ReconcileMetrics, ReconcileResult } from '../../ports/metrics.ts'
import { pause } from '../../domain/pause.ts'
import { needsReconcile } from './predicates.ts'
import { createDeadline } from '../client/deadline.ts'
import { BACKOFF_MAX_MS, createWorkqueue, type WorkEnd, type Workqueue } from './workqueue.ts'

/**
 * Gives a reconciler its turns while this process leads. A term of leading begins, once the view has its first list,
 * with a turn of low priority for every key, which comes back every 10 to 30 minutes; in between what changes gets a
 * turn of high priority. The term ends when its signal aborts and the last turn is over. Owns: a queue for each term.
 */
export interface Runner {
  /** From now on, in every term. Once. */
  start(): void
  /** Something that this key depends on has changed. Nothing happens while this process does not lead. */
  enqueue(key: ObjectKey, priority?: QueuePriority): void
}

export interface RunnerOptions<T extends KubeObject> {
  /** Of the controller, in lower case: the kind. */
  readonly name: string
  readonly view: Informer<T>
  /** What an object gives a turn to, when its key is not the object's own: several objects may share one. */
  readonly keysOf?: (object: T) => readonly ObjectKey[]
  readonly reconciler: Reconciler
  readonly leadership: Leadership
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: ReconcileMetrics
  /** From 0 to below 1. */
  random(): number
}

/** Turns are mostly waits for Redis and the API server. */
const WORKERS_MAX = 16
/** Then the turn's signal aborts; each request in it ends on its own well before. */
const TURN_MAX_MS = 120_000
const RESYNC_MIN_MS = 600_000
const RESYNC_MAX_MS = 1_800_000
/** The next turn reads a fresh copy, which comes in a moment. */
const CONFLICT_PAUSE_MAX_MS = 1_000
/** When Redis or the API server is back, all is to be in force again soon. */
const OUTAGE_PAUSE_MAX_MS = 10_000

export function createRunner<T extends KubeObject>(options: RunnerOptions<T>): Runner {
  return new LeadingRunner(options)
}

type Failure = 'conflict' | 'outage' | 'other'

class LeadingRunner<T extends KubeObject> implements Runner {
  readonly #options: RunnerOptions<T>
  #queue: Workqueue | null = null
  /** No turn has succeeded since one failed for an outage: the log has it, once. */
  #isOutage = false

  constructor(options: RunnerOptions<T>) {
    this.#options = options
  }

  start(): void {
    this.#options.leadership.onLead((signal) => this.#lead(signal))
  }

  enqueue(key: ObjectKey, priority: QueuePriority = 'high'): void {
    this.#queue?.add(key, priority)
  }

  async #lead(signal: AbortSignal): Promise<void> {
    const { name, view, clock, metrics } = this.#options
    if (!(await isSyncedInTime(view, signal))) return
    const queue = createWorkqueue({
      name,
      workersMax: WORKERS_MAX,
      clock,
      metrics,
      work: (key) => this.#turn(key, signal),
    })
    const unlisten = view.onChange((_key, before, after) => {
      if (!needsReconcile(before, after)) return
      for (const key of this.#keysOf([before, after])) queue.add(key, 'high')
    })
    this.#queue = queue
    while (!signal.aborted) {
      for (const key of this.#keysOf([...view.all()])) queue.add(key, 'low')
      await pause(clock, this.#resyncMs(), signal)
    }
    this.#queue = null
    unlisten()
    await queue.stop()
  }

  #keysOf(objects: ReadonlyArray<T | undefined>): ReadonlySet<ObjectKey> {
    const { keysOf = ownKeyOf } = this.#options
    return new Set(objects.flatMap((object) => (object === undefined ? [] : keysOf(object))))
  }

  async #turn(key: ObjectKey, signal: AbortSignal): Promise<WorkEnd> {
    const { reconciler, leadership, clock } = this.#options
    const startedMs = clock.monotonicMs()
    // The term is over even if its signal is late; the next leader takes up every key.
    if (signal.aborted || !leadership.isLeader()) return { status: 'done', againAfterMs: null }
    const deadline = createDeadline(clock, TURN_MAX_MS, [signal])
    try {
      const { requeueAfterMs } = await reconciler.reconcile(key, deadline.signal)
      this.#isOutage = false
      this.#count(requeueAfterMs === null ? 'success' : 'requeued', startedMs)
      return { status: 'done', againAfterMs: requeueAfterMs }
    } catch (error) {
      const failure = failureOf(error)
      this.#count(failure === 'conflict' ? 'conflict' : 'error', startedMs)
      if (!signal.aborted) this.#log(key, failure, error)
      return { status: 'failed', pauseMinMs: askedPauseMs(error), pauseMaxMs: PAUSE_MAX_MS[failure] }
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
    if (failure === 'other') logger.warn('A resource could not be reconciled; it is tried again', fields)
    else if (failure === 'conflict' || this.#isOutage) logger.debug('A turn is tried again', fields)
    else logger.warn('Reconciling waits for Redis or the API server; turns are tried again', fields)
    if (failure === 'outage') this.#isOutage = true
  }

  #resyncMs(): number {
    return RESYNC_MIN_MS + this.#options.random() * (RESYNC_MAX_MS - RESYNC_MIN_MS)
  }
}

function ownKeyOf({ metadata }: KubeObject): readonly ObjectKey[] {
  return [`${metadata.namespace}/${metadata.name}`]
}

/** Before the first list every object would look deleted. False when the term ended first. */
async function isSyncedInTime(view: Informer<KubeObject>, signal: AbortSignal): Promise<boolean> {
  try {
    await view.whenSynced(signal)
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return !signal.aborted
}

const PAUSE_MAX_MS: Readonly<Record<Failure, number>> = {
  conflict: CONFLICT_PAUSE_MAX_MS,
  outage: OUTAGE_PAUSE_MAX_MS,
  other: BACKOFF_MAX_MS,
}

/** Credentials that are not taken are no fault of any resource either: they are read anew. */
const OUTAGES: ReadonlySet<ResourceApiFault> = new Set(['unavailable', 'too_many', 'unauthorized'])

function failureOf(error: unknown): Failure {
  if (error instanceof StoreUnavailableError || error instanceof StorageFullError) return 'outage'
  if (!(error instanceof ResourceApiError)) return 'other'
  if (error.fault === 'conflict') return 'conflict'
  return OUTAGES.has(error.fault) ? 'outage' : 'other'
}

function askedPauseMs(error: unknown): number {
  return error instanceof ResourceApiError ? (error.retryAfterMs ?? 0) : 0
}
