// Generated from openapi.yaml by `npm run generate`: change that file, not this one.
/**
 * A time in ISO 8601 with an offset (`2026-11-21T10:00:00Z`), or a span back from now: a whole number and `s`, `m`, `h`, `d` or `w`, such as `15m`, `1h` or `7d`. Later pages of a list count from the time of the first one.
 */
export type TimeOrSpan = string
/**
 * Below 2^53, never reused, in no particular order.
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
 * Statuses after which the chain ends at once, as if its retries were used up. A chain keeps those of its first job.
 *
 * @maxItems 20
 */
export type NoRetryStatuses = number[]
/**
 * Each retry delay is lengthened at random by up to this part of it. A chain keeps that of its first job.
 */
export type RetryJitterPercent = number
/**
 * Whether `Retry-After` of a 429 or 503 counts, of a day at most: the retry is then due at the later of its delay and that time, and until then no other job of the queue begins.
 */
export type RespectRetryAfter = boolean
/**
 * Why the queue may not begin jobs for a while; null = it may.
 */
export type Throttled = {
  /**
   * `rate_limited`: by `rate_limit`. `target_asks_to_wait`: by a `Retry-After` that counts. `circuit_open`: by `circuit_breaker`.
   */
  reason: 'rate_limited' | 'target_asks_to_wait' | 'circuit_open'
  /**
   * When the next job may begin; null while the one job that tries the target is under way.
   */
  until: Timestamp | null
} | null
/**
 * `terminal`: one callback at `success`, `failed_no_retries` or `dead_lettered`. `every_attempt` adds `retrying` and `failed_with_retries`.
 */
export type CallbackEvents = 'terminal' | 'every_attempt'
/**
 * What call records keep of what targets answer: `all`, or with `none` the status and the times, and neither headers nor body.
 */
export type RecordResponses = 'all' | 'none'
/**
 * Timeout of the whole call, from DNS to the last byte of the body.
 */
export type TimeoutSeconds = number
/**
 * The body of the request if it is not a JSON object; not together with `payload`. A string is sent as it is, in UTF-8, and any other value as JSON, exactly as written. `body_encoding` says otherwise.
 */
export type PushedBody =
  | string
  | unknown[]
  | {
      [k: string]: unknown
    }
  | number
  | boolean
  | null
/**
 * How `body` stands for the bytes that are sent. `text`: a string, sent in UTF-8, by default as `text/plain; charset=utf-8`. `json`: any value, sent as JSON. `base64`: a string of base64 with its padding, of which the bytes are sent, by default as `application/octet-stream`.
 */
export type BodyEncoding = 'text' | 'json' | 'base64'
/**
 * The header `Content-Type` of the request, `application/json` by default; not together with that header in `headers` or `header_secrets`.
 */
export type ContentType = string | null
/**
 * `pending` waits, `processing` is in flight, `completed` got a 2xx and passed every assertion.
 */
export type JobStatus = 'pending' | 'processing' | 'completed' | 'failed'
/**
 * On an original job the outcome of its whole chain, on a retry job that of the attempt. null while the job waits or is in flight.
 */
export type FinalStatus =
  ('success' | 'retrying' | 'failed_with_retries' | 'failed_no_retries' | 'dead_lettered') | null
/**
 * `damaged`: the record of the job in Redis cannot be read. The job does not run; unknown fields are empty; it can be deleted.
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
 * A condition on the response, in addition to its 2xx status.
 */
export type SuccessAssertion = StatusCodeEquals | BodyContains | ResponseTimeUnderMs
/**
 * Pass it as `cursor` to get the next page; null on the last one.
 */
export type NextCursor = string | null
/**
 * Who keeps the resource as a manifest elsewhere, and overwrites what is changed by this API; null = nobody, or it is not known now. Nobody does where resources are not kept in Kubernetes.
 */
export type ManagedBy = {
  /**
   * `kubectl`: it was applied with `kubectl apply`. `other`: something else has applied it, server-side.
   */
  tool: 'argo_cd' | 'flux' | 'helm' | 'kubectl' | 'other'
  /**
   * The application, kustomization or release; of `kubectl` and `other` the field manager.
   */
  name: string
  /**
   * Whether edits, pauses and deletions by this API are refused with a 409 because of it.
   */
  read_only: boolean
} | null
/**
 * @minItems 12
 * @maxItems 12
 */
export type TrendCounts = number[]
/**
 * `push`: push jobs. `read`: see everything but payloads, headers and call records. `operate`: see these as well, mend, pause, purge. `admin`: everything.
 */
export type Scope = 'push' | 'read' | 'operate' | 'admin'
/**
 * Empty = all.
 *
 * @maxItems 4
 */
export type Scopes = Scope[]
/**
 * The names of the only queues that a token may use and see; null = all.
 *
 * @minItems 1
 * @maxItems 100
 */
export type TokenQueues = string[] | null
export type ChannelType = 'email' | 'slack' | 'discord' | 'webhook'
/**
 * `warning`: a first failure that is retried, or one below a cron's threshold. `failure`: a dead letter, or a cron's failures have reached its threshold. `recovery`: the next success of that cron. `limit_warning`: a limit comes near. With the reason `circuit_open`, `warning`: the circuit breaker of a queue has opened. `recovery`: it has closed again.
 */
export type AlertType = 'warning' | 'failure' | 'recovery' | 'limit_warning'
/**
 * Five fields: minute, hour, day of month, month, day of week (0 to 7, 0 and 7 are Sunday). Each is `*`, a value, a range `a-b`, one of these with a step `/n`, or a list of them; months and weekdays also have their three-letter English names. When both day fields are restricted, either matches. Seconds, macros such as `@daily`, `H`, and dates that never come are refused.
 */
export type CronExpression = string
/**
 * IANA name, in any case. Abbreviations such as `CST` and offsets are refused; the 422 proposes the name that is meant.
 */
export type TimeZone = string
/**
 * `forbid` skips a tick while the previous run has not ended.
 */
export type ConcurrencyPolicy = 'allow' | 'forbid'
/**
 * Which ticks that were missed while nothing ran are run later: `latest` the last one, `all` up to 100, `skip` none.
 */
export type MissedRunPolicy = 'latest' | 'skip' | 'all'
/**
 * The failure reason of the job; of a `recovery` that from which the cron recovers. A `limit_warning` has one from `queue_saturated` to `quota_nearly_used`, a loss of jobs `jobs_lost`, a circuit breaker `circuit_open`.
 */
export type AlertReason =
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
  | 'queue_saturated'
  | 'dead_letters_growing'
  | 'dead_letters_expiring'
  | 'storage_nearly_full'
  | 'quota_nearly_used'
  | 'jobs_lost'
  | 'circuit_open'
export type AlertResourceKind = 'queue' | 'cron' | 'team'
/**
 * `resolved`: nothing has failed for an hour, and a call of the queue to that host has succeeded since; or somebody has said so. An `acknowledged` issue stays so until then.
 */
export type IssueState = 'open' | 'acknowledged' | 'muted' | 'resolved'
export type AuditedKind =
  | 'job'
  | 'queue'
  | 'cron'
  | 'window'
  | 'alert'
  | 'issue'
  | 'bulk'
  | 'token'
  | 'secret'
  | 'team'
  | 'session'
  | 'channel'
/**
 * `mute`: alerts are stored and not sent. `hold`: the same, and no job starts.
 */
export type WindowAction = 'mute' | 'hold'
/**
 * `cancel` and `fire` are for pending jobs, `replay` and `purge` for dead letters, `retry` for chains that ended in failure and dead letters, `delete` for all jobs but those in flight; of a chain that has ended, it deletes all. A filter without a status finds only those.
 */
export type BulkAction = 'retry' | 'delete' | 'fire' | 'replay' | 'purge' | 'cancel'

/**
 * In no span of `period_seconds` more than `limit` calls of the queue begin, by `started_at`, over all executors, with retries and replays. They are spread over the period.
 */
export interface QueueRateLimit {
  /**
   * Calls in a period.
   */
  limit: number
  period_seconds: number
}
/**
 * Stops beginning jobs whose target fails: once `failure_percent` of at least `min_calls` attempts that ended in the last `window_seconds` failed by a timeout, the connection, DNS, TLS or a 5xx, no job begins for `open_seconds`. Then one job tries the target, the probe: its success ends it, its failure starts a longer wait.
 */
export interface CircuitBreaker {
  /**
   * How many of them have to fail.
   */
  failure_percent: number
  /**
   * With fewer attempts in the window it never opens.
   */
  min_calls: number
  /**
   * How far back attempts count.
   */
  window_seconds: number
  /**
   * How long no job begins; twice as long after each probe that fails in a row, and at most 15 minutes.
   */
  open_seconds: number
}
/**
 * A circuit breaker. Fields that are left out take their defaults, not their earlier values.
 */
export interface CircuitBreakerInput {
  /**
   * How many of them have to fail.
   */
  failure_percent?: number
  /**
   * With fewer attempts in the window it never opens.
   */
  min_calls?: number
  /**
   * How far back attempts count.
   */
  window_seconds?: number
  /**
   * How long no job begins; twice as long after each probe that fails in a row, and at most 15 minutes.
   */
  open_seconds?: number
}
/**
 * `null` in an optional field counts as absent.
 */
export interface JobPush {
  /**
   * Name of the queue, which is created if it does not exist.
   */
  queue: string
  url: TargetUrl
  method?: Method | null
  /**
   * Sent with the request in this order and spelling. Values are visible ASCII, space and tab. Refused: headers that control the connection (`Host`, `Content-Length`, …), those that Punctual sets (`webhook-*`, `X-Punctual-*`), and two spellings of one name.
   */
  headers?: {
    [k: string]: string
  } | null
  /**
   * Headers whose values lie in Secrets, by header: the names of header secrets of the team, which only executors open. They must be allowed to go to the host of `url`.
   */
  header_secrets?: {
    [k: string]: string
  } | null
  /**
   * The JSON body of the request, sent exactly as written: numbers keep their digits, fields their order. At most 64 levels deep.
   */
  payload?: {
    [k: string]: unknown
  } | null
  body?: PushedBody
  body_encoding?: BodyEncoding | null
  content_type?: ContentType
  callback_url?: TargetUrl | null
  /**
   * Seconds to wait before running. `5.0` is an integer, `"5"` is not.
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
   * For your use; returned with the job.
   */
  tags?: {
    [k: string]: string
  } | null
  callback_events?: CallbackEvents | null
}
/**
 * A push with an idempotency key, which a single push has in a header.
 */
export interface BatchedPush {
  /**
   * Name of the queue, which is created if it does not exist.
   */
  queue: string
  url: TargetUrl
  method?: Method | null
  /**
   * Sent with the request in this order and spelling. Values are visible ASCII, space and tab. Refused: headers that control the connection (`Host`, `Content-Length`, …), those that Punctual sets (`webhook-*`, `X-Punctual-*`), and two spellings of one name.
   */
  headers?: {
    [k: string]: string
  } | null
  /**
   * Headers whose values lie in Secrets, by header: the names of header secrets of the team, which only executors open. They must be allowed to go to the host of `url`.
   */
  header_secrets?: {
    [k: string]: string
  } | null
  /**
   * The JSON body of the request, sent exactly as written: numbers keep their digits, fields their order. At most 64 levels deep.
   */
  payload?: {
    [k: string]: unknown
  } | null
  body?: PushedBody
  body_encoding?: BodyEncoding | null
  content_type?: ContentType
  callback_url?: TargetUrl | null
  /**
   * Seconds to wait before running. `5.0` is an integer, `"5"` is not.
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
   * For your use; returned with the job.
   */
  tags?: {
    [k: string]: string
  } | null
  callback_events?: CallbackEvents | null
  /**
   * As the header `Idempotency-Key` of a push, without quotes.
   */
  idempotency_key?: string | null
}
export interface JobBatch {
  /**
   * @minItems 1
   * @maxItems 1000
   */
  jobs: BatchedPush[]
}
export interface JobBatchResults {
  /**
   * In the order of the pushes.
   */
  results: (BatchedJob | RefusedPush)[]
}
/**
 * A push that was taken, now or before under the same idempotency key.
 */
export interface BatchedJob {
  status: 201
  success: true
  queue_id: Id
  job_id: Id
  scheduled_at: Timestamp
  message: 'Scheduled successfully'
}
/**
 * A push that made no job: 403 another queue than the token is limited to, 409 its queue is draining, 422 it is not valid, 429 a quota or limit, 503 the store is away or full.
 */
export interface RefusedPush {
  status: 403 | 409 | 422 | 429 | 503
  message: string
  /**
   * From the path of a field to its mistakes; empty unless `status` is 422.
   */
  errors: {
    [k: string]: string[]
  }
  /**
   * Seconds to wait before trying again.
   */
  retry_after?: number
}
/**
 * Fields of a job that are to differ in its copy, checked as in a push. `null` removes an optional one.
 */
export interface JobChange {
  /**
   * Name of the queue, which is created if it does not exist.
   */
  queue?: string
  url?: TargetUrl
  method?: Method | null
  /**
   * Sent with the request in this order and spelling. Values are visible ASCII, space and tab. Refused: headers that control the connection (`Host`, `Content-Length`, …), those that Punctual sets (`webhook-*`, `X-Punctual-*`), and two spellings of one name.
   */
  headers?: {
    [k: string]: string
  } | null
  /**
   * Headers whose values lie in Secrets, by header: the names of header secrets of the team, which only executors open. They must be allowed to go to the host of `url`.
   */
  header_secrets?: {
    [k: string]: string
  } | null
  /**
   * The JSON body of the request, sent exactly as written: numbers keep their digits, fields their order. At most 64 levels deep.
   */
  payload?: {
    [k: string]: unknown
  } | null
  body?: PushedBody
  body_encoding?: BodyEncoding | null
  content_type?: ContentType
  callback_url?: TargetUrl | null
  /**
   * Seconds to wait before running. `5.0` is an integer, `"5"` is not.
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
   * For your use; returned with the job.
   */
  tags?: {
    [k: string]: string
  } | null
  callback_events?: CallbackEvents | null
}
/**
 * As `JobChange`, without `queue`, `delay` and `run_at`: the new job is in the same queue and due at once.
 */
export interface ReplayChange {
  url?: TargetUrl
  method?: Method | null
  /**
   * Sent with the request in this order and spelling. Values are visible ASCII, space and tab. Refused: headers that control the connection (`Host`, `Content-Length`, …), those that Punctual sets (`webhook-*`, `X-Punctual-*`), and two spellings of one name.
   */
  headers?: {
    [k: string]: string
  } | null
  /**
   * Headers whose values lie in Secrets, by header: the names of header secrets of the team, which only executors open. They must be allowed to go to the host of `url`.
   */
  header_secrets?: {
    [k: string]: string
  } | null
  /**
   * The JSON body of the request, sent exactly as written: numbers keep their digits, fields their order. At most 64 levels deep.
   */
  payload?: {
    [k: string]: unknown
  } | null
  body?: PushedBody
  body_encoding?: BodyEncoding | null
  content_type?: ContentType
  callback_url?: TargetUrl | null
  timeout_seconds?: TimeoutSeconds | null
  retry_delays?: RetryDelays | null
  retries_enabled?: boolean | null
  /**
   * For your use; returned with the job.
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
   * Below 2^53, never reused, in no particular order.
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
   * true for a failed original job whose chain goes on.
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
   * The cron that the job is a run of; null for a pushed job.
   */
  cron_id: Id | null
  /**
   * The bulk that made the job by a retry or a replay; null for any other job.
   */
  bulk_id: Id | null
  /**
   * The job that a replayed dead letter became.
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
   * Below 2^53, never reused, in no particular order.
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
   * true for a failed original job whose chain goes on.
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
   * The cron that the job is a run of; null for a pushed job.
   */
  cron_id: Id | null
  /**
   * The bulk that made the job by a retry or a replay; null for any other job.
   */
  bulk_id: Id | null
  /**
   * The job that a replayed dead letter became.
   */
  replayed_as: Id | null
  /**
   * As pushed; null when they exceed 1 KiB and the chain has ended, except for a dead letter.
   */
  headers: {
    [k: string]: string
  } | null
  /**
   * The names of header secrets, by header, kept as long as `headers`.
   */
  header_secrets: {
    [k: string]: string
  } | null
  /**
   * As pushed, with all digits; the body as a string for a run of a cron. null when there was none or it is no longer kept.
   */
  payload:
    | {
        [k: string]: unknown
      }
    | string
    | null
  /**
   * As pushed, where `payload` was not given: a string for `text` and `base64`, the value for `json`. null when there was none or it is no longer kept.
   */
  body:
    | string
    | unknown[]
    | {
        [k: string]: unknown
      }
    | number
    | boolean
    | null
  /**
   * Set for a job that was pushed with `body`; null for any other.
   */
  body_encoding: BodyEncoding | null
  /**
   * Why a pending job does not run; null for any other.
   */
  waiting: Waiting | null
  /**
   * In force for the whole chain; null once it has ended, except for a dead letter.
   */
  settings: JobSettings | null
  /**
   * When a dead letter is removed; null for any other job.
   */
  expires_at: Timestamp | null
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
   * Exchanges of this job without a record. An executor keeps the first 20 successes a second of each queue, and 200 of all queues; records expire after 3 days, or earlier when their space is needed.
   */
  calls_dropped: number
}
/**
 * Why a pending job does not run, with what is known of it. A retry, an edit or a push may change it at any moment.
 */
export interface Waiting {
  /**
   * The first that holds, in this order.
   */
  reason:
    | 'not_due'
    | 'queue_paused'
    | 'held_by_window'
    | 'no_executor'
    | 'circuit_open'
    | 'target_asks_to_wait'
    | 'rate_limited'
    | 'team_at_limit'
    | 'queue_at_limit'
    | 'behind'
  /**
   * Ready jobs of its queue that start before it; null while it is not due.
   */
  jobs_before: number | null
  /**
   * Whether `jobs_before` was counted; an estimate beyond 10,000, or behind cancelled jobs.
   */
  is_exact: boolean
  /**
   * Calls of the team or the queue that is at its limit, and the jobs of lost executors, which keep their slots until they run again; else null.
   */
  in_flight: number | null
  /**
   * That limit; else null.
   */
  limit: number | null
  /**
   * The maintenance window that holds the job; else null.
   */
  window: string | null
  /**
   * When the job is due, when that window closes, or when the queue may call its target again, if it is known; else null.
   */
  until: Timestamp | null
  /**
   * From the jobs before it and how many jobs of the queue ended in the last five minutes, or its rate limit; null when it cannot be known, as while the queue is paused or one job tries its target.
   */
  estimated_start_at: Timestamp | null
}
/**
 * The settings of the push; those it left out are the queue's at that time.
 */
export interface JobSettings {
  timeout_seconds: TimeoutSeconds
  retries_enabled: boolean
  retry_delays: RetryDelays
  /**
   * @maxItems 10
   */
  success_assertions: SuccessAssertion[]
  callback_events: CallbackEvents
  record_responses: RecordResponses
}
export interface StatusCodeEquals {
  type: 'status_code_equals'
  /**
   * Outside 200–299 it can never pass, and the answer to the edit has a warning.
   */
  value: number
}
export interface BodyContains {
  type: 'body_contains'
  /**
   * Searched in the first 256 KiB of the body.
   */
  value: string
}
export interface ResponseTimeUnderMs {
  type: 'response_time_under_ms'
  value: number
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
     * Includes those that Punctual adds, such as the signature.
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
  /**
   * false = the queue or the cron has `record_responses` `none`: headers, body and notes of the response are not kept, and are empty here.
   */
  is_recorded: boolean
  /**
   * At most 16 KiB of them.
   */
  headers: HeaderLine[]
  headers_truncated: boolean
  body: string
  body_truncated: boolean
  /**
   * What HTTP/1.1 does not allow in this response, a sentence each: its status counted all the same, and its connection was closed. Empty for a sound response.
   *
   * @maxItems 16
   */
  protocol_notes: string[]
}
/**
 * Milliseconds of each part; null for a part that did not happen.
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
  /**
   * How many records were looked at; absent where no filter but queue and status was given.
   */
  searched?: number
}
export interface DeadLetterGroup {
  /**
   * null, as `queue`, for runs of a cron without a queue.
   */
  queue_id: Id | null
  queue: string | null
  failure_reason: FailureReason
  /**
   * null when there was no answer.
   */
  response_status: number | null
  /**
   * The host of the URL, without its port; null where the record cannot be read.
   */
  host: string | null
  count: number
  /**
   * UTC with milliseconds and `+00:00`.
   */
  first_ended_at: string
  /**
   * UTC with milliseconds and `+00:00`.
   */
  last_ended_at: string
  /**
   * When the first of them is removed for good, by the retention of its queue.
   */
  next_purge_at: Timestamp | null
  newest_job_id: Id
  /**
   * Of that job.
   */
  error_message: string | null
}
export interface DeadLetterGroupList {
  /**
   * @maxItems 1000
   */
  groups: DeadLetterGroup[]
  next_cursor: NextCursor
  /**
   * How many dead letters were looked at.
   */
  searched: number
}
/**
 * As `SuccessAssertion`; a number may also be given as a string of digits.
 */
export interface SuccessAssertionInput {
  type: 'status_code_equals' | 'body_contains' | 'response_time_under_ms'
  value: string | number
}
/**
 * `null` counts as absent.
 */
export interface QueueStopRequest {
  reason?: string | null
}
export interface QueueState {
  /**
   * null = it is not paused.
   */
  paused: QueueStop | null
  /**
   * null = it does not drain.
   */
  draining: QueueStop | null
  /**
   * How long its oldest ready job has been due; null when none is ready.
   */
  oldest_ready_seconds: number | null
  /**
   * How long its oldest startable job has been due; null when none is startable.
   */
  oldest_startable_seconds: number | null
  /**
   * Ready jobs that nothing but a free slot of an executor keeps from starting.
   */
  startable: number
  /**
   * The other ready jobs; null when there are none.
   */
  stopped: StoppedJobs | null
}
/**
 * All null where the audit log has no entry about it any more.
 */
export interface QueueStop {
  at: Timestamp | null
  /**
   * As in the audit log; of a change of the resource the field manager.
   */
  by: string | null
  via: 'api' | 'cli' | 'dashboard' | 'kubectl' | 'folder' | null
  reason: string | null
}
/**
 * Ready jobs that would not start even if all slots of all executors were free. `paused`: the queue is. `held`: by a maintenance window. `throttled`: its rate, its breaker or its target keeps them. `at_limit`: as many jobs as `max_parallelism` allows are in flight.
 */
export interface StoppedJobs {
  reason: 'paused' | 'held' | 'throttled' | 'at_limit'
  jobs: number
}
export interface Manifest {
  /**
   * YAML
   */
  manifest: string
}
export interface QueueCounts {
  /**
   * Ready to start.
   */
  pending: number
  /**
   * Not due yet.
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
  /**
   * Whether it takes no new jobs, and runs off what it has.
   */
  is_draining: boolean
  timeout_seconds: TimeoutSeconds
  retries_enabled: boolean
  retry_delays: RetryDelays
  no_retry_statuses: NoRetryStatuses
  retry_jitter_percent: RetryJitterPercent
  /**
   * @maxItems 10
   */
  success_assertions: SuccessAssertion[]
  /**
   * Whether jobs that fail, and limits that are near, raise alerts.
   */
  alerts_enabled: boolean
  /**
   * Calls in flight at once; null = unlimited.
   */
  max_parallelism: number | null
  /**
   * null = as fast as slots allow.
   */
  rate_limit: QueueRateLimit | null
  respect_retry_after: RespectRetryAfter
  /**
   * null = a target that fails is called all the same.
   */
  circuit_breaker: CircuitBreaker | null
  dlq_retention_days: 3 | 7 | 14 | 30
  callback_events: CallbackEvents
  record_responses: RecordResponses
  /**
   * Stored, without effect in this version.
   */
  strict_parallelism: boolean
  throttled: Throttled
  counts: QueueCounts
  managed_by: ManagedBy
}
export interface EditedQueue {
  queue_id: Id
  name: string
  /**
   * false = paused.
   */
  is_active: boolean
  /**
   * Whether it takes no new jobs, and runs off what it has.
   */
  is_draining: boolean
  timeout_seconds: TimeoutSeconds
  retries_enabled: boolean
  retry_delays: RetryDelays
  no_retry_statuses: NoRetryStatuses
  retry_jitter_percent: RetryJitterPercent
  /**
   * @maxItems 10
   */
  success_assertions: SuccessAssertion[]
  /**
   * Whether jobs that fail, and limits that are near, raise alerts.
   */
  alerts_enabled: boolean
  /**
   * Calls in flight at once; null = unlimited.
   */
  max_parallelism: number | null
  /**
   * null = as fast as slots allow.
   */
  rate_limit: QueueRateLimit | null
  respect_retry_after: RespectRetryAfter
  /**
   * null = a target that fails is called all the same.
   */
  circuit_breaker: CircuitBreaker | null
  dlq_retention_days: 3 | 7 | 14 | 30
  callback_events: CallbackEvents
  record_responses: RecordResponses
  /**
   * Stored, without effect in this version.
   */
  strict_parallelism: boolean
  throttled: Throttled
  counts: QueueCounts
  managed_by: ManagedBy
  /**
   * Settings that are stored but cannot work.
   */
  warnings: string[]
}
/**
 * `null` counts as absent, except for `max_parallelism`, where it means unlimited, and for `rate_limit` and `circuit_breaker`, which it ends. These two are replaced as a whole.
 */
export interface QueueEdit {
  is_active?: boolean | null
  is_draining?: boolean | null
  timeout_seconds?: TimeoutSeconds | null
  retries_enabled?: boolean | null
  retry_delays?: RetryDelays | null
  no_retry_statuses?: NoRetryStatuses | null
  retry_jitter_percent?: RetryJitterPercent | null
  /**
   * @maxItems 10
   */
  success_assertions?: SuccessAssertionInput[] | null
  alerts_enabled?: boolean | null
  max_parallelism?: number | null
  rate_limit?: QueueRateLimit | null
  respect_retry_after?: RespectRetryAfter | null
  circuit_breaker?: CircuitBreakerInput | null
  dlq_retention_days?: (3 | 7 | 14 | 30) | null
  callback_events?: CallbackEvents | null
  record_responses?: RecordResponses | null
  strict_parallelism?: boolean | null
}
/**
 * The name of a queue that does not exist yet, and the settings that are not the defaults. `null` counts as absent.
 */
export interface QueueCreate {
  name: string
  is_active?: boolean | null
  is_draining?: boolean | null
  timeout_seconds?: TimeoutSeconds | null
  retries_enabled?: boolean | null
  retry_delays?: RetryDelays | null
  no_retry_statuses?: NoRetryStatuses | null
  retry_jitter_percent?: RetryJitterPercent | null
  /**
   * @maxItems 10
   */
  success_assertions?: SuccessAssertionInput[] | null
  alerts_enabled?: boolean | null
  max_parallelism?: number | null
  rate_limit?: QueueRateLimit | null
  respect_retry_after?: RespectRetryAfter | null
  circuit_breaker?: CircuitBreakerInput | null
  dlq_retention_days?: (3 | 7 | 14 | 30) | null
  callback_events?: CallbackEvents | null
  record_responses?: RecordResponses | null
  strict_parallelism?: boolean | null
}
/**
 * A queue in a list.
 */
export interface QueueRow {
  queue_id: Id
  name: string
  /**
   * false = paused.
   */
  is_active: boolean
  /**
   * Whether it takes no new jobs, and runs off what it has.
   */
  is_draining: boolean
  timeout_seconds: TimeoutSeconds
  retries_enabled: boolean
  retry_delays: RetryDelays
  no_retry_statuses: NoRetryStatuses
  retry_jitter_percent: RetryJitterPercent
  /**
   * @maxItems 10
   */
  success_assertions: SuccessAssertion[]
  /**
   * Whether jobs that fail, and limits that are near, raise alerts.
   */
  alerts_enabled: boolean
  /**
   * Calls in flight at once; null = unlimited.
   */
  max_parallelism: number | null
  /**
   * null = as fast as slots allow.
   */
  rate_limit: QueueRateLimit | null
  respect_retry_after: RespectRetryAfter
  /**
   * null = a target that fails is called all the same.
   */
  circuit_breaker: CircuitBreaker | null
  dlq_retention_days: 3 | 7 | 14 | 30
  callback_events: CallbackEvents
  record_responses: RecordResponses
  /**
   * Stored, without effect in this version.
   */
  strict_parallelism: boolean
  throttled: Throttled
  counts: QueueCounts
  managed_by: ManagedBy
  /**
   * Ready jobs that nothing but a free slot of an executor keeps from starting.
   */
  startable: number
  /**
   * The other ready jobs; null when there are none.
   */
  stopped: StoppedJobs | null
  /**
   * How long its oldest startable job has been due; null when none is startable.
   */
  oldest_startable_seconds: number | null
  last_hour: QueueHour
}
/**
 * What happened in the last hour, the minute that has just begun included. It is at most 15 s old.
 */
export interface QueueHour {
  /**
   * Jobs that ended; every attempt is one.
   */
  ended: number
  /**
   * How many of them failed.
   */
  failed: number
  /**
   * How long after `scheduled_at` jobs started; null without calls.
   */
  lateness_ms_p99: number | null
  trend: QueueTrend
}
/**
 * The same jobs for each five minutes, the oldest first.
 */
export interface QueueTrend {
  ended: TrendCounts
  failed: TrendCounts
}
export interface QueueList {
  /**
   * @maxItems 1000
   */
  queues: QueueRow[]
  next_cursor: NextCursor
  /**
   * null where the list is sorted by name.
   */
  summary: QueueSummary | null
}
/**
 * The totals of all queues in the list, over all its pages.
 */
export interface QueueSummary {
  /**
   * Queues that were looked at.
   */
  queues: number
  /**
   * false = the team has more queues than were looked at.
   */
  is_complete: boolean
  /**
   * Ready jobs that nothing but a free slot of an executor keeps from starting.
   */
  startable: number
  stopped: StoppedSums
  /**
   * The startable job that has been due for longest; null when no job is startable.
   */
  oldest_startable: OldestStartable | null
}
/**
 * The other ready jobs, by what keeps them, as `StoppedJobs` says it.
 */
export interface StoppedSums {
  paused: StoppedSum
  held: StoppedSum
  throttled: StoppedSum
  at_limit: StoppedSum
}
export interface StoppedSum {
  jobs: number
  /**
   * Queues that they are in.
   */
  queues: number
}
export interface OldestStartable {
  /**
   * Of its queue.
   */
  queue_id: number
  /**
   * Of its queue.
   */
  name: string
  /**
   * For how long it has been due.
   */
  milliseconds: number
}
export interface RateLimit {
  requests_per_second: number
  /**
   * Requests that may come at once.
   */
  burst: number
  /**
   * The tokens whose rate limits the requests of this one count for as well, outermost first: it was made by a token with a rate limit.
   *
   * @maxItems 4
   */
  shared_with?: string[]
}
export interface Token {
  /**
   * The token itself, only in the answer to its creation.
   */
  token?: string
  id: string
  name: string
  /**
   * The first characters of the token; null when they are not known.
   */
  prefix: string | null
  description: string | null
  scopes: Scopes
  queues: TokenQueues
  /**
   * null = never.
   */
  expires_at: Timestamp | null
  /**
   * null = as often as wanted.
   */
  rate_limit: RateLimit | null
  /**
   * To the minute; null = never.
   */
  last_used_at: Timestamp | null
}
export interface SigningSecret {
  /**
   * The signing secret itself, only in the answer to its creation.
   */
  secret?: string
  id: string
  /**
   * Whether `X-Punctual-Signature` is made with it; with the other, `X-Punctual-Signature-Previous`.
   */
  is_newest: boolean
  /**
   * null = not made by this API, or it may not look.
   */
  created_at: Timestamp | null
  /**
   * The key of the Secret that holds it.
   */
  secret_ref: {
    name: string
    key: string
  }
}
export interface SigningSecretList {
  /**
   * @maxItems 2
   */
  signing_secrets: SigningSecret[]
  next_cursor: NextCursor
}
export interface TokenList {
  /**
   * @maxItems 1000
   */
  tokens: Token[]
  next_cursor: NextCursor
}
export interface TokenCreate {
  /**
   * Unique in the team; the `id` of the token. Lower-case letters, digits and `-`.
   */
  name: string
  /**
   * The user of the token.
   */
  description?: string | null
  /**
   * Without them, all.
   *
   * @minItems 1
   * @maxItems 4
   */
  scopes?: Scope[] | null
  /**
   * The names of the only queues that the token may use and see; they need not exist yet.
   *
   * @minItems 1
   * @maxItems 100
   */
  queues?: string[] | null
  /**
   * In the future; ISO 8601 with an offset. Without it, the token does not expire.
   */
  expires_at?: string | null
  /**
   * How often the token may be used. Without it, as often as wanted.
   */
  rate_limit?: RateLimitInput | null
}
export interface RateLimitInput {
  /**
   * In the long run.
   */
  requests_per_second: number
  /**
   * Requests that may come at once; as many as per second when absent.
   */
  burst?: number | null
}
export interface LoginCode {
  code: string
  expires_at: Timestamp
}
export interface LoginOffer {
  kind: 'token' | 'user'
  /**
   * The name of the token or of the user.
   */
  subject: string
  /**
   * The team that is shown after the login.
   */
  team: string
}
export interface Session {
  kind: 'token' | 'user'
  /**
   * The name of the token or of the user.
   */
  subject: string
  /**
   * The team of a token; null for a user, who names a team in each request.
   */
  team: string | null
  /**
   * The team for which its sender logged in.
   */
  opened_for: string
  created_at: Timestamp
  /**
   * UTC with milliseconds and `+00:00`.
   */
  idle_expires_at: string
  /**
   * UTC with milliseconds and `+00:00`.
   */
  expires_at: string
}
export interface ListedSession {
  /**
   * Names it in lists. It opens nothing.
   */
  id: string
  /**
   * Whether the request was made with it.
   */
  is_current: boolean
  kind: 'token' | 'user'
  /**
   * The name of the token or of the user.
   */
  subject: string
  /**
   * As its browser or program named itself at the login, such as `Firefox on Windows`; null when it did not, or an earlier version opened the session.
   */
  device: string | null
  /**
   * Where the login came from; null when that is not known.
   */
  address: string | null
  /**
   * The team of the login; null when an earlier version opened the session.
   */
  opened_for: string | null
  created_at: Timestamp
  /**
   * UTC with milliseconds and `+00:00`.
   */
  last_used_at: string
  /**
   * UTC with milliseconds and `+00:00`.
   */
  idle_expires_at: string
  /**
   * UTC with milliseconds and `+00:00`.
   */
  expires_at: string
}
export interface SessionList {
  /**
   * @maxItems 20
   */
  sessions: ListedSession[]
}
export interface TeamSessionList {
  /**
   * @maxItems 4000
   */
  sessions: ListedSession[]
  /**
   * Whether these are all that may be open.
   */
  is_complete: boolean
}
export interface EndedSessions {
  ended: number
}
export interface Me {
  team: string
  /**
   * The name of the token or of the user.
   */
  subject: string
  kind: 'token' | 'user'
  /**
   * Of a user.
   */
  roles: ('viewer' | 'operator' | 'editor' | 'admin')[]
  scopes: Scopes
  queues: TokenQueues
  /**
   * When the token expires; null = never.
   */
  expires_at: Timestamp | null
  /**
   * The permissions. `payloads` shows payloads, headers and call records unmasked.
   */
  may: {
    push: boolean
    read: boolean
    payloads: boolean
    operate: boolean
    purge: boolean
    edit: boolean
    admin: boolean
  }
}
export interface Statistics {
  /**
   * UTC with milliseconds and `+00:00`.
   */
  since: string
  /**
   * Seconds of a point.
   */
  step: number
  /**
   * @maxItems 1500
   */
  points: StatisticsPoint[]
  previous?: PreviousStatistics
}
/**
 * What happened in one step. Every attempt is a job, and counts when it ends. Durations are counted in buckets whose bounds are powers of two, so a quantile is an estimate, off by a factor of 1.42 at most and never above the longest duration that was seen; 0 is less than a millisecond.
 */
export interface StatisticsPoint {
  /**
   * UTC with milliseconds and `+00:00`.
   */
  at: string
  /**
   * Jobs that succeeded.
   */
  done: number
  /**
   * Jobs that failed, for whatever followed.
   */
  failed: number
  /**
   * How many of them are retried.
   */
  retried: number
  /**
   * How many of them became dead letters.
   */
  dead: number
  /**
   * How long calls took; null without calls.
   */
  latency_ms: LatencyQuantiles | null
  /**
   * How long after `scheduled_at` jobs started; null without calls.
   */
  lateness_ms: LatenessQuantiles | null
  /**
   * The most ready jobs that one of the counts, one a minute, has found.
   */
  depth: number
  /**
   * The highest age that one of the counts has found; null when no job was ready.
   */
  oldest_ready_seconds: number | null
  /**
   * The most ready jobs of a count that nothing but a free slot of an executor kept from starting.
   */
  startable: number
  /**
   * The most ready jobs of a count that something else kept: their queue was paused, held, throttled or at its limit. Where a version that did not tell them apart has counted, all are startable.
   */
  stopped: number
  /**
   * The highest age of a startable job that one of the counts has found; null when none was startable.
   */
  oldest_startable_seconds: number | null
  /**
   * The queue of that job, of a team; null of a queue, of the run of a cron, and when it is not known.
   */
  oldest_queue_id: number | null
}
export interface LatencyQuantiles {
  p50: number
  p95: number
  p99: number
}
export interface LatenessQuantiles {
  p50: number
  p99: number
}
/**
 * The span before, with a point for each point of the answer that is over; only where `compare=previous` asked for it.
 */
export interface PreviousStatistics {
  /**
   * UTC with milliseconds and `+00:00`.
   */
  since: string
  /**
   * In order, without those that are no longer kept, which would be the first ones.
   *
   * @maxItems 1500
   */
  points: StatisticsPoint[]
}
/**
 * The lower of the quotas of team and installation; null = none.
 */
export interface Quotas {
  queues: number | null
  crons: number | null
  pending_jobs: number | null
  stored_bytes: number | null
  jobs_per_month: number | null
  calls_in_flight: number | null
}
/**
 * The current usage of the team.
 */
export interface Usage {
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
   * Calls in flight, over all executors.
   */
  calls_in_flight: number
}
/**
 * The time of an installation for tests.
 */
export interface TestTime {
  /**
   * The time that jobs, crons and windows go by.
   */
  now: string
  /**
   * How far that is ahead of the clock of Redis.
   */
  ahead_seconds: number
}
/**
 * One of the two, not both.
 */
export interface TestClockMove {
  advance_seconds?: number
  /**
   * ISO 8601 with an offset; not before the time of the test clock, and at most 31622400 seconds ahead.
   */
  advance_to?: string
}
/**
 * The state of the installation, and what it means for the team. A figure that is not known is null, and `unknown` says why.
 */
export interface Status {
  /**
   * The version of this API.
   */
  version: string
  team: string
  /**
   * Whether at least one executor has a valid lease in each shard, so that jobs of every queue can run.
   */
  executors_alive: boolean | null
  /**
   * The work of the team.
   */
  backlog: TeamBacklog | null
  /**
   * How long after their due time the jobs that ended in the last 5 minutes had started; null when none ended.
   */
  lateness_ms: Lateness | null
  quotas: Quotas
  usage: Usage | null
  /**
   * The installation's part; null without the permission `admin`. It names no team and no queue.
   */
  installation: InstallationStatus | null
  test_clock?: TestTime1
  /**
   * Parts of the answer that are unknown at present, and why.
   *
   * @maxItems 8
   */
  unknown: {
    /**
     * The field that is null or cannot be complete.
     */
    part: string
    /**
     * A sentence.
     */
    reason: string
  }[]
}
export interface TeamBacklog {
  /**
   * Jobs that have not ended, waiting or in flight.
   */
  pending: number
  /**
   * Calls in progress.
   */
  in_flight: number
  /**
   * Ready jobs that only waited for a slot of an executor, when they were last counted: once a minute.
   */
  startable: number
  /**
   * Ready jobs that something else kept from starting, counted so, too.
   */
  stopped: number
  /**
   * How long the oldest job that could start has waited; null when there is none.
   */
  oldest_startable_seconds: number | null
}
export interface Lateness {
  p50: number
  p99: number
}
export interface InstallationStatus {
  /**
   * Where settings are kept, in a cluster or in a folder.
   */
  resources: 'kubernetes' | 'folder'
  shards: number
  /**
   * The number of the leadership that last began to write settings; null when none has, or it is not known.
   */
  leader_epoch: number | null
  executors: ExecutorsStatus | null
  /**
   * The work of all executors.
   */
  backlog: InstallationBacklog | null
  /**
   * The primaries; one unless Redis is a Cluster.
   *
   * @maxItems 1024
   */
  redis: RedisServer[]
}
export interface ExecutorsStatus {
  /**
   * Executors with a valid lease.
   */
  alive: number
  /**
   * Calls that they may make at once, together; null when one of an earlier version does not say.
   */
  slots: number | null
  /**
   * Leases that have ended and whose jobs have not been released yet. It is above 0 for seconds after an executor was lost.
   */
  expired_leases: number
  /**
   * At most 100 of them, in the order of their names.
   *
   * @maxItems 100
   */
  executors: ExecutorStatus[]
}
export interface ExecutorStatus {
  /**
   * The name of its pod or machine.
   */
  name: string
  slots: number | null
  /**
   * Calls that it makes now; null when that is not known.
   */
  in_flight: number | null
  /**
   * The shards in which it has a valid lease.
   */
  shards: number
  /**
   * When the first of its leases ends unless it is renewed.
   */
  lease_ends_in_ms: number
}
export interface InstallationBacklog {
  /**
   * Jobs and callbacks of queues that may run; estimated from a sample of the queues.
   */
  ready: number
  /**
   * Calls in progress.
   */
  in_flight: number
  /**
   * Jobs due within 20 s.
   */
  due_soon: number
  /**
   * How long the oldest job that could start has waited, among the sampled queues; null when there is none.
   */
  oldest_startable_seconds: number | null
}
/**
 * A primary of Redis, as it reports itself; null = it does not say.
 */
export interface RedisServer {
  /**
   * Its address, such as `10.0.0.7:6379`.
   */
  name: string
  answers: boolean
  version: string | null
  /**
   * Memory that counts against its limit.
   */
  used_bytes: number | null
  /**
   * The limit, `maxmemory`; null when it is unknown or not set.
   */
  max_bytes: number | null
  /**
   * Whether each write is kept in an append-only file.
   */
  append_only: boolean | null
  /**
   * Whether its last write to that file succeeded.
   */
  append_only_written: boolean | null
  /**
   * When its last snapshot was complete.
   */
  saved_at: Timestamp | null
  /**
   * @maxItems 16
   */
  replicas: RedisReplica[]
  /**
   * Risks to stored jobs, one sentence each.
   *
   * @maxItems 8
   */
  risks: string[]
}
export interface RedisReplica {
  name: string
  /**
   * Whether it is filled and follows.
   */
  is_online: boolean
  /**
   * Whole seconds since the replica last answered its primary.
   */
  lag_seconds: number | null
}
/**
 * The time that jobs go by. Only in an installation for tests (`PUNCTUAL_TEST_CLOCK`).
 */
export interface TestTime1 {
  /**
   * The time that jobs, crons and windows go by.
   */
  now: string
  /**
   * How far that is ahead of the clock of Redis.
   */
  ahead_seconds: number
}
export interface Team {
  team: string
  quotas: Quotas
  usage: Usage
  /**
   * The channels that can be used.
   *
   * @maxItems 10
   */
  notifications: ChannelState[]
  /**
   * The header secrets that pushes may name, and the hosts that they may go to.
   *
   * @maxItems 20
   */
  header_secrets: {
    name: string
    /**
     * Empty while its Secret lets it go to none of them.
     *
     * @maxItems 500
     */
    hosts: string[]
  }[]
  /**
   * Names of the team's further secret headers, in lower case: their values are shown to nobody. Absent from an API of an older version.
   *
   * @maxItems 50
   */
  masked_headers?: string[]
}
/**
 * How a channel does.
 */
export interface ChannelState {
  channel: string
  type: ChannelType
  /**
   * The types of alerts that it gets.
   *
   * @maxItems 4
   */
  alert_types: AlertType[]
  /**
   * `retrying`: the last try failed, and another follows. `failing`: a message was given up, and none got through since.
   */
  state: 'ok' | 'retrying' | 'failing'
  /**
   * When the first message that was given up was first tried; null unless failing.
   */
  failing_since: Timestamp | null
  /**
   * The result of the last try; null before the first.
   */
  last_answer: string | null
}
/**
 * A channel in the settings of the team.
 */
export interface NotificationChannel {
  name: string
  type: ChannelType
  /**
   * @maxItems 4
   */
  alert_types: AlertType[]
  /**
   * The key of the Secret that holds its URL; null for e-mail.
   */
  secret_ref: {
    name: string
    key: string
  } | null
}
export interface NotificationChannelList {
  /**
   * @maxItems 10
   */
  channels: NotificationChannel[]
  next_cursor: NextCursor
}
export interface NewNotificationChannel {
  /**
   * Unique in the team.
   */
  name: string
  type: ChannelType
  /**
   * The types of alerts that it gets; failures, recoveries and limit warnings by default.
   *
   * @minItems 1
   * @maxItems 4
   */
  alert_types?: AlertType[]
  /**
   * The URL of the chat service or webhook, which is a secret. Required unless the type is `email`, and not allowed there.
   */
  url?: string
  /**
   * Whether the channel is kept only if it takes a test message.
   */
  test?: boolean
}
export interface NotificationChannelEdit {
  /**
   * @minItems 1
   * @maxItems 4
   */
  alert_types: AlertType[]
}
/**
 * Without a channel, all of the team.
 */
export interface ChannelTestRequest {
  channel?: string | null
}
export interface ChannelTestResults {
  /**
   * @minItems 1
   * @maxItems 10
   */
  results: ChannelTest[]
}
export interface ChannelTest {
  channel: string
  /**
   * Whether the channel took the message.
   */
  ok: boolean
  /**
   * The answer of the channel, or why nothing was sent.
   */
  answer: string
  took_ms: number
}
/**
 * `null` in an optional field counts as absent.
 */
export interface CronCreate {
  /**
   * Display name; need not be unique.
   */
  name: string
  url: TargetUrl
  method?: Method | null
  /**
   * As in a job.
   */
  headers?: {
    [k: string]: string
  } | null
  /**
   * The body of the request, sent exactly as written: a string as it is, an object as its JSON. At most 262,144 characters.
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
   * Failures in a row that raise a failure alert; each one before them raises a warning.
   */
  alert_threshold?: number | null
  /**
   * Must all pass, in addition to a 2xx status; without any, those of the queue apply.
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
   * A tick that could not start within this time is missed for good. Without it no tick is too late, or with `skip` one over 60 s.
   */
  starting_deadline_seconds?: number | null
  /**
   * Delays runs by up to this long, to spread crons; each cron keeps its own spread.
   */
  jitter_seconds?: number | null
  /**
   * The queue to run through, with its parallelism, retries and dead letters. Without a queue the next tick is the retry.
   */
  queue?: string | null
  /**
   * With `all`, as the queue says.
   */
  record_responses?: RecordResponses | null
}
/**
 * `null` removes `payload`, `callback_url`, `starting_deadline_seconds` and `queue`, and counts as absent elsewhere.
 */
export interface CronEdit {
  /**
   * Display name; need not be unique.
   */
  name?: string | null
  url?: TargetUrl | null
  method?: Method | null
  /**
   * As in a job.
   */
  headers?: {
    [k: string]: string
  } | null
  /**
   * The body of the request, sent exactly as written: a string as it is, an object as its JSON. At most 262,144 characters.
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
   * Failures in a row that raise a failure alert; each one before them raises a warning.
   */
  alert_threshold?: number | null
  /**
   * Must all pass, in addition to a 2xx status; without any, those of the queue apply.
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
   * A tick that could not start within this time is missed for good. Without it no tick is too late, or with `skip` one over 60 s.
   */
  starting_deadline_seconds?: number | null
  /**
   * Delays runs by up to this long, to spread crons; each cron keeps its own spread.
   */
  jitter_seconds?: number | null
  /**
   * The queue to run through, with its parallelism, retries and dead letters. Without a queue the next tick is the retry.
   */
  queue?: string | null
  /**
   * With `all`, as the queue says.
   */
  record_responses?: RecordResponses | null
}
export interface CreatedCron {
  id: Id
  name: string
  cron_expression: CronExpression
  /**
   * null when the cron was created paused.
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
  /**
   * The expression in English, with a 24-hour clock.
   */
  description: string
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
  record_responses: RecordResponses
  /**
   * Includes the cron's spread within `jitter_seconds`; null while it is paused.
   */
  next_run_at: Timestamp | null
  /**
   * The record of the newest tick or manual run; null before the first.
   */
  last_run: CronRun | null
  /**
   * The tick of the newest run that succeeded, or the time of the request for a manual run; null before the first.
   */
  last_success_at: Timestamp | null
  /**
   * Runs that failed since the last one that succeeded.
   */
  consecutive_failures: number
}
/**
 * The record of one tick, of several missed ticks, or of a manual run.
 */
export interface CronRun {
  /**
   * The tick, without the cron's spread within `jitter_seconds`; the last one of missed ticks; the time of the request for a manual run.
   */
  scheduled_at: Timestamp
  /**
   * `skipped`: the previous run had not ended. `missed`: it could not run in time. `running`: its job has not ended, or was removed before it ended.
   */
  result: 'running' | 'succeeded' | 'failed' | 'skipped' | 'missed'
  /**
   * The job of the run; null when there was none.
   */
  job_id: Id | null
  /**
   * Whether it was a manual run.
   */
  is_manual: boolean
  /**
   * Why it was skipped, where it was not because of the previous run.
   */
  cause?: 'queue_draining'
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
  /**
   * The expression in English, with a 24-hour clock.
   */
  description: string
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
  record_responses: RecordResponses
  /**
   * Includes the cron's spread within `jitter_seconds`; null while it is paused.
   */
  next_run_at: Timestamp | null
  /**
   * The record of the newest tick or manual run; null before the first.
   */
  last_run: CronRun | null
  /**
   * The tick of the newest run that succeeded, or the time of the request for a manual run; null before the first.
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
   * The body as sent; null = none.
   */
  payload: string | null
  /**
   * Settings that are stored but cannot work.
   */
  warnings: string[]
  managed_by: ManagedBy
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
   * Number of ticks.
   */
  count?: number | null
  /**
   * Lists the ticks after this moment, such as around a change of clocks; ISO 8601 with an offset. Now if absent.
   */
  after?: string | null
}
export interface CronPreview {
  cron_expression: CronExpression
  time_zone: TimeZone
  /**
   * In English, with a 24-hour clock.
   */
  description: string
  /**
   * The next ticks; fewer than requested only at the end of representable time.
   *
   * @maxItems 100
   */
  next_runs: Timestamp[]
}
/**
 * The resource that an alert is about.
 */
export interface AlertResource {
  kind: AlertResourceKind
  /**
   * The id of the queue or the cron; null for a team.
   */
  id: Id | null
  /**
   * The name of the queue; the `name` of the cron; the team.
   */
  name: string
}
/**
 * Whether a channel has been told of an alert.
 */
export interface AlertDelivery {
  /**
   * The name of the channel.
   */
  channel: string
  /**
   * `pending`: not told yet. `failed`: given up after the last try. `suppressed`: a maintenance window kept the alert from being sent.
   */
  state: 'pending' | 'sent' | 'failed' | 'suppressed'
  /**
   * The answer of the channel to the last try; null without one.
   */
  answer: string | null
  /**
   * When the last try ended; null without one.
   */
  at: Timestamp | null
}
/**
 * One alert, or several of the same resource, type and reason that were raised within a minute.
 */
export interface Alert {
  /**
   * Below 2^53; newer alerts have higher ones.
   */
  id: number
  type: AlertType
  reason: AlertReason
  resource: AlertResource
  /**
   * The job of the first one; null when no job is the cause.
   */
  job_id: Id | null
  /**
   * A sentence for people, about the first one.
   */
  message: string
  /**
   * How many were raised.
   */
  count: number
  first_at: Timestamp
  last_at: Timestamp
  read: boolean
  /**
   * The maintenance window that kept it from being sent; null for none.
   */
  suppressed_by: string | null
  /**
   * One for each channel that gets alerts of this type.
   *
   * @maxItems 10
   */
  deliveries: AlertDelivery[]
}
export interface AlertList {
  /**
   * @maxItems 1000
   */
  alerts: Alert[]
  next_cursor: NextCursor
}
export interface IssueHour {
  /**
   * UTC with milliseconds and `+00:00`.
   */
  at: string
  /**
   * Failed attempts.
   */
  failed: number
  /**
   * How many left a dead letter.
   */
  dead_lettered: number
}
/**
 * Failed attempts of one queue or cron that failed alike at the same host.
 */
export interface Issue {
  id: string
  resource: AlertResource1
  /**
   * `damaged`: the record of the job in Redis cannot be read. The job does not run; unknown fields are empty; it can be deleted.
   */
  failure_reason:
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
   * null when there was no answer.
   */
  response_status: number | null
  /**
   * The host of the URL, without its port; cut at 255 characters.
   */
  host: string | null
  state: IssueState
  /**
   * null unless it is muted.
   */
  muted_until: Timestamp | null
  /**
   * Failed attempts of the last 7 days.
   */
  count: number
  /**
   * How many left a dead letter.
   */
  dead_lettered: number
  /**
   * UTC with milliseconds and `+00:00`.
   */
  first_at: string
  /**
   * UTC with milliseconds and `+00:00`.
   */
  opened_at: string
  /**
   * UTC with milliseconds and `+00:00`.
   */
  last_at: string
  /**
   * Below 2^53, never reused, in no particular order.
   */
  sample_job_id: number
  /**
   * The hours of the last 7 days that had failures, oldest first.
   *
   * @maxItems 169
   */
  by_hour: IssueHour[]
}
/**
 * The resource that an alert is about.
 */
export interface AlertResource1 {
  kind: AlertResourceKind
  /**
   * The id of the queue or the cron; null for a team.
   */
  id: Id | null
  /**
   * The name of the queue; the `name` of the cron; the team.
   */
  name: string
}
export interface IssueList {
  /**
   * @maxItems 1000
   */
  issues: Issue[]
  next_cursor: NextCursor
}
export interface IssueMute {
  /**
   * When it ends, with an offset; in the future, and at most 30 days from now.
   */
  until: string
}
export interface AuditRecord {
  id: string
  /**
   * When it was asked for; of several changes, the first of them.
   */
  at: string
  /**
   * How many changes the record tells of. Like changes of one actor within a minute are one record: the same action on jobs of one queue, or the same difference of the same thing.
   */
  count: number
  /**
   * When the last of them was made; the same as `at` for one.
   */
  last_at: string
  /**
   * For several jobs or alerts, the ids of the first ones, including that of `resource`.
   *
   * @maxItems 50
   */
  ids: number[]
  actor: {
    kind: 'token' | 'user' | 'system'
    /**
     * The name of the token or user; never the token itself.
     */
    name: string
    /**
     * The address that the request came from, or that of a proxy that is not trusted; null if unknown.
     */
    address: string | null
  }
  via: 'api' | 'cli' | 'dashboard' | 'kubectl' | 'folder'
  /**
   * Such as `create`, `edit`, `delete`, `pause`, `resume`, `retry`, `replay` or `login`.
   */
  action: string
  resource: {
    kind: AuditedKind
    /**
     * The id of the job, if it is about one; null for several objects at once.
     */
    id: number | string | null
    /**
     * Of a job, the name of its queue.
     */
    name: string | null
  }
  /**
   * `unknown`: a process or the Kubernetes API was lost before it was known.
   */
  outcome: 'done' | 'refused' | 'unknown'
  /**
   * The fields that changed, as they were. Payloads, header values and the queries of URLs are left out.
   */
  before: {
    [k: string]: unknown
  } | null
  /**
   * The same fields as they are since; of a job, what the action made.
   */
  after: {
    [k: string]: unknown
  } | null
}
export interface AuditRecordList {
  /**
   * @maxItems 1000
   */
  records: AuditRecord[]
  next_cursor: NextCursor
}
export interface UnreadAlerts {
  /**
   * Of all types.
   */
  unread: number
  by_type: {
    warning: number
    failure: number
    recovery: number
    limit_warning: number
  }
}
/**
 * Conditions that all must hold; `null` counts as absent.
 */
export interface AlertFilter {
  type?: AlertType | null
  reason?: AlertReason | null
  resource_kind?: AlertResourceKind | null
  resource_id?: Id | null
  read?: boolean | null
  /**
   * Alerts whose `last_at` is at or after this time; ISO 8601 with an offset.
   */
  after?: string | null
  /**
   * Alerts whose `last_at` is before this time; ISO 8601 with an offset.
   */
  before?: string | null
}
export interface UpdatedAlerts {
  /**
   * How many were unread.
   */
  updated: number
}
export interface DeletedAlerts {
  deleted: number
}
export interface WindowResourceInput {
  kind: 'queue' | 'cron'
  id: Id
}
export interface WindowResource {
  kind: 'queue' | 'cron'
  /**
   * null = it does not exist; the window is in force once it does.
   */
  id: Id | null
  /**
   * The name of the queue; the `name` of the cron.
   */
  name: string
}
export interface WindowScheduleInput {
  cron_expression: CronExpression
  time_zone?: TimeZone
  /**
   * In elapsed time, also where clocks are changed.
   */
  duration_seconds: number
}
export interface WindowSchedule {
  cron_expression: CronExpression
  time_zone: TimeZone
  duration_seconds: number
}
export interface WindowCreate {
  /**
   * Unique in the team; the `id` of the window. Without it, one is made up of the reason. Lower-case letters, digits and `-`.
   */
  name?: string
  /**
   * One queue or cron; without it, all of the team.
   */
  resource?: WindowResourceInput | null
  /**
   * When a window that opens once begins; ISO 8601 with an offset.
   */
  start_at?: string | null
  /**
   * When it ends; after `start_at`, by at most 366 days.
   */
  end_at?: string | null
  /**
   * When a recurring window begins, and for how long it lasts.
   *
   * @minItems 1
   * @maxItems 10
   */
  recurring?: WindowScheduleInput[] | null
  /**
   * `mute`: alerts are stored and not sent. `hold`: the same, and no job starts.
   */
  action?: 'mute' | 'hold' | null
  /**
   * A comment.
   */
  reason?: string | null
}
/**
 * `null` removes `resource` and `reason`, and counts as absent elsewhere.
 */
export interface WindowEdit {
  /**
   * One queue or cron; without it, all of the team.
   */
  resource?: WindowResourceInput | null
  /**
   * When a window that opens once begins; ISO 8601 with an offset.
   */
  start_at?: string | null
  /**
   * When it ends; after `start_at`, by at most 366 days.
   */
  end_at?: string | null
  /**
   * When a recurring window begins, and for how long it lasts.
   *
   * @minItems 1
   * @maxItems 10
   */
  recurring?: WindowScheduleInput[] | null
  action?: WindowAction | null
  /**
   * A comment.
   */
  reason?: string | null
}
export interface MaintenanceWindow {
  /**
   * The same as `name`.
   */
  id: string
  /**
   * Unique in the team.
   */
  name: string
  /**
   * null = all of the team.
   */
  resource: WindowResource | null
  start_at: NullableTimestamp
  end_at: NullableTimestamp
  /**
   * null for a window that opens once.
   *
   * @maxItems 10
   */
  recurring: WindowSchedule[] | null
  action: WindowAction
  reason: string | null
  /**
   * Whether it is in force now.
   */
  active: boolean
  active_since: NullableTimestamp
  ends_at: NullableTimestamp
  next_start_at: NullableTimestamp
  /**
   * Why a schedule opens nothing, with its field; null = nothing is wrong. Only of a window whose time zone the program that took it knew, and this one does not.
   */
  problem: string | null
}
/**
 * Either `start_at` and `end_at`, or `recurring`; `null` counts as absent.
 */
export interface WindowTimes {
  /**
   * When a window that opens once begins; ISO 8601 with an offset.
   */
  start_at?: string | null
  /**
   * When it ends; after `start_at`, by at most 366 days.
   */
  end_at?: string | null
  /**
   * When a recurring window begins, and for how long it lasts.
   *
   * @minItems 1
   * @maxItems 10
   */
  recurring?: WindowScheduleInput[] | null
}
export interface WindowCalendar {
  /**
   * By their start. Openings of one window that overlap or touch are one.
   */
  openings: {
    window_id: string
    start_at: Timestamp
    end_at: Timestamp
  }[]
  /**
   * Windows that open too often for all their openings to be listed, and windows whose openings cannot be computed.
   *
   * @maxItems 100
   */
  cut: string[]
}
export interface WindowPreview {
  /**
   * Each schedule in English words, with a 24-hour clock.
   *
   * @maxItems 10
   */
  descriptions: string[]
  /**
   * The next five; one that is under way begins now. None when a window that opens once is over.
   *
   * @maxItems 5
   */
  openings: {
    start_at: Timestamp
    /**
     * null = it stays open for longer than is looked ahead.
     */
    end_at: Timestamp | null
  }[]
}
export interface WindowList {
  /**
   * @maxItems 1000
   */
  windows: MaintenanceWindow[]
  next_cursor: NextCursor
}
export interface EditRefusal {
  error: string
  /**
   * The `ETag` of the settings as they are; null when they have changed at this very moment.
   */
  version?: string | null
}
/**
 * The filters of the list of jobs. All that are given must hold; `{}` is every job that the action is for.
 */
export interface BulkFilter {
  queue?: string
  status?: 'pending' | 'processing' | 'completed' | 'failed' | 'dead_lettered'
  final_status?: 'success' | 'retrying' | 'failed_with_retries' | 'failed_no_retries' | 'dead_lettered'
  failure_reason?: string
  response_status?: number
  host?: string
  /**
   * `name:value`
   */
  tag?: string
  cron_id?: number
  created_after?: TimeOrSpan
  created_before?: TimeOrSpan
  scheduled_after?: TimeOrSpan
  scheduled_before?: TimeOrSpan
  ended_after?: TimeOrSpan
  ended_before?: TimeOrSpan
  text?: string
}
/**
 * Either `ids` or `filter`.
 */
export interface BulkCreate {
  action: BulkAction
  /**
   * Numbers or UUIDs. Repeated ones count once.
   *
   * @minItems 1
   * @maxItems 1000
   */
  ids?: (number | string)[]
  filter?: BulkFilter
  dry_run?: boolean
  /**
   * Jobs a second at most, from a tenth of it on and doubling every ten seconds. `null` is as fast as it goes without holding up pushes and calls.
   */
  rate?: number | null
  /**
   * Only for `retry` and `replay`; `null` is never.
   */
  stop_when?: StopWhen | null
}
/**
 * The bulk stops by itself once `min` of the jobs that it made have ended and that share of them has failed again. Until then it lets at most 200 of them wait for their end, or twice `min` if that is more; the more succeed, the more may wait, up to 10,000.
 */
export interface StopWhen {
  failed_again_percent: number
  min?: number
}
/**
 * What became of the jobs that the bulk made; each is in one of the counts. An end is counted within seconds, and what is done to the job later changes nothing.
 */
export interface BulkOutcome {
  succeeded: number
  /**
   * Jobs whose chains have not ended, or whose end is not counted yet.
   */
  waiting: number
  /**
   * Jobs whose chains failed for good, as dead letters or not.
   */
  failed_again: number
  /**
   * Jobs that were cancelled or deleted before their end was counted.
   */
  removed: number
}
export interface BulkPreview {
  matched: number
  /**
   * The look ended early, after 20,000 records or 32 MiB of them; there may be more.
   */
  is_at_least: boolean
  /**
   * The ids of the first jobs found.
   *
   * @maxItems 10
   */
  sample: number[]
}
export interface Bulk {
  id: number
  action: BulkAction
  state: 'starting' | 'running' | 'aborting' | 'aborted' | 'done' | 'stopped'
  /**
   * Jobs that were found when the bulk was created, or have been found since.
   */
  matched: number
  /**
   * The first look ended early; there may be more.
   */
  is_at_least: boolean
  /**
   * Jobs that the action was done to.
   */
  done: number
  /**
   * Jobs that the filter found but that changed before their turn.
   */
  skipped: number
  /**
   * Jobs that the action could not be done to.
   */
  failed: number
  /**
   * null for a bulk that was given ids.
   */
  filter: BulkFilter | null
  rate: number | null
  /**
   * null for a bulk that does not stop by itself.
   */
  stop_when: StopWhen | null
  /**
   * Why it has stopped by itself, or is about to: of the jobs that had ended, so many had failed again. null if it has not, or was resumed.
   */
  stopped: {
    failed_again: number
    ended: number
  } | null
  /**
   * null where the action makes no jobs.
   */
  outcome: BulkOutcome | null
  /**
   * The token or user.
   */
  created_by: string
  created_at: Timestamp
  started_at: NullableTimestamp
  ended_at: NullableTimestamp
  /**
   * Only where one bulk is read; of each shard the first ones.
   *
   * @maxItems 1000
   */
  failures?: BulkFailure[]
}
export interface BulkFailure {
  job_id: number
  reason:
    | 'not_found'
    | 'in_flight'
    | 'not_pending'
    | 'not_dead_lettered'
    | 'not_ended'
    | 'not_failed'
    | 'already_made'
    | 'not_kept'
    | 'already_due'
    | 'damaged'
    | 'queue_draining'
    | 'over_quota'
}
export interface BulkList {
  /**
   * @maxItems 1000
   */
  bulks: Bulk[]
  next_cursor: NextCursor
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
   * A field's path with dots (`retry_delays.0`, `headers.X-A`) → its texts; in the contract's field order, unknown fields last; names that are whole numbers (`7`) come first. After 20 unknown fields the last text says that there are more, and no other field is listed.
   */
  errors: {
    /**
     * @minItems 1
     */
    [k: string]: string[]
  }
}
