import type { Actor } from '../access/audit-record.ts'
import type { JobFilter } from '../jobs/job-filter.ts'
import type { BulkOutcome } from './bulk-outcome.ts'
import type { BulkStop, StopWhen } from './stop-rule.ts'

/** What a bulk does to each of its jobs. */
export const BULK_ACTIONS = ['retry', 'delete', 'fire', 'replay', 'purge', 'cancel'] as const
export type BulkAction = (typeof BULK_ACTIONS)[number]

/**
 *     starting → running → done
 *           ↘      ↓
 *            aborting → aborted, stopped
 *
 * `starting`: its parts are being made. `aborting`: parts still end the page they are at. `stopped`: aborted by its own
 * rule. What was aborted or stopped starts again when it is resumed.
 */
export const BULK_STATES = ['starting', 'running', 'aborting', 'aborted', 'done', 'stopped'] as const
export type BulkState = (typeof BULK_STATES)[number]

export function isBulkEnded(state: BulkState): boolean {
  return state === 'aborted' || state === 'done' || state === 'stopped'
}

/** Whether the action makes a new job of each of its jobs. */
export function makesJobs(action: BulkAction): boolean {
  return action === 'retry' || action === 'replay'
}

/** The jobs of a bulk: named by id, or all that a filter finds. */
export type BulkTarget =
  | { readonly kind: 'ids'; readonly ids: readonly number[] }
  | { readonly kind: 'filter'; readonly filter: JobFilter }

export interface BulkCounts {
  /** Jobs that the action was done to. */
  readonly done: number
  /** Jobs that the filter found but that changed before their turn. */
  readonly skipped: number
  /** Jobs that the action could not be done to. */
  readonly failed: number
}

export const NO_BULK_COUNTS: BulkCounts = Object.freeze({ done: 0, skipped: 0, failed: 0 })

/** A bulk as requested. */
export interface BulkOrder {
  readonly action: BulkAction
  readonly target: BulkTarget
  /** Jobs a second over all shards; null = as fast as it goes. */
  readonly ratePerSecond: number | null
  /** When it stops by itself; absent = never. */
  readonly stopWhen?: StopWhen | null
  /** The least call depth of the jobs that it makes; absent = 0. */
  readonly callDepth?: number
}

/** How many jobs a look found. */
export interface BulkMatch {
  readonly matched: number
  /** The look ended early: there may be more. */
  readonly isAtLeast: boolean
}

/** One bulk as it stands. */
export interface Bulk extends BulkMatch, BulkCounts {
  readonly id: number
  readonly team: string
  readonly action: BulkAction
  readonly state: BulkState
  /** null = it was given ids. */
  readonly filter: JobFilter | null
  readonly ratePerSecond: number | null
  readonly stopWhen: StopWhen | null
  /** What it stopped for; null = it did not stop by itself, or was resumed. */
  readonly stopped: BulkStop | null
  /** null = the action makes no jobs. */
  readonly outcome: BulkOutcome | null
  readonly createdBy: Actor
  readonly createdAtMs: number
  readonly startedAtMs: number | null
  readonly endedAtMs: number | null
}

/**
 * Why the action could not be done to a job. With a filter, most of them only say that it has changed since it was found,
 * and it counts as skipped.
 */
export const BULK_FAILURE_REASONS = [
  'not_found',
  'in_flight',
  'not_pending',
  'not_dead_lettered',
  'not_ended',
  'not_failed',
  'already_made',
  'not_kept',
  'already_due',
  'damaged',
  'queue_draining',
  'over_quota',
] as const
export type BulkFailureReason = (typeof BULK_FAILURE_REASONS)[number]

export interface BulkFailure {
  readonly jobId: number
  readonly reason: BulkFailureReason
}
