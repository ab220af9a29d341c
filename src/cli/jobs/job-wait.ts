import type { Answer, Job } from '../../../clients/typescript/src/client.ts'
import { readAnswer } from '../command-runner.ts'
import { lookUntil } from '../connection/awaited.ts'
import type { Api } from '../connection/api.ts'

const POLL_MS = 500

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
