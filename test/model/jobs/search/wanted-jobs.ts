import type { JobFilter, TimeRange } from '../../../../src/domain/jobs/job-filter.ts'
import type { KnownJob } from './search-stage.ts'

/** Which jobs a list under a filter shows, told once more, slowly, by the words of the API. */
export function wantedJobs(filter: JobFilter, chains: readonly (readonly KnownJob[])[]): number[] {
  return chains.flatMap((chain) => {
    const job = rowOf(filter, chain)
    return job !== undefined && holds(filter, job, chain) ? [job.job_id] : []
  })
}

function rowOf(filter: JobFilter, chain: readonly KnownJob[]): KnownJob | undefined {
  const [original] = chain
  if (filter.finalStatus === 'failed_with_retries') {
    return chain.findLast((job) => job.final_status === 'failed_with_retries')
  }
  const open = chain.find(({ status }) => status === 'pending' || status === 'processing')
  if (open === undefined) return filter.status === 'completed' ? chain.at(-1) : original
  if (filter.status === 'failed') return original
  const isOfEnded =
    filter.finalStatus !== null ||
    filter.failureReason !== null ||
    filter.responseStatus !== null ||
    filter.ended.afterMs !== null ||
    filter.ended.beforeMs !== null
  return filter.status === null && isOfEnded ? original : open
}

function holds(filter: JobFilter, job: KnownJob, [original]: readonly KnownJob[]): boolean {
  const isDead = original?.final_status === 'dead_lettered' && original.replayed_as === null
  const url = new URL(job.url)
  const checks: Array<[unknown, () => boolean]> = [
    [filter.queue, () => job.queue === filter.queue],
    [filter.status, () => (filter.status === 'dead_lettered' ? isDead : job.status === filter.status)],
    [filter.finalStatus, () => job.final_status === filter.finalStatus],
    [filter.failureReason, () => job.failure_reason === filter.failureReason],
    [filter.responseStatus, () => job.response_status === filter.responseStatus],
    [filter.host, () => url.host === `${filter.host}:8443`],
    [filter.tag, () => new Map(Object.entries(job.tags)).get(filter.tag?.name ?? '') === filter.tag?.value],
    [filter.cronId, () => job.cron_id === filter.cronId],
    [filter.text, () => isFound(filter.text ?? '', job)],
  ]
  return (
    checks.every(([asked, check]) => asked === null || check()) &&
    isWithin(filter.created, job.created_at) &&
    isWithin(filter.scheduled, job.scheduled_at) &&
    isWithin(filter.ended, job.completed_at)
  )
}

/** In the values of the payload: what the texts of this stage hold is found in no other part of it. */
function isFound(text: string, { url, payload }: KnownJob): boolean {
  const values = payload === null ? [] : (Object.values(JSON.parse(payload) as object) as string[])
  return [url, ...values].some((value) => value.toLowerCase().includes(text.toLowerCase()))
}

function isWithin({ afterMs, beforeMs }: TimeRange, at: string | null): boolean {
  if (afterMs === null && beforeMs === null) return true
  if (at === null) return false
  const ms = new Date(at).getTime()
  return (afterMs ?? ms) <= ms && (beforeMs ?? ms + 1) > ms
}
