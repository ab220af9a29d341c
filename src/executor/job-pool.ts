/**
 * The calls an executor may have open at once. A slot is reserved before a claim, so that no job is claimed that
 * cannot start, and freed when the job's end is written in Redis, so that ends waiting for Redis are bounded too.
 */
export interface JobPool {
  /** Takes up to `wanted` free slots; answers how many. */
  reserve(wanted: number): number
  release(count: number): void
  readonly busy: number
  /** Called after every release. */
  onRelease(listener: () => void): void
}

/** @param slots 1–20,000 */
export function createJobPool(slots: number): JobPool {
  let busy = 0
  const listeners: Array<() => void> = []
  return {
    reserve: (wanted) => {
      const granted = Math.min(wanted, slots - busy)
      busy += granted
      return granted
    },
    release: (count) => {
      busy -= count
      if (busy < 0) throw new Error('more slots were released than reserved')
      for (const listener of listeners) listener()
    },
    get busy() {
      return busy
    },
    onRelease: (listener) => {
      listeners.push(listener)
    },
  }
}
