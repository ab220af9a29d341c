import { CommanderError } from 'commander'
import { UNAVAILABLE } from '../cli-error.ts'

/** So often in a row may a look fail in passing before a command that looks again and again ends. */
export const FAILURES_MAX = 5

export interface Looks<Seen> {
  readonly look: () => Promise<Seen>
  readonly isEnd: (seen: Seen) => boolean
  /** Looks after the first. */
  readonly polls: number
  readonly pause: () => Promise<void>
}

/** What was seen at the end, or by the last look. A look that fails in passing counts as one, and is borne a few times in a row. */
export async function lookUntil<Seen>({ look, isEnd, polls, pause }: Looks<Seen>): Promise<Seen> {
  let failures = 0
  for (let poll = 0; ; poll += 1) {
    try {
      const seen = await look()
      failures = 0
      if (poll >= polls || isEnd(seen)) return seen
    } catch (fault) {
      failures += 1
      if (!isPassing(fault) || failures > FAILURES_MAX || poll >= polls) throw fault
    }
    await pause()
  }
}

/** No answer, or one that says to try again. */
export function isPassing(fault: unknown): boolean {
  return fault instanceof CommanderError && fault.exitCode === UNAVAILABLE
}
