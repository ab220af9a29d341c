import { type Command, Option } from 'commander'
import { JsonText } from '../../../clients/typescript/src/client.ts'
import { cliError, MISUSED } from '../cli-error.ts'
import { changing, limitOf, type OutputFlags, paged, type PageFlags, watched } from '../command-options.ts'
import type { CommandRunner } from '../command-runner.ts'
import { durationMs } from '../given-duration.ts'
import { wholeNumber } from '../given-number.ts'
import { WINDOW_LIST, WINDOW_PAGE } from './window-text.ts'

interface CreateFlags extends OutputFlags {
  readonly name?: string
  readonly queue?: string
  readonly cron?: string
  readonly for?: string
  readonly from?: string
  readonly until?: string
  readonly every?: string
  readonly zone?: string
  readonly action?: string
  readonly reason?: string
}

/** Adds `windows` and its subcommands; alone it lists. */
export function registerWindowCommands(program: Command, runner: CommandRunner, nowMs: () => number): void {
  const windows = program.command('windows').description('list, create and delete maintenance windows')
  paged(windows.command('list', { isDefault: true }))
    .description('list maintenance windows by name')
    .action((flags: PageFlags) => {
      const page = { limit: limitOf(flags), cursor: flags.cursor }
      return runner.request(flags, (api) => api.send('listWindows', page), WINDOW_LIST)
    })
  watched(windows.command('show <id>'))
    .description('show a maintenance window')
    .action((id: string, flags: OutputFlags) =>
      runner.request(flags, (api) => api.send('readWindow', { window_id: id }), WINDOW_PAGE),
    )
  createCommand(windows).action((flags: CreateFlags) =>
    runner.request(
      flags,
      async (api) => api.send('createWindow', { body: new JsonText(bodyOf(flags, nowMs())) }),
      WINDOW_PAGE,
    ),
  )
  changing(windows.command('delete <id>'))
    .description('delete a maintenance window; one that is active ends')
    .action((id: string, flags: OutputFlags) =>
      runner.act(flags, (api) => api.send('deleteWindow', { window_id: id }), {
        name: `window/${id}`,
        said: `window ${id} deleted`,
      }),
    )
}

function createCommand(windows: Command): Command {
  return changing(windows.command('create'))
    .description('create a window: --for 2h from now on, or with --from, --until or --every')
    .option('--name <name>', 'its name, which is its id (default: one is made up)')
    .option('--queue <id>', 'for this queue only (default: all of the team)')
    .option('--cron <id>', 'for this cron only')
    .option('--for <duration>', 'how long, such as 90s, 30m, 2h or 1d')
    .option('--from <time>', 'when it begins, such as 2026-12-24T18:00:00+01:00 (default: now)')
    .option('--until <time>', 'when it ends, instead of --for')
    .option('--every <expression>', 'a recurring window begins at the ticks of this cron expression')
    .option('--zone <zone>', 'time zone of the expression (default: UTC)')
    .addOption(new Option('--action <action>', 'what it does (default: mute)').choices(['mute', 'hold']))
    .option('--reason <text>', 'a comment')
}

function bodyOf(flags: CreateFlags, nowMs: number): string {
  const { name, action, reason } = flags
  return JSON.stringify({ name, ...resourceOf(flags), ...timesOf(flags, nowMs), action, reason })
}

function resourceOf({ queue, cron }: CreateFlags): object {
  if (queue !== undefined && cron !== undefined) throw cliError('give --queue or --cron, not both', MISUSED)
  if (queue !== undefined) return { resource: { kind: 'queue', id: wholeNumber('--queue', queue) } }
  return cron === undefined ? {} : { resource: { kind: 'cron', id: wholeNumber('--cron', cron) } }
}

function timesOf(flags: CreateFlags, nowMs: number): object {
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
  if ((lengthMs === null) === (until === undefined)) throw cliError('give --for or --until', MISUSED)
  const startMs = from === undefined ? nowMs : Date.parse(from)
  if (lengthMs !== null && Number.isNaN(startMs)) {
    throw cliError(`--from ${JSON.stringify(from)} is not a time such as 2026-12-24T18:00:00+01:00`, MISUSED)
  }
  return {
    start_at: from ?? timeText(nowMs),
    end_at: lengthMs === null ? until : timeText(startMs + lengthMs),
  }
}

function timeText(unixMs: number): string {
  return new Date(unixMs).toISOString()
}
