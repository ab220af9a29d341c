import type { Command } from 'commander'
import { JsonText } from '../../../clients/typescript/src/client.ts'
import { pushFile, type PushFileFlags } from './batch/push-file.ts'
import { cliError, MISUSED } from '../cli-error.ts'
import { changing, limitOf, type OutputFlags, paged, type PageFlags, watched } from '../command-options.ts'
import type { Api } from '../connection/api.ts'
import { keyOf } from '../connection/header-text.ts'
import { givenNumber } from '../given-settings.ts'
import type { CommandTools } from '../kind-commands.ts'
import { idArgument, plainId } from '../connection/given-ids.ts'
import { withNewest } from './newest-attempt.ts'
import { filtered, filterOf, type JobFilterFlags } from './job-filters.ts'
import { listed, listOf, type ListFlags } from './list-options.ts'
import { JOB_LIST, JOB_PAGE } from './job-text.ts'
import { addWaitOption, makeJob, type WaitFlags } from './job-wait.ts'
import { registerMendCommands } from './mend-commands.ts'
import { addRequestOptions, addStartOptions, type JobFields, writeJobFields } from './push-body.ts'

interface PushFlags extends JobFields, PushFileFlags, WaitFlags {
  readonly file?: string
  readonly idempotencyKey?: string
}

/** What the lines of a file say themselves. */
const OPTIONS_OF_ONE_PUSH = new Set([
  'payload',
  'body',
  'contentType',
  'method',
  'header',
  'timeout',
  'callbackUrl',
  'tag',
  'data',
  'retries',
  'retryDelays',
  'callbackEvents',
  'delay',
  'runAt',
  'idempotencyKey',
  'wait',
])

interface JobsFlags extends PageFlags, JobFilterFlags, ListFlags {
  readonly bulk?: string
}

/** Adds `push`, `jobs`, `job` and the verbs that mend a job. */
export function registerJobCommands(program: Command, tools: CommandTools): void {
  const { runner, nowMs } = tools
  pushCommand(program).action(
    (queue: string | undefined, url: string | undefined, flags: PushFlags, command: Command) => {
      const { file } = flags
      if (file === undefined) return push({ queue, url, flags }, tools)
      const others = command.options.filter((option) => {
        const name = option.attributeName()
        return OPTIONS_OF_ONE_PUSH.has(name) && command.getOptionValueSource(name) === 'cli'
      })
      return pushLines({ file, others: [queue, ...others.map(({ long }) => long)], flags }, tools)
    },
  )
  paged(listed(filtered(program.command('jobs'))))
    .description('list jobs')
    .option('--bulk <bulk>', 'only jobs that this bulk made or fired')
    .action((flags: JobsFlags) =>
      runner.request(
        flags,
        async (api) => {
          const page = { limit: limitOf(flags), cursor: flags.cursor }
          const bulkId = givenNumber('--bulk', flags.bulk && plainId('bulk', flags.bulk))
          const filter = { ...(await filterOf(api, flags, nowMs())), bulk_id: bulkId }
          return api.send('listJobs', { ...filter, ...listOf(flags), ...page })
        },
        JOB_LIST,
      ),
    )
  watched(program.command('job').argument(...idArgument('job')))
    .description('show a job, every attempt of its chain, and the last call of the newest')
    .action((id: string, flags: OutputFlags) =>
      runner.request(
        flags,
        async (api) => withNewest(api, await api.send('readJob', { job_id: id }), flags),
        JOB_PAGE,
      ),
    )
  registerMendCommands(program, tools)
}

interface GivenPush {
  readonly queue: string | undefined
  readonly url: string | undefined
  readonly flags: PushFlags
}

function push(
  { queue, url, flags }: GivenPush,
  { runner, stdin, sleep, nowMs }: CommandTools,
): Promise<void> {
  const make = async (api: Api) => {
    if ((queue === undefined || url === undefined) && flags.data === undefined)
      throw cliError('no job given: give a queue and a URL, --data or --file', MISUSED)
    if (flags.idempotencyPrefix !== undefined) throw cliError('--idempotency-prefix needs --file', MISUSED)
    const body = new JsonText(await writeJobFields({ ...flags, queue, url }, { stdin, nowMs }))
    return api.send('pushJob', { body, idempotency_key: keyOf(flags.idempotencyKey) })
  }
  return makeJob(runner, { flags, make, sleep })
}

interface GivenFile {
  readonly file: string
  /** What else was given, and says nothing about a file. */
  readonly others: readonly (string | undefined)[]
  readonly flags: PushFlags
}

function pushLines({ file, others, flags }: GivenFile, tools: CommandTools): Promise<void> {
  const other = others.find((one) => one !== undefined)
  if (other === undefined) return pushFile({ file, flags }, tools.runner, tools)
  return tools.runner.run(flags, async () => {
    throw cliError(`${other} cannot be used with --file: put it into the lines`, MISUSED)
  })
}

function pushCommand(program: Command): Command {
  const command = changing(program.command('push [queue] [url]'))
    .description('push a job to a queue, or with --file a job for each line')
    .option('--file <file>', 'push each line, a JSON object as for POST /api/jobs; - reads standard input')
    .option(
      '--idempotency-prefix <text>',
      'with --file: starts the key of each line without one (default: a new one)',
    )
  return addStartOptions(addRequestOptions(addWaitOption(command), (value) => ` (default: ${value})`))
}
