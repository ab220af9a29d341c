import { SUCCESSFUL_CALL_RECORDS_PER_SECOND } from '../../domain/limits.ts'
import type { Clock } from '../../ports/runtime.ts'

/** Decides which successful calls are kept in detail: the first so many a second of each queue. Failures always are. */
export interface CallSampler {
  keepsSuccess(queue: string): boolean
}

const SECOND_MS = 1000

export function createCallSampler(clock: Clock): CallSampler {
  let second = 0
  const counts = new Map<string, number>()
  return {
    keepsSuccess: (queue) => {
      const now = Math.floor(clock.monotonicMs() / SECOND_MS)
      if (now !== second) {
        second = now
        counts.clear()
      }
      const count = counts.get(queue) ?? 0
      if (count >= SUCCESSFUL_CALL_RECORDS_PER_SECOND) return false
      counts.set(queue, count + 1)
      return true
    },
  }
}
