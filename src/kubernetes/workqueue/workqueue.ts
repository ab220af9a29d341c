import type { Clock } from '../../ports/runtime.ts'
import type { ObjectKey } from '../../ports/kubernetes.ts'
import type { QueuePriority, ReconcileMetrics } from '../../ports/metrics.ts'
import { createLane, type Lane } from './fair-queue.ts'

/**
 * Keys that wait for work, and the workers. A key is
 *
 *     idle → in line → running → idle, or resting → in line
 *
 * and never in line twice nor running twice at once. Added while it runs, it is run once more after. Resting is a
 * timer set by the end of its last run; an add comes before it, and the next run takes its place. Keys of high
 * priority go first, but of 8 keys one is of low priority while such wait; a key that its own run puts to rest comes
 * back with low priority. Owns: the lines, the timers and the runs
 * under way. `stop` waits for the runs.
 */
export interface Workqueue {
  /** A key that is in line keeps its place, or moves up when it gets the higher priority. */
  add(key: ObjectKey, priority: QueuePriority): void
  /** Begins no run any more and forgets what waits; resolves when the runs under way have ended. */
  stop(): Promise<void>
}

/** How a run ended: what follows for its key. */
export type WorkEnd =
  /** @param againAfterMs at most a day counts; null = until it is added */
  | { readonly status: 'done'; readonly againAfterMs: number | null }
  /** Run again after a pause that doubles with each failure in a row, within these bounds. */
  | { readonly status: 'failed'; readonly pauseMinMs: number; readonly pauseMaxMs: number }

export interface WorkQueueOptions {
  /** Of the controller, for the metrics. */
  readonly name: string
  readonly workersMax: number
  readonly clock: Clock
  readonly metrics: ReconcileMetrics
  /** Must not throw. */
  work(key: ObjectKey): Promise<WorkEnd>
}

/** From 5 ms to 1,000 s, as in controller-runtime. */
const BACKOFF_FIRST_MS = 5
export const BACKOFF_MAX_MS = 1_000_000
const REST_MAX_MS = 86_400_000
const LOW_SHARE = 8

export function createWorkqueue(options: WorkQueueOptions): Workqueue {
  return new KeyedWorkQueue(options)
}

interface Run {
  readonly priority: QueuePriority
  /** Added meanwhile. */
  again: QueuePriority | null
}

class KeyedWorkQueue implements Workqueue {
  readonly #options: WorkQueueOptions
  readonly #lanes: Readonly<Record<QueuePriority, Lane>> = { high: createLane(), low: createLane() }
  readonly #runs = new Map<ObjectKey, Run>()
  /** What ends the rest of each resting key. */
  readonly #rests = new Map<ObjectKey, () => void>()
  readonly #failuresInARow = new Map<ObjectKey, number>()
  /** Keys of high priority that were taken since the last of low priority. */
  #highInARow = 0
  #isStopped = false
  readonly #atRest = Promise.withResolvers<void>()

  constructor(options: WorkQueueOptions) {
    this.#options = options
  }

  add(key: ObjectKey, priority: QueuePriority): void {
    if (this.#isStopped) return
    const run = this.#runs.get(key)
    if (run !== undefined) {
      run.again = run.again === 'high' ? 'high' : priority
      return
    }
    this.#line(key, priority)
    this.#startRuns()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    for (const cancel of this.#rests.values()) cancel()
    this.#rests.clear()
    for (const lane of Object.values(this.#lanes)) lane.clear()
    this.#tellDepth()
    if (this.#runs.size === 0) this.#atRest.resolve()
    await this.#atRest.promise
  }

  #line(key: ObjectKey, priority: QueuePriority): void {
    const { high, low } = this.#lanes
    if (high.has(key) || (priority === 'low' && low.has(key))) return
    const lowSinceMs = low.remove(key)
    if (lowSinceMs === null) this.#options.metrics.keyAdded(this.#options.name)
    this.#lanes[priority].add(key, lowSinceMs ?? this.#options.clock.monotonicMs())
    this.#tellDepth()
  }

  #startRuns(): void {
    const { name, workersMax, clock, metrics } = this.#options
    while (this.#runs.size < workersMax) {
      const priority = this.#nextPriority()
      const next = this.#lanes[priority].take()
      if (next === null) return
      const { key, sinceMs } = next
      this.#highInARow = priority === 'high' ? this.#highInARow + 1 : 0
      this.#rests.get(key)?.()
      this.#rests.delete(key)
      this.#runs.set(key, { priority, again: null })
      metrics.keyWaited(name, (clock.monotonicMs() - sinceMs) / 1000)
      this.#tellDepth()
      // A turn for each run: ten thousand that find nothing to do must not hold up the renewal of the lease.
      clock.nextTurn(() => void this.#run(key))
    }
  }

  #nextPriority(): QueuePriority {
    const { high, low } = this.#lanes
    if (high.size === 0) return 'low'
    return low.size > 0 && this.#highInARow >= LOW_SHARE - 1 ? 'low' : 'high'
  }

  async #run(key: ObjectKey): Promise<void> {
    const { name, metrics } = this.#options
    metrics.workersActive(name, this.#runs.size)
    const end = this.#isStopped ? null : await this.#options.work(key)
    const run = this.#runs.get(key)
    this.#runs.delete(key)
    metrics.workersActive(name, this.#runs.size)
    if (this.#isStopped) {
      if (this.#runs.size === 0) this.#atRest.resolve()
      return
    }
    if (run !== undefined && end !== null) this.#follow(key, run, end)
    this.#startRuns()
  }

  #follow(key: ObjectKey, run: Run, end: WorkEnd): void {
    const restMs = end.status === 'done' ? this.#restAfterDone(key, end) : this.#restAfterFailure(key, end)
    if (run.again !== null) this.#line(key, run.again)
    // What a run asks for itself waits behind what somebody has changed; what failed is still asked for.
    else if (restMs !== null) this.#rest(key, restMs, end.status === 'done' ? 'low' : run.priority)
  }

  #restAfterDone(key: ObjectKey, end: WorkEnd & { readonly status: 'done' }): number | null {
    this.#failuresInARow.delete(key)
    return end.againAfterMs === null ? null : Math.min(end.againAfterMs, REST_MAX_MS)
  }

  #restAfterFailure(key: ObjectKey, end: WorkEnd & { readonly status: 'failed' }): number {
    this.#options.metrics.keyRetried(this.#options.name)
    const failures = this.#failuresInARow.get(key) ?? 0
    this.#failuresInARow.set(key, failures + 1)
    const backoffMs = Math.min(BACKOFF_FIRST_MS * 2 ** failures, end.pauseMaxMs)
    return Math.max(backoffMs, end.pauseMinMs)
  }

  #rest(key: ObjectKey, restMs: number, priority: QueuePriority): void {
    const cancel = this.#options.clock.after(restMs, () => {
      this.#rests.delete(key)
      this.add(key, priority)
    })
    this.#rests.set(key, cancel)
  }

  #tellDepth(): void {
    const { name, metrics } = this.#options
    metrics.queueDepth(name, 'high', this.#lanes.high.size)
    metrics.queueDepth(name, 'low', this.#lanes.low.size)
  }
}
