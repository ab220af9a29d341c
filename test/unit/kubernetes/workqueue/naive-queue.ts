import type { WorkResult } from '../../../../src/kubernetes/workqueue/workqueue.ts'
import type { ObjectKey } from '../../../../src/ports/kubernetes.ts'
import type { QueuePriority } from '../../../../src/ports/metrics.ts'

interface Waiting {
  readonly key: ObjectKey
  readonly priority: QueuePriority
  readonly arrival: number
}

/** The work queue as one would write it without a thought for its cost: lists, sorted anew for every choice. */
export class NaiveQueue {
  nowMs = 0
  readonly started: ObjectKey[] = []
  running: Array<{ readonly key: ObjectKey; readonly priority: QueuePriority; again: QueuePriority[] }> = []
  waiting: Waiting[] = []
  resting: Array<{ readonly key: ObjectKey; readonly priority: QueuePriority; readonly dueMs: number }> = []
  readonly #workersMax: number
  readonly #failures = new Map<ObjectKey, number>()
  /** When a namespace's turn comes in a lane, by `priority/namespace`. */
  readonly #turns = new Map<string, number>()
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
    let restMs: number | null
    const priority = end.status === 'done' ? 'low' : run.priority
    if (end.status === 'done') {
      this.#failures.delete(key)
      restMs = end.requeueAfterMs
    } else {
      const failures = (this.#failures.get(key) ?? 0) + 1
      this.#failures.set(key, failures)
      let backoffMs = 5
      for (let failure = 1; failure < failures; failure += 1) backoffMs *= 2
      restMs = Math.max(end.backoffMsMin, Math.min(end.backoffMsMax, backoffMs))
    }
    if (run.again.length > 0) this.#wait(key, run.again.includes('high') ? 'high' : 'low')
    else if (restMs !== null) this.resting.push({ key, priority, dueMs: this.nowMs + restMs })
    this.#start()
  }

  advance(ms: number): void {
    const untilMs = this.nowMs + ms
    for (;;) {
      const next = this.resting.toSorted((a, b) => a.dueMs - b.dueMs)[0]
      if (next === undefined || next.dueMs > untilMs) break
      this.resting = this.resting.filter((rest) => rest !== next)
      this.nowMs = next.dueMs
      this.add(next.key, next.priority)
    }
    this.nowMs = untilMs
  }

  #wait(key: ObjectKey, priority: QueuePriority): void {
    const waits = this.waiting.find((one) => one.key === key)
    if (waits !== undefined && (waits.priority === 'high' || priority === 'low')) return
    this.waiting = this.waiting.filter((one) => one.key !== key)
    if (!this.waiting.some((one) => turnOf(one) === turnOf({ key, priority })))
      this.#toTheEnd(turnOf({ key, priority }))
    this.waiting.push({ key, priority, arrival: this.#next() })
  }

  #start(): void {
    while (this.running.length < this.#workersMax && this.waiting.length > 0) {
      const lanes = new Set(this.waiting.map(({ priority }) => priority))
      const isLowDue = this.#highInARow >= 7
      const priority = lanes.has('high') && !(isLowDue && lanes.has('low')) ? 'high' : 'low'
      const next = this.waiting
        .filter((one) => one.priority === priority)
        .toSorted(
          (a, b) => this.#turns.get(turnOf(a))! - this.#turns.get(turnOf(b))! || a.arrival - b.arrival,
        )[0]!
      this.#highInARow = priority === 'high' ? this.#highInARow + 1 : 0
      this.#toTheEnd(turnOf(next))
      this.waiting = this.waiting.filter((one) => one !== next)
      this.resting = this.resting.filter((one) => one.key !== next.key)
      this.running.push({ key: next.key, priority, again: [] })
      this.started.push(next.key)
    }
  }

  #toTheEnd(turn: string): void {
    this.#turns.set(turn, this.#next())
  }

  #next(): number {
    this.#count += 1
    return this.#count
  }
}

function turnOf({ key, priority }: Pick<Waiting, 'key' | 'priority'>): string {
  return `${priority}/${key.split('/')[0]}`
}
