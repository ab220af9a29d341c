import type { Command } from 'commander'
import type { Answer, Job, ScheduledJob } from '../../../clients/typescript/src/client.ts'
import { cliError } from '../cli-error.ts'
import type { OutputFlags } from '../command-options.ts'
import { type CommandRunner, readAnswer } from '../command-runner.ts'
import { lookUntil } from '../connection/awaited.ts'
import type { Api } from '../connection/api.ts'
import { maybeSeconds } from '../given-time.ts'
import type { ReceivedAnswer } from '../output/answer-text.ts'
import { JOB_PAGE, SCHEDULED } from './job-text.ts'
import { withNewest } from './newest-attempt.ts'

const POLL_MS = 500

export interface WaitFlags extends OutputFlags {
  readonly wait?: string
}

export interface WaitOptions {
  /** How long to poll, not counting the time of the requests. */
  readonly seconds: number
  readonly sleep: (milliseconds: number) => Promise<void>
}

export interface AwaitedJob {
  /** The last one. */
  readonly answer: Answer<'readJob'>
  /** How the chain failed, or its status when the time is over; null when it succeeded. */
  readonly failure: string | null
}

/** Adds `--wait` to a command that makes a job. */
export function addWaitOption(command: Command): Command {
  return command.option(
    '--wait <seconds>',
    'wait up to this long, such as 60 or 5m, for the job and its retries to end, and fail unless they succeed',
  )
}

interface Making {
  readonly flags: WaitFlags
  readonly make: (api: Api) => Promise<ReceivedAnswer<ScheduledJob>>
  readonly sleep: WaitOptions['sleep']
}

/** Makes a job and prints it; with `--wait` prints it at the end of its chain as well, and fails unless that succeeded. */
export function makeJob(runner: CommandRunner, { flags, make, sleep }: Making): Promise<void> {
  return runner.run(flags, async (api) => {
    const seconds = maybeSeconds('--wait', flags.wait) ?? null
    const made = await make(api)
    runner.print(flags, made, SCHEDULED)
    if (seconds === null) return
    const ended = await awaitEnd(api, made.body.job_id, { seconds, sleep })
    runner.print(flags, await withNewest(api, ended.answer, flags), JOB_PAGE)
    if (ended.failure !== null) throw cliError(ended.failure)
  })
}

/** Polls an original job until its chain has ended or the time is over. */
export async function awaitEnd(api: Api, jobId: number, options: WaitOptions): Promise<AwaitedJob> {
  const polls = Math.ceil((options.seconds * 1000) / POLL_MS)
  const answer = await lookUntil({
    look: () => api.send('readJob', { job_id: jobId }),
    isEnd: ({ body }) => hasEnded(body),
    polls,
    pause: () => options.sleep(POLL_MS),
  })
  return { answer, failure: readAnswer(() => failureOf(answer.body, jobId, options.seconds)) }
}

function hasEnded(job: Job): boolean {
  return job.final_status !== null && job.final_status !== 'retrying'
}

function failureOf(job: Job, jobId: number, seconds: number): string | null {
  if (job.final_status === 'success') return null
  const state = hasEnded(job)
    ? `ended as ${job.final_status}`
    : `is ${job.final_status ?? job.status} after ${seconds} s`
  return `job ${jobId} ${state}${lastReason(job)}`
}

function lastReason(job: Job): string {
  const message = job.chain.findLast((attempt) => attempt.error_message !== null)?.error_message
  return message === undefined ? '' : `: ${message}`
}
