import type { Command } from 'commander'
import { JsonText } from '../../../clients/typescript/src/client.ts'
import { cliError, MISUSED } from '../cli-error.ts'
import {
  changing,
  connected,
  limitOf,
  listCommand,
  type OutputFlags,
  paged,
  type PageFlags,
  watched,
} from '../command-options.ts'
import type { CommandRunner } from '../command-runner.ts'
import { wholeNumber } from '../given-number.ts'
import { filtered, filterOf, type JobFilterFlags } from '../jobs/job-filters.ts'
import type { Api } from '../connection/api.ts'
import { idArgument } from '../connection/given-ids.ts'
import type { Stdin } from '../given-source.ts'
import { jobIdsOf } from './bulk-ids.ts'
import { BULK_LIST, BULK_PAGE, BULK_PREVIEW } from './bulk-text.ts'
import { awaitBulk } from './bulk-wait.ts'

const ACTIONS = ['retry', 'delete', 'fire', 'replay', 'purge', 'cancel'] as const

interface CreateFlags extends OutputFlags, JobFilterFlags {
  readonly all?: boolean
  readonly rate?: string
  readonly wait?: string
}

interface BulkTools {
  readonly stdin: Stdin
  readonly sleep: (milliseconds: number) => Promise<void>
}

/** Adds `bulk` and its subcommands; alone it lists. */
export function registerBulkCommands(program: Command, runner: CommandRunner, tools: BulkTools): void {
  const bulk = program.command('bulk').description('do one action to many jobs')
  paged(listCommand(bulk))
    .description('list bulks, newest first')
    .action((flags: PageFlags) => {
      const page = { limit: limitOf(flags), cursor: flags.cursor }
      return runner.request(flags, (api) => api.send('listBulks', page), BULK_LIST)
    })
  watched(bulk.command('show').argument(...idArgument('bulk')))
    .description('show a bulk, its progress, and the jobs that it could not act on')
    .action((id: string, flags: OutputFlags) =>
      runner.request(flags, (api) => api.send('readBulk', { bulk_id: id }), BULK_PAGE),
    )
  createCommand(bulk).action((action: string, ids: string[], flags: CreateFlags) =>
    create({ action, ids, flags }, runner, tools),
  )
  changing(bulk.command('abort').argument(...idArgument('bulk')))
    .description('end a bulk before its end; what it did stays done')
    .action((id: string, flags: OutputFlags) =>
      runner.request(flags, (api) => api.send('abortBulk', { bulk_id: id }), BULK_PAGE),
    )
}

function createCommand(bulk: Command): Command {
  const create = connected(bulk.command('create <action> [ids...]'))
    .description(
      'retry, delete, fire, replay, purge or cancel jobs: the given ones (@file reads ids from a file, - from standard input), or all for which the filters hold',
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

interface Wanted {
  readonly action: string
  readonly ids: readonly string[]
  readonly flags: CreateFlags
}

function create(wanted: Wanted, runner: CommandRunner, { stdin, sleep }: BulkTools): Promise<void> {
  // The API counts, so a dry run is sent.
  const { dryRun, ...flags } = wanted.flags
  return runner.run(flags, async (api) => {
    const seconds = flags.wait === undefined ? null : wholeNumber('--wait', flags.wait)
    const body = new JsonText(await bodyOf(wanted, { api, stdin }))
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

async function bodyOf(
  { action, ids, flags }: Wanted,
  { api, stdin }: { readonly api: Api; readonly stdin: Stdin },
): Promise<string> {
  if (!ACTIONS.some((one) => one === action))
    throw cliError(`${action} is none of ${ACTIONS.join(', ')}`, MISUSED)
  const filter = await filterOf(api, flags)
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  if ([ids.length > 0, flags.all === true, isFiltered].filter(Boolean).length !== 1)
    throw cliError('give ids, filters or --all (see punctual bulk create --help)', MISUSED)
  const rate = flags.rate === undefined ? undefined : wholeNumber('--rate', flags.rate)
  const target = ids.length > 0 ? { ids: await jobIdsOf(ids, stdin) } : { filter }
  return JSON.stringify({ action, ...target, dry_run: flags.dryRun, rate })
}
