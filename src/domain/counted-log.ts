/** Least time between two lines of one log. */
const COUNTED_LOG_MS = 60_000

/**
 * Logs what anybody can cause as often as they like: the first time at once, from then on at most one line a minute.
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
