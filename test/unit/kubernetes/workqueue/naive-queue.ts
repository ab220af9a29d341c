import type { WorkResult } from '../../../../src/kubernetes/workqueue/workqueue.ts'
import type { ObjectKey } from '../../../../src/ports/kubernetes.ts'
import type { QueuePriority } from '../../../../src/ports/metrics.ts'

interface Waiting {
  readonly key: ObjectKey
  readonly priority: QueuePriority
  readonly arrival: number
}

/** The workqueue written without regard to cost: lists that are sorted for every choice. */
export class NaiveQueue {
  nowMs = 0
  readonly started: ObjectKey[] = []
  running: Array<{ readonly key: ObjectKey; readonly priority: QueuePriority; again: QueuePriority[] }> = []
  waiting: Waiting[] = []
  delayed: Array<{ readonly key: ObjectKey; readonly priority: QueuePriority; readonly dueMs: number }> = []
  readonly #workersMax: number
  readonly #failures = new Map<ObjectKey, number>()
  /** The place of each namespace in its rotation, by `priority/namespace`. */
  readonly #rotation = new Map<string, number>()
  #count = 0
  #highInARow = 0

  constructor(workersMax: number) {
    this.#workersMax = workersMax
  }

  get depth(): Readonly<Record<QueuePriority, number>> {
    const high = this.waiting.filter(({ priority }) => priority === 'high').length
    return { high, low: this.waiting.length - high }
  }

  add(key: ObjectKey, priority: QueuePriority): void {
    const run = this.running.find((one) => one.key === key)
    if (run !== undefined) run.again.push(priority)
    else this.#wait(key, priority)
    this.#start()
  }

  end(key: ObjectKey, end: WorkResult): void {
    const run = this.running.find((one) => one.key === key)
    if (run === undefined) throw new Error(`${key} does not run`)
    this.running = this.running.filter((one) => one !== run)
    let delayMs: number | null
    const priority = end.status === 'done' ? 'low' : run.priority
    if (end.status === 'done') {
      this.#failures.delete(key)
      delayMs = end.requeueAfterMs
    } else {
      const failures = (this.#failures.get(key) ?? 0) + 1
      this.#failures.set(key, failures)
      let backoffMs = 5
      for (let failure = 1; failure < failures; failure += 1) backoffMs *= 2
      delayMs = Math.max(end.backoffMsMin, Math.min(end.backoffMsMax, backoffMs))
    }
    if (run.again.length > 0) this.#wait(key, run.again.includes('high') ? 'high' : 'low')
    else if (delayMs !== null) this.delayed.push({ key, priority, dueMs: this.nowMs + delayMs })
    this.#start()
  }

  advance(ms: number): void {
    const untilMs = this.nowMs + ms
    for (;;) {
      const next = this.delayed.toSorted((a, b) => a.dueMs - b.dueMs)[0]
      if (next === undefined || next.dueMs > untilMs) break
      this.delayed = this.delayed.filter((one) => one !== next)
      this.nowMs = next.dueMs
      this.add(next.key, next.priority)
    }
    this.nowMs = untilMs
  }

  #wait(key: ObjectKey, priority: QueuePriority): void {
    const waits = this.waiting.find((one) => one.key === key)
    if (waits !== undefined && (waits.priority === 'high' || priority === 'low')) return
    this.waiting = this.waiting.filter((one) => one.key !== key)
    if (!this.waiting.some((one) => namespaceOf(one) === namespaceOf({ key, priority })))
      this.#toTheEnd(namespaceOf({ key, priority }))
    this.waiting.push({ key, priority, arrival: this.#next() })
  }

  #start(): void {
    while (this.running.length < this.#workersMax && this.waiting.length > 0) {
      const priorities = new Set(this.waiting.map(({ priority }) => priority))
      const isLowDue = this.#highInARow >= 7
      const priority = priorities.has('high') && !(isLowDue && priorities.has('low')) ? 'high' : 'low'
      const next = this.waiting
        .filter((one) => one.priority === priority)
        .toSorted(
          (a, b) =>
            this.#rotation.get(namespaceOf(a))! - this.#rotation.get(namespaceOf(b))! ||
            a.arrival - b.arrival,
        )[0]!
      this.#highInARow = priority === 'high' ? this.#highInARow + 1 : 0
      this.#toTheEnd(namespaceOf(next))
      this.waiting = this.waiting.filter((one) => one !== next)
      this.delayed = this.delayed.filter((one) => one.key !== next.key)
      this.running.push({ key: next.key, priority, again: [] })
      this.started.push(next.key)
    }
  }

  #toTheEnd(namespace: string): void {
    this.#rotation.set(namespace, this.#next())
  }

  #next(): number {
    this.#count += 1
    return this.#count
  }
}

function namespaceOf({ key, priority }: Pick<Waiting, 'key' | 'priority'>): string {
  return `${priority}/${key.split('/')[0]}`
}
