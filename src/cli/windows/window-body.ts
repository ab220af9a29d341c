import { type Command, Option } from 'commander'
import { parseTimestamp } from '../../contract/requests/run-at.ts'
import { cliError, MISUSED } from '../cli-error.ts'
import type { OutputFlags } from '../command-options.ts'
import type { Api } from '../connection/api.ts'
import { cronIdOf, queueIdOf } from '../connection/named-ids.ts'
import { addDataOption, type DataFlags } from '../given-data.ts'
import { durationMs, TIME_AHEAD, timeAhead } from '../given-time.ts'
import type { Given } from '../kind-commands.ts'

interface WindowFlags extends OutputFlags, DataFlags {
  readonly queue?: string
  readonly cron?: string
  readonly for?: string
  readonly from?: string
  readonly until?: string
  readonly every?: string
  readonly zone?: string
  readonly action?: string
}

interface CreateFlags extends WindowFlags {
  readonly name?: string
  readonly reason?: string
}

interface EditFlags extends WindowFlags {
  /** false = for all of the team. */
  readonly resource: boolean
  /** false = none. */
  readonly reason?: string | false
}

export function addCreateOptions(command: Command): Command {
  const named = command.option('--name <name>', 'its name, which is its id (default: one is made up)')
  return addDataOption(
    addWindowOptions(named, (value) => ` (default: ${value})`).option('--reason <text>', 'a comment'),
  )
}

export function addEditOptions(command: Command): Command {
  return addDataOption(
    addWindowOptions(command, () => '')
      .option('--no-resource', 'for all of the team')
      .option('--reason <text>', 'a comment')
      .option('--no-reason', 'remove the comment'),
  )
}

function addWindowOptions(command: Command, byDefault: (value: string) => string): Command {
  return command
    .option('--queue <queue>', `for this queue only, by its name or id${byDefault('all of the team')}`)
    .option('--cron <cron>', 'for this cron only, by its name or id')
    .option('--for <duration>', 'how long, such as 90s, 30m, 2h or 1d')
    .option('--from <time>', `when it begins, such as ${TIME_AHEAD}${byDefault('now')}`)
    .option('--until <time>', 'when it ends, as a time or a span from now on, instead of --for')
    .option('--every <expression>', 'a recurring window begins at the ticks of this cron expression')
    .option('--zone <zone>', `time zone of the expression${byDefault('UTC')}`)
    .addOption(new Option('--action <action>', `what it does${byDefault('mute')}`).choices(['mute', 'hold']))
}

export async function newFields({ flags, api, nowMs }: Given<CreateFlags>): Promise<object> {
  const { name, action, reason, data } = flags
  if (data === undefined && !hasTimes(flags)) throw cliError('no end given: give --for or --until', MISUSED)
  const times = timesOf(flags, { nowMs: nowMs(), isNew: true })
  return { name, ...(await resourceOf(flags, api)), ...times, action, reason }
}

export async function editedFields({ flags, api, nowMs }: Given<EditFlags>): Promise<object> {
  const { action, reason, resource, queue, cron } = flags
  if (!resource && (queue ?? cron) !== undefined)
    throw cliError('--no-resource excludes --queue and --cron: give one of the three', MISUSED)
  const times = timesOf(flags, { nowMs: nowMs(), isNew: false })
  return {
    ...(resource ? await resourceOf(flags, api) : { resource: null }),
    ...times,
    action,
    reason: reason === false ? null : reason,
  }
}

async function resourceOf({ queue, cron }: WindowFlags, api: Api): Promise<object> {
  if (queue !== undefined && cron !== undefined)
    throw cliError('--queue and --cron exclude each other: give one', MISUSED)
  if (queue !== undefined) return { resource: { kind: 'queue', id: Number(await queueIdOf(api, queue)) } }
  return cron === undefined ? {} : { resource: { kind: 'cron', id: Number(await cronIdOf(api, cron)) } }
}

function hasTimes(flags: WindowFlags): boolean {
  return [flags.for, flags.from, flags.until, flags.every, flags.zone].some((given) => given !== undefined)
}

interface Start {
  readonly nowMs: number
  /** A new window begins now unless told, and one that is edited where it began so far. */
  readonly isNew: boolean
}

function timesOf(flags: WindowFlags, start: Start): object {
  if (!hasTimes(flags)) return {}
  const { from, until, every, zone } = flags
  const lengthMs = flags.for === undefined ? null : durationMs('--for', flags.for)
  if (every !== undefined) {
    if (lengthMs === null || from !== undefined || until !== undefined) {
      throw cliError('--every needs --for and excludes --from and --until', MISUSED)
    }
    const schedule = { cron_expression: every, time_zone: zone, duration_seconds: lengthMs / 1000 }
    return { recurring: [schedule] }
  }
  if (zone !== undefined) throw cliError('--zone needs --every', MISUSED)
  return onceOf(flags, lengthMs, start)
}

/** The beginning and the end of a window that opens once. */
export function onceOf(
  { from, until }: { readonly from?: string | undefined; readonly until?: string | undefined },
  lengthMs: number | null,
  { nowMs, isNew }: Start,
): { readonly start_at: string | undefined; readonly end_at: string | undefined } {
  if (lengthMs !== null && until !== undefined)
    throw cliError('--for and --until exclude each other: give one', MISUSED)
  if (!isNew && lengthMs !== null && from === undefined) {
    throw cliError('--for needs --from or --every: use --until to change the end alone', MISUSED)
  }
  if (isNew && lengthMs === null && until === undefined)
    throw cliError('no end given: give --for or --until', MISUSED)
  const now = isNew ? new Date(nowMs).toISOString() : undefined
  const start = timeAhead('--from', from, nowMs) ?? now
  const end = timeAhead('--until', until, nowMs)
  if (lengthMs === null || start === undefined) return { start_at: start, end_at: end }
  return { start_at: start, end_at: new Date(startMsOf(start) + lengthMs).toISOString() }
}

function startMsOf(start: string): number {
  const startMs = parseTimestamp(start)
  if (startMs === null) throw new Error('A time that was read is none.')
  return startMs
}
