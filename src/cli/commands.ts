import { type Command, Option } from 'commander'
import type { ScheduledJob } from '../contract/generated/wire.ts'
import { registerAlertCommands } from './alerts/alert-commands.ts'
import { cliError } from './cli-error.ts'
import { connected, type OutputFlags, paged, type PageFlags, searchOf } from './command-options.ts'
import { type CommandOptions, CommandRunner, readAnswer } from './command-runner.ts'
import { registerCronCommands } from './cron-commands.ts'
import { idempotencyHeader } from './header-text.ts'
import { jobPage, jobTable } from './job-text.ts'
import { awaitEnd } from './job-wait.ts'
import { registerNotificationCommands } from './notifications/notification-commands.ts'
import { registerWindowCommands } from './windows/window-commands.ts'
import { type PushOptions, type Stdin, wholeNumber, writePushBody } from './push-body.ts'

export interface ClientOptions extends CommandOptions {
  readonly stdin: Stdin
  readonly sleep: (milliseconds: number) => Promise<void>
}

interface PushFlags extends PushOptions, OutputFlags {
  readonly idempotencyKey?: string
  readonly wait?: string
}

interface JobsFlags extends PageFlags {
  readonly queue?: string
  readonly status?: string
}

/**
 * Adds the commands that talk to a running API: `push`, `jobs`, `job`, `crons`, `alerts`, `notifications`, `windows`. A command
 * that fails prints one line to stderr and throws a CommanderError with exit code 1, or 2 when it was called wrongly.
 * Anything else thrown is a fault of the program.
 */
export function registerClientCommands(program: Command, options: ClientOptions): void {
  const runner = new CommandRunner(options)
  pushCommand(program).action((queue: string, url: string, flags: PushFlags) =>
    push({ queue, url, flags }, runner, options),
  )
  jobsCommand(program).action((flags: JobsFlags) => {
    const { queue, status, limit, cursor } = flags
    const path = `/api/jobs${searchOf({ queue, status, limit, cursor })}`
    return runner.request(flags, (api) => api.get(path), jobTable)
  })
  registerCronCommands(program, runner, options.stdin)
  registerAlertCommands(program, runner)
  registerNotificationCommands(program, runner)
  registerWindowCommands(program, runner, () => Date.now())
  jobCommand(program).action((id: string, flags: OutputFlags) =>
    runner.request(flags, (api) => api.get(`/api/jobs/${encodeURIComponent(id)}`), jobPage),
  )
}

function push(
  { queue, url, flags }: { readonly queue: string; readonly url: string; readonly flags: PushFlags },
  runner: CommandRunner,
  { stdin, sleep }: ClientOptions,
): Promise<void> {
  return runner.run(flags, async (api) => {
    const seconds = flags.wait === undefined ? null : wholeNumber('--wait', flags.wait)
    const body = await writePushBody(queue, url, flags, stdin)
    const text = await api.post('/api/jobs', body, idempotencyHeader(flags.idempotencyKey))
    const jobId = readAnswer(text, (job: ScheduledJob) => job.job_id)
    runner.print(flags, text, scheduledLine)
    if (seconds === null) return
    const ended = await awaitEnd(api, jobId, { seconds, sleep })
    runner.print(flags, ended.text, jobPage)
    if (ended.failure !== null) throw cliError(ended.failure)
  })
}

function pushCommand(program: Command): Command {
  const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value]
  return connected(program.command('push <queue> <url>'), 'text')
    .description('push a job to a queue')
    .option('--payload <json>', 'JSON object to send; @file reads a file, - standard input')
    .option('--method <method>', 'GET, POST, PUT, PATCH or DELETE (default: POST)')
    .option('--header <name:value>', 'a request header; repeatable', collect, [])
    .option('--delay <seconds>', 'wait this long before running')
    .option('--run-at <time>', 'run at this time, such as 2026-12-24T18:00:00+01:00')
    .option('--callback-url <url>', 'where to report the end of the job')
    .option('--tag <name=value>', 'a tag; repeatable', collect, [])
    .option('--idempotency-key <key>', 'a repeated key creates no second job')
    .option(
      '--wait <seconds>',
      'wait up to this long for the job and its retries to end, and fail unless they succeed',
    )
}

function jobsCommand(program: Command): Command {
  return paged(connected(program.command('jobs'), 'table'))
    .description('list jobs')
    .option('--queue <name>', 'only jobs of this queue')
    .addOption(
      new Option('--status <status>', 'only jobs with this status').choices([
        'pending',
        'processing',
        'completed',
        'failed',
        'dead_lettered',
      ]),
    )
}

function jobCommand(program: Command): Command {
  return connected(program.command('job <id>'), 'text').description(
    'show a job, every attempt of its chain, and its own last call',
  )
}

function scheduledLine(job: ScheduledJob): string {
  return `job ${job.job_id} in queue ${job.queue_id}, scheduled at ${job.scheduled_at}\n`
}
