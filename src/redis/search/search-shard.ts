import type { JobFilter } from '../../domain/jobs/job-filter.ts'
import type { Engine } from '../client/engine.ts'

export interface ShardSearch {
  readonly team: string
  readonly shard: number
  readonly filter: JobFilter
  /** Only chains whose original was created before this, Unix ms of Redis. */
  readonly createdBeforeMs: number
  /** `next` of the page before; null = from the beginning. */
  readonly from: string | null
  /** Most jobs to find. */
  readonly limit: number
}

export interface FoundJob {
  readonly jobId: number
  readonly rootId: number
  /** Of its queue. */
  readonly localId: string
  /** Where its chain was: jobs not ended, dead letters or finished chains. */
  readonly section: 'open' | 'dead' | 'finished'
}

export interface FoundPage {
  readonly found: readonly FoundJob[]
  /**
   * Where the search goes on; null = the end. It stays right while jobs found earlier are deleted. A page may be empty
   * before the end: a call looks at a bounded number of records.
   */
  readonly next: string | null
  /** How many records were looked at. */
  readonly searched: number
}

/**
 * Finds a team's jobs in the queues of one shard, each once, but for one that moves to another section meanwhile, or in a
 * large queue whose hash shrinks: then it may come twice.
 */
export type SearchShard = (engine: Engine, search: ShardSearch) => Promise<FoundPage>
