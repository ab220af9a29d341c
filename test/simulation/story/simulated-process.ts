import type { Clock } from '../../../src/ports/runtime.ts'
import type { Scheduler } from './scheduler.ts'
import type { SeededRandom } from './seeded-random.ts'

interface Waiting {
  readonly kind: 'timer' | 'io'
  readonly dueMs: number
  readonly run: () => void
}

/** Virtual time 0 in Unix ms. */
export const SIMULATION_EPOCH_MS = Date.UTC(2032, 1, 28, 23, 50, 0, 0)

/**
 * A process in virtual time. What runs in it goes on only by its timers and by what reaches it from outside, so that
 *
 *     live ⇄ frozen (both wait until it continues) → dead (both are dropped: its promises never settle)
 */
export class SimulatedProcess {
  readonly name: string
  readonly clock: Clock
  readonly #scheduler: Scheduler
  readonly #random: SeededRandom
  readonly #rate: number
  readonly #offsetMs: number
  #state: 'live' | 'frozen' | 'dead' = 'live'
  #isStalled = false
  #frozenAtMs = 0
  /** Time that the monotonic clock did not count. */
  #stalledMs = 0
  #waiting: Waiting[] = []
  #onDeath: Array<() => void> = []

  constructor(name: string, scheduler: Scheduler, random: SeededRandom) {
    this.name = name
    this.#scheduler = scheduler
    this.#random = random
    this.#rate = 1 + random.between(-0.0002, 0.0002)
    this.#offsetMs = random.between(0, 1e7)
    const wallOffsetMs = random.between(-10_000, 10_000)
    this.clock = {
      monotonicMs: () => this.#monotonicMs(),
      wallMs: () => SIMULATION_EPOCH_MS + wallOffsetMs + scheduler.nowMs,
      after: (delayMs, run) => this.#after(delayMs, run),
      nextTurn: (run) => this.deliver(scheduler.nowMs, run),
    }
  }

  get isLive(): boolean {
    return this.#state === 'live'
  }

  get isDead(): boolean {
    return this.#state === 'dead'
  }

  /** Something reaches the process from outside at `timeMs`. */
  deliver(timeMs: number, run: () => void): void {
    this.#scheduler.at(timeMs, () => this.#enter({ kind: 'io', dueMs: timeMs, run }))
  }

  /** @param stall whether the monotonic clock stops meanwhile, as it does when a machine is suspended */
  freeze(stall: boolean): void {
    if (this.#state !== 'live') return
    this.#state = 'frozen'
    this.#isStalled = stall
    this.#frozenAtMs = this.#scheduler.nowMs
  }

  resume(): void {
    if (this.#state !== 'frozen') return
    this.#state = 'live'
    if (this.#isStalled) this.#stalledMs += this.#scheduler.nowMs - this.#frozenAtMs
    this.#isStalled = false
    const waiting = this.#waiting
    this.#waiting = []
    const timers = waiting.filter(({ kind }) => kind === 'timer').sort((a, b) => a.dueMs - b.dueMs)
    const io = waiting.filter(({ kind }) => kind === 'io')
    // An event loop that wakes in its poll phase handles input first; otherwise timers run first.
    const ordered = this.#random.chance(0.5) ? [...timers, ...io] : [...io, ...timers]
    for (const one of ordered) this.#scheduler.at(this.#scheduler.nowMs, () => this.#enter(one))
  }

  kill(): void {
    if (this.#state === 'dead') return
    this.#state = 'dead'
    this.#waiting = []
    for (const listener of this.#onDeath) listener()
  }

  onDeath(listener: () => void): void {
    this.#onDeath.push(listener)
  }

  #enter(one: Waiting): void {
    if (this.#state === 'live') one.run()
    else if (this.#state === 'frozen') this.#waiting.push(one)
  }

  #monotonicMs(): number {
    const nowMs = this.#isStalled ? this.#frozenAtMs : this.#scheduler.nowMs
    return this.#offsetMs + (nowMs - this.#stalledMs) * this.#rate
  }

  /** Like timers of Node: whole milliseconds, at least one, up to a millisecond early and a little late. */
  #after(delayMs: number, run: () => void): () => void {
    let isCancelled = false
    const dueMs = this.#monotonicMs() + Math.max(1, Math.trunc(delayMs))
    const set = () => {
      const leftMs = (dueMs - this.#monotonicMs()) / this.#rate
      const timeMs = this.#scheduler.nowMs + Math.max(0, leftMs + this.#random.between(-0.9, 2))
      this.#scheduler.at(timeMs, () => this.#enter({ kind: 'timer', dueMs, run: fire }))
    }
    const fire = () => {
      if (isCancelled) return
      if (this.#monotonicMs() + 1 < dueMs) set()
      else run()
    }
    set()
    return () => {
      isCancelled = true
    }
  }
}
