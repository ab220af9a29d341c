import type { Command } from 'commander'
import { JsonText, type ScheduledJob } from '../../../clients/typescript/src/client.ts'
import { cliError } from '../cli-error.ts'
import {
  changing,
  collect,
  limitOf,
  type OutputFlags,
  paged,
  type PageFlags,
  watched,
} from '../command-options.ts'
import type { CommandRunner } from '../command-runner.ts'
import { keyOf } from '../connection/header-text.ts'
import { wholeNumber } from '../given-number.ts'
import type { Stdin } from '../given-source.ts'
import { itemView } from '../output/view.ts'
import { filtered, filterOf, type JobFilterFlags } from './job-filters.ts'
import { JOB_LIST, JOB_PAGE } from './job-text.ts'
import { awaitEnd } from './job-wait.ts'
import { type PushOptions, writePushBody } from './push-body.ts'

interface PushFlags extends PushOptions, OutputFlags {
  readonly idempotencyKey?: string
  readonly wait?: string
}

type JobsFlags = PageFlags & JobFilterFlags

interface PushTools {
  readonly stdin: Stdin
  readonly sleep: (milliseconds: number) => Promise<void>
}

/** Adds `push`, `jobs` and `job`. */
export function registerJobCommands(program: Command, runner: CommandRunner, tools: PushTools): void {
  pushCommand(program).action((queue: string, url: string, flags: PushFlags) =>
    push({ queue, url, flags }, runner, tools),
  )
  paged(filtered(program.command('jobs')))
    .description('list jobs')
    .action((flags: JobsFlags) => {
      const query = { ...filterOf(flags), limit: limitOf(flags), cursor: flags.cursor }
      return runner.request(flags, (api) => api.send('listJobs', query), JOB_LIST)
    })
  watched(program.command('job <id>'))
    .description('show a job, every attempt of its chain, and its own last call')
    .action((id: string, flags: OutputFlags) =>
      runner.request(flags, (api) => api.send('readJob', { job_id: id }), JOB_PAGE),
    )
}

function push(
  { queue, url, flags }: { readonly queue: string; readonly url: string; readonly flags: PushFlags },
  runner: CommandRunner,
  { stdin, sleep }: PushTools,
): Promise<void> {
  return runner.run(flags, async (api) => {
    const seconds = flags.wait === undefined ? null : wholeNumber('--wait', flags.wait)
    const body = new JsonText(await writePushBody(queue, url, flags, stdin))
    const pushed = await api.send('pushJob', { body, idempotency_key: keyOf(flags.idempotencyKey) })
    runner.print(flags, pushed, SCHEDULED)
    if (seconds === null) return
    const ended = await awaitEnd(api, pushed.body.job_id, { seconds, sleep })
    runner.print(flags, ended.answer, JOB_PAGE)
    if (ended.failure !== null) throw cliError(ended.failure)
  })
}

function pushCommand(program: Command): Command {
  return changing(program.command('push <queue> <url>'))
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

export const SCHEDULED = itemView<ScheduledJob>({
  kind: 'job',
  id: (job) => job.job_id,
  lines: (job) => [`job ${job.job_id} in queue ${job.queue_id}, scheduled at ${job.scheduled_at}`],
})
