import { CommanderError } from 'commander'

/** Exit codes of the commands. */
export const FAILED = 1
export const MISUSED = 2

/** Ends a command. The message is printed as one line. */
export function cliError(message: string, exitCode: typeof FAILED | typeof MISUSED = FAILED): Error {
  return new CommanderError(exitCode, 'punctual.client', message)
}
