/**
 * How many of something may be in progress at once. One holder may have three quarters of all places, so that another
 * always finds one.
 */
export class Places {
  readonly #max: number
  readonly #perHolderMax: number
  readonly #held = new Map<string, number>()
  #taken = 0

  constructor(max: number) {
    this.#max = max
    this.#perHolderMax = Math.max(1, Math.floor(max * 0.75))
  }

  /** @returns whether there was one; whoever gets one has to leave it */
  take(holder: string): boolean {
    const own = this.#held.get(holder) ?? 0
    if (this.#taken >= this.#max || own >= this.#perHolderMax) return false
    this.#held.set(holder, own + 1)
    this.#taken += 1
    return true
  }

  leave(holder: string): void {
    const left = (this.#held.get(holder) ?? 1) - 1
    if (left === 0) this.#held.delete(holder)
    else this.#held.set(holder, left)
    this.#taken -= 1
  }
}
