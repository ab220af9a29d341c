import type { BulkAction } from '../../../domain/bulk/bulk.ts'
import { LEASE_MS } from '../../../domain/limits.ts'
import { shardKeys, type Engine } from '../../base/engine/engine.ts'
import type { QuotaKeeper } from '../../ledger/quotas/quota-keeper.ts'
import { type BulkAct, type BulkPage, movedBy, moveOf } from './bulk-page.ts'
import { DELETE_PAGE, OPEN_PAGE, PURGE_PAGE } from '../mending/pages/page-steps.ts'
import { createRemaker } from '../mending/remaker.ts'
import { rowsOf } from '../mending/pages/page-rows.ts'
import { remakeAct } from './remake-act.ts'

export interface BulkActs {
  readonly of: Readonly<Record<BulkAction, BulkAct>>
  /** Called when an id block turned out to be another process's. */
  dropBlocks(shard: number): void
}

/** @param quotas null = there are no quotas */
export function createBulkActs(engine: Engine, quotas: QuotaKeeper | null): BulkActs {
  const remaker = createRemaker(engine, quotas)
  const remake = remakeAct(engine, remaker)
  return {
    of: {
      cancel: openAct(engine, 'cancel'),
      fire: openAct(engine, 'fire'),
      purge: async (page) => ({ call: PURGE_PAGE.with(rowsOfPage(engine, page)) }),
      delete: deleteAct(engine),
      replay: remake,
      retry: remake,
    },
    dropBlocks: (shard) => remaker.dropBlocks(shard),
  }
}

function openAct(engine: Engine, action: 'cancel' | 'fire'): BulkAct {
  return async (page) => ({
    call: OPEN_PAGE.with({ ...rowsOfPage(engine, page), leaseMs: LEASE_MS, action, askedMs: '' }),
  })
}

/** A page may delete at most this many chains with their call records, because those are looked up one by one. */
const ENDED_PER_PAGE_MAX = 25

function deleteAct(engine: Engine): BulkAct {
  return async (page) => {
    // A job of which only the id is known may have ended.
    const ended = [...page.candidates.entries()].filter(
      ([, { section }]) => section === 'finished' || section === null,
    )
    const over = ended[ENDED_PER_PAGE_MAX]
    if (over !== undefined) return { fits: over[0] }
    return {
      call: DELETE_PAGE.with({
        ...rowsOfPage(engine, page),
        leaseMs: LEASE_MS,
        shards: engine.shards.length,
      }),
    }
  }
}

function rowsOfPage(engine: Engine, page: BulkPage) {
  const keys = shardKeys(engine, page.shard)
  return { ...movedBy(keys, moveOf(page)), ...rowsOf(engine, keys, page.candidates) }
}
