// Generated from openapi.yaml by `npm run generate`: change that file, not this one.
/**
 * Below 2^53, never reused, in no promised order.
 */
export type Id = number
/**
 * UTC with milliseconds and `+00:00`.
 */
export type Timestamp = string
export type NullableTimestamp = Timestamp | null
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
/**
 * `http` or `https` with a host, without user name and password; not a blocked address. A host is an address or a name without empty parts: at most 63 characters between two dots, 253 in all, counted in punycode.
 */
export type TargetUrl = string
/**
 * Seconds before each retry; their count is the number of retries.
 *
 * @minItems 1
 * @maxItems 10
 */
export type RetryDelays = number[]
/**
 * `terminal`: one callback at `success`, `failed_no_retries` or `dead_lettered`. `every_attempt` adds `retrying` and `failed_with_retries`.
 */
export type CallbackEvents = 'terminal' | 'every_attempt'
/**
 * For the whole call, DNS to the last byte of the body.
 */
export type TimeoutSeconds = number
/**
 * `pending` waits, `processing` is in flight, `completed` had a 2xx and met every assertion.
 */
export type JobStatus = 'pending' | 'processing' | 'completed' | 'failed'
/**
 * On an original job the outcome of its whole chain, on a retry job that of the attempt. null while the job waits or is in flight.
 */
export type FinalStatus =
  ('success' | 'retrying' | 'failed_with_retries' | 'failed_no_retries' | 'dead_lettered') | null
/**
 * `damaged`: what Redis holds of the job cannot be read. It does not run, its fields are empty as far as they are unknown, and it can be deleted.
 */
export type FailureReason =
  | (
      | 'timeout'
      | 'connection_error'
      | 'dns_error'
      | 'ssl_error'
      | 'http_client_error'
      | 'http_server_error'
      | 'http_redirect'
      | 'invalid_url'
      | 'blocked_target'
      | 'assertion_failed'
      | 'executor_lost'
      | 'limit_exceeded'
      | 'unknown'
      | 'damaged'
    )
  | null
/**
 * Give it as `cursor` for the next page; null on the last one.
 */
export type NextCursor = string | null
/**
 * A condition on the response, beside its 2xx status.
 */
export type SuccessAssertion = StatusCodeEquals | BodyContains | ResponseTimeUnderMs
/**
 * Five fields: minute, hour, day of month, month, day of week (0 to 7, 0 and 7 are Sunday). Each is `*`, a value, a range `a-b`, one of these with a step `/n`, or a list of them; months and weekdays have their English names of three letters too. With both day fields restricted either will do. Seconds, macros such as `@daily` and `H` are refused, and so is what never comes.
 */
export type CronExpression = string
/**
 * IANA name.
 */
export type TimeZone = string
/**
 * `forbid` skips a tick while a run of the cron has not ended.
 */
export type ConcurrencyPolicy = 'allow' | 'forbid'
/**
 * Of ticks that were missed while nothing ran, `latest` makes up for the last one, `all` for up to 100, `skip` for none.
 */
export type MissedRunPolicy = 'latest' | 'skip' | 'all'

/**
 * `null` in an optional field counts as absent.
 */
export interface JobPush {
  /**
   * Name of the queue; made if absent.
   */
  queue: string
  url: TargetUrl
  method?: Method | null
  /**
   * Sent with the request in this order and spelling. Values are visible ASCII, space and tab. Headers that steer the connection (`Host`, `Content-Length`, …) and ours (`webhook-*`, `X-Punctual-*`) are refused, and so are two spellings of one name.
   */
  headers?: {
    [k: string]: string
  } | null
  /**
   * The JSON body of the request, sent exactly as written: numbers keep their digits, fields their order. At most 64 levels deep.
   */
  payload?: {
    [k: string]: unknown
  } | null
  callback_url?: TargetUrl | null
  /**
   * Seconds to wait before running. `5.0` is an integer, `"5"` is none.
   */
  delay?: number | null
  /**
   * When to run: ISO 8601 with an offset, at most 366 days ahead; in the past means now. Not together with `delay`.
   */
  run_at?: string | null
  timeout_seconds?: TimeoutSeconds | null
  retry_delays?: RetryDelays | null
  retries_enabled?: boolean | null
  /**
   * For your own use; shown with the job.
   */
  tags?: {
    [k: string]: string
  } | null
  callback_events?: CallbackEvents | null
}
export interface ScheduledJob {
  success: true
  queue_id: Id
  job_id: Id
  scheduled_at: Timestamp
  message: 'Scheduled successfully'
}
/**
 * A job without its headers, payload, chain and calls.
 */
export interface JobSummary {
  job_id: Id
  /**
   * The other form of `job_id`, as in callbacks.
   */
  uuid: string
  /**
   * Below 2^53, never reused, in no promised order.
   */
  original_job_id: number
  /**
   * null, as `queue`, for a run of a cron without a queue.
   */
  queue_id: Id | null
  queue: string | null
  url: string
  method: Method
  callback_url: string | null
  tags: {
    [k: string]: string
  }
  status: JobStatus
  final_status: FinalStatus
  attempt_number: number
  is_retry: boolean
  /**
   * On an original job that failed, while its chain goes on.
   */
  has_pending_retry: boolean
  scheduled_at: Timestamp
  created_at: Timestamp
  started_at: NullableTimestamp
  completed_at: NullableTimestamp
  dead_lettered_at: NullableTimestamp
  failure_reason: FailureReason
  error_message: string | null
  /**
   * null when there was no answer.
   */
  response_status: number | null
  /**
   * From the start of DNS to the end of the body.
   */
  duration_ms: number | null
  /**
   * The cron whose run it is; null for a job that was pushed.
   */
  cron_id: Id | null
  /**
   * On a dead letter that was replayed, the job made of it.
   */
  replayed_as: Id | null
}
export interface Job {
  job_id: Id
  /**
   * The other form of `job_id`, as in callbacks.
   */
  uuid: string
  /**
   * Below 2^53, never reused, in no promised order.
   */
  original_job_id: number
  /**
   * null, as `queue`, for a run of a cron without a queue.
   */
  queue_id: Id | null
  queue: string | null
  url: string
  method: Method
  callback_url: string | null
  tags: {
    [k: string]: string
  }
  status: JobStatus
  final_status: FinalStatus
  attempt_number: number
  is_retry: boolean
  /**
   * On an original job that failed, while its chain goes on.
   */
  has_pending_retry: boolean
  scheduled_at: Timestamp
  created_at: Timestamp
  started_at: NullableTimestamp
  completed_at: NullableTimestamp
  dead_lettered_at: NullableTimestamp
  failure_reason: FailureReason
  error_message: string | null
  /**
   * null when there was no answer.
   */
  response_status: number | null
  /**
   * From the start of DNS to the end of the body.
   */
  duration_ms: number | null
  /**
   * The cron whose run it is; null for a job that was pushed.
   */
  cron_id: Id | null
  /**
   * On a dead letter that was replayed, the job made of it.
   */
  replayed_as: Id | null
  /**
   * As pushed; null when they were over 1 KiB and the chain has ended, but for a dead letter.
   */
  headers: {
    [k: string]: string
  } | null
  /**
   * As pushed, digit by digit; of a cron's run the body as a text. null when none was given or it is no longer kept.
   */
  payload:
    | {
        [k: string]: unknown
      }
    | string
    | null
  /**
   * Every job of the chain, oldest first, this one included.
   *
   * @maxItems 11
   */
  chain: JobSummary[]
  /**
   * The HTTP exchanges of this job that are still kept, oldest first.
   */
  calls: Call[]
  /**
   * Exchanges of this job whose record is no longer kept, or never was: of successes an executor keeps the first 20 a second of each queue, and records go after 3 days or when their room is needed.
   */
  calls_dropped: number
}
/**
 * One HTTP exchange as it happened on the wire; bodies are cut at 16 KiB.
 */
export interface Call {
  attempt_number: number
  started_at: Timestamp
  duration_ms: number
  request: {
    method: Method
    url: string
    /**
     * Ours and the signature included.
     */
    headers: HeaderLine[]
    body: string | null
    body_truncated: boolean
  }
  /**
   * null when there was no answer.
   */
  response: CallResponse | null
  failure_reason: FailureReason
  error_message: string | null
  timings: CallTimings
}
export interface HeaderLine {
  name: string
  value: string
}
export interface CallResponse {
  status: number
  headers: HeaderLine[]
  body: string
  body_truncated: boolean
}
/**
 * Milliseconds each part took; null for a part that did not happen.
 */
export interface CallTimings {
  queue_wait_ms: number
  dns_ms: number | null
  connect_ms: number | null
  tls_ms: number | null
  first_byte_ms: number | null
  body_ms: number | null
}
export interface JobList {
  /**
   * @maxItems 1000
   */
  jobs: JobSummary[]
  next_cursor: NextCursor
}
export interface StatusCodeEquals {
  type: 'status_code_equals'
  /**
   * Outside 200–299 it can never hold; the edit is answered with a warning.
   */
  value: number
}
export interface BodyContains {
  type: 'body_contains'
  /**
   * Looked for in the first 256 KiB of the body.
   */
  value: string
}
export interface ResponseTimeUnderMs {
  type: 'response_time_under_ms'
  value: number
}
/**
 * As `SuccessAssertion`; a number may also be given as a string of digits.
 */
export interface SuccessAssertionInput {
  type: 'status_code_equals' | 'body_contains' | 'response_time_under_ms'
  value: string | number
}
export interface QueueCounts {
  /**
   * Ready to start.
   */
  pending: number
  /**
   * Waiting for their time.
   */
  delayed: number
  /**
   * In flight.
   */
  processing: number
  /**
   * In the dead-letter queue.
   */
  dead: number
}
export interface Queue {
  queue_id: Id
  name: string
  /**
   * false = paused.
   */
  is_active: boolean
  timeout_seconds: TimeoutSeconds
  retries_enabled: boolean
  retry_delays: RetryDelays
  /**
   * @maxItems 10
   */
  success_assertions: SuccessAssertion[]
  /**
   * Kept, without effect in this version.
   */
  alerts_enabled: boolean
  /**
   * Calls in flight at once; null = unlimited.
   */
  max_parallelism: number | null
  dlq_retention_days: 3 | 7 | 14 | 30
  callback_events: CallbackEvents
  /**
   * Kept, without effect in this version.
   */
  strict_parallelism: boolean
  counts: QueueCounts
}
export interface EditedQueue {
  queue_id: Id
  name: string
  /**
   * false = paused.
   */
  is_active: boolean
  timeout_seconds: TimeoutSeconds
  retries_enabled: boolean
  retry_delays: RetryDelays
  /**
   * @maxItems 10
   */
  success_assertions: SuccessAssertion[]
  /**
   * Kept, without effect in this version.
   */
  alerts_enabled: boolean
  /**
   * Calls in flight at once; null = unlimited.
   */
  max_parallelism: number | null
  dlq_retention_days: 3 | 7 | 14 | 30
  callback_events: CallbackEvents
  /**
   * Kept, without effect in this version.
   */
  strict_parallelism: boolean
  counts: QueueCounts
  /**
   * Settings that were stored but cannot work.
   */
  warnings: string[]
}
/**
 * `null` counts as absent, but for `max_parallelism`: there it means unlimited.
 */
export interface QueueEdit {
  is_active?: boolean | null
  timeout_seconds?: TimeoutSeconds | null
  retries_enabled?: boolean | null
  retry_delays?: RetryDelays | null
  /**
   * @maxItems 10
   */
  success_assertions?: SuccessAssertionInput[] | null
  alerts_enabled?: boolean | null
  max_parallelism?: number | null
  dlq_retention_days?: (3 | 7 | 14 | 30) | null
  callback_events?: CallbackEvents | null
  strict_parallelism?: boolean | null
}
export interface QueueList {
  /**
   * @maxItems 1000
   */
  queues: Queue[]
  next_cursor: NextCursor
}
export interface Team {
  team: string
  /**
   * The lower of the team's own and the installation's; null = none.
   */
  quotas: {
    queues: number | null
    crons: number | null
    pending_jobs: number | null
    stored_bytes: number | null
    jobs_per_month: number | null
    calls_in_flight: number | null
  }
  /**
   * What the team holds now.
   */
  usage: {
    /**
     * Queues.
     */
    queues: number
    /**
     * Crons.
     */
    crons: number
    /**
     * Jobs that have not ended, waiting or in flight.
     */
    pending_jobs: number
    /**
     * Bytes of jobs, dead letters, finished chains and call records, as they are written.
     */
    stored_bytes: number
    /**
     * Jobs of this calendar month, UTC; retries are not counted.
     */
    jobs_per_month: number
    /**
     * Calls at once, over all executors.
     */
    calls_in_flight: number
  }
}
/**
 * `null` in an optional field counts as absent.
 */
export interface CronCreate {
  /**
   * For people; need not be unique.
   */
  name: string
  url: TargetUrl
  method?: Method | null
  /**
   * As of a job.
   */
  headers?: {
    [k: string]: string
  } | null
  /**
   * The body of the request, sent exactly as written: a text as it is, an object as its JSON. At most 262,144 characters.
   */
  payload?:
    | string
    | {
        [k: string]: unknown
      }
    | null
  callback_url?: TargetUrl | null
  cron_expression: CronExpression
  timeout_seconds?: TimeoutSeconds | null
  /**
   * So many failures in a row raise a failure alert. Kept, without effect in this version.
   */
  alert_threshold?: number | null
  /**
   * Must all hold beside a 2xx status; without any, those of the queue.
   *
   * @maxItems 10
   */
  success_assertions?: SuccessAssertionInput[] | null
  /**
   * false = paused.
   */
  is_active?: boolean | null
  time_zone?: TimeZone | null
  concurrency_policy?: ConcurrencyPolicy | null
  missed_run_policy?: MissedRunPolicy | null
  /**
   * A tick that could not start for this long is missed for good; without it none is too old, with `skip` one of over 60 s.
   */
  starting_deadline_seconds?: number | null
  /**
   * Over how long crons are spread after their tick; each keeps its own spread.
   */
  jitter_seconds?: number | null
  /**
   * The queue to run through, with its parallelism, retries and dead letters. Without one the next tick is the retry.
   */
  queue?: string | null
}
/**
 * `null` takes away `payload`, `callback_url`, `starting_deadline_seconds` and `queue`, and counts as absent elsewhere.
 */
export interface CronEdit {
  /**
   * For people; need not be unique.
   */
  name?: string | null
  url?: TargetUrl | null
  method?: Method | null
  /**
   * As of a job.
   */
  headers?: {
    [k: string]: string
  } | null
  /**
   * The body of the request, sent exactly as written: a text as it is, an object as its JSON. At most 262,144 characters.
   */
  payload?:
    | string
    | {
        [k: string]: unknown
      }
    | null
  callback_url?: TargetUrl | null
  cron_expression?: CronExpression | null
  timeout_seconds?: TimeoutSeconds | null
  /**
   * So many failures in a row raise a failure alert. Kept, without effect in this version.
   */
  alert_threshold?: number | null
  /**
   * Must all hold beside a 2xx status; without any, those of the queue.
   *
   * @maxItems 10
   */
  success_assertions?: SuccessAssertionInput[] | null
  /**
   * false = paused.
   */
  is_active?: boolean | null
  time_zone?: TimeZone | null
  concurrency_policy?: ConcurrencyPolicy | null
  missed_run_policy?: MissedRunPolicy | null
  /**
   * A tick that could not start for this long is missed for good; without it none is too old, with `skip` one of over 60 s.
   */
  starting_deadline_seconds?: number | null
  /**
   * Over how long crons are spread after their tick; each keeps its own spread.
   */
  jitter_seconds?: number | null
  /**
   * The queue to run through, with its parallelism, retries and dead letters. Without one the next tick is the retry.
   */
  queue?: string | null
}
export interface CreatedCron {
  id: Id
  name: string
  cron_expression: CronExpression
  /**
   * null when it was created paused.
   */
  next_run_at: Timestamp | null
  is_active: boolean
}
export interface CronSummary {
  id: Id
  name: string
  url: string
  method: Method
  callback_url: string | null
  cron_expression: CronExpression
  timeout_seconds: TimeoutSeconds
  alert_threshold: number
  /**
   * @maxItems 10
   */
  success_assertions: SuccessAssertion[]
  /**
   * false = paused.
   */
  is_active: boolean
  time_zone: TimeZone
  concurrency_policy: ConcurrencyPolicy
  missed_run_policy: MissedRunPolicy
  starting_deadline_seconds: number | null
  jitter_seconds: number
  queue: string | null
  /**
   * With the cron's spread within `jitter_seconds`; null while it is paused.
   */
  next_run_at: Timestamp | null
  /**
   * What became of the newest tick or run by hand; null before the first.
   */
  last_run: CronRun | null
  /**
   * The tick of the newest run that succeeded; of one by hand, when it was asked for. null before the first.
   */
  last_success_at: Timestamp | null
  /**
   * Runs that failed since the last one that succeeded.
   */
  consecutive_failures: number
}
/**
 * What became of a tick, of several missed ones, or of a run made by hand.
 */
export interface CronRun {
  /**
   * The tick, without the cron's spread within `jitter_seconds`; of missed ticks the last one. Of a run made by hand when it was asked for.
   */
  scheduled_at: Timestamp
  /**
   * `skipped`: the run before it had not ended. `missed`: it could not run in its time. `running`: its job has not ended, or was removed before it could.
   */
  result: 'running' | 'succeeded' | 'failed' | 'skipped' | 'missed'
  /**
   * The job of the run; null when there was none.
   */
  job_id: Id | null
  /**
   * Made by hand.
   */
  is_manual: boolean
  /**
   * More than 1 only for missed ticks; at most 10,000 are counted.
   */
  ticks: number
}
export interface Cron {
  id: Id
  name: string
  url: string
  method: Method
  callback_url: string | null
  cron_expression: CronExpression
  timeout_seconds: TimeoutSeconds
  alert_threshold: number
  /**
   * @maxItems 10
   */
  success_assertions: SuccessAssertion[]
  /**
   * false = paused.
   */
  is_active: boolean
  time_zone: TimeZone
  concurrency_policy: ConcurrencyPolicy
  missed_run_policy: MissedRunPolicy
  starting_deadline_seconds: number | null
  jitter_seconds: number
  queue: string | null
  /**
   * With the cron's spread within `jitter_seconds`; null while it is paused.
   */
  next_run_at: Timestamp | null
  /**
   * What became of the newest tick or run by hand; null before the first.
   */
  last_run: CronRun | null
  /**
   * The tick of the newest run that succeeded; of one by hand, when it was asked for. null before the first.
   */
  last_success_at: Timestamp | null
  /**
   * Runs that failed since the last one that succeeded.
   */
  consecutive_failures: number
  headers: {
    [k: string]: string
  }
  /**
   * The body as it is sent; null = none.
   */
  payload: string | null
  /**
   * Settings that were stored but cannot work.
   */
  warnings: string[]
}
export interface CronList {
  /**
   * @maxItems 1000
   */
  crons: CronSummary[]
  next_cursor: NextCursor
}
export interface CronRunList {
  /**
   * @maxItems 1000
   */
  runs: CronRun[]
  next_cursor: NextCursor
}
export interface StartedRun {
  cron_id: Id
  job_id: Id
  scheduled_at: Timestamp
}
/**
 * `null` in an optional field counts as absent.
 */
export interface CronPreviewQuery {
  cron_expression: CronExpression
  time_zone?: TimeZone | null
  /**
   * Ticks to give.
   */
  count?: number | null
}
export interface CronPreview {
  cron_expression: CronExpression
  time_zone: TimeZone
  /**
   * In English, by a clock of 24 hours.
   */
  description: string
  /**
   * The next ticks from now on; fewer than asked for where time as we count it ends.
   *
   * @maxItems 100
   */
  next_runs: Timestamp[]
}
export interface ErrorBody {
  error: string
}
export interface ValidationError {
  /**
   * Exactly the first text of `errors`.
   */
  message: string
  /**
   * A field's path with dots (`retry_delays.0`, `headers.X-A`) → its texts; in the contract's field order, unknown fields last, but those whose name is a whole number (`7`) first. Of more than 20 unknown fields the last that is named says so, and no other field is named.
   */
  errors: {
    /**
     * @minItems 1
     */
    [k: string]: string[]
  }
}
