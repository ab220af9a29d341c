import type { JobIds } from './job-ids.ts'
import type { AttemptSummary, FinalStatus, JobChain, JobStatus } from './job.ts'

/** One job of a chain as its owner sees it; derived, never stored. Times are Unix ms, null if not yet known. */
export interface JobView extends Readonly<Nullable<Omit<AttemptSummary, 'createdAtMs' | 'scheduledAtMs'>>> {
  readonly jobId: number
  readonly originalJobId: number
  readonly attempt: number
  readonly isRetry: boolean
  readonly status: JobStatus
  /** null while the job waits or is in flight. */
  readonly finalStatus: FinalStatus | null
  /** true on an original job that failed, until its chain ends. */
  readonly hasPendingRetry: boolean
  readonly createdAtMs: number
  readonly scheduledAtMs: number
  readonly deadLetteredAtMs: number | null
}

type Nullable<T> = { [Key in keyof T]: T[Key] | null }

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
  return chain.open?.attempt === attempt ? { ...ids, ...NOT_ENDED, ...chain.open } : null
}

type JobViewIds = 'jobId' | 'originalJobId' | 'attempt' | 'isRetry'

const NOT_ENDED = Object.freeze({
  finalStatus: null,
  hasPendingRetry: false,
  completedAtMs: null,
  deadLetteredAtMs: null,
  failureReason: null,
  errorMessage: null,
  responseStatus: null,
  durationMs: null,
})

function viewEnded(chain: JobChain, attempt: number, ended: AttemptSummary): Omit<JobView, JobViewIds> {
  const isOriginal = attempt === 1
  const succeeded = ended.failureReason === null
  return {
    ...ended,
    status: succeeded ? 'completed' : 'failed',
    // The original has the outcome of the whole chain.
    finalStatus: isOriginal ? (chain.end ?? 'retrying') : succeeded ? 'success' : 'failed_with_retries',
    hasPendingRetry: isOriginal && chain.open !== null,
    deadLetteredAtMs: isOriginal && chain.end === 'dead_lettered' ? lastEndOf(chain, ended) : null,
  }
}

/** A chain becomes a dead letter in the step that ends its last attempt. */
function lastEndOf(chain: JobChain, first: AttemptSummary): number {
  return (chain.attempts.at(-1) ?? first).completedAtMs
}

/** Whether `payload` is any text rather than the source text of a JSON value. */
export function isPlainText({
  bodyEncoding,
  cron,
}: Pick<JobChain['request'], 'bodyEncoding' | 'cron'>): boolean {
  return cron !== null || bodyEncoding === 'text' || bodyEncoding === 'base64'
}
