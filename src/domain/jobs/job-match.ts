import type { JobFilter, JobOrder, TimeRange } from './job-filter.ts'
import type { JobIds } from './job-ids.ts'
import type { JobChain } from './job.ts'
import { type JobView, viewChain, viewJob } from './job-view.ts'
import { holdsNeedle, needlesOf } from './text-needles.ts'

/** A job of a chain, as a list shows it. */
export interface JobOfChain {
  readonly jobId: number
  readonly chain: JobChain
}

/**
 * The job that a list under this filter shows of a chain, if it matches: a chain has one row. It is the open job, or the
 * original once the chain has ended; where the filter asks for what only an ended job has, it is the original of an open
 * chain, the job that succeeded for `completed`, and the newest failed retry for `failed_with_retries`.
 */
export function matchingJob(filter: JobFilter, chain: JobChain, jobIds: JobIds): number | null {
  for (const each of singleFilters(filter)) {
    const jobId = matchingOne(each, chain, jobIds)
    if (jobId !== null) return jobId
  }
  return null
}

/** A filter for each status that a job may have. */
export function singleFilters(filter: JobFilter): readonly JobFilter[] {
  const { statuses, ...others } = filter
  return statuses === undefined ? [filter] : statuses.map((status) => ({ ...others, status }))
}

function matchingOne(filter: JobFilter, chain: JobChain, jobIds: JobIds): number | null {
  const jobId = shownJob(filter, chain, jobIds)
  return matchesFilter(filter, { jobId, chain }, jobIds) ? jobId : null
}

/** Whether this job of its chain has all that the filter asks for; of a chain it says nothing about other jobs. */
export function matchesFilter(filter: JobFilter, { jobId, chain }: JobOfChain, jobIds: JobIds): boolean {
  const view = viewJob(chain, jobId, jobIds)
  return (
    view !== null &&
    singleFilters(filter).some((each) => matchesStatus(each, view, chain)) &&
    matchesEnd(filter, view) &&
    !isExcluded(filter, view, chain) &&
    isIn(filter.created, view.createdAtMs) &&
    isIn(filter.scheduled, view.scheduledAtMs) &&
    matchesRequest(filter, chain)
  )
}

function shownJob(filter: JobFilter, chain: JobChain, jobIds: JobIds): number {
  const { rootId, open, attempts } = chain
  const jobOf = (attempt: number) => jobIds.idOf(jobIds.shardOf(rootId), jobIds.seqOf(rootId), attempt)
  if (filter.finalStatus === 'failed_with_retries') return newestFailedRetry(chain, jobIds) ?? rootId
  if (open !== null) {
    const isOriginal = filter.status === 'failed' || (filter.status === null && asksForEnd(filter))
    return isOriginal ? rootId : jobOf(open.attempt)
  }
  return filter.status === 'completed' ? jobOf(attempts.length) : rootId
}

function newestFailedRetry(chain: JobChain, jobIds: JobIds): number | null {
  const failed = viewChain(chain, jobIds).findLast(({ finalStatus }) => finalStatus === 'failed_with_retries')
  return failed?.jobId ?? null
}

/** Whether no job matches that has not ended. */
export function asksForEnd(filter: JobFilter): boolean {
  const { finalStatus, failureReason, responseStatus, ended, slowerThanMs } = filter
  const asked = [finalStatus, failureReason, responseStatus, slowerThanMs ?? null]
  return asked.some((one) => one !== null) || isBounded(ended)
}

/** The order of a list whose reader asks for none: who asks for what has ended, a host or a time, asks what came last. */
export function usualOrder(filter: JobFilter): JobOrder {
  const { host, created, scheduled } = filter
  const isEnded = singleFilters(filter).some(
    ({ status }) => status !== null && status !== 'pending' && status !== 'processing',
  )
  const isTimed = isBounded(created) || isBounded(scheduled)
  return isEnded || asksForEnd(filter) || host !== null || isTimed ? 'newest' : 'queue'
}

function matchesStatus(
  { status, finalStatus }: JobFilter,
  view: JobView,
  { end, replayedAs }: JobChain,
): boolean {
  if (finalStatus !== null && view.finalStatus !== finalStatus) return false
  if (status === null) return true
  if (status !== 'dead_lettered') return view.status === status
  // A dead letter that was replayed has left the dead-letter queue.
  return end === 'dead_lettered' && replayedAs === null
}

/** What has no reason, no answer or no host yet is not excluded by one. */
function isExcluded({ not = {} }: JobFilter, view: JobView, { queueName, request }: JobChain): boolean {
  const { queue, failureReason, responseStatus, host } = not
  return (
    (queue !== undefined && queueName === queue) ||
    (failureReason !== undefined && view.failureReason === failureReason) ||
    (responseStatus !== undefined && view.responseStatus === responseStatus) ||
    (host !== undefined && hostOf(request.url) === host)
  )
}

function matchesEnd(
  { failureReason, responseStatus, ended, slowerThanMs }: JobFilter,
  view: JobView,
): boolean {
  if (slowerThanMs !== undefined && !((view.durationMs ?? 0) > slowerThanMs)) return false
  if (failureReason !== null && view.failureReason !== failureReason) return false
  if (responseStatus !== null && view.responseStatus !== responseStatus) return false
  return !isBounded(ended) || (view.completedAtMs !== null && isIn(ended, view.completedAtMs))
}

function matchesRequest({ queue, host, tag, cronId, text }: JobFilter, chain: JobChain): boolean {
  const { url, tags, cron } = chain.request
  if (queue !== null && chain.queueName !== queue) return false
  if (cronId !== null && cron?.cronId !== cronId) return false
  if (tag !== null && (!Object.hasOwn(tags, tag.name) || tags[tag.name] !== tag.value)) return false
  if (host !== null && hostOf(url) !== host) return false
  return text === null || [...textsOf(chain)].some(textTest(text))
}

function textTest(text: string): (value: string | null) => boolean {
  const needles = needlesOf(text)
  return (value) => value !== null && holdsNeedle(value, needles)
}

/** What a text is looked for in. */
function* textsOf({ request: { url, payload }, attempts, calls }: JobChain): Iterable<string | null> {
  yield url
  yield payload
  for (const { errorMessage } of attempts) yield errorMessage
  for (const { response } of calls) yield response?.body ?? null
}

/** Host in lower case, without the port; '' for the URL of a damaged job. */
export function hostOf(url: string): string {
  return URL.parse(url)?.hostname ?? ''
}

export function isBounded({ afterMs, beforeMs }: TimeRange): boolean {
  return afterMs !== null || beforeMs !== null
}

function isIn({ afterMs, beforeMs }: TimeRange, ms: number): boolean {
  return (afterMs === null || ms >= afterMs) && (beforeMs === null || ms < beforeMs)
}
