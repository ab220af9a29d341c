import type { Command } from 'commander'
import { JsonText } from '../../../clients/typescript/src/client.ts'
import { pushFile, type PushFileFlags } from '../batch/push-file.ts'
import { cliError, MISUSED } from '../cli-error.ts'
import { changing, limitOf, type OutputFlags, paged, type PageFlags, watched } from '../command-options.ts'
import type { CommandRunner } from '../command-runner.ts'
import type { Api } from '../connection/api.ts'
import { idArgument } from '../connection/given-ids.ts'
import { keyOf } from '../connection/header-text.ts'
import type { Stdin } from '../given-source.ts'
import { filtered, filterOf, type JobFilterFlags } from './job-filters.ts'
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
  ...['payload', 'method', 'header', 'timeout', 'callbackUrl', 'tag', 'data'],
  ...['retries', 'retryDelays', 'callbackEvents'],
  ...['delay', 'runAt', 'idempotencyKey', 'wait'],
])

type JobsFlags = PageFlags & JobFilterFlags

interface PushTools {
  readonly stdin: Stdin
  readonly sleep: (milliseconds: number) => Promise<void>
}

/** Adds `push`, `jobs`, `job` and the verbs that mend a job. */
export function registerJobCommands(program: Command, runner: CommandRunner, tools: PushTools): void {
  pushCommand(program).action(
    (queue: string | undefined, url: string | undefined, flags: PushFlags, command: Command) => {
      const { file } = flags
      if (file === undefined) return push({ queue, url, flags }, runner, tools)
      const others = command.options.filter((option) => {
        const name = option.attributeName()
        return OPTIONS_OF_ONE_PUSH.has(name) && command.getOptionValueSource(name) === 'cli'
      })
      return pushLines({ file, others: [queue, ...others.map(({ long }) => long)], flags }, runner, tools)
    },
  )
  paged(filtered(program.command('jobs')))
    .description('list jobs')
    .action((flags: JobsFlags) =>
      runner.request(
        flags,
        async (api) => {
          const page = { limit: limitOf(flags), cursor: flags.cursor }
          return api.send('listJobs', { ...(await filterOf(api, flags)), ...page })
        },
        JOB_LIST,
      ),
    )
  watched(program.command('job').argument(...idArgument('job')))
    .description('show a job, every attempt of its chain, and its own last call')
    .action((id: string, flags: OutputFlags) =>
      runner.request(flags, (api) => api.send('readJob', { job_id: id }), JOB_PAGE),
    )
  registerMendCommands(program, runner, tools)
}

interface GivenPush {
  readonly queue: string | undefined
  readonly url: string | undefined
  readonly flags: PushFlags
}

function push({ queue, url, flags }: GivenPush, runner: CommandRunner, tools: PushTools): Promise<void> {
  const { stdin, sleep } = tools
  const make = async (api: Api) => {
    if ((queue === undefined || url === undefined) && flags.data === undefined)
      throw cliError('give a queue and a URL, or --data, or --file', MISUSED)
    if (flags.idempotencyPrefix !== undefined)
      throw cliError('--idempotency-prefix goes with --file', MISUSED)
    const body = new JsonText(await writeJobFields({ ...flags, queue, url }, stdin))
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

function pushLines(
  { file, others, flags }: GivenFile,
  runner: CommandRunner,
  tools: PushTools,
): Promise<void> {
  const other = others.find((one) => one !== undefined)
  if (other === undefined) return pushFile({ file, flags }, runner, tools)
  return runner.run(flags, async () => {
    throw cliError(`${other} does not go with --file, whose lines say it all`, MISUSED)
  })
}

function pushCommand(program: Command): Command {
  const command = changing(program.command('push [queue] [url]'))
    .description('push a job to a queue, or with --file a job for each line')
    .option('--file <file>', 'push each line, a JSON object as of POST /api/jobs; - is standard input')
    .option(
      '--idempotency-prefix <text>',
      'with --file: starts the key of each line without one (default: a new one)',
    )
  return addStartOptions(addRequestOptions(addWaitOption(command), (value) => ` (default: ${value})`))
}
