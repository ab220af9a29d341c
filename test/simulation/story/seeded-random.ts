/** A stream of pseudo-random numbers, determined by a seed. */
export class SeededRandom {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
    // Neighbouring seeds begin alike, so the first numbers are dropped.
    for (let i = 0; i < 8; i += 1) this.next()
  }

  /** 0 ≤ x < 1; mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  between(from: number, to: number): number {
    return from + (to - from) * this.next()
  }

  /** Both ends included. */
  integer(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1))
  }

  pick<T>(items: readonly T[]): T {
    return items[this.integer(0, items.length - 1)] as T
  }

  /** An independent stream, so that more draws in one place do not change another. */
  fork(): SeededRandom {
    return new SeededRandom(Math.floor(this.next() * 4_294_967_296))
  }
}
