import { CALLBACK_TIMEOUT_SECONDS } from '../../../../domain/limits.ts'
import { queueAlerts } from '../../../../domain/alerts/alert-rules.ts'
import { calledHost, deadLetterFacts, queueFacts } from '../../../../domain/alerts/alert-message.ts'
import { hostOf } from '../../../../domain/jobs/job-match.ts'
import type { AttemptEnd } from '../../../../domain/jobs/retry-policy.ts'
import type { Callback } from '../../../../domain/jobs/callback.ts'
import type { CallRecord, CronOrigin, JobRequest } from '../../../../domain/jobs/job.ts'
import type { ClaimedJob, WorkEnd } from '../../../../ports/jobs.ts'
import { noteConfined } from '../../../base/engine/confined.ts'
import type { Engine } from '../../../base/engine/engine.ts'
import type { BatchAlerts, BatchJob, EndedRun } from './batch-job.ts'
import { breakerAlert, NO_TARGET_NOTE, targetNote } from './target-note.ts'
import { END } from '../../../base/layout/fields.ts'
import { runningRecord } from '../../../base/layout/cron-record.ts'
import { encodeFinished } from '../../../base/layout/finished-record.ts'
import { encodeAttempts } from '../../../base/layout/job-record.ts'
import { encodeSystemRecord } from '../../../base/layout/system-record.ts'
import { durationsOf, encodeBuckets, NO_BUCKETS } from '../../../base/layout/statistics/statistics-log.ts'

const DAY_MS = 86_400_000
/** In place of the record of a released job: its call was begun. */
const CUT_CALL = 'cut'

/** The job's own facts that its end is written with. */
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
  /** null = they are not known. */
  readonly bytes: number | null
  readonly breaker?: ClaimedJob['breaker']
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] }

/** Puts an executor's answer into the words of the `finish` step. */
export function toBatchJob(engine: Engine, end: WorkEnd): BatchJob {
  if (end.type === 'ended') return endedBatchJob(engine, end.work, end)
  const { work } = end
  const job = blankBatchJob(work.jobId, work.token, work.location)
  job.kind = END[end.type]
  job.bytes = work.bytes ?? ''
  if (end.type === 'released' && end.isCut === true) job.record = CUT_CALL
  if (end.type === 'quarantined' && work.kind === 'job') tellOfQuarantine(engine, job, work)
  return job
}

/** Tells of a job whose end could not be written: its queue and its cron fail with it. */
function tellOfQuarantine(engine: Engine, job: Mutable<BatchJob>, work: ClaimedJob): void {
  const { shard, team, jobId, queueName, attempt, rootId, settings, request } = work
  try {
    job.failure = 'damaged'
    job.failed = { team, reason: 'damaged', status: null, host: hostOf(request.url) }
    if (settings.alertsEnabled) {
      const facts = deadLetterFacts(attempt, request.url)
      job.alerts = { team, queueName, types: ['failure'], reason: 'damaged', facts }
    }
    const host = calledHost(request.url)
    if (request.cron !== null) job.run = runOf(request.cron, rootId, { team, failureReason: 'damaged', host })
  } catch (error) {
    noteConfined(engine, 'alert', error, { shard, team, jobId })
  }
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
    durations: null,
    call: '',
    callback: '',
    callbackTeam: '',
    failure: '',
    failed: null,
    target: NO_TARGET_NOTE,
    run: null,
    alerts: null,
    breakerAlert: null,
  }
}

/** Fills in one object per job, because copies of it showed in the executor's garbage collection. */
export function endedBatchJob(
  engine: Engine,
  job: EndedJob,
  ending: {
    readonly end: AttemptEnd
    readonly callback: Callback | null
    readonly call: CallRecord | null
    readonly retryAfterMs?: number
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
  batchJob.durations = durationsOf(last, job)
  const reason = last?.failureReason ?? null
  batchJob.target = targetNote(reason, ending.retryAfterMs ?? null)
  batchJob.breakerAlert = breakerAlert(job, batchJob.target, reason)
  if (reason !== null) {
    const status = last?.responseStatus ?? null
    batchJob.failed = { team: job.team, reason, status, host: hostOf(job.request.url) }
  }
  if (end.isTerminal) {
    batchJob.run = endedRun(job, end)
    batchJob.failure = last?.failureReason ?? ''
  }
  batchJob.alerts = raisedBy(engine, job, end)
  batchJob.kind = END[end.kind]
  switch (end.kind) {
    case 'retry':
      batchJob.delayMs = Math.round(end.retryDelaySeconds * 1000)
      batchJob.record = encodeAttempts(end.attempts)
      break
    case 'dead_letter':
      batchJob.delayMs = job.settings.dlqRetentionDays * DAY_MS
      batchJob.record = encodeAttempts(end.attempts)
      break
    case 'success':
    case 'failed_no_retries':
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

/**
 * Decides what an end raises. A rule that throws must not stop the end, and a job that failed for good raises its alert
 * all the same.
 */
function raisedBy(engine: Engine, job: EndedJob, end: AttemptEnd): BatchAlerts | null {
  const { team, queueName, attempt, settings, request } = job
  try {
    const alerts = queueAlerts(attempt, settings.alertsEnabled, end)
    return alerts === null
      ? null
      : { ...alerts, team, queueName, facts: queueFacts(attempt, end, request.url) }
  } catch (error) {
    noteConfined(engine, 'alert', error, { shard: engine.jobIds.shardOf(job.jobId), team, jobId: job.jobId })
    const reason = end.isTerminal ? (end.attempts.at(-1)?.failureReason ?? null) : null
    return reason === null ? null : { team, queueName, types: ['failure'], reason, facts: [] }
  }
}

function endedRun(job: EndedJob, { attempts }: AttemptEnd): EndedRun | null {
  const { team, rootId, request } = job
  if (request.cron === null) return null
  const failureReason = attempts.at(-1)?.failureReason ?? null
  const host = failureReason === null ? '' : calledHost(request.url)
  return runOf(request.cron, rootId, { team, failureReason, host })
}

function runOf(
  cron: CronOrigin,
  rootId: number,
  { team, failureReason, host }: Pick<EndedRun, 'team' | 'failureReason' | 'host'>,
): EndedRun {
  const { cronId, tickMs } = cron
  return { cronId, tickMs, record: runningRecord(cron, rootId), team, failureReason, host }
}
