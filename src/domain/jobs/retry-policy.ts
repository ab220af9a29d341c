import type { AttemptSummary, FinalStatus, JobRequest } from './job.ts'
import type { ChainSettings } from './queue-settings.ts'

/** How one attempt ended. Times are Redis time, Unix ms; `failureReason` null = success: 2xx and every assertion holds. */
export type AttemptOutcome = Omit<AttemptSummary, 'createdAtMs' | 'scheduledAtMs' | 'startedAtMs'>

/** An attempt that is about to end, and the earlier attempts of its chain. */
export interface EndingAttempt {
  readonly attempt: number
  readonly createdAtMs: number
  readonly scheduledAtMs: number
  readonly startedAtMs: number
  readonly earlier: readonly AttemptSummary[]
  readonly settings: ChainSettings
}

/** What follows an attempt: one row of the contract's transition table. */
export interface AttemptEnd {
  readonly kind: 'success' | 'retry' | 'failed_no_retries' | 'dead_letter'
  /** Seconds until the retry, to the ms; 0 for the other kinds. */
  readonly retryDelaySeconds: number
  /** Final status of the attempt's own job. */
  readonly finalStatus: FinalStatus
  /** The status a callback reports: that of the chain if it ended, otherwise that of the attempt. */
  readonly callbackStatus: FinalStatus
  readonly isTerminal: boolean
  /** Every attempt of the chain so far, this one last. */
  readonly attempts: readonly AttemptSummary[]
}

/** The settings that the chain keeps, with the job's overrides. */
export function effectiveSettings(
  settings: ChainSettings,
  request: Omit<JobRequest, 'headers' | 'payload'>,
): ChainSettings {
  const { timeoutSeconds, retriesEnabled, retryDelays, successAssertions, callbackEvents } = request
  const { recordResponses = null } = request
  const overrides = timeoutSeconds ?? retriesEnabled ?? retryDelays ?? successAssertions ?? callbackEvents
  // Most jobs have none.
  if ((overrides ?? recordResponses) === null) return settings
  return {
    ...settings,
    timeoutSeconds: timeoutSeconds ?? settings.timeoutSeconds,
    retriesEnabled: retriesEnabled ?? settings.retriesEnabled,
    retryDelays: retryDelays ?? settings.retryDelays,
    successAssertions: successAssertions ?? settings.successAssertions,
    callbackEvents: callbackEvents ?? settings.callbackEvents,
    recordResponses: recordResponses ?? settings.recordResponses,
  }
}

/**
 * Whether a retry follows, and when: attempt n (n ≥ 2) waits `retryDelays[n − 2]` (contract, rule 1), and longer by as much
 * of its jitter as `random` says, 0–1: without it, by nothing.
 */
export function endAttempt(
  attempt: EndingAttempt,
  outcome: AttemptOutcome,
  random: () => number = () => 0,
): AttemptEnd {
  const { createdAtMs, scheduledAtMs, startedAtMs } = attempt
  const { retriesEnabled, retryDelays, noRetryStatuses, retryJitterPercent } = attempt.settings
  const attempts = [...attempt.earlier, { createdAtMs, scheduledAtMs, startedAtMs, ...outcome }]
  const isRetry = attempt.attempt > 1
  const end = (kind: AttemptEnd['kind'], callbackStatus: FinalStatus, finalStatus = callbackStatus) => {
    return { kind, retryDelaySeconds: 0, finalStatus, callbackStatus, isTerminal: true, attempts }
  }
  if (outcome.failureReason === null) return end('success', 'success')
  if (!retriesEnabled) return end('failed_no_retries', 'failed_no_retries')
  const delaySeconds = retryDelays[attempt.attempt - 1]
  const { responseStatus } = outcome
  const isFinal = responseStatus !== null && noRetryStatuses.includes(responseStatus)
  if (delaySeconds === undefined || isFinal) {
    return end('dead_letter', 'dead_lettered', isRetry ? 'failed_with_retries' : 'dead_lettered')
  }
  return {
    ...end('retry', isRetry ? 'failed_with_retries' : 'retrying'),
    retryDelaySeconds: lengthened(delaySeconds, retryJitterPercent, random),
    isTerminal: false,
  }
}

function lengthened(seconds: number, jitterPercent: number, random: () => number): number {
  if (jitterPercent === 0) return seconds
  return Math.round(seconds * (1000 + 10 * jitterPercent * random())) / 1000
}
