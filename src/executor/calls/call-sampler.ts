import { SUCCESSFUL_CALL_RECORDS_PER_SECOND } from '../../domain/limits.ts'
import type { Clock } from '../../ports/runtime.ts'

const SECOND_MS = 1000

/** Decides whether a successful call is recorded: only the first few of each queue in a second are. */
export function createCallSampler(clock: Clock): (queue: string) => boolean {
  let second = 0
  const counts = new Map<string, number>()
  return (queue) => {
    const now = Math.floor(clock.monotonicMs() / SECOND_MS)
    if (now !== second) {
      second = now
      counts.clear()
    }
    const count = counts.get(queue) ?? 0
    if (count >= SUCCESSFUL_CALL_RECORDS_PER_SECOND) return false
    counts.set(queue, count + 1)
    return true
  }
}
