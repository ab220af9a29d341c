import { LruCache } from '../../domain/lru-cache.ts'
import type { Clock } from '../../ports/runtime.ts'

/** Keys of which a reading is kept. */
const KEYS_MAX = 10_000

interface Reading<T> {
  readonly beganMs: number
  readonly end: Promise<T>
}

/** Lets all who ask for the same within a while share one reading. Owns the readings under way and the last ones. */
export class SharedReadings<T> {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #keptMs: number
  readonly #readings = new LruCache<string, Reading<T>>(KEYS_MAX)

  /** @param keptMs for how long a reading is answered, from when it began */
  constructor(clock: Pick<Clock, 'monotonicMs'>, keptMs: number) {
    this.#clock = clock
    this.#keptMs = keptMs
  }

  /** A reading that failed is not kept. */
  of(key: string, read: () => Promise<T>): Promise<T> {
    const nowMs = this.#clock.monotonicMs()
    const known = this.#readings.get(key)
    if (known !== undefined && nowMs - known.beganMs < this.#keptMs) return known.end
    const reading = { beganMs: nowMs, end: read() }
    this.#readings.set(key, reading)
    reading.end.catch(() => {
      if (this.#readings.get(key) === reading) this.#readings.delete(key)
    })
    return reading.end
  }
}
