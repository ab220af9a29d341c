import {
  SUCCESSFUL_CALL_RECORDS_OF_ALL_PER_SECOND,
  SUCCESSFUL_CALL_RECORDS_PER_SECOND,
} from '../../domain/limits.ts'
import type { Clock } from '../../ports/runtime.ts'

const SECOND_MS = 1000
/** The rest is for queues without a record in this second, so that a few busy ones do not take it all. */
const REPEATED_MAX = SUCCESSFUL_CALL_RECORDS_OF_ALL_PER_SECOND / 2

/**
 * Decides whether a successful call is recorded: only the first few of each queue in a second are, and only so many of
 * all, but the first of each team in any case, so that no team's queues keep another's out. A record costs more than the rest of a job's end, so many queues of few jobs each would double what a job costs,
 * and use up the room for records within minutes.
 */
export function createCallSampler(clock: Clock): (team: string, queue: string) => boolean {
  let second = 0
  let kept = 0
  const counts = new Map<string, number>()
  const teams = new Set<string>()
  return (team, queue) => {
    const now = Math.floor(clock.monotonicMs() / SECOND_MS)
    if (now !== second) {
      second = now
      kept = 0
      counts.clear()
      teams.clear()
    }
    const count = counts.get(queue) ?? 0
    const ofAll = count === 0 ? SUCCESSFUL_CALL_RECORDS_OF_ALL_PER_SECOND : REPEATED_MAX
    if (count >= SUCCESSFUL_CALL_RECORDS_PER_SECOND || (kept >= ofAll && teams.has(team))) return false
    kept += 1
    teams.add(team)
    counts.set(queue, count + 1)
    return true
  }
}
