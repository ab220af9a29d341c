/**
 * Bounds of the contract, and bounds that several folders use; a folder's own bounds are beside the code they bound.
 * They come from the contract and from measurements recorded in `docs/adr/`. Names end in the unit.
 */

// The contract.
export const QUEUE_NAME_CHARACTERS_MAX = 255
export const URL_CHARACTERS_MAX = 2048
export const DELAY_SECONDS_MAX = 86_400
export const TIMEOUT_SECONDS_MIN = 1
export const TIMEOUT_SECONDS_MAX = 300
export const RETRY_DELAYS_MAX = 10
export const RETRY_DELAY_SECONDS_MIN = 1
export const RETRY_DELAY_SECONDS_MAX = 86_400
export const NO_RETRY_STATUSES_MAX = 20
export const RETRY_JITTER_PERCENT_MAX = 100
export const RATE_LIMIT_MAX = 1_000_000
export const RATE_PERIOD_SECONDS_MAX = 86_400
export const BREAKER_MIN_CALLS_MAX = 10_000
export const BREAKER_WINDOW_SECONDS_MAX = 3_600
export const BREAKER_OPEN_SECONDS_MAX = 900
/** A target may ask for no longer wait than this. */
export const RETRY_AFTER_SECONDS_MAX = 86_400
export const DLQ_RETENTION_DAYS = [3, 7, 14, 30] as const
export const CALLBACK_TIMEOUT_SECONDS = 10
/** A job due within this many seconds goes straight to the near set; a later one waits in a minute bucket. */
export const NEAR_DELAY_SECONDS_MAX = 60

// Intake.
export const REQUEST_BODY_BYTES_MAX = 1024 * 1024
/** Bounds of `POST /api/jobs/batch`: pushes, and bytes of the body; each push has at most REQUEST_BODY_BYTES_MAX. */
export const BATCH_JOBS_MAX = 1_000
export const BATCH_BODY_BYTES_MAX = 16 * 1024 * 1024
export const JSON_DEPTH_MAX = 64
/** Jobs in a row of which each made the next by a call to an API like this one. */
export const CALL_DEPTH_MAX = 5
export const HEADERS_MAX = 64
export const HEADER_NAME_CHARACTERS_MAX = 256
export const HEADER_VALUE_BYTES_MAX = 8 * 1024
/** Of `tracestate`: the least that the standard wants to be passed on. */
export const TRACE_STATE_CHARACTERS_MAX = 512
/** Of `content_type`, with its parameters. */
export const CONTENT_TYPE_CHARACTERS_MAX = 256
export const HEADER_SECRETS_PER_JOB_MAX = 8
export const HEADER_SECRET_NAME_CHARACTERS_MAX = 63
export const TAGS_MAX = 8
export const TAG_NAME_CHARACTERS_MAX = 64
export const TAG_VALUE_CHARACTERS_MAX = 256
export const SUCCESS_ASSERTIONS_MAX = 10
export const ASSERTION_TEXT_CHARACTERS_MAX = 4096
export const RUN_AT_DAYS_AHEAD_MAX = 366
export const IDEMPOTENCY_KEY_CHARACTERS_MAX = 255
export const MAX_PARALLELISM_MAX = 1_000_000
export const LIST_LIMIT_MAX = 1000
export const LIST_LIMIT_DEFAULT = 100
export const SEARCHED_TEXT_CHARACTERS_MAX = 256
/** How long the API tries to reach Redis before it answers 503. */
export const STORE_DEADLINE_MS = 1_800
/** The Retry-After of a 503 or 429. */
export const RETRY_AFTER_SECONDS = 2
/** Pushes waiting for a flush in one API process; more get a 503. */
export const INTAKE_WAITING_MAX = 20_000
/** Bodies in one API process that are being read or wait for the store: each can be a mebibyte. */
export const INTAKE_BYTES_DEFAULT = 128 * 1024 * 1024
/** Connections of one API process: an idle one costs 15 KiB. */
export const CONNECTIONS_DEFAULT = 4_096
/** Jobs per enqueue step, and bytes of their bodies (a larger job goes alone). */
export const ENQUEUE_BATCH_MAX = 256
export const ENQUEUE_BATCH_BYTES_MAX = 2 * 1024 * 1024

// Outgoing calls.
export const CONNECT_TIMEOUT_MS = 10_000
export const DNS_TIMEOUT_MS = 5_000
export const RESPONSE_HEADER_BYTES_MAX = 64 * 1024
/** How much of a response body `body_contains` searches. */
export const RESPONSE_BODY_INSPECTED_BYTES_MAX = 256 * 1024
/** A longer response counts as answered, and the rest of it is not read. */
export const RESPONSE_BODY_READ_BYTES_MAX = 1024 * 1024
/** Bound of each body in a call record; longer ones are cut. */
export const CALL_RECORD_BODY_BYTES_MAX = 16 * 1024
/** Bound of the response's headers in a call record; those that do not fit are left out. */
export const CALL_RECORD_HEADER_BYTES_MAX = 16 * 1024
export const ERROR_MESSAGE_CHARACTERS_MAX = 300
export const SOCKETS_PER_ORIGIN_MAX = 1024

// The engine.
export const LEASE_MS = 15_000
/** Short enough that a freeze of 9 s between two beats costs no lease. */
export const LEASE_BEAT_MS = 3_000
/** An executor stops itself this long before its lease ends; others reap it this long after. */
export const LEASE_MARGIN_MS = 2_000
/** An in-flight entry is released this long after its job's timeout, even if its executor lives. */
export const HARD_DEADLINE_GRACE_MS = 30_000
/**
 * The lost lease at which the attempt fails as `executor_lost`. The first makes the job a suspect. At the last two it
 * was the only suspect of its executor, which makes it the likely cause.
 */
export const LOST_LEASES_MAX = 5
/** Suspects that lost one executor take at most this share of an executor's calls. */
export const SUSPECTS_SHARE = 1 / 4
/** Suspects that lost two executors run together up to this number, of one team. With more losses each runs alone. */
export const SUSPECTS_OF_ONE_TEAM_MAX = 4
export const CLAIM_BATCH_MAX = 64
export const CLAIM_BATCH_BYTES_MAX = 1024 * 1024
/** Teams, and likewise queues, for which a claim lists a headroom of their own. */
export const HEADROOM_ENTRIES_MAX = 128
export const FINISH_BATCH_MAX = 64
export const FAIR_QUANTUM = 8
export const PROMOTE_BATCH_MAX = 500
export const REAP_BATCH_MAX = 200
export const TRIM_BATCH_MAX = 500
export const ID_BLOCK = 128
/** Longer request parts are stored once per chain, beside the job records. */
export const INLINE_REQUEST_BYTES_MAX = 4 * 1024
export const SHARDS_MAX = 64
export const QUEUES_PER_SHARD_MAX = 1_000_000
export const IDEMPOTENCY_KEYS_PER_SHARD_DAY_MAX = 1_000_000

// Crons.
export const CRONS_PER_SHARD_MAX = 1_000_000
/** Due crons of one page, and bytes of their definitions; also the runs of one step (a larger cron goes alone). */
export const TICK_BATCH_MAX = 200
export const TICK_BATCH_BYTES_MAX = 1024 * 1024
/** Crons of a shard that are prepared before they are due, and bytes of their definitions. */
export const UPCOMING_CRONS_MAX = 20_000
export const UPCOMING_BYTES_MAX = 16 * 1024 * 1024
/** Records of ticks kept for each cron. */
export const CRON_RECORDS_MAX = 100

// Retention.
/** Each queue keeps as many whatever the budget says; only their age ends them. */
export const FINISHED_CHAINS_PER_QUEUE_KEPT = 10_000
export const FINISHED_CHAINS_DAYS = 7
/** Finished chains of one block, which makes them searchable and is dropped as a whole. */
export const HISTORY_BLOCK_CHAINS = 256
/** Part of maxmemory that finished chains may take, beside those that each queue keeps; and where Redis has no limit. */
export const HISTORY_PART = 1 / 4
export const HISTORY_BYTES_WITHOUT_LIMIT = 1024 * 1024 * 1024
/**
 * A cron's hidden queue keeps more chains than the cron has records: runs may end in another order than they started.
 */
export const FINISHED_CHAINS_PER_CRON_MAX = 2 * CRON_RECORDS_MAX
/** They may exceed it by this much before `finish` asks for a trim. */
export const FINISHED_CHAINS_PER_CRON_SLACK = 50
export const FAILED_CALLS_PER_QUEUE_MAX = 1_000
export const SUCCESSFUL_CALLS_PER_QUEUE_MAX = 100
export const CALL_RECORD_DAYS = 3
export const CALL_RECORDS_BYTES_MAX = 256 * 1024 * 1024
/** Most records that one executor keeps a second: of one queue, and of all. */
export const SUCCESSFUL_CALL_RECORDS_PER_SECOND = 20
export const SUCCESSFUL_CALL_RECORDS_OF_ALL_PER_SECOND = 200

// Default quotas of a team. They protect a Redis of 1 GiB and an etcd of 2 GiB from one team; its share of bytes depends
// on the free memory.
/** The largest quota that can be set. */
export const QUOTA_MAX = Number.MAX_SAFE_INTEGER
export const QUEUES_PER_TEAM_DEFAULT = 10_000
export const CRONS_PER_TEAM_DEFAULT = 500
export const PENDING_JOBS_PER_TEAM_DEFAULT = 1_000_000

/** Payloads and headers of a team's crons that a controller applies: etcd and Redis hold them all. */
export const CRON_BYTES_PER_TEAM_MAX = 32 * 1024 * 1024
/** Values that one queue or cron takes from Secrets, for each header that they are for. */
export const SECRET_BYTES_PER_OWNER_MAX = 32 * 1024
/**
 * Bound of all secrets of a team's queues and crons, as stored: sealed, some 1.4 times as long. Redis and each executor
 * hold them.
 */
export const SECRET_BYTES_PER_TEAM_MAX = 1024 * 1024

// Standalone.
export const REDIS_MAXMEMORY_BYTES_DEFAULT = 1024 * 1024 * 1024

// Scaling of executors.
/** At least one executor runs while a job is due within this time: longer than a pod takes to start. */
export const DUE_HORIZON_MS = 20_000
/** One executor more than computed once the oldest startable job has waited for this long, and again after as long. */
export const OLD_READY_MS = 30_000

// Alerts and notifications.
/** Alerts of one resource, type and reason within this time are one record with a count. */
export const ALERT_COALESCE_MS = 60_000
/** Alerts kept for a team; each shard keeps an equal part, and at least ALERTS_PER_SHARD_MIN. */
export const ALERTS_PER_TEAM_MAX = 10_000
export const ALERTS_PER_SHARD_MIN = 500
export const ALERT_RETENTION_DAYS = 30
/** Different resources, types and reasons whose alerts are counted apart, for each team and shard. */
export const ALERT_FINGERPRINTS_MAX = 1_000
/** Issues kept for a team; each shard keeps an equal part, and at least ISSUES_PER_SHARD_MIN. */
export const ISSUES_PER_TEAM_MAX = 1_000
export const ISSUES_PER_SHARD_MIN = 100
/** Issues of one queue or cron. Failures of further groups are counted together, as its other failures. */
export const ISSUES_PER_QUEUE_MAX = 40
/** Failures count for this long, by the hour; an issue without any since is removed. */
export const ISSUE_DAYS = 7
/** An issue is resolved when nothing has failed for this long, and something has succeeded since. */
export const ISSUE_QUIET_MS = 3_600_000
export const ISSUE_MUTE_DAYS_MAX = 30
/** A longer host is cut. */
export const ISSUE_HOST_CHARACTERS_MAX = 255
export const CHANNELS_PER_TEAM_MAX = 10
export const HEADER_SECRETS_PER_TEAM_MAX = 20
/** Of its annotation. */
export const HOSTS_PER_SECRET_MAX = 50
export const MASKED_HEADERS_PER_TEAM_MAX = 50
export const MEMBERS_PER_TEAM_MAX = 100
/** Entries of one message to a channel. */
export const NOTIFICATION_ENTRIES_MAX = 20
/** One try to tell a channel. */
export const DELIVERY_TIMEOUT_MS = 10_000
/** How long the API waits for the answer of a channel that is tested. */
export const CHANNEL_TEST_TIMEOUT_MS = 15_000

// Tokens.
/** Tokens of a team that the API makes; resources may hold more. */
export const TOKENS_PER_TEAM_MAX = 500

// Maintenance windows.
export const WINDOWS_PER_TEAM_MAX = 100
/** Held teams, and likewise held queues, that a claim lists so that it is not answered with them. */
export const HELD_ENTRIES_MAX = 1_000
/** A held cron is looked at again this often, so that a window that is edited or deleted frees it soon. */
export const HOLD_RECHECK_MS = 10_000

// Access and the audit log.
/**
 * Entries of the audit log about jobs, alerts and bulks that are kept for a team; each shard keeps an equal part, and at
 * least AUDIT_ENTRIES_PER_SHARD_MIN. More than AUDIT_ENTRIES_PER_SHARD_MAX would hold up other steps while room is made.
 */
export const AUDIT_ENTRIES_PER_TEAM_MAX = 10_000
export const AUDIT_ENTRIES_PER_SHARD_MIN = 1_000
export const AUDIT_ENTRIES_PER_SHARD_MAX = 2_500
/** Logins, logouts and links that log in beside them, so that none of these pushes out who changed what. */
export const AUDITED_LOGINS_PER_TEAM_MAX = 2_000
/** Entries about settings: queues, crons, windows, channels, tokens, secrets and the team. */
export const AUDITED_SETTINGS_PER_TEAM_MAX = 2_500
/** An entry with more loses its last fields. */
export const AUDIT_ENTRY_BYTES_MAX = 4_096
export const AUDIT_RETENTION_DAYS = 90
/** A change that was asked for and has not ended by then, which no request outlasts, has an unknown outcome. */
export const ASKED_AUDIT_MS = 300_000

// Statistics.
export const STATISTICS_DAYS = 7
/** Points of one answer: a day by the minute. */
export const STATISTICS_POINTS_MAX = 1_500
export const STATISTICS_STEP_SECONDS_MAX = 86_400
// Bulks.
/** Ids that one bulk names. */
export const BULK_IDS_MAX = 1_000
/** The first of them, which its entry in the audit log has. */
export const BULK_AUDITED_IDS_MAX = 50
/** Bulks of a team that run at once; a further one is refused until one has ended. */
export const BULKS_RUNNING_PER_TEAM_MAX = 10
/** Bulks of a team that are remembered, and for how long. */
export const BULKS_PER_TEAM_MAX = 100
export const BULK_RETENTION_DAYS = 30
/** Jobs of one page, and bytes of their payloads (a larger job goes alone). */
export const BULK_PAGE_JOBS_MAX = 100
export const BULK_PAGE_BYTES_MAX = 1024 * 1024
/** Jobs of a bulk that `bulk_id` finds: the first that it made or fired; each shard keeps an equal part. */
export const BULK_JOBS_LISTED_MAX = 100_000
/** A bulk rests while so many of the jobs that it made have not ended; each shard has an equal part. */
export const BULK_JOBS_WAITING_MAX = 1_000_000
/** Jobs that must have ended before a bulk stops by itself: the bounds and the default of `stop_when.min`. */
export const STOP_MIN_MAX = 10_000
export const STOP_MIN_DEFAULT = 50
/** Failures of a bulk that are kept; each shard keeps an equal part. */
export const BULK_FAILURES_MAX = 1_000
/** Jobs a second. */
export const BULK_RATE_MAX = 100_000
/** The longest move of a test clock: a leap year. */
export const TEST_CLOCK_ADVANCE_SECONDS_MAX = 366 * 86_400
/** The time that a test clock never passes, Unix ms: records keep times in 13 digits, which end in 2286. */
export const TEST_CLOCK_MS_MAX = Date.UTC(2200, 0)
/** Jobs that a dry run shows. */
export const BULK_SAMPLE_MAX = 10
