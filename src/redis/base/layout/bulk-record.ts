import type { Actor } from '../../../domain/access/audit-record.ts'
import {
  BULK_ACTIONS,
  BULK_STATES,
  type BulkAction,
  type BulkCounts,
  type BulkMatch,
  type BulkState,
} from '../../../domain/bulk/bulk.ts'
import type { BulkOutcome } from '../../../domain/bulk/bulk-outcome.ts'
import type { BulkStop, StopWhen } from '../../../domain/bulk/stop-rule.ts'
import type { JobFilter } from '../../../domain/jobs/job-filter.ts'

/** A bulk that has stopped by itself is `aborted` here and has `stopped`: the version before knows no other state. */
export type StoredBulkState = Exclude<BulkState, 'stopped'>

/**
 * A bulk in the hash `bulks` of its team: its version, its state and JSON of the rest, with blanks between. Each write has
 * a higher version; set_bulk compares it.
 */
export interface BulkRecord extends BulkMatch {
  readonly version: number
  readonly state: StoredBulkState
  /** Nonce of its creation: a request that is sent again makes no second bulk. */
  readonly nonce: string
  readonly action: BulkAction
  /** null = it was given ids. */
  readonly filter: JobFilter | null
  /** Empty with a filter, and once the parts are made, which keep them. */
  readonly ids: readonly number[]
  /** The shards that have a part. */
  readonly shards: readonly number[]
  readonly ratePerSecond: number | null
  readonly createdBy: Actor
  /** Call depth of the request that asked for it, and so, at least, of the jobs that it makes; absent = 0. */
  readonly callDepth?: number
  /** Jobs created from then on are not of this bulk: it must not catch what it makes. Redis time, as all times here. */
  readonly createdAtMs: number
  readonly startedAtMs: number | null
  readonly endedAtMs: number | null
  /** The counts of all parts; null until it has ended. */
  readonly counts: BulkCounts | null
  readonly stopWhen?: StopWhen | null
  readonly stopped?: BulkStop | null
  /** How often it was resumed; absent = never. */
  readonly resumes?: number
  /** From when on its rate rises; absent = from its start. */
  readonly resumedAtMs?: number
  /** What had ended when it was last resumed, which its rule leaves out; absent = nothing. */
  readonly endedBefore?: Pick<BulkOutcome, 'succeeded' | 'failedAgain'>
  /** The outcome of all parts; absent or null = one of its jobs may not have been counted. */
  readonly outcome?: BulkOutcome | null
}

export function encodeBulkRecord({ version, state, ...rest }: BulkRecord): string {
  return `${version} ${state} ${JSON.stringify(rest)}`
}

/** null when it is damaged: then the bulk counts as unknown. */
export function bulkRecordIn(text: string): BulkRecord | null {
  const [, version, stateText, json] = /^(\d+) ([a-z]+) (.*)$/s.exec(text) ?? []
  const state = BULK_STATES.find((one) => one === stateText)
  if (json === undefined || state === undefined || state === 'stopped') return null
  try {
    const rest = JSON.parse(json) as Partial<BulkRecord> | null
    const isWhole =
      BULK_ACTIONS.some((action) => action === rest?.action) &&
      [rest?.ids, rest?.shards].every(Array.isArray) &&
      typeof rest?.createdAtMs === 'number' &&
      typeof rest.createdBy === 'object'
    return isWhole ? { ...(rest as BulkRecord), version: Number(version), state } : null
  } catch {
    return null
  }
}

/** The part of a bulk in one shard. */
export interface BulkPart extends BulkCounts {
  readonly outcome: BulkOutcome
  readonly version: string
  readonly state: 'running' | 'done' | 'aborted'
  readonly place: string
  /** Empty with a filter. */
  readonly ids: readonly number[]
}
