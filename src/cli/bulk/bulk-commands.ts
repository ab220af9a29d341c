import { type Command, Option } from 'commander'
import { JsonText } from '../../../clients/typescript/src/client.ts'
import { cliError, MISUSED } from '../cli-error.ts'
import {
  changing,
  connected,
  limitOf,
  type OutputFlags,
  paged,
  type PageFlags,
  watched,
} from '../command-options.ts'
import type { CommandRunner } from '../command-runner.ts'
import { wholeNumber } from '../given-number.ts'
import { tagFilter } from '../given-pairs.ts'
import { BULK_LIST, BULK_PAGE, BULK_PREVIEW } from './bulk-text.ts'
import { awaitBulk } from './bulk-wait.ts'

const ACTIONS = ['retry', 'delete', 'fire', 'replay', 'purge', 'cancel'] as const

interface FilterFlags {
  readonly queue?: string
  readonly status?: string
  readonly finalStatus?: string
  readonly failureReason?: string
  readonly responseStatus?: string
  readonly host?: string
  readonly tag?: string
  readonly cron?: string
  readonly createdAfter?: string
  readonly createdBefore?: string
  readonly scheduledAfter?: string
  readonly scheduledBefore?: string
  readonly endedAfter?: string
  readonly endedBefore?: string
  readonly text?: string
}

interface CreateFlags extends OutputFlags, FilterFlags {
  readonly all?: boolean
  readonly rate?: string
  readonly wait?: string
}

type Sleep = (milliseconds: number) => Promise<void>

/** Adds `bulk` and its subcommands; alone it lists. */
export function registerBulkCommands(program: Command, runner: CommandRunner, sleep: Sleep): void {
  const bulk = program.command('bulk').description('do one action to many jobs')
  paged(bulk.command('list', { isDefault: true }))
    .description('list bulks, newest first')
    .action((flags: PageFlags) => {
      const page = { limit: limitOf(flags), cursor: flags.cursor }
      return runner.request(flags, (api) => api.send('listBulks', page), BULK_LIST)
    })
  watched(bulk.command('show <id>'))
    .description('show a bulk, its progress, and the jobs that it could not act on')
    .action((id: string, flags: OutputFlags) =>
      runner.request(flags, (api) => api.send('readBulk', { bulk_id: id }), BULK_PAGE),
    )
  createCommand(bulk).action((action: string, ids: string[], flags: CreateFlags) =>
    create({ action, ids, flags }, runner, sleep),
  )
  changing(bulk.command('abort <id>'))
    .description('end a bulk before its end; what it did stays done')
    .action((id: string, flags: OutputFlags) =>
      runner.request(flags, (api) => api.send('abortBulk', { bulk_id: id }), BULK_PAGE),
    )
}

function createCommand(bulk: Command): Command {
  const create = connected(bulk.command('create <action> [ids...]'))
    .description(
      'retry, delete, fire, replay, purge or cancel jobs: the given ones, or all for which the filters hold',
    )
    .option('--all', 'every job that the action is for')
    .option('--rate <count>', 'at most so many jobs a second (default: as fast as it goes)')
    .option('--dry-run', 'count the jobs and show some of them; change nothing')
    .option(
      '--wait <seconds>',
      'wait up to this long for its end, and fail unless it is done without failures',
    )
  return filtered(create)
}

function filtered(command: Command): Command {
  return command
    .option('--queue <name>', 'only of this queue')
    .addOption(
      new Option('--status <status>', 'only with this status, if the action is for it').choices([
        ...['pending', 'completed', 'failed', 'dead_lettered'],
      ]),
    )
    .option('--final-status <status>', 'only with this final status')
    .option('--failure-reason <reason>', 'only failed for this reason, such as timeout')
    .option('--response-status <code>', 'only answered with this status, such as 503')
    .option('--host <name>', 'only to this host')
    .option('--tag <name=value>', 'only with this tag')
    .option('--cron <id>', 'only of this cron')
    .option('--created-after <time>', 'only created at or after this time, such as 2026-12-24T18:00:00+01:00')
    .option('--created-before <time>', 'only created before this time')
    .option('--scheduled-after <time>', 'only scheduled for this time or later')
    .option('--scheduled-before <time>', 'only scheduled for before this time')
    .option('--ended-after <time>', 'only ended at or after this time')
    .option('--ended-before <time>', 'only ended before this time')
    .option('--text <text>', 'only with this text in URL or payload')
}

interface Wanted {
  readonly action: string
  readonly ids: readonly string[]
  readonly flags: CreateFlags
}

function create(wanted: Wanted, runner: CommandRunner, sleep: Sleep): Promise<void> {
  // The API counts, so a dry run is sent.
  const { dryRun, ...flags } = wanted.flags
  return runner.run(flags, async (api) => {
    const seconds = flags.wait === undefined ? null : wholeNumber('--wait', flags.wait)
    const body = new JsonText(bodyOf(wanted))
    const created = await api.send('createBulk', { body })
    if (!('state' in created.body))
      return runner.print(flags, { ...created, body: created.body }, BULK_PREVIEW)
    if (dryRun === true || seconds === null)
      return runner.print(flags, { ...created, body: created.body }, BULK_PAGE)
    // Whoever stops waiting can look, or abort it.
    runner.warn(`bulk ${created.body.id} is under way\n`)
    const bar = runner.progressBar()
    const ended = await awaitBulk(api, created.body.id, { seconds, sleep, bar }).finally(() => bar.end())
    runner.print(flags, ended.answer, BULK_PAGE)
    if (ended.failure !== null) throw cliError(ended.failure)
  })
}

function bodyOf({ action, ids, flags }: Wanted): string {
  if (!ACTIONS.some((one) => one === action))
    throw cliError(`${action} is none of ${ACTIONS.join(', ')}`, MISUSED)
  const filter = filterOf(flags)
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  if ([ids.length > 0, flags.all === true, isFiltered].filter(Boolean).length !== 1)
    throw cliError('give ids, filters or --all (see punctual bulk create --help)', MISUSED)
  const rate = flags.rate === undefined ? undefined : wholeNumber('--rate', flags.rate)
  const target = ids.length > 0 ? { ids: ids.map(idOf) } : { filter }
  return JSON.stringify({ action, ...target, dry_run: flags.dryRun, rate })
}

/** A number or a UUID; the API says what is wrong with anything else. */
function idOf(text: string): number | string {
  return /^[0-9]{1,15}$/.test(text) ? Number(text) : text
}

function filterOf(flags: FilterFlags): Record<string, unknown> {
  const number = (flag: string, text: string | undefined) =>
    text === undefined ? undefined : wholeNumber(flag, text)
  const { queue, status, host, tag, text } = flags
  return {
    ...{ queue, status, host, tag: tagFilter(tag), text, final_status: flags.finalStatus },
    failure_reason: flags.failureReason,
    response_status: number('--response-status', flags.responseStatus),
    cron_id: number('--cron', flags.cron),
    ...{ created_after: flags.createdAfter, created_before: flags.createdBefore },
    ...{ scheduled_after: flags.scheduledAfter, scheduled_before: flags.scheduledBefore },
    ...{ ended_after: flags.endedAfter, ended_before: flags.endedBefore },
  }
}
