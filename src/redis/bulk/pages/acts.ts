import type { BulkAction } from '../../../domain/bulk/bulk.ts'
import { LEASE_MS } from '../../../domain/limits.ts'
import { shardKeys, type Engine } from '../../client/engine.ts'
import type { QuotaKeeper } from '../../quotas/quota-keeper.ts'
import { type BulkAct, type BulkPage, indexed, movedBy, moveOf, rowsOfQueues } from './bulk-page.ts'
import type { Candidate } from './candidates.ts'
import { DELETE_PAGE, OPEN_PAGE, PURGE_PAGE } from './page-steps.ts'
import { createRemakeAct } from './remake-act.ts'

export interface BulkActs {
  readonly of: Readonly<Record<BulkAction, BulkAct>>
  /** An id block turned out to be another process's. */
  dropBlock(shard: number): void
}

/** @param quotas null = no quotas */
export function createBulkActs(engine: Engine, quotas: QuotaKeeper | null): BulkActs {
  const remake = createRemakeAct(engine, quotas)
  return {
    of: {
      cancel: openAct(engine, 'cancel'),
      fire: openAct(engine, 'fire'),
      purge: async (page) => ({ call: PURGE_PAGE.with(rowsOf(engine, page)) }),
      delete: deleteAct(engine),
      replay: (page) => remake.act(page),
      retry: (page) => remake.act(page),
    },
    dropBlock: (shard) => remake.dropBlock(shard),
  }
}

function openAct(engine: Engine, action: 'cancel' | 'fire'): BulkAct {
  return async (page) => ({
    call: OPEN_PAGE.with({ ...rowsOf(engine, page), leaseMs: LEASE_MS, action }),
  })
}

/** Chains that a page may delete with their call records, which are looked for one by one. */
const ENDED_PER_PAGE_MAX = 25

function deleteAct(engine: Engine): BulkAct {
  return async (page) => {
    // One that only its id is known of may have ended.
    const ended = [...page.candidates.entries()].filter(
      ([, { section }]) => section === 'finished' || section === null,
    )
    const over = ended[ENDED_PER_PAGE_MAX]
    if (over !== undefined) return { fits: over[0] }
    return {
      call: DELETE_PAGE.with({
        ...rowsOf(engine, page),
        ...{ leaseMs: LEASE_MS, shards: engine.shards.length },
      }),
    }
  }
}

function rowsOf(engine: Engine, page: BulkPage) {
  const keys = shardKeys(engine, page.shard)
  const { queues, rowOf } = rowsOfQueues(page.candidates)
  const jobs = page.candidates.map((candidate: Candidate) => {
    const seq = engine.jobIds.seqOf(candidate.jobId)
    const { jobId, rootId } = candidate
    return { queue: rowOf(candidate), id: jobId, root: rootId, seq, ...indexed(keys, seq) }
  })
  return { ...movedBy(keys, moveOf(page)), queues, jobs }
}
