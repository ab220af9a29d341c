import { type Command, Option } from 'commander'

export interface ConnectionFlags {
  readonly server?: string
  readonly token?: string
}

export interface OutputFlags extends ConnectionFlags {
  readonly output: string
}

export interface PageFlags extends OutputFlags {
  readonly limit?: string
  readonly cursor?: string
}

/** Adds the options of every command. */
export function connected(command: Command, format: 'table' | 'text'): Command {
  return command
    .option('--server <url>', 'address of the API (PUNCTUAL_SERVER)')
    .option('--token <token>', 'a token of the team (PUNCTUAL_TOKEN)')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['json', format]).default(format))
}

/** Adds the options of a list. */
export function paged(command: Command): Command {
  return command
    .option('--limit <count>', 'at most this many, up to 1000')
    .option('--cursor <cursor>', 'cursor of the next page, from the page before')
}

/** With its question mark; '' for an empty query. */
export function searchOf(query: Readonly<Record<string, string | undefined>>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, value)
  }
  return search.size === 0 ? '' : `?${search.toString()}`
}
