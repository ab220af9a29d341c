import type { JobIds } from './job-ids.ts'
import type { AttemptSummary, FailureReason, FinalStatus, JobChain, JobStatus, OpenAttempt } from './job.ts'

/** One job of a chain as its owner sees it; derived, never stored. Times are Unix ms, null if not yet known. */
export interface JobView {
  readonly jobId: number
  readonly originalJobId: number
  readonly attempt: number
  readonly isRetry: boolean
  readonly status: JobStatus
  /** null while the job waits or is in flight. */
  readonly finalStatus: FinalStatus | null
  /** On an original job that failed, until its chain ends. */
  readonly hasPendingRetry: boolean
  readonly createdAtMs: number
  readonly scheduledAtMs: number
  readonly startedAtMs: number | null
  readonly completedAtMs: number | null
  readonly deadLetteredAtMs: number | null
  readonly failureReason: FailureReason | null
  readonly errorMessage: string | null
  readonly responseStatus: number | null
  readonly durationMs: number | null
}

/** The job `jobId` of a chain; null if the chain has no such job yet. */
export function viewJob(chain: JobChain, jobId: number, jobIds: JobIds): JobView | null {
  if (jobIds.rootOf(jobId) !== chain.rootId) return null
  return viewAttempt(chain, jobIds.attemptOf(jobId), jobId)
}

/** Every job of a chain, oldest first. */
export function viewChain(chain: JobChain, jobIds: JobIds): JobView[] {
  const views: JobView[] = []
  const shard = jobIds.shardOf(chain.rootId)
  const seq = jobIds.seqOf(chain.rootId)
  for (let attempt = 1; ; attempt += 1) {
    const view = viewAttempt(chain, attempt, jobIds.idOf(shard, seq, attempt))
    if (view === null) return views
    views.push(view)
  }
}

function viewAttempt(chain: JobChain, attempt: number, jobId: number): JobView | null {
  const ids = { jobId, originalJobId: chain.rootId, attempt, isRetry: attempt > 1 }
  const ended = chain.attempts[attempt - 1]
  if (ended !== undefined) return { ...ids, ...viewEnded(chain, attempt, ended) }
  return chain.open?.attempt === attempt ? { ...ids, ...viewOpen(chain.open) } : null
}

type JobViewIds = 'jobId' | 'originalJobId' | 'attempt' | 'isRetry'

function viewOpen(open: OpenAttempt): Omit<JobView, JobViewIds> {
  return {
    status: open.status,
    finalStatus: null,
    hasPendingRetry: false,
    createdAtMs: open.createdAtMs,
    scheduledAtMs: open.scheduledAtMs,
    startedAtMs: open.startedAtMs,
    completedAtMs: null,
    deadLetteredAtMs: null,
    failureReason: null,
    errorMessage: null,
    responseStatus: null,
    durationMs: null,
  }
}

function viewEnded(chain: JobChain, attempt: number, ended: AttemptSummary): Omit<JobView, JobViewIds> {
  const isOriginal = attempt === 1
  const succeeded = ended.failureReason === null
  return {
    status: succeeded ? 'completed' : 'failed',
    // The original has the outcome of the whole chain.
    finalStatus: isOriginal ? (chain.end ?? 'retrying') : succeeded ? 'success' : 'failed_with_retries',
    hasPendingRetry: isOriginal && chain.open !== null,
    createdAtMs: ended.createdAtMs,
    scheduledAtMs: ended.scheduledAtMs,
    startedAtMs: ended.startedAtMs,
    completedAtMs: ended.completedAtMs,
    deadLetteredAtMs: isOriginal && chain.end === 'dead_lettered' ? lastEndOf(chain, ended) : null,
    failureReason: ended.failureReason,
    errorMessage: ended.errorMessage,
    responseStatus: ended.responseStatus,
    durationMs: ended.durationMs,
  }
}

/** A chain becomes a dead letter in the step that ends its last attempt. */
function lastEndOf(chain: JobChain, first: AttemptSummary): number {
  return (chain.attempts.at(-1) ?? first).completedAtMs
}
