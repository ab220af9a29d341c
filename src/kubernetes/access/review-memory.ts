import { LruCache } from '../../domain/lru-cache.ts'
import type { Clock } from '../../ports/runtime.ts'

interface ReviewRules<V> {
  /** At most this many good answers are kept, and as many others. */
  readonly entriesMax: number
  readonly isGood: (value: V) => boolean
  /** How long an answer counts. */
  readonly keepMs: (value: V) => number
}

interface Remembered<V> {
  readonly value: V
  /** When the answer ceases to count, by the monotonic clock. */
  readonly untilMs: number
}

/**
 * Remembers answers of the API server for a time that depends on the answer. Good answers are kept apart, so that
 * refusals cannot displace them. Owns the questions under way: each is asked once, however many wait for it.
 */
export class ReviewMemory<V extends object> {
  readonly #clock: Clock
  readonly #rules: ReviewRules<V>
  readonly #good: LruCache<string, Remembered<V>>
  readonly #others: LruCache<string, Remembered<V>>
  readonly #asking = new Map<string, Promise<V>>()

  constructor(clock: Clock, rules: ReviewRules<V>) {
    this.#clock = clock
    this.#rules = rules
    this.#good = new LruCache(rules.entriesMax)
    this.#others = new LruCache(rules.entriesMax)
  }

  /** Answers what is remembered while it counts; undefined = it must be asked. */
  fresh(key: string): V | undefined {
    const known = this.#good.get(key) ?? this.#others.get(key)
    return known !== undefined && known.untilMs > this.#clock.monotonicMs() ? known.value : undefined
  }

  isGood(value: V): boolean {
    return this.#rules.isGood(value)
  }

  /** Tells whether the last answer was good, however old it is. */
  wasGood(key: string): boolean {
    return this.#good.get(key) !== undefined
  }

  /** The question under way; undefined = none. */
  asked(key: string): Promise<V> | undefined {
    return this.#asking.get(key)
  }

  /** Asks, and forgets a failure. May only be called while no question is under way for this key. */
  ask(key: string, question: () => Promise<V>): Promise<V> {
    const answer = question()
      .then((value) => {
        const { isGood, keepMs } = this.#rules
        const [to, from] = isGood(value) ? [this.#good, this.#others] : [this.#others, this.#good]
        from.delete(key)
        to.set(key, { value, untilMs: this.#clock.monotonicMs() + keepMs(value) })
        return value
      })
      .finally(() => this.#asking.delete(key))
    this.#asking.set(key, answer)
    return answer
  }
}
