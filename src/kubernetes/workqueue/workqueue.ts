import type { ObjectKey } from '../../ports/kubernetes.ts'
import type { QueuePriority, ReconcileMetrics } from '../../ports/metrics.ts'
import type { Clock } from '../../ports/runtime.ts'
import { FairQueue } from './fair-queue.ts'

/** Says what follows for a key after it was processed. */
export type WorkResult =
  /** @param requeueAfterMs capped at a day; null = the key is processed again only when it is added */
  | { readonly status: 'done'; readonly requeueAfterMs: number | null }
  /** The key is retried with exponential backoff within these bounds. */
  | { readonly status: 'failed'; readonly backoffMsMin: number; readonly backoffMsMax: number }

export interface WorkqueueOptions {
  /** The controller's name, for the metrics. */
  readonly name: string
  readonly workersMax: number
  readonly clock: Clock
  readonly metrics: ReconcileMetrics
  /** Must not throw. */
  work(key: ObjectKey): Promise<WorkResult>
}

/** Retries wait from 5 ms to 1,000 s, as in controller-runtime. */
const BACKOFF_MIN_MS = 5
export const BACKOFF_MAX_MS = 1_000_000
const REQUEUE_AFTER_MS_MAX = 86_400_000
/** One key in this many is of low priority while both priorities wait. */
const LOW_SHARE = 8

interface Processing {
  readonly priority: QueuePriority
  /** The priority of a key that was added meanwhile, so that it is processed once more when done; null = it was not. */
  dirty: QueuePriority | null
}

/**
 * A workqueue and its workers. A key is
 *
 *     idle → waiting → processing → idle, or delayed → waiting
 *
 * and never waits twice nor is processed twice at once. A key added while it is processed is processed once more
 * afterwards. A delay is a timer set by the last result; adding the key overtakes it, and processing the key cancels it.
 * High priority goes first, except that one key in 8 is of low priority while such wait. A key that requeues itself comes
 * back with low priority. Owns the waiting keys, the timers and the workers; `stop` waits for the workers.
 */
export class Workqueue {
  readonly #options: WorkqueueOptions
  #waiting = emptyQueues()
  readonly #processing = new Map<ObjectKey, Processing>()
  /** Functions that cancel the timer of a delayed key. */
  readonly #delayed = new Map<ObjectKey, () => void>()
  readonly #failuresInARow = new Map<ObjectKey, number>()
  /** How many keys of high priority were taken since the last one of low priority. */
  #highInARow = 0
  #isStopped = false
  readonly #idle = Promise.withResolvers<void>()

  constructor(options: WorkqueueOptions) {
    this.#options = options
  }

  /** A waiting key keeps its place, or moves up when its priority rises. */
  add(key: ObjectKey, priority: QueuePriority): void {
    if (this.#isStopped) return
    const processing = this.#processing.get(key)
    if (processing !== undefined) {
      processing.dirty = processing.dirty === 'high' ? 'high' : priority
      return
    }
    this.#wait(key, priority)
    this.#startWork()
  }

  /** Forgets waiting keys and resolves when the workers are idle. */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const cancel of this.#delayed.values()) cancel()
    this.#delayed.clear()
    this.#waiting = emptyQueues()
    this.#reportDepth()
    if (this.#processing.size === 0) this.#idle.resolve()
    await this.#idle.promise
  }

  #wait(key: ObjectKey, priority: QueuePriority): void {
    const { high, low } = this.#waiting
    if (high.has(key) || (priority === 'low' && low.has(key))) return
    const lowSinceMs = low.remove(key)
    if (lowSinceMs === null) this.#options.metrics.keyAdded(this.#options.name)
    this.#waiting[priority].add(key, lowSinceMs ?? this.#options.clock.monotonicMs())
    this.#reportDepth()
  }

  #startWork(): void {
    const { name, workersMax, clock, metrics } = this.#options
    while (this.#processing.size < workersMax) {
      const priority = this.#nextPriority()
      const next = this.#waiting[priority].take()
      if (next === null) return
      const { key, sinceMs } = next
      this.#highInARow = priority === 'high' ? this.#highInARow + 1 : 0
      this.#delayed.get(key)?.()
      this.#delayed.delete(key)
      this.#processing.set(key, { priority, dirty: null })
      metrics.keyWaited(name, (clock.monotonicMs() - sinceMs) / 1000)
      this.#reportDepth()
      // Each key takes a turn of the event loop of its own: ten thousand keys with nothing to do must not delay the
      // renewal of the lease.
      clock.nextTurn(() => void this.#process(key))
    }
  }

  #nextPriority(): QueuePriority {
    const { high, low } = this.#waiting
    if (high.size === 0) return 'low'
    return low.size > 0 && this.#highInARow >= LOW_SHARE - 1 ? 'low' : 'high'
  }

  async #process(key: ObjectKey): Promise<void> {
    const { name, metrics } = this.#options
    metrics.workersActive(name, this.#processing.size)
    const result = this.#isStopped ? null : await this.#options.work(key)
    const processing = this.#processing.get(key)
    this.#processing.delete(key)
    metrics.workersActive(name, this.#processing.size)
    if (this.#isStopped) {
      if (this.#processing.size === 0) this.#idle.resolve()
      return
    }
    if (processing !== undefined && result !== null) this.#requeue(key, processing, result)
    this.#startWork()
  }

  #requeue(key: ObjectKey, { dirty, priority }: Processing, result: WorkResult): void {
    const delayMs = result.status === 'done' ? this.#forget(key, result) : this.#backoff(key, result)
    if (dirty !== null) this.#wait(key, dirty)
    // A key that requeues itself waits behind what people have changed; a failed one still serves a change.
    else if (delayMs !== null) this.#addAfter(key, delayMs, result.status === 'done' ? 'low' : priority)
  }

  #forget(key: ObjectKey, { requeueAfterMs }: WorkResult & { readonly status: 'done' }): number | null {
    this.#failuresInARow.delete(key)
    return requeueAfterMs === null ? null : Math.min(requeueAfterMs, REQUEUE_AFTER_MS_MAX)
  }

  #backoff(key: ObjectKey, result: WorkResult & { readonly status: 'failed' }): number {
    this.#options.metrics.keyRetried(this.#options.name)
    const failures = this.#failuresInARow.get(key) ?? 0
    this.#failuresInARow.set(key, failures + 1)
    const backoffMs = Math.min(BACKOFF_MIN_MS * 2 ** failures, result.backoffMsMax)
    return Math.max(backoffMs, result.backoffMsMin)
  }

  #addAfter(key: ObjectKey, delayMs: number, priority: QueuePriority): void {
    const cancel = this.#options.clock.after(delayMs, () => {
      this.#delayed.delete(key)
      this.add(key, priority)
    })
    this.#delayed.set(key, cancel)
  }

  #reportDepth(): void {
    const { name, metrics } = this.#options
    metrics.queueDepth(name, 'high', this.#waiting.high.size)
    metrics.queueDepth(name, 'low', this.#waiting.low.size)
  }
}

function emptyQueues(): Readonly<Record<QueuePriority, FairQueue>> {
  return { high: new FairQueue(), low: new FairQueue() }
}
