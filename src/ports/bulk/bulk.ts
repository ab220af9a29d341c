import type { Actor } from '../../domain/access/audit-record.ts'
import type { Bulk, BulkFailure, BulkMatch, BulkOrder } from '../../domain/bulk/bulk.ts'

/** The jobs that a bulk would find. */
export interface BulkPreview extends BulkMatch {
  /** The first jobs found, at most BULK_SAMPLE_MAX. */
  readonly sample: readonly number[]
}

export interface BulkListQuery {
  readonly team: string
  readonly limit: number
  /** Cursor of the previous page; null = the first page. */
  readonly cursor: string | null
}

/** Bulks as their owner sees them. Another team's is unknown. Throws StoreUnavailableError and StorageFullError. */
export interface BulkStore {
  /**
   * Looks for the jobs of a bulk, at a bounded number of records, and changes nothing. `too_many_searches`: the team
   * has as many costly requests under way here as it may. @param signal aborted when nobody waits for the answer any more
   */
  preview(team: string, order: BulkOrder, signal?: AbortSignal): Promise<BulkPreview | 'too_many_searches'>
  /** `too_many`: of the team are running. */
  create(team: string, order: BulkOrder, actor: Actor): Promise<Bulk | 'too_many'>
  /** Newest first, those of the last BULK_RETENTION_DAYS. */
  list(query: BulkListQuery): Promise<{ bulks: Bulk[]; nextCursor: string | null } | 'bad_cursor'>
  get(team: string, id: number): Promise<Bulk | null>
  /** Lists the first failures of each shard; at most BULK_FAILURES_MAX. */
  failures(team: string, id: number): Promise<BulkFailure[]>
  /**
   * Aborts the rest: what was done stays done, and a page that is being worked off is done to its end. null = unknown.
   */
  abort(team: string, id: number, actor: Actor): Promise<Bulk | 'ended' | null>
  /**
   * Goes on with what is left of a bulk that was aborted or has stopped. `too_many`: of the team are running. null =
   * unknown.
   */
  resume(team: string, id: number, actor: Actor): Promise<Bulk | 'done' | 'not_ended' | 'too_many' | null>
}

/**
 * Work on a bulk that is due: a page of its part in this shard, a look at what became of the jobs that this part made, or a
 * change that concerns all of its parts.
 */
export interface BulkWork {
  readonly team: string
  readonly id: number
  readonly kind: 'part' | 'whole' | 'outcome'
}

/**
 * The bulks of one shard, for one executor. Several executors may do the same at once: all work is done once. Throws
 * StoreUnavailableError and StorageFullError.
 */
export interface BulkShard {
  readonly shard: number
  /**
   * Lists due work, longest due first; nothing while another executor has the shard's lock, which a later call takes
   * over when it is not renewed. `nextDueMs`: when more work is due, Unix ms by Redis time; null = none that is known.
   */
  due(): Promise<{ readonly work: readonly BulkWork[]; readonly nextDueMs: number | null }>
  /** Takes or renews the lock of the shard's bulks, before any work; false when another executor has it by now. */
  takeLock(): Promise<boolean>
  /** Does at most one page of it. */
  tend(work: BulkWork): Promise<void>
  redisNowMs(): number
}
