import type { CostGate } from '../../../domain/shares/cost-gate.ts'
import type { BulkOrder } from '../../../domain/bulk/bulk.ts'
import type { JobFilter } from '../../../domain/jobs/job-filter.ts'
import { BULK_SAMPLE_MAX } from '../../../domain/limits.ts'
import type { BulkPreview } from '../../../ports/bulk/bulk.ts'
import { shardOfQueue, type Engine } from '../../base/engine/engine.ts'
import { type FoundPage, searchShard, type ShardSearch } from '../search/search-shard.ts'
import { SEARCHED_BYTES_MAX } from '../search/sections/search-budget.ts'
import { type InTurn, searchInTurn } from '../search/search-visit.ts'
import { isMeantBy } from './candidates.ts'

/**
 * A preview ends after so many records or jobs found, or as many bytes as a list may read, in all shards together. Its
 * count is then a lower bound.
 */
const SEARCHED_MAX = 20_000
const FOUND_PER_CALL_MAX = 1_000

export interface Preview {
  readonly team: string
  readonly order: BulkOrder
  readonly createdBeforeMs: number
}

interface Looker {
  readonly gate: CostGate | null
  readonly signal?: AbortSignal | undefined
}

/** The gate bounds how many previews look through records at once. */
export async function previewBulk(
  engine: Engine,
  looker: Looker,
  preview: Preview,
): Promise<BulkPreview | 'too_many_searches'> {
  const { team, order } = preview
  const { target } = order
  if (target.kind === 'ids') {
    return { matched: target.ids.length, isAtLeast: false, sample: target.ids.slice(0, BULK_SAMPLE_MAX) }
  }
  const { filter } = target
  return searchInTurn({ ...looker, team }, (inTurn) => look(engine, inTurn, { ...preview, filter }))
}

async function look(
  engine: Engine,
  inTurn: InTurn,
  { team, order, filter, createdBeforeMs }: Preview & { readonly filter: JobFilter },
): Promise<BulkPreview> {
  const shards =
    filter.queue === null
      ? engine.shards.map(({ shard }) => shard)
      : [shardOfQueue(engine, team, filter.queue).shard]
  const isMeant = isMeantBy(order.action, { createdAtMs: createdBeforeMs })
  const sample: number[] = []
  let [matched, searched, bytes] = [0, 0, 0]
  for (const shard of shards) {
    let from: string | null = null
    do {
      if (searched >= SEARCHED_MAX || bytes >= SEARCHED_BYTES_MAX) return { matched, isAtLeast: true, sample }
      const search: ShardSearch = {
        team,
        shard,
        filter,
        isMeant,
        createdBeforeMs,
        from,
        limit: FOUND_PER_CALL_MAX,
        bytesMax: SEARCHED_BYTES_MAX - bytes,
        inTurn,
      }
      const page: FoundPage = await searchShard(engine, search)
      matched += page.found.length
      // A search that finds its jobs at once counts as well, or this might never end.
      searched += Math.max(1, page.searched, page.found.length)
      bytes += page.bytes
      sample.push(...page.found.slice(0, BULK_SAMPLE_MAX - sample.length).map(({ jobId }) => jobId))
      from = page.next
    } while (from !== null)
  }
  return { matched, isAtLeast: false, sample }
}
