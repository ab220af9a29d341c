import { LruCache } from '../../domain/lru-cache.ts'
import type { Clock } from '../../ports/runtime.ts'

export interface MemoryBounds {
  readonly entriesMax: number
  /** Questions under way at once. */
  readonly asksMax: number
}

interface Remembered<V> {
  readonly value: V
  /** Monotonic. */
  readonly untilMs: number
}

/**
 * Remembers answers of the API server for a time that depends on the answer. Owns the questions under way: each is asked
 * once, however many wait for it.
 */
export class ReviewMemory<V extends object> {
  readonly #clock: Clock
  readonly #bounds: MemoryBounds
  readonly #keepMs: (value: V) => number
  readonly #answers: LruCache<string, Remembered<V>>
  readonly #asking = new Map<string, Promise<V>>()

  constructor(clock: Clock, bounds: MemoryBounds, keepMs: (value: V) => number) {
    this.#clock = clock
    this.#bounds = bounds
    this.#keepMs = keepMs
    this.#answers = new LruCache(bounds.entriesMax)
  }

  /** The answer while it counts; undefined = ask. */
  fresh(key: string): V | undefined {
    const known = this.#answers.get(key)
    return known !== undefined && known.untilMs > this.#clock.monotonicMs() ? known.value : undefined
  }

  /** The last answer, however old. */
  last(key: string): V | undefined {
    return this.#answers.get(key)?.value
  }

  /** The question under way; undefined = none. */
  asked(key: string): Promise<V> | undefined {
    return this.#asking.get(key)
  }

  /** Whether no further question may begin. */
  get isBusy(): boolean {
    return this.#asking.size >= this.#bounds.asksMax
  }

  /** Asks; a failure is not remembered. Only while nothing is asked for this key. */
  ask(key: string, question: () => Promise<V>): Promise<V> {
    const answer = question()
      .then((value) => {
        const untilMs = this.#clock.monotonicMs() + this.#keepMs(value)
        this.#answers.set(key, { value, untilMs })
        return value
      })
      .finally(() => this.#asking.delete(key))
    this.#asking.set(key, answer)
    return answer
  }
}
