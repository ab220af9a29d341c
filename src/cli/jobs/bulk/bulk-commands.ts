import type { Command } from 'commander'
import { type BulkPreview, JsonText } from '../../../../clients/typescript/src/client.ts'
import { cliError, MISUSED } from '../../cli-error.ts'
import { confirmed, connected, type DestroyFlags } from '../../command-options.ts'
import { readAnswer } from '../../command-runner.ts'
import { wholeNumber } from '../../given-number.ts'
import { maybeSeconds } from '../../given-time.ts'
import type { CommandTools } from '../../kind-commands.ts'
import { filtered, filterOf, type JobFilterFlags } from '../job-filters.ts'
import type { Api } from '../../connection/api.ts'
import type { Stdin } from '../../given-source.ts'
import { jobIdsOf } from './bulk-ids.ts'
import { BULK_PAGE, BULK_PREVIEW, jobsText } from './bulk-text.ts'
import { awaitBulk } from './bulk-wait.ts'

const ACTIONS = ['retry', 'delete', 'fire', 'replay', 'purge', 'cancel'] as const
/** Those after which a job is gone. */
const DESTROYING: readonly string[] = ['delete', 'purge', 'cancel']

interface CreateFlags extends DestroyFlags, JobFilterFlags {
  readonly all?: boolean
  readonly rate?: string
  readonly wait?: string
  readonly stopPercent?: string
  readonly stopMin?: string
}

export function addCreate(bulk: Command, _bulk: unknown, tools: CommandTools): void {
  createCommand(bulk).action((action: string, ids: string[], flags: CreateFlags) =>
    create({ action, ids, flags }, tools),
  )
}

function createCommand(bulk: Command): Command {
  const create = confirmed(connected(bulk.command('create <action> [ids...]')))
    .description(
      'retry, delete, fire, replay, purge or cancel jobs: the given ones (@file reads ids from a file, - from standard input), or all for which the filters hold',
    )
    .option('--all', 'every job that the action is for')
    .option('--rate <count>', 'at most this many jobs a second (default: no limit)')
    .option(
      '--stop-percent <percent>',
      'stop by itself when this share of the new jobs has failed again (retry and replay)',
    )
    .option('--stop-min <count>', 'judge that only after this many of them have ended (default: 50)')
    .option('--dry-run', 'count the jobs and show some of them; change nothing')
    .option(
      '--wait <seconds>',
      'wait up to this long, such as 60 or 5m, for its end, and fail unless it is done without failures',
    )
  return filtered(create)
}

interface Wanted {
  readonly action: string
  readonly ids: readonly string[]
  readonly flags: CreateFlags
}

function create(wanted: Wanted, { runner, stdin, sleep, nowMs }: CommandTools): Promise<void> {
  // The API counts, so a dry run is sent.
  const { dryRun, ...flags } = wanted.flags
  return runner.run(flags, async (api) => {
    const seconds = maybeSeconds('--wait', flags.wait) ?? null
    const body = await bodyOf(wanted, { api, stdin, nowMs })
    if (DESTROYING.includes(wanted.action))
      await runner.confirm(wanted.flags, () => questionOf(api, wanted.action, body))
    const created = await api.send('createBulk', { body: jsonOf(body) })
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
  { api, stdin, nowMs }: { readonly api: Api; readonly stdin: Stdin; readonly nowMs: () => number },
): Promise<object> {
  if (!ACTIONS.some((one) => one === action))
    throw cliError(`${action} is not an action of bulks: give one of ${ACTIONS.join(', ')}`, MISUSED)
  const filter = await filterOf(api, flags, nowMs())
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  if ([ids.length > 0, flags.all === true, isFiltered].filter(Boolean).length !== 1)
    throw cliError('no jobs chosen: give ids, filters or --all (see punctual bulk create --help)', MISUSED)
  const rate = flags.rate === undefined ? undefined : wholeNumber('--rate', flags.rate)
  const target = ids.length > 0 ? { ids: await jobIdsOf(ids, stdin) } : { filter }
  return { action, ...target, dry_run: flags.dryRun, rate, stop_when: stopOf(flags) }
}

function stopOf({ stopPercent, stopMin }: CreateFlags) {
  if (stopPercent === undefined && stopMin === undefined) return undefined
  if (stopPercent === undefined) throw cliError('--stop-min needs --stop-percent', MISUSED)
  return {
    failed_again_percent: wholeNumber('--stop-percent', stopPercent),
    min: stopMin === undefined ? undefined : wholeNumber('--stop-min', stopMin),
  }
}

/** Has the API count what is to be destroyed. */
async function questionOf(api: Api, action: string, body: object): Promise<string> {
  const counted = await api.send('createBulk', { body: jsonOf({ ...body, dry_run: true }) })
  const found = counted.body as BulkPreview
  return readAnswer(() => {
    const such = found.sample.length === 0 ? '' : `, such as ${found.sample.join(', ')}`
    return `${action.charAt(0).toUpperCase()}${action.slice(1)} ${jobsText(found)}${such}?`
  })
}

/** What is asked before a bulk goes on. */
export async function resumptionOf(api: Api, id: string): Promise<string> {
  const { body } = await api.send('readBulk', { bulk_id: id })
  return readAnswer(() => {
    const { action, matched, is_at_least: isAtLeast, done, skipped, failed } = body
    const left = Math.max(0, matched - done - skipped - failed)
    const isOne = left === 1 && !isAtLeast
    return `Resume bulk ${id}, which has ${left}${isAtLeast ? ' or more' : ''} ${isOne ? 'job' : 'jobs'} left to ${action}?`
  })
}

function jsonOf(body: object): JsonText {
  return new JsonText(JSON.stringify(body))
}
