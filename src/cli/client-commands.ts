import { CommanderError, Option, type Command } from 'commander'
import type { Job, JobList, ScheduledJob } from '../contract/generated/wire.ts'
import { fromAnswer, shown } from './answer-text.ts'
import { type ApiConnection, connectApi } from './api-connection.ts'
import { clientFailure } from './client-failure.ts'
import { registerCronCommands } from './cron-commands.ts'
import { idempotencyHeader } from './header-text.ts'
import { jobPage, jobTable } from './job-text.ts'
import { awaitEnd } from './job-wait.ts'
import { type PushOptions, wholeNumber, writePushBody } from './push-body.ts'
import { printable } from './text-table.ts'
import {
  type ConnectionFlags,
  connected,
  type OutputFlags,
  paged,
  type PageFlags,
  searchOf,
} from './verb-options.ts'
import type { VerbOutput } from './verb-output.ts'

export interface ClientOptions {
  /** Used without `--server`, such as `http://127.0.0.1:8080`. */
  readonly serverDefault: string
  /** Used without `--token`. */
  readonly tokenDefault: string | null
  readonly stdout: VerbOutput
  readonly stderr: VerbOutput
  readonly stdin: AsyncIterable<Uint8Array | string>
  readonly pause: (milliseconds: number) => Promise<void>
}

/**
 * Adds the verbs that talk to a running API: `push`, `jobs`, `job`, `crons`. A verb that fails writes one line to stderr and
 * throws a CommanderError whose exit code is 1, or 2 when it was called wrongly. Anything else thrown is a fault of the
 * program.
 */
export function registerClientCommands(program: Command, options: ClientOptions): void {
  const say = (text: string): void => void options.stdout.write(text)
  const run = async (flags: ConnectionFlags, act: (api: ApiConnection) => Promise<void>): Promise<void> => {
    try {
      await act(connectApi(flags.server ?? options.serverDefault, flags.token ?? options.tokenDefault))
    } catch (fault) {
      if (fault instanceof CommanderError) options.stderr.write(printable(`punctual: ${fault.message}\n`))
      throw fault
    }
  }
  pushVerb(program).action((queue: string, url: string, flags: PushFlags) =>
    run(flags, async (api) => {
      const seconds = flags.wait === undefined ? null : wholeNumber('--wait', flags.wait)
      const body = await writePushBody(queue, url, flags, options.stdin)
      const text = await api.post('/api/jobs', body, idempotencyHeader(flags.idempotencyKey))
      const jobId = fromAnswer(() => (JSON.parse(text) as ScheduledJob).job_id)
      say(shown(flags, text, () => scheduledLine(JSON.parse(text) as ScheduledJob)))
      if (seconds === null) return
      const waited = await awaitEnd(api, jobId, { seconds, pause: options.pause })
      say(shown(flags, waited.text, () => jobPage(waited.job)))
      if (waited.complaint !== null) throw clientFailure(waited.complaint)
    }),
  )
  jobsVerb(program).action((flags: JobsFlags) =>
    run(flags, async (api) => {
      const text = await api.get(`/api/jobs${searchOf(queryOf(flags))}`)
      say(shown(flags, text, () => jobTable(JSON.parse(text) as JobList)))
    }),
  )
  registerCronCommands(program, { run, say, stdin: options.stdin })
  jobVerb(program).action((id: string, flags: OutputFlags) =>
    run(flags, async (api) => {
      const text = await api.get(`/api/jobs/${encodeURIComponent(id)}`)
      say(shown(flags, text, () => jobPage(JSON.parse(text) as Job)))
    }),
  )
}

interface PushFlags extends PushOptions, OutputFlags {
  readonly idempotencyKey?: string
  readonly wait?: string
}

interface JobsFlags extends PageFlags {
  readonly queue?: string
  readonly status?: string
}

function pushVerb(program: Command): Command {
  const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value]
  return connected(program.command('push <queue> <url>'), 'text')
    .description('push a job to a queue')
    .option('--payload <json>', 'JSON object to send; @file reads a file, - standard input')
    .option('--method <method>', 'GET, POST, PUT, PATCH or DELETE (default: POST)')
    .option('--header <name:value>', 'a request header; may be given again', collect, [])
    .option('--delay <seconds>', 'wait this long before running')
    .option('--run-at <time>', 'run at this time, such as 2026-12-24T18:00:00+01:00')
    .option('--callback-url <url>', 'where to report the end of the job')
    .option('--tag <name=value>', 'a tag; may be given again', collect, [])
    .option('--idempotency-key <key>', 'the same key again makes no second job')
    .option(
      '--wait <seconds>',
      'stay until the chain has ended, at most this long; fail unless it ended well',
    )
}

function jobsVerb(program: Command): Command {
  return paged(connected(program.command('jobs'), 'table'))
    .description('list jobs')
    .option('--queue <name>', 'only of this queue')
    .addOption(
      new Option('--status <status>', 'only in this state').choices([
        'pending',
        'processing',
        'completed',
        'failed',
        'dead_lettered',
      ]),
    )
}

function jobVerb(program: Command): Command {
  return connected(program.command('job <id>'), 'text').description(
    'show a job: every attempt of its chain, and its own last call as sent and received',
  )
}

function queryOf({ queue, status, limit, cursor }: JobsFlags): Readonly<Record<string, string | undefined>> {
  return { queue, status, limit, cursor }
}

function scheduledLine(job: ScheduledJob): string {
  return `job ${job.job_id} in queue ${job.queue_id}, scheduled at ${job.scheduled_at}\n`
}
