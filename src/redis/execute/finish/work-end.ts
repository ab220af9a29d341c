import { CALLBACK_TIMEOUT_SECONDS } from '../../../domain/limits.ts'
import { queueAlerts } from '../../../domain/alerts/alert-rules.ts'
import { calledHost, queueFacts } from '../../../domain/alerts/alert-message.ts'
import type { AttemptEnd } from '../../../domain/jobs/retry-policy.ts'
import type { Callback } from '../../../domain/jobs/callback.ts'
import type { CallRecord, JobRequest } from '../../../domain/jobs/job.ts'
import type { WorkEnd } from '../../../ports/jobs.ts'
import type { BatchAlerts, BatchJob, EndedRun } from './batch-job.ts'
import { END } from '../../layout/fields.ts'
import { runningRecord } from '../../layout/cron-record.ts'
import { encodeFinished } from '../../layout/finished-record.ts'
import { encodeAttempts, encodeSystemRecord } from '../../layout/job-record.ts'
import { encodeBuckets, NO_BUCKETS } from '../../layout/statistics-log.ts'

const DAY_MS = 86_400_000

const KINDS = {
  released: END.released,
  callback_ended: END.callbackEnded,
  quarantined: END.quarantined,
} as const

/** A job's own facts that its end is written with. */
export interface EndedJob {
  readonly jobId: number
  readonly rootId: number
  readonly token: string
  readonly team: string
  readonly queueName: string
  readonly attempt: number
  readonly location: { readonly queue: string; readonly settingsHash: string; readonly isLarge: boolean }
  readonly request: JobRequest
  readonly settings: { readonly dlqRetentionDays: number; readonly alertsEnabled: boolean }
  /** null when it is not known. */
  readonly bytes: number | null
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] }

/** Puts an executor's answer into the words of the `finish` step. */
export function toBatchJob(end: WorkEnd): BatchJob {
  if (end.type === 'ended') return endedBatchJob(end.work, end)
  const { work } = end
  const job = blankBatchJob(work.jobId, work.token, work.location)
  job.kind = KINDS[end.type]
  job.bytes = work.bytes ?? ''
  return job
}

export function blankBatchJob(
  jobId: number,
  token: string,
  location: EndedJob['location'],
): Mutable<BatchJob> {
  return {
    id: jobId,
    queue: location.queue,
    token,
    kind: END.released,
    settingsHash: location.settingsHash,
    isLarge: location.isLarge,
    bytes: '',
    delayMs: 0,
    record: '',
    buckets: NO_BUCKETS,
    call: '',
    callback: '',
    callbackTeam: '',
    failure: '',
    run: null,
    alerts: null,
  }
}

/** One object per job, filled in: copies of it showed in the executor's garbage collection. */
export function endedBatchJob(
  job: EndedJob,
  ending: {
    readonly end: AttemptEnd
    readonly callback: Callback | null
    readonly call: CallRecord | null
  },
): BatchJob {
  const { end, callback, call } = ending
  const batchJob = blankBatchJob(job.jobId, job.token, job.location)
  batchJob.bytes = job.bytes ?? ''
  if (call !== null) batchJob.call = JSON.stringify(call)
  if (callback !== null) {
    batchJob.callback = encodeSystemRecord({ ...callback, team: job.team }, CALLBACK_TIMEOUT_SECONDS)
    batchJob.callbackTeam = job.team
  }
  const last = end.attempts.at(-1)
  if (last !== undefined) batchJob.buckets = encodeBuckets(last)
  if (end.isTerminal) {
    batchJob.run = endedRun(job, end)
    batchJob.failure = last?.failureReason ?? ''
  }
  batchJob.alerts = raisedBy(job, end)
  switch (end.kind) {
    case 'retry':
      batchJob.kind = END.retry
      batchJob.delayMs = end.retryDelaySeconds * 1000
      batchJob.record = encodeAttempts(end.attempts)
      break
    case 'dead_letter':
      batchJob.kind = END.deadLetter
      batchJob.delayMs = job.settings.dlqRetentionDays * DAY_MS
      batchJob.record = encodeAttempts(end.attempts)
      break
    case 'success':
    case 'failed_no_retries':
      batchJob.kind = end.kind === 'success' ? END.success : END.failed
      batchJob.record = encodeFinished({
        end: end.kind,
        attempts: end.attempts,
        request: job.request,
        replayedAs: null,
        hadNoPayload: job.request.payload === null,
      })
  }
  return batchJob
}

function raisedBy(
  { team, queueName, attempt, settings, request }: EndedJob,
  end: AttemptEnd,
): BatchAlerts | null {
  const alerts = queueAlerts(attempt, settings.alertsEnabled, end)
  return alerts === null ? null : { ...alerts, team, queueName, facts: queueFacts(attempt, end, request.url) }
}

function endedRun(
  { team, rootId, request: { cron, url } }: EndedJob,
  { attempts }: AttemptEnd,
): EndedRun | null {
  if (cron === null) return null
  const { cronId, tickMs } = cron
  const failureReason = attempts.at(-1)?.failureReason ?? null
  const host = failureReason === null ? '' : calledHost(url)
  return { cronId, tickMs, record: runningRecord(cron, rootId), team, failureReason, host }
}
