/**
 * The bounds of the contract and those that several folders know, by name; one folder's own stand beside what they
 * bound. Sources: the contract, the decisions that complete it, and measured facts recorded in `docs/adr/`. Units
 * stand last in a name.
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
export const DLQ_RETENTION_DAYS = [3, 7, 14, 30] as const
export const CALLBACK_TIMEOUT_SECONDS = 10
/** A job due within this many seconds goes straight to the near set; a later one waits in a minute bucket. */
export const NEAR_DELAY_SECONDS_MAX = 60

// Intake.
export const REQUEST_BODY_BYTES_MAX = 1024 * 1024
export const JSON_DEPTH_MAX = 64
export const HEADERS_MAX = 64
export const HEADER_NAME_CHARACTERS_MAX = 256
export const HEADER_VALUE_BYTES_MAX = 8 * 1024
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
/** How long the API tries to reach Redis before it answers 503, in milliseconds. */
export const STORE_DEADLINE_MS = 1_800
/** What a 503 or 429 tells the client to wait, in seconds. */
export const RETRY_AFTER_SECONDS = 2
/** Pushes waiting for a flush, per API process; above it the answer is 503. */
export const INTAKE_WAITING_MAX = 20_000
/** Bodies of an API process that are read or wait for the store: each may be of a mebibyte. */
export const INTAKE_BYTES_DEFAULT = 128 * 1024 * 1024
/** Connections of an API process: an idle one costs 15 KiB. */
export const CONNECTIONS_DEFAULT = 4_096
/** Jobs per enqueue step, and the bytes of their bodies (at least one job goes). */
export const ENQUEUE_BATCH_MAX = 128
export const ENQUEUE_BATCH_BYTES_MAX = 2 * 1024 * 1024

// Outgoing calls.
export const CONNECT_TIMEOUT_MS = 10_000
export const DNS_TIMEOUT_MS = 5_000
export const RESPONSE_HEADER_BYTES_MAX = 16 * 1024
/** `body_contains` looks at this much of a response body, as it streams by. */
export const RESPONSE_BODY_INSPECTED_BYTES_MAX = 256 * 1024
/** A response longer than this is cut off: the call counts as answered, the rest is not read. */
export const RESPONSE_BODY_READ_BYTES_MAX = 1024 * 1024
/** Each body kept in a call record. */
export const CALL_RECORD_BODY_BYTES_MAX = 16 * 1024
export const ERROR_MESSAGE_CHARACTERS_MAX = 300
export const SOCKETS_PER_ORIGIN_MAX = 1024

// The engine.
export const LEASE_MS = 15_000
/** Short enough that a freeze of 9 s between two beats costs no lease. */
export const LEASE_BEAT_MS = 3_000
/** An executor stops itself this long before its lease ends; the others reap it this long after. */
export const LEASE_MARGIN_MS = 2_000
/** An in-flight entry is freed this long after its job's timeout whatever its holder says. */
export const HARD_DEADLINE_GRACE_MS = 30_000
/**
 * The lost lease that fails the attempt as `executor_lost`. The first makes the job a suspect; only the last two, at
 * which it was the one suspect that its executor had, say that it is the cause.
 */
export const LOST_LEASES_MAX = 5
/** Suspects that lost one executor: at most this part of an executor's calls at once. */
export const SUSPECTS_SHARE = 1 / 4
/** Suspects that lost two: so many at once, and of one team. With more losses each is alone. */
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
/** What is large of longer request parts lives once per chain, beside the job records. */
export const INLINE_REQUEST_BYTES_MAX = 4 * 1024
export const SHARDS_MAX = 64
export const QUEUES_PER_SHARD_MAX = 1_000_000
export const IDEMPOTENCY_KEYS_PER_SHARD_DAY_MAX = 1_000_000

// Crons.
export const CRONS_PER_SHARD_MAX = 1_000_000
/** Due crons of one page, the bytes of their definitions, and the runs of one step (at least one cron goes). */
export const TICK_BATCH_MAX = 200
export const TICK_BATCH_BYTES_MAX = 1024 * 1024
/** Crons of a shard that are made ready before they are due, and the bytes of their definitions. */
export const UPCOMING_CRONS_MAX = 20_000
export const UPCOMING_BYTES_MAX = 16 * 1024 * 1024
/** Records of ticks kept for each cron. */
export const CRON_RECORDS_MAX = 100

// Retention.
export const FINISHED_CHAINS_PER_QUEUE_MAX = 10_000
export const FINISHED_CHAINS_DAYS = 7
/** Finish lets a queue's finished chains grow by this much before it asks for a trim. */
export const FINISHED_CHAINS_SLACK = 500
/** In the hidden queue of a cron: more than it has records of, for runs may end in another order than they began. */
export const FINISHED_CHAINS_PER_CRON_MAX = 2 * CRON_RECORDS_MAX
export const FINISHED_CHAINS_PER_CRON_SLACK = 50
export const FAILED_CALLS_PER_QUEUE_MAX = 1_000
export const SUCCESSFUL_CALLS_PER_QUEUE_MAX = 100
export const CALL_RECORD_DAYS = 3
export const CALL_RECORDS_BYTES_MAX = 256 * 1024 * 1024
export const SUCCESSFUL_CALL_RECORDS_PER_SECOND = 20

// Quotas of a team, unless the installation says otherwise. They protect a Redis of 1 GiB and an etcd of 2 GiB from one
// team; how many bytes it may hold follows from what is free.
/** The largest that can be set. */
export const QUOTA_MAX = Number.MAX_SAFE_INTEGER
export const QUEUES_PER_TEAM_DEFAULT = 10_000
export const CRONS_PER_TEAM_DEFAULT = 500
export const PENDING_JOBS_PER_TEAM_DEFAULT = 1_000_000

/** Payloads and headers of the crons of a team that a controller puts in force: etcd and Redis hold them all. */
export const CRON_BYTES_PER_TEAM_MAX = 32 * 1024 * 1024

// Standalone.
export const REDIS_MAXMEMORY_BYTES_DEFAULT = 1024 * 1024 * 1024

// Scaling of executors.
/** There is an executor while anything is due within this: longer than a pod takes to start. */
export const DUE_HORIZON_MS = 20_000
/** One more executor than computed once the oldest job that could start has waited for longer, and again after as long. */
export const OLD_READY_MS = 30_000
