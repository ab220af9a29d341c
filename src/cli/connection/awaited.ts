import { CommanderError } from 'commander'
import { UNAVAILABLE } from '../cli-error.ts'

/** A command that polls ends when this many polls in a row have failed in passing. */
export const FAILURES_MAX = 5

export interface Looks<Seen> {
  readonly look: () => Promise<Seen>
  readonly isEnd: (seen: Seen) => boolean
  /** How many polls follow the first read. */
  readonly polls: number
  readonly pause: () => Promise<void>
}

/**
 * Reads again and again until the end, or until the polls are used up, and answers what it read last. A read that fails
 * in passing counts as a poll, and may happen a few times in a row.
 */
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

/** A fault is passing when no answer came, or one that says to try again. */
export function isPassing(fault: unknown): boolean {
  return fault instanceof CommanderError && fault.exitCode === UNAVAILABLE
}
