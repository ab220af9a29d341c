import { LruCache } from '../lru-cache.ts'

export interface AttemptBounds {
  /** At once. */
  readonly burst: number
  /** Until one more is allowed. */
  readonly refillMs: number
  /** Who is remembered; the half that was seen least recently is forgotten first. */
  readonly keysMax: number
}

/** How often each of many may try something in this process: a burst, then one at a time. Times are monotonic ms. */
export class AttemptLimit {
  readonly #bounds: AttemptBounds
  /** When all attempts of a key are free again. */
  readonly #freeAtMs: LruCache<string, number>

  constructor(bounds: AttemptBounds) {
    this.#bounds = bounds
    this.#freeAtMs = new LruCache(bounds.keysMax)
  }

  /** Uses an attempt up. @returns 0, or the ms until there is one again */
  take(key: string, nowMs: number): number {
    const { burst, refillMs } = this.#bounds
    const freeAtMs = Math.max(this.#freeAtMs.get(key) ?? nowMs, nowMs)
    const waitMs = freeAtMs - nowMs - (burst - 1) * refillMs
    if (waitMs > 0) return waitMs
    this.#freeAtMs.set(key, freeAtMs + refillMs)
    return 0
  }

  /** For an attempt that succeeded. */
  giveBack(key: string): void {
    const freeAtMs = this.#freeAtMs.get(key)
    if (freeAtMs !== undefined) this.#freeAtMs.set(key, freeAtMs - this.#bounds.refillMs)
  }
}
