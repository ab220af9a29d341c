import { FAILURE_REASONS, type FailureReason } from '../jobs/job.ts'

export const ALERT_TYPES = ['warning', 'failure', 'recovery', 'limit_warning'] as const
export type AlertType = (typeof ALERT_TYPES)[number]

/** Why a limit warning was raised. */
export const LIMIT_REASONS = [
  'queue_saturated',
  'dead_letters_growing',
  'dead_letters_expiring',
  'storage_nearly_full',
  'quota_nearly_used',
] as const
export type LimitReason = (typeof LIMIT_REASONS)[number]

/** Redis came back without jobs that it had accepted. */
export const LOSS_REASON = 'jobs_lost'

/** The circuit breaker of a queue has opened; of a recovery, it has closed again. */
export const CIRCUIT_REASON = 'circuit_open'

/** The failure reason of the job; of a recovery that from which the cron recovers; of a limit warning or a loss its own. */
export type AlertReason = FailureReason | LimitReason | typeof LOSS_REASON | typeof CIRCUIT_REASON
export const ALERT_REASONS: readonly AlertReason[] = [
  ...FAILURE_REASONS,
  ...LIMIT_REASONS,
  LOSS_REASON,
  CIRCUIT_REASON,
]

export const ALERT_RESOURCE_KINDS = ['queue', 'cron', 'team'] as const
export type AlertResourceKind = (typeof ALERT_RESOURCE_KINDS)[number]

/** The subject of an alert. */
export interface AlertResource {
  readonly kind: AlertResourceKind
  /** Queue id or cron id; null for a team. */
  readonly id: number | null
  /** The name of the queue, the display name of the cron, or the team. */
  readonly name: string
}

/** One alert, or several of the same resource, type and reason that were raised within a minute. Times are Redis time, Unix ms. */
export interface Alert {
  /** Ordered by time over all shards; its shard is `id % 64`. */
  readonly id: number
  readonly type: AlertType
  readonly reason: AlertReason
  readonly resource: AlertResource
  /** The job of the first one; null when no job is the cause. */
  readonly jobId: number | null
  /** A sentence for people, made from the facts of the first one. Contains neither payload, query string nor secret. */
  readonly message: string
  /** 1 or more. */
  readonly count: number
  readonly firstAtMs: number
  readonly lastAtMs: number
  readonly isRead: boolean
  /** The maintenance window that kept it from being sent; null = none. */
  readonly suppressedBy: string | null
}
