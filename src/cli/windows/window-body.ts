import { type Command, Option } from 'commander'
import { cliError, MISUSED } from '../cli-error.ts'
import type { OutputFlags } from '../command-options.ts'
import type { Api } from '../connection/api.ts'
import { cronIdOf, queueIdOf } from '../connection/named-ids.ts'
import { addDataOption, type DataFlags, withData } from '../given-data.ts'
import { durationMs } from '../given-duration.ts'
import type { Stdin } from '../given-source.ts'

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

export interface CreateFlags extends WindowFlags {
  readonly name?: string
  readonly reason?: string
}

export interface EditFlags extends WindowFlags {
  /** false = for all of the team. */
  readonly resource: boolean
  /** false = none. */
  readonly reason?: string | false
  readonly ifMatch?: string
}

export function addCreateOptions(command: Command): Command {
  const named = command.option('--name <name>', 'its name, which is its id (default: one is made up)')
  return addDataOption(
    addWindowOptions(named, (value) => ` (default: ${value})`).option('--reason <text>', 'a comment'),
  )
}

export function addEditOptions(command: Command): Command {
  const versioned = command.option(
    '--if-match <version>',
    'only this version, as windows show -o wide prints it, quotes included',
  )
  return addDataOption(
    addWindowOptions(versioned, () => '')
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
    .option('--from <time>', `when it begins, such as 2026-12-24T18:00:00+01:00${byDefault('now')}`)
    .option('--until <time>', 'when it ends, instead of --for')
    .option('--every <expression>', 'a recurring window begins at the ticks of this cron expression')
    .option('--zone <zone>', `time zone of the expression${byDefault('UTC')}`)
    .addOption(new Option('--action <action>', `what it does${byDefault('mute')}`).choices(['mute', 'hold']))
}

/** The body of a new window. */
export async function writeNewWindow(
  flags: CreateFlags,
  { api, stdin, nowMs }: { readonly api: Api; readonly stdin: Stdin; readonly nowMs: number },
): Promise<string> {
  const { name, action, reason, data } = flags
  if (data === undefined && !hasTimes(flags)) throw cliError('give --for or --until', MISUSED)
  const times = timesOf(flags, nowMs)
  const fields = { name, ...(await resourceOf(flags, api)), ...times, action, reason }
  return withData(data, JSON.stringify(fields), stdin)
}

/** The body of an edit. */
export async function writeWindowEdit(
  flags: EditFlags,
  { api, stdin }: { readonly api: Api; readonly stdin: Stdin },
): Promise<string> {
  const { action, reason, data, resource, queue, cron } = flags
  if (!resource && (queue ?? cron) !== undefined)
    throw cliError('--no-resource goes with neither --queue nor --cron', MISUSED)
  const times = timesOf(flags, null)
  const fields = {
    ...(resource ? await resourceOf(flags, api) : { resource: null }),
    ...{ ...times, action, reason: reason === false ? null : reason },
  }
  const text = await withData(data, JSON.stringify(fields), stdin)
  if (text !== '{}') return text
  throw cliError('nothing to change was given (see punctual windows edit --help)', MISUSED)
}

async function resourceOf({ queue, cron }: WindowFlags, api: Api): Promise<object> {
  if (queue !== undefined && cron !== undefined) throw cliError('give --queue or --cron, not both', MISUSED)
  if (queue !== undefined) return { resource: { kind: 'queue', id: Number(await queueIdOf(api, queue)) } }
  return cron === undefined ? {} : { resource: { kind: 'cron', id: Number(await cronIdOf(api, cron)) } }
}

function hasTimes(flags: WindowFlags): boolean {
  return [flags.for, flags.from, flags.until, flags.every, flags.zone].some((given) => given !== undefined)
}

/** @param nowMs when a window begins that is not told; null = where it began so far, as of an edit */
function timesOf(flags: WindowFlags, nowMs: number | null): object {
  if (!hasTimes(flags)) return {}
  const { from, until, every, zone } = flags
  const lengthMs = flags.for === undefined ? null : durationMs('--for', flags.for)
  if (every !== undefined) {
    if (lengthMs === null || from !== undefined || until !== undefined) {
      throw cliError('a window with --every needs --for, and neither --from nor --until', MISUSED)
    }
    const schedule = { cron_expression: every, time_zone: zone, duration_seconds: lengthMs / 1000 }
    return { recurring: [schedule] }
  }
  if (zone !== undefined) throw cliError('--zone goes with --every', MISUSED)
  return onceOf({ from, until, lengthMs, nowMs })
}

interface Once {
  readonly from: string | undefined
  readonly until: string | undefined
  readonly lengthMs: number | null
  readonly nowMs: number | null
}

function onceOf({ from, until, lengthMs, nowMs }: Once): object {
  if (lengthMs !== null && until !== undefined) throw cliError('give --for or --until, not both', MISUSED)
  if (nowMs === null && lengthMs !== null && from === undefined) {
    throw cliError('--for goes with --from or --every; --until sets the end alone', MISUSED)
  }
  if (nowMs !== null && lengthMs === null && until === undefined)
    throw cliError('give --for or --until', MISUSED)
  const startMs = from === undefined ? (nowMs ?? Number.NaN) : Date.parse(from)
  if (lengthMs !== null && Number.isNaN(startMs)) {
    throw cliError(`--from ${JSON.stringify(from)} is not a time such as 2026-12-24T18:00:00+01:00`, MISUSED)
  }
  return {
    start_at: from ?? (nowMs === null ? undefined : timeText(nowMs)),
    end_at: lengthMs === null ? until : timeText(startMs + lengthMs),
  }
}

function timeText(unixMs: number): string {
  return new Date(unixMs).toISOString()
}
