import type { JobRequest } from '../domain/jobs/job.ts'
import type { MetQuota } from './team-usage.ts'

/** A validated job on its way into the store. */
export interface NewJob {
  readonly team: string
  readonly queue: string
  readonly request: JobRequest
  /** Whole seconds from now, 0–86400, or an absolute time; a time in the past means now. */
  readonly start: { readonly delaySeconds: number } | { readonly runAtMs: number }
  readonly idempotency: {
    readonly key: string
    /** Same key and fingerprint = the same request again. */
    readonly fingerprint: string
  } | null
}

export type PushResult =
  /** `repeated`: an earlier push with the same idempotency key made this job. */
  | {
      readonly status: 'created' | 'repeated'
      readonly jobId: number
      readonly queueId: number
      readonly scheduledAtMs: number
    }
  /** The key was used with another body. */
  | { readonly status: 'idempotency_conflict' }
  /** Too many keys in use today in this shard. */
  | { readonly status: 'idempotency_full' }
  /** The shard holds as many queues as it may. */
  | { readonly status: 'too_many_queues' }
  | { readonly status: 'over_quota'; readonly quota: MetQuota }

/**
 * Takes jobs in. Pushes of the same turn share one step per shard.
 * Throws StoreUnavailableError within the store deadline (nothing half-written) and StorageFullError.
 */
export interface JobIntake {
  push(job: NewJob): Promise<PushResult>
}
