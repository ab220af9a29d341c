import type { AttemptSummary, FailureReason, FinalStatus, JobRequest } from './job.ts'
import type { ChainSettings } from './queue-settings.ts'

/** How one attempt ended. Times are Redis time, Unix ms. */
export interface AttemptOutcome {
  readonly completedAtMs: number
  readonly durationMs: number
  readonly responseStatus: number | null
  /** null = success: 2xx and every assertion holds. */
  readonly failureReason: FailureReason | null
  readonly errorMessage: string | null
}

/** An attempt about to end, with what its chain went through before. */
export interface EndingAttempt {
  readonly attempt: number
  readonly createdAtMs: number
  readonly scheduledAtMs: number
  readonly startedAtMs: number
  readonly earlier: readonly AttemptSummary[]
  readonly settings: ChainSettings
}

/** What follows from an attempt's end: one row of the contract's transition table. */
export interface AttemptEnd {
  readonly kind: 'success' | 'retry' | 'failed_no_retries' | 'dead_letter'
  /** Seconds until the retry; 0 for the other kinds. */
  readonly retryDelaySeconds: number
  /** Of the job that made the attempt. */
  readonly finalStatus: FinalStatus
  /** What a callback reports: the chain's end, or the attempt's when it goes on. */
  readonly callbackStatus: FinalStatus
  readonly isTerminal: boolean
  /** Every attempt of the chain so far, this one last. */
  readonly attempts: readonly AttemptSummary[]
}

/** The queue's frozen settings with the job's own overrides. */
export function effectiveSettings(settings: ChainSettings, request: JobRequest): ChainSettings {
  return {
    ...settings,
    timeoutSeconds: request.timeoutSeconds ?? settings.timeoutSeconds,
    retriesEnabled: request.retriesEnabled ?? settings.retriesEnabled,
    retryDelays: request.retryDelays ?? settings.retryDelays,
    successAssertions: request.successAssertions ?? settings.successAssertions,
    callbackEvents: request.callbackEvents ?? settings.callbackEvents,
  }
}

/** Retry delay for attempt n (n ≥ 2) is `retryDelays[n − 2]` (contract, rule 1); without jitter. */
export function endAttempt(attempt: EndingAttempt, outcome: AttemptOutcome): AttemptEnd {
  const { settings } = attempt
  const attempts = [...attempt.earlier, summaryOf(attempt, outcome)]
  const isRetry = attempt.attempt > 1
  if (outcome.failureReason === null) {
    return end('success', 'success', 'success', attempts)
  }
  const delay = settings.retryDelays[attempt.attempt - 1]
  if (settings.retriesEnabled && delay !== undefined) {
    const status = isRetry ? 'failed_with_retries' : 'retrying'
    return { ...end('retry', status, status, attempts), retryDelaySeconds: delay, isTerminal: false }
  }
  if (!settings.retriesEnabled) {
    return end('failed_no_retries', 'failed_no_retries', 'failed_no_retries', attempts)
  }
  return end('dead_letter', isRetry ? 'failed_with_retries' : 'dead_lettered', 'dead_lettered', attempts)
}

function end(
  kind: AttemptEnd['kind'],
  finalStatus: FinalStatus,
  callbackStatus: FinalStatus,
  attempts: readonly AttemptSummary[],
): AttemptEnd {
  return { kind, retryDelaySeconds: 0, finalStatus, callbackStatus, isTerminal: true, attempts }
}

function summaryOf(attempt: EndingAttempt, outcome: AttemptOutcome): AttemptSummary {
  return {
    createdAtMs: attempt.createdAtMs,
    scheduledAtMs: attempt.scheduledAtMs,
    startedAtMs: attempt.startedAtMs,
    completedAtMs: outcome.completedAtMs,
    durationMs: outcome.durationMs,
    responseStatus: outcome.responseStatus,
    failureReason: outcome.failureReason,
    errorMessage: outcome.errorMessage,
  }
}
