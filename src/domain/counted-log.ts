/** Between two lines about the same. */
const COUNTED_LOG_MS = 60_000

/**
 * For what anybody can make happen as often as they like: the first time is written at once, and from then on one line a
 * minute at most.
 * @param write how often it happened since the last line, and what was given the last time
 * @returns counts one
 */
export function createCountedLog<Given extends readonly unknown[]>(
  monotonicMs: () => number,
  write: (count: number, ...given: Given) => void,
): (...given: Given) => void {
  let count = 0
  let silentUntilMs = Number.NEGATIVE_INFINITY
  return (...given) => {
    count += 1
    const nowMs = monotonicMs()
    if (nowMs < silentUntilMs) return
    silentUntilMs = nowMs + COUNTED_LOG_MS
    write(count, ...given)
    count = 0
  }
}
