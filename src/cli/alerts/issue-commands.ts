import { type Command, Option } from 'commander'
import { cliError, MISUSED } from '../cli-error.ts'
import type { OutputFlags, PageFlags } from '../command-options.ts'
import type { Api } from '../connection/api.ts'
import type { DataFlags } from '../given-data.ts'
import { durationMs, timeAhead } from '../given-time.ts'
import type { Given } from '../kind-commands.ts'

interface FilterFlags {
  readonly state: string
  readonly queue?: string
}

/** What somebody on call asks for: neither what is over nor what nobody wants to hear of. */
const CURRENT = 'open,acknowledged'
const ALL = 'all'

/** As a list of issues takes them. */
export const ISSUE_FILTERS = {
  add: (command: Command): Command =>
    command
      .addOption(
        new Option('--state <state>', 'those in this state, or all')
          .choices(['open', 'acknowledged', 'muted', 'resolved', ALL])
          .default(CURRENT, 'open and acknowledged ones'),
      )
      .option('--queue <queue>', 'only of the queue of this name'),
  of: (_api: Api, { state, queue }: PageFlags & FilterFlags) =>
    Promise.resolve({ state: state === ALL ? undefined : state, queue }),
}

interface MuteFlags extends OutputFlags, DataFlags {
  readonly for?: string
  readonly until?: string
}

export function addMuteOptions(command: Command): Command {
  return command
    .option('--for <duration>', 'how long, such as 30m, 2h or 1d')
    .option('--until <time>', 'when it ends, as a time or a span from now on, instead of --for')
}

export function muteFields({ flags, nowMs }: Given<MuteFlags>): object {
  const { for: length, until } = flags
  if ((length === undefined) === (until === undefined))
    throw cliError('no end given: give --for or --until', MISUSED)
  if (length === undefined) return { until: timeAhead('--until', until, nowMs()) }
  return { until: new Date(nowMs() + durationMs('--for', length)).toISOString() }
}
