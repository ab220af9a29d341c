import type { Job } from '../contract/generated/wire.ts'
import type { ApiConnection } from './api-connection.ts'
import { clientFailure } from './client-failure.ts'

const LOOK_EVERY_MS = 500

export interface WaitOptions {
  /** How long the looks may go on, answers not counted. */
  readonly seconds: number
  readonly pause: (milliseconds: number) => Promise<void>
}

/**
 * Looks at an original job until its chain has ended well. Throws a failure that says how it ended else, or how it
 * stands when the time is over.
 */
export async function awaitSuccess(api: ApiConnection, jobId: number, options: WaitOptions): Promise<Job> {
  const looks = Math.ceil((options.seconds * 1000) / LOOK_EVERY_MS)
  let job = await readJob(api, jobId)
  for (let look = 0; look < looks && !hasEnded(job); look += 1) {
    await options.pause(LOOK_EVERY_MS)
    job = await readJob(api, jobId)
  }
  if (job.final_status === 'success') return job
  const state = hasEnded(job)
    ? `ended as ${job.final_status}`
    : `is ${standing(job)} after ${options.seconds} s`
  throw clientFailure(`job ${jobId} ${state}${lastReason(job)}`)
}

async function readJob(api: ApiConnection, jobId: number): Promise<Job> {
  return JSON.parse(await api.get(`/api/jobs/${jobId}`)) as Job
}

function hasEnded(job: Job): boolean {
  return job.final_status !== null && job.final_status !== 'retrying'
}

function standing(job: Job): string {
  return job.final_status ?? job.status
}

function lastReason(job: Job): string {
  const message = job.chain.findLast((attempt) => attempt.error_message !== null)?.error_message
  return message === undefined ? '' : `: ${message}`
}
