import { type Command, Option } from 'commander'
import type { ClusterFlags } from './cluster/cluster-target.ts'
import { cliError, MISUSED } from './cli-error.ts'
import { wholeNumber } from './given-number.ts'
import { OUTPUT_FORMATS, type OutputFormat } from './output/answer-text.ts'

const WATCH_SECONDS = 2

export interface ConnectionFlags extends ClusterFlags {
  readonly server?: string
  readonly token?: string
}

export interface OutputFlags extends ConnectionFlags {
  readonly output: OutputFormat
  /** Seconds between two looks; true = the default. */
  readonly watch?: string | true
  readonly dryRun?: true
}

export interface DestroyFlags extends OutputFlags {
  readonly yes?: true
}

export interface PageFlags extends OutputFlags {
  readonly limit?: string
  readonly cursor?: string
}

/** Adds the options of every command. */
export function connected(command: Command): Command {
  const format = new Option('-o, --output <format>', 'how the answer is printed')
  return command
    .option('--server <url>', 'address of the API (PUNCTUAL_SERVER)')
    .option('--token <token>', 'a token of the team (PUNCTUAL_TOKEN)')
    .addOption(format.choices(OUTPUT_FORMATS).default('table'))
}

/** Adds the options of every command that shows what is there. */
export function watched(command: Command): Command {
  return connected(command).option(
    '-w, --watch [seconds]',
    'look again every few seconds (default: 2) and print what has changed, until interrupted',
  )
}

/** Adds the options of every command that changes something. */
export function changing(command: Command): Command {
  return connected(command).option('--dry-run', 'print the request that would change something; send none')
}

/** Adds the options of every command whose change cannot be undone, and which therefore asks first. */
export function destroying(command: Command): Command {
  return confirmed(changing(command))
}

/** Adds `--yes`. */
export function confirmed(command: Command): Command {
  return command.option('--yes', 'do it without asking; needed where no terminal can be asked')
}

/** Adds the options of a list. */
export function paged(command: Command): Command {
  return watched(command)
    .option('--limit <count>', 'at most this many, up to 1000')
    .option('--cursor <cursor>', 'cursor of the next page, from the page before')
}

/** Adds `list`, which a group does when no verb is given; another word is an unknown verb, not an argument of it. */
export function listCommand(group: Command): Command {
  const list = group.command('list', { isDefault: true })
  return list.allowExcessArguments().hook('preAction', () => {
    const [excess] = list.args
    if (excess === undefined) return
    if (group.args[0] === list.name()) list.error(`error: list takes no argument such as '${excess}'`)
    // Suggests the verb that was meant.
    ;(group as unknown as { unknownCommand(): never }).unknownCommand()
  })
}

/** @param before false after an option that removes them all, undefined before the first */
export function collect(value: string, before: readonly string[] | false | undefined): readonly string[] {
  return before === false || before === undefined ? [value] : [...before, value]
}

/** `--limit` as the API takes it. */
export function limitOf({ limit }: PageFlags): number | undefined {
  return limit === undefined ? undefined : wholeNumber('--limit', limit)
}

/** Seconds between two looks of `--watch`. */
export function watchSeconds({ watch }: OutputFlags): number {
  if (watch === undefined || watch === true) return WATCH_SECONDS
  if (/^[1-9][0-9]{0,4}$/.test(watch)) return Number(watch)
  throw cliError(`--watch ${watch} is not a number of seconds from 1 to 99999`, MISUSED)
}
