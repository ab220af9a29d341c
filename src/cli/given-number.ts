import { cliError, MISUSED } from './cli-error.ts'

export function wholeNumber(flag: string, text: string): number {
  if (!/^[0-9]{1,16}$/.test(text)) throw cliError(`${flag} ${text} is not a whole number`, MISUSED)
  return Number(text)
}
