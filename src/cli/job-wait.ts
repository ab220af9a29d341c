import type { Job } from '../contract/generated/wire.ts'
import { fromAnswer } from './answer-text.ts'
import type { ApiConnection } from './api-connection.ts'

const LOOK_EVERY_MS = 500

export interface WaitOptions {
  /** How long the looks may go on, answers not counted. */
  readonly seconds: number
  readonly pause: (milliseconds: number) => Promise<void>
}

/** What is known of a job when the wait for it is over. */
export interface WaitedJob {
  readonly job: Job
  /** `job` as answered. */
  readonly text: string
  /** How the chain ended other than well, or how it stands when the time is over; null when it ended well. */
  readonly complaint: string | null
}

/** Looks at an original job until its chain has ended, or the time is over. */
export async function awaitEnd(api: ApiConnection, jobId: number, options: WaitOptions): Promise<WaitedJob> {
  const looks = Math.ceil((options.seconds * 1000) / LOOK_EVERY_MS)
  let last = await readJob(api, jobId)
  for (let look = 0; look < looks && !last.hasEnded; look += 1) {
    await options.pause(LOOK_EVERY_MS)
    last = await readJob(api, jobId)
  }
  const { job, text } = last
  return { job, text, complaint: fromAnswer(() => complaintAbout(job, jobId, options.seconds)) }
}

interface Look {
  readonly job: Job
  readonly text: string
  readonly hasEnded: boolean
}

async function readJob(api: ApiConnection, jobId: number): Promise<Look> {
  const text = await api.get(`/api/jobs/${jobId}`)
  return fromAnswer(() => {
    const job = JSON.parse(text) as Job
    return { job, text, hasEnded: hasEnded(job) }
  })
}

function hasEnded(job: Job): boolean {
  return job.final_status !== null && job.final_status !== 'retrying'
}

function complaintAbout(job: Job, jobId: number, seconds: number): string | null {
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
