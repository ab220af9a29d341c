import type { Actor } from '../../domain/access/audit-record.ts'
import {
  BULK_ACTIONS,
  BULK_STATES,
  type BulkAction,
  type BulkCounts,
  type BulkMatch,
  type BulkState,
} from '../../domain/bulk/bulk.ts'
import type { JobFilter } from '../../domain/jobs/job-filter.ts'

/**
 * A bulk in the hash `bulks` of its team: its version, its state and JSON of the rest, with blanks between. Each write has
 * a higher version; set_bulk compares it.
 */
export interface BulkRecord extends BulkMatch {
  readonly version: number
  readonly state: BulkState
  /** Of its creation: a request that is sent again makes no second bulk. */
  readonly nonce: string
  readonly action: BulkAction
  /** null = it was given ids. */
  readonly filter: JobFilter | null
  /** Only until the parts are made, which keep them; empty with a filter. */
  readonly ids: readonly number[]
  /** The shards that have a part. */
  readonly shards: readonly number[]
  readonly ratePerSecond: number | null
  readonly createdBy: Actor
  /** Of the call that asked for it, and so of the jobs that it makes, at least; absent = 0. */
  readonly callDepth?: number
  /** Jobs created from then on are not of this bulk: it must not catch what it makes. Redis time, as all times here. */
  readonly createdAtMs: number
  readonly startedAtMs: number | null
  readonly endedAtMs: number | null
  /** The counts of all parts; null until it has ended. */
  readonly counts: BulkCounts | null
}

export function encodeBulkRecord({ version, state, ...rest }: BulkRecord): string {
  return `${version} ${state} ${JSON.stringify(rest)}`
}

/** null when it is damaged: then the bulk counts as unknown. */
export function bulkRecordIn(text: string): BulkRecord | null {
  const [, version, stateText, json] = /^(\d+) ([a-z]+) (.*)$/s.exec(text) ?? []
  const state = BULK_STATES.find((one) => one === stateText)
  if (json === undefined || state === undefined) return null
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
  readonly version: string
  readonly state: 'running' | 'done' | 'aborted'
  readonly place: string
  /** Empty with a filter. */
  readonly ids: readonly number[]
}
