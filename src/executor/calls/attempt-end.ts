import { excerpt } from '../../domain/excerpt.ts'
import { callbackFor, type Callback } from '../../domain/jobs/callback.ts'
import type { CallRecord } from '../../domain/jobs/job.ts'
import type { JobIds } from '../../domain/jobs/job-ids.ts'
import type { ChainSettings } from '../../domain/jobs/queue-settings.ts'
import { ERROR_MESSAGE_CHARACTERS_MAX } from '../../domain/limits.ts'
import { endAttempt, type AttemptEnd } from '../../domain/jobs/retry-policy.ts'
import type { EndedCall } from '../../ports/http-caller.ts'
import type { ClaimedJob, WorkEnd } from '../../ports/jobs.ts'
import { retryAfter } from './retry-after.ts'
import type { NoteDefect } from '../defect-notes.ts'
import { judgeCall, type Judgement } from './call-judgement.ts'
import { recordCall } from './call-record.ts'

export interface AttemptEndOptions {
  readonly jobIds: JobIds
  readonly noteDefect: NoteDefect
  /** 0–1. */
  random(): number
  /** Whether a successful call of the queue is recorded. @param queue with its shard */
  keepsSuccess(team: string, queue: string): boolean
  /** Names of the team's further secret headers, in lower case. */
  maskedOf(team: string): ReadonlySet<string>
}

/**
 * How a job ends whose call was made. Never throws: a part that fails because of a defect is replaced or left out, and if
 * nothing can be made of the attempt, the job is quarantined. Its call was made, so it must not be made again.
 */
export function endJob(
  options: AttemptEndOptions,
  work: ClaimedJob,
  result: EndedCall,
  redisNowMs: () => number,
): WorkEnd {
  try {
    const judgement = judged(options, work, result)
    const end = endOf(options, work, {
      judgement,
      result,
      completedAtMs: completedAt(options, work, redisNowMs),
    })
    return {
      type: 'ended',
      work,
      end,
      callback: callbackOf(options, work, end),
      call: recordOf(options, work, result, judgement),
      ...waitOf(options, work, { judgement, result, redisNowMs }),
    }
  } catch (error) {
    options.noteDefect('end', error, work)
    return { type: 'quarantined', work }
  }
}

function judged({ noteDefect }: AttemptEndOptions, work: ClaimedJob, result: EndedCall): Judgement {
  try {
    return judgeCall(result, work.settings)
  } catch (error) {
    noteDefect('judgement', error, work)
    return {
      failureReason: 'unknown',
      errorMessage: 'The response could not be judged because of a defect in Punctual.',
      responseStatus: result.kind === 'answered' ? result.status : null,
    }
  }
}

/** Time at which an attempt ended: not before its start, even if the clock of Redis goes back. */
function completedAt({ noteDefect }: AttemptEndOptions, work: ClaimedJob, redisNowMs: () => number): number {
  try {
    return Math.max(redisNowMs(), work.startedAtMs)
  } catch (error) {
    noteDefect('aside', error, work)
    return work.startedAtMs
  }
}

interface Outcome {
  readonly judgement: Judgement
  readonly result: EndedCall
  readonly completedAtMs: number
}

const UNKNOWN_RETRIES = 'This executor does not know the retry settings of this job, so there is no retry.'

function endOf(options: AttemptEndOptions, work: ClaimedJob, outcome: Outcome): AttemptEnd {
  const { judgement } = outcome
  if (judgement.failureReason !== null && !knowsRetries(work.settings)) {
    const room = ERROR_MESSAGE_CHARACTERS_MAX - UNKNOWN_RETRIES.length - 1
    const errorMessage = `${excerpt(judgement.errorMessage ?? '', room)} ${UNKNOWN_RETRIES}`
    return endWithout(options, work, { ...outcome, judgement: { ...judgement, errorMessage } })
  }
  try {
    return attemptEnd(options, work, outcome)
  } catch (error) {
    options.noteDefect('judgement', error, work)
    return endWithout(options, work, outcome)
  }
}

/** Another version may write them in another form. */
function knowsRetries({
  retriesEnabled,
  retryDelays,
  noRetryStatuses,
  retryJitterPercent,
}: ChainSettings): boolean {
  const areNumbers = (list: unknown): boolean => Array.isArray(list) && list.every(Number.isFinite)
  return (
    typeof retriesEnabled === 'boolean' &&
    areNumbers(retryDelays) &&
    areNumbers(noRetryStatuses) &&
    Number.isFinite(retryJitterPercent)
  )
}

/** A failure without retries becomes a dead letter: it is kept, and may be replayed. */
function endWithout(options: AttemptEndOptions, work: ClaimedJob, outcome: Outcome): AttemptEnd {
  const settings = { ...work.settings, retriesEnabled: true, retryDelays: [], noRetryStatuses: [] }
  return attemptEnd(options, { ...work, settings }, outcome)
}

function attemptEnd(
  { random }: AttemptEndOptions,
  work: ClaimedJob,
  { judgement, result, completedAtMs }: Outcome,
): AttemptEnd {
  const outcome = { ...judgement, completedAtMs, durationMs: Math.round(result.durationMs) }
  return endAttempt(work, outcome, random)
}

/** For how long the target asks to be left alone. */
function waitOf(
  { noteDefect }: AttemptEndOptions,
  work: ClaimedJob,
  {
    judgement,
    result,
    redisNowMs,
  }: { readonly judgement: Judgement; readonly result: EndedCall; redisNowMs(): number },
): { readonly retryAfterMs?: number } {
  if (judgement.failureReason === null || result.kind !== 'answered') return {}
  if (!ASKS_TO_WAIT.has(result.status)) return {}
  try {
    const [, value] = result.headers.find(([name]) => name.toLowerCase() === 'retry-after') ?? []
    const retryAfterMs = value === undefined ? null : retryAfter(value, redisNowMs())
    return retryAfterMs === null ? {} : { retryAfterMs }
  } catch (error) {
    noteDefect('aside', error, work)
    return {}
  }
}

/** Too Many Requests, Service Unavailable. */
const ASKS_TO_WAIT: ReadonlySet<number> = new Set([429, 503])

function callbackOf(
  { jobIds, noteDefect }: AttemptEndOptions,
  work: ClaimedJob,
  end: AttemptEnd,
): Callback | null {
  try {
    return callbackFor({
      rootId: work.rootId,
      attempt: work.attempt,
      request: work.request,
      events: work.settings.callbackEvents,
      end,
      jobIds,
    })
  } catch (error) {
    noteDefect('callback', error, work)
    return null
  }
}

function recordOf(
  { keepsSuccess, maskedOf, noteDefect }: AttemptEndOptions,
  work: ClaimedJob,
  result: EndedCall,
  judgement: Judgement,
): CallRecord | null {
  try {
    const isKept =
      judgement.failureReason !== null || keepsSuccess(work.team, `${work.shard}:${work.location.queue}`)
    return isKept ? recordCall(work, result, { judgement, masked: maskedOf(work.team) }) : null
  } catch (error) {
    noteDefect('call_record', error, work)
    return null
  }
}
