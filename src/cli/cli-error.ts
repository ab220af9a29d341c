import { CommanderError } from 'commander'

/** Exit codes of the commands; 0 = done. docs/reference/cli.md says what each means. */
export const FAILED = 1
export const MISUSED = 2
export const NOT_FOUND = 3
export const NOT_PERMITTED = 4
/** No answer, or one that says to try again. */
export const UNAVAILABLE = 5
/** What was to be edited has changed since it was read. */
export const CONFLICT = 6

type ExitCode =
  | typeof FAILED
  | typeof MISUSED
  | typeof NOT_FOUND
  | typeof NOT_PERMITTED
  | typeof UNAVAILABLE
  | typeof CONFLICT

/** Ends a command. The message is printed as one line. */
export function cliError(message: string, exitCode: ExitCode = FAILED): CommanderError {
  return new CommanderError(exitCode, 'punctual.client', message)
}
