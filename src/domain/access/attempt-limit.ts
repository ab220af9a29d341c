export interface AttemptBounds {
  /** Attempts that are allowed at once. */
  readonly burst: number
  /** Time until one more attempt is allowed. */
  readonly refillMs: number
  /** Bound of the keys that are remembered. */
  readonly keysMax: number
}

/**
 * How often each of many may try something in this process: a burst, then one at a time. Times are monotonic ms. When its
 * table is full, the half that has used up least is forgotten: whoever comes under many names pushes out names that are
 * hardly used, and never the one that tried most.
 */
export class AttemptLimit {
  readonly #bounds: AttemptBounds
  /** Time at which all attempts of a key are free again. */
  #freeAtMs = new Map<string, number>()

  constructor(bounds: AttemptBounds) {
    this.#bounds = bounds
  }

  /** Uses an attempt up. @returns 0, or the ms until there is one again */
  take(key: string, nowMs: number): number {
    const { burst, refillMs, keysMax } = this.#bounds
    const freeAtMs = Math.max(this.#freeAtMs.get(key) ?? nowMs, nowMs)
    const waitMs = freeAtMs - nowMs - (burst - 1) * refillMs
    if (waitMs > 0) return waitMs
    if (this.#freeAtMs.size >= keysMax && !this.#freeAtMs.has(key)) this.#forgetHalf()
    this.#freeAtMs.set(key, freeAtMs + refillMs)
    return 0
  }

  /** Returns an attempt that succeeded: only failures count. */
  giveBack(key: string): void {
    const freeAtMs = this.#freeAtMs.get(key)
    if (freeAtMs !== undefined) this.#freeAtMs.set(key, freeAtMs - this.#bounds.refillMs)
  }

  #forgetHalf(): void {
    const entries = [...this.#freeAtMs].toSorted(([, one], [, other]) => other - one)
    this.#freeAtMs = new Map(entries.slice(0, Math.floor(this.#bounds.keysMax / 2)))
  }
}
