import type { SuccessAssertion } from './assertion.ts'
import type { TraceContext } from '../net/trace-context.ts'
import type { CallbackEvents, ChainSettings, RecordedResponses } from './queue-settings.ts'

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type Method = (typeof METHODS)[number]

export type JobStatus = 'pending' | 'processing' | 'completed' | 'failed'

/** Outcome of a chain (on its original) or of one retry attempt (on a retry job). */
export type FinalStatus =
  | 'success'
  | 'retrying'
  | 'failed_with_retries'
  | 'failed_no_retries'
  | 'dead_lettered'

export const FAILURE_REASONS = [
  'timeout',
  'connection_error',
  'dns_error',
  'ssl_error',
  'http_client_error',
  'http_server_error',
  'http_redirect',
  'invalid_url',
  'blocked_target',
  'assertion_failed',
  'executor_lost',
  'limit_exceeded',
  'unknown',
  'damaged',
] as const
export type FailureReason = (typeof FAILURE_REASONS)[number]

/** The cron run that made a job. */
export interface CronOrigin {
  readonly cronId: number
  /** The tick, without the cron's spread; for a run by hand, the time it was asked for. */
  readonly tickMs: number
  readonly isManual: boolean
  /** `CronSettings.signer` at the tick; absent = none. */
  readonly signer?: string
}

/** How the text that is kept stands for the bytes of a body: as they are, as a JSON value, or as base64 of them. */
export const BODY_ENCODINGS = ['text', 'json', 'base64'] as const
export type BodyEncoding = (typeof BODY_ENCODINGS)[number]

/** The request as pushed. Retries and replays keep it unchanged. */
export interface JobRequest {
  readonly url: string
  readonly method: Method
  /** Headers in the order and spelling given. A value may be replaced by where it is kept: see `isFromSecret`. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * The exact source text of the JSON payload, or the text of a body that was given with an encoding; null when there
   * was neither.
   */
  readonly payload: string | null
  /** null or absent = `payload` is a JSON object, or any text for a run of a cron. */
  readonly bodyEncoding?: BodyEncoding | null
  readonly callbackUrl: string | null
  /** null = the queue's. */
  readonly callbackEvents: CallbackEvents | null
  readonly tags: Readonly<Record<string, string>>
  /** Overrides of the queue's settings for this chain; null = the queue's. */
  readonly timeoutSeconds: number | null
  readonly retryDelays: readonly number[] | null
  readonly retriesEnabled: boolean | null
  readonly successAssertions: readonly SuccessAssertion[] | null
  /** Absent = the queue's. A cron can keep less than its queue does, not more. */
  readonly recordResponses?: Exclude<RecordedResponses, 'all'>
  /** null = not a run of a cron. */
  readonly cron: CronOrigin | null
  /** How many jobs in a row led to this one, each by a call to an API like this one; absent = none. */
  readonly callDepth?: number
  /** The bulk that made this job; absent = none did. */
  readonly bulkId?: number
  /** The trace it belongs to; absent = none. */
  readonly trace?: TraceContext
}

/** One attempt that has ended. Times are Redis time, Unix ms. */
export interface AttemptSummary {
  readonly createdAtMs: number
  readonly scheduledAtMs: number
  /** The claim; equal to `completedAtMs` if the executor was lost. */
  readonly startedAtMs: number
  readonly completedAtMs: number
  readonly failureReason: FailureReason | null
  readonly errorMessage: string | null
  /** null without a response. */
  readonly responseStatus: number | null
  readonly durationMs: number
}

/** Milliseconds each part of a call took; null for a part that did not happen. */
export interface CallTimings {
  readonly queueWaitMs: number
  readonly dnsMs: number | null
  readonly connectMs: number | null
  readonly tlsMs: number | null
  readonly firstByteMs: number | null
  readonly bodyMs: number | null
}

/** One HTTP exchange as it happened on the wire; bodies cut at 16 KiB. */
export interface CallRecord {
  readonly jobId: number
  readonly attempt: number
  readonly startedAtMs: number
  readonly durationMs: number
  readonly request: {
    readonly method: Method
    readonly url: string
    readonly headers: ReadonlyArray<readonly [string, string]>
    readonly body: string | null
    readonly bodyTruncated: boolean
  }
  /** null without a response. */
  readonly response: {
    readonly status: number
    readonly headers: ReadonlyArray<readonly [string, string]>
    readonly body: string
    readonly bodyTruncated: boolean
    /** true = further headers came, which were not kept; absent = none. */
    readonly headersTruncated?: boolean
    /** What HTTP/1.1 does not allow in the response, a sentence each; absent = nothing. */
    readonly protocolNotes?: readonly string[]
    /** true = nothing of it is kept but its status; absent = it is kept. */
    readonly isLeftOut?: boolean
  } | null
  readonly failureReason: FailureReason | null
  readonly errorMessage: string | null
  readonly timings: CallTimings
}

/** The newest job of a chain that has not ended. */
export interface OpenAttempt {
  readonly attempt: number
  readonly status: 'pending' | 'processing'
  readonly createdAtMs: number
  readonly scheduledAtMs: number
  /** The claim; null while pending. */
  readonly startedAtMs: number | null
}

/** A field of a request that is not kept as long as the chain. */
export type LostField = 'headers' | 'payload'

/** A chain: the original job, its retries, and its end. */
export interface JobChain {
  readonly rootId: number
  readonly queueId: number
  readonly queueName: string
  /** Headers and payload are null if only the summary of a finished chain is left. */
  readonly request: Omit<JobRequest, 'headers' | 'payload'> & {
    readonly headers: Readonly<Record<string, string>> | null
    readonly payload: string | null
    /** Names of header secrets, by header; only in what is shown. */
    readonly headerSecrets?: Readonly<Record<string, string>> | null
  }
  /** Attempts that have ended, oldest first. */
  readonly attempts: readonly AttemptSummary[]
  /** null when the chain has ended. */
  readonly open: OpenAttempt | null
  /** How the chain ended; null while it is open. */
  readonly end: 'success' | 'failed_no_retries' | 'dead_lettered' | null
  /** The job that a replay or a retry of this chain made; null if there was none. */
  readonly replayedAs: number | null
  /** Fields that are null in `request` because they are no longer kept; absent = none. */
  readonly lost?: readonly LostField[]
  /**
   * The settings in force, overrides included; absent if they were not read, or no longer kept after the chain's end.
   */
  readonly settings?: ChainSettings
  /** When a dead letter is removed, Unix ms; absent for any other chain, and where it was not read. */
  readonly purgeAtMs?: number
  /** The call records that still exist, oldest first. */
  readonly calls: readonly CallRecord[]
}
