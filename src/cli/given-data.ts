import type { Command } from 'commander'
import { cliError, MISUSED } from './cli-error.ts'
import { readSource, type Stdin } from './given-source.ts'

export interface DataFlags {
  readonly data?: string
}

/** Adds `--data`, by which every field of a request can be given. */
export function addDataOption(command: Command): Command {
  return command.option(
    '--data <json>',
    'fields as a JSON object, as the API takes them; @file reads a file, - standard input; other options win',
  )
}

/**
 * The JSON text of a body: the fields of `--data` exactly as written, and then those of other options, since of two
 * fields with one name the API takes the last.
 * @param fields the JSON object of the other options
 */
export async function withData(data: string | undefined, fields: string, stdin: Stdin): Promise<string> {
  if (data === undefined) return fields
  const text = (await readSource(data, stdin)).trim()
  const given = objectIn(text)
  if (fields === '{}') return text
  return `${text.slice(0, -1)}${Object.keys(given).length === 0 ? '' : ','}${fields.slice(1)}`
}

/** Standard input can be read only once. */
export function checkStdinOnce(flags: Readonly<Record<string, unknown>>): void {
  const readers = Object.keys(flags).filter((name) => flags[name] === '-')
  if (readers.length < 2) return
  const names = readers.map((name) => `--${name}`).join(' and ')
  throw cliError(`only one of ${names} can read standard input`, MISUSED)
}

function objectIn(text: string): object {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (fault) {
    throw cliError(`--data is not JSON: ${fault instanceof Error ? fault.message : String(fault)}`, MISUSED)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw cliError('--data is not a JSON object', MISUSED)
}
