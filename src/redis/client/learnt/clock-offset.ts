/** How long an answer counts; it is forgotten after two of these at most. */
const WINDOW_MS = 1_000
/** An answer that says so much less than the ones before tells of a clock that was put back, not of a slow answer. */
const JUMP_MS = 1_000

/**
 * Redis's clock minus ours, learnt from the times that answers carry. Each is cut to the millisecond and has been under way
 * for a while, so it is a lower bound, and the greatest of the last ones is the closest. A clock that is put back by less
 * than a second is believed after two seconds of answers.
 */
export class ClockOffset {
  #greatest = -Infinity
  #greatestBefore = -Infinity
  #windowEndsMs = -Infinity

  /** null = no answer has come yet. */
  get ms(): number | null {
    const offset = Math.max(this.#greatest, this.#greatestBefore)
    return offset === -Infinity ? null : offset
  }

  /** @param nowMs by our monotonic clock */
  note(redisMs: number, nowMs: number): void {
    const offset = redisMs - nowMs
    const known = this.ms
    if (known !== null && offset < known - JUMP_MS) {
      this.#greatestBefore = -Infinity
      this.#windowEndsMs = -Infinity
      this.#greatest = -Infinity
    }
    if (nowMs < this.#windowEndsMs) {
      this.#greatest = Math.max(this.#greatest, offset)
      return
    }
    this.#greatestBefore = this.#greatest
    this.#greatest = offset
    this.#windowEndsMs = nowMs + WINDOW_MS
  }
}
