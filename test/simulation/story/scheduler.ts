interface Event {
  readonly timeMs: number
  readonly order: number
  readonly run: () => void
}

/**
 * Virtual time. Events run one at a time, by time and then in the order in which they were scheduled. The next event runs
 * when all promises of the last one have settled.
 */
export class Scheduler {
  nowMs = 0
  #heap: Event[] = []
  #orders = 0
  events = 0

  at(timeMs: number, run: () => void): void {
    this.#orders += 1
    this.#push({ timeMs: Math.max(timeMs, this.nowMs), order: this.#orders, run })
  }

  after(delayMs: number, run: () => void): void {
    this.at(this.nowMs + delayMs, run)
  }

  async runUntil(timeMs: number): Promise<void> {
    for (let next = this.#heap[0]; next !== undefined && next.timeMs <= timeMs; next = this.#heap[0]) {
      this.#pop()
      this.nowMs = next.timeMs
      this.events += 1
      next.run()
      await this.quiet()
    }
    this.nowMs = timeMs
  }

  /** Promises settle in microtasks; the real event loop takes its next turn when none is left. */
  async quiet(): Promise<void> {
    await new Promise<void>((resolve) => void setImmediate(resolve))
  }

  #push(event: Event): void {
    const heap = this.#heap
    let at = heap.push(event) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(event, heap[parent] as Event)) break
      heap[at] = heap[parent] as Event
      at = parent
    }
    heap[at] = event
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop() as Event
    if (heap.length === 0) return
    let at = 0
    for (;;) {
      let child = at * 2 + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child += 1
      if (!isBefore(heap[child] as Event, last)) break
      heap[at] = heap[child] as Event
      at = child
    }
    heap[at] = last
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.timeMs < b.timeMs || (a.timeMs === b.timeMs && a.order < b.order)
}
