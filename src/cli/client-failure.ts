import { CommanderError } from 'commander'

/** Exit codes of the client verbs. */
export const FAILED = 1
export const MISUSED = 2

/** The end of a verb that could not do its work. Its message is one line for people. */
export function clientFailure(message: string, exitCode: typeof FAILED | typeof MISUSED = FAILED): Error {
  return new CommanderError(exitCode, 'punctual.client', message)
}
