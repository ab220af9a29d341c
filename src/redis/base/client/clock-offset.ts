/** An answer counts for this long at least, and for twice as long at most. */
const WINDOW_MS = 1_000
/**
 * An answer that says this much less than the ones before: the clock was put back, or stands still. A slow answer looks the
 * same, and the next quick one corrects it.
 */
const JUMP_MS = 50

/**
 * Redis's clock minus ours, learnt from the times that answers carry. Such a time is cut to the millisecond, and the answer
 * has travelled for a while, so each gives a lower bound, and the greatest of the last two seconds is the closest. A clock
 * that falls back a little is believed once older answers are forgotten, one that falls back by more at once.
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
    const isRecent = nowMs < this.#windowEndsMs + WINDOW_MS
    this.#greatestBefore = isRecent ? this.#greatest : -Infinity
    this.#greatest = offset
    this.#windowEndsMs = nowMs + WINDOW_MS
  }
}
