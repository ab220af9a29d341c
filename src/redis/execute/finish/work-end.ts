import { CALLBACK_TIMEOUT_SECONDS } from '../../../domain/limits.ts'
import type { AttemptEnd } from '../../../domain/jobs/retry-policy.ts'
import type { Callback } from '../../../domain/jobs/callback.ts'
import type { CallRecord, JobRequest } from '../../../domain/jobs/job.ts'
import type { JobIds } from '../../../domain/jobs/job-ids.ts'
import type { WorkEnd } from '../../../ports/jobs.ts'
import type { BatchJob, EndedRun } from './batch.ts'
import { END } from '../../layout/fields.ts'
import { runningRecord } from '../../layout/cron-record.ts'
import { encodeFinished } from '../../layout/finished-record.ts'
import { encodeAttempts, encodeSystemRecord } from '../../layout/job-record.ts'

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
  readonly location: { readonly queue: string; readonly settingsHash: string; readonly isLarge: boolean }
  readonly request: JobRequest
  readonly dlqRetentionDays: number
  /** null when it is not known. */
  readonly bytes: number | null
}

/** Puts an executor's answer into the words of the `finish` step. */
export function toBatchJob(end: WorkEnd, jobIds: JobIds): BatchJob {
  if (end.type === 'ended') {
    const { work } = end
    return endedBatchJob(
      { ...work, dlqRetentionDays: work.settings.dlqRetentionDays },
      end.end,
      end.callback,
      end.call,
      jobIds,
    )
  }
  const { work } = end
  return {
    ...blankBatchJob(work.jobId, work.token, work.location, jobIds),
    kind: KINDS[end.type],
    bytes: work.bytes ?? '',
  }
}

export function blankBatchJob(
  jobId: number,
  token: string,
  location: EndedJob['location'],
  jobIds: JobIds,
): BatchJob {
  return {
    id: jobId,
    root: jobIds.rootOf(jobId),
    seq: jobIds.seqOf(jobId),
    queue: location.queue,
    token,
    kind: END.released,
    settingsHash: location.settingsHash,
    isLarge: location.isLarge ? 1 : 0,
    bytes: '',
    delayMs: 0,
    record: '',
    call: '',
    callback: '',
    callbackTeam: '',
    run: null,
  }
}

export function endedBatchJob(
  job: EndedJob,
  end: AttemptEnd,
  callback: Callback | null,
  call: CallRecord | null,
  jobIds: JobIds,
): BatchJob {
  const common = {
    ...blankBatchJob(job.jobId, job.token, job.location, jobIds),
    bytes: job.bytes ?? ('' as const),
    call: call === null ? '' : JSON.stringify(call),
    ...(callback !== null && {
      callback: encodeSystemRecord({ ...callback, team: job.team }, CALLBACK_TIMEOUT_SECONDS),
      callbackTeam: job.team,
    }),
  }
  const run = end.isTerminal ? endedRun(job) : null
  switch (end.kind) {
    case 'retry':
      return {
        ...common,
        kind: END.retry,
        delayMs: end.retryDelaySeconds * 1000,
        record: encodeAttempts(end.attempts),
      }
    case 'dead_letter':
      return {
        ...common,
        kind: END.deadLetter,
        run,
        delayMs: job.dlqRetentionDays * DAY_MS,
        record: encodeAttempts(end.attempts),
      }
    case 'success':
    case 'failed_no_retries':
      return {
        ...common,
        kind: end.kind === 'success' ? END.success : END.failed,
        run,
        record: encodeFinished({
          end: end.kind,
          attempts: end.attempts,
          request: job.request,
          replayedAs: null,
        }),
      }
  }
}

function endedRun({ rootId, request: { cron } }: EndedJob): EndedRun | null {
  if (cron === null) return null
  return { cronId: cron.cronId, tickMs: cron.tickMs, record: runningRecord(cron, rootId) }
}
