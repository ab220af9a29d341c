import type { BulkAction, BulkFailureReason } from '../../../domain/bulk/bulk.ts'
import type { JobChain } from '../../../domain/jobs/job.ts'
import { type KnownQueue, knownQueue } from '../../chains/known-queue.ts'
import { shardKeys, type Engine } from '../../client/engine.ts'
import type { BulkPart, BulkRecord } from '../../layout/bulk-record.ts'
import { indexPlace } from '../../layout/keys.ts'
import { searchShard } from '../../search/search-shard.ts'
import type { BulkRef } from '../records/bulk-steps.ts'

/** A job that a page is to act on. */
export interface Candidate {
  readonly jobId: number
  readonly rootId: number
  readonly queue: KnownQueue
  /** Where its chain was; null when only its id is known. */
  readonly section: 'open' | 'dead' | 'finished' | null
}

/** A job that nothing can be done to, as is known before the step. */
export interface Misfit {
  readonly jobId: number
  readonly reason: BulkFailureReason
  /** It has changed since it was found. */
  readonly isChange: boolean
}

export interface CandidatePage {
  readonly candidates: readonly Candidate[]
  readonly misfits: readonly Misfit[]
  /** Of the page after it; null = there is none. */
  readonly next: string | null
}

export interface CandidateQuery {
  readonly ref: BulkRef
  readonly bulk: BulkRecord
  readonly part: BulkPart
  readonly shard: number
  readonly limit: number
  /** Called between the steps of a search, which may take longer than a turn. */
  keepTurn(): Promise<unknown>
}

/**
 * Which of the chains that a filter finds an action is for. A filter cannot ask for all of it: a retried chain still says
 * that it has failed, so a bulk would find again what it has retried.
 */
export function isMeantBy(action: BulkAction): (chain: JobChain) => boolean {
  if (action !== 'retry') return () => true
  return ({ open, end, replayedAs }) => open === null && end !== 'success' && replayedAs === null
}

/** The next jobs of a part. With the same place and a smaller limit, fewer of the same unless they have changed. */
export async function findCandidates(engine: Engine, query: CandidateQuery): Promise<CandidatePage> {
  return query.bulk.filter === null ? namedCandidates(engine, query) : searchedCandidates(engine, query)
}

interface Located {
  readonly jobId: number
  readonly localId: string | null
  readonly section: Candidate['section']
}

/** The place is the number of ids that were worked off. */
async function namedCandidates(engine: Engine, query: CandidateQuery): Promise<CandidatePage> {
  const { part, shard, limit } = query
  const keys = shardKeys(engine, shard)
  const from = Number(part.place)
  const ids = part.ids.slice(from, from + limit)
  const localIds = await engine.runner.read((redis) =>
    Promise.all(
      ids.map((jobId) => {
        const { block, field } = indexPlace(engine.jobIds.seqOf(jobId))
        return redis.hget(keys.jobIndex(block), field)
      }),
    ),
  )
  const located = ids.map((jobId, i) => ({ jobId, localId: localIds[i] ?? null, section: null }))
  const next = from + ids.length < part.ids.length ? String(from + ids.length) : null
  return { ...(await sorted(engine, query, located)), next }
}

/** The place is that of the search. */
async function searchedCandidates(engine: Engine, query: CandidateQuery): Promise<CandidatePage> {
  const { ref, bulk, part, shard, limit, keepTurn } = query
  if (bulk.filter === null) throw new Error('a bulk of ids is not searched')
  const page = await searchShard(engine, {
    ...{ team: ref.team, shard, filter: bulk.filter, limit },
    isMeant: isMeantBy(bulk.action),
    createdBeforeMs: bulk.createdAtMs,
    from: part.place === '' ? null : part.place,
    inTurn: async (step) => {
      await keepTurn()
      return step()
    },
  })
  return { ...(await sorted(engine, query, page.found)), next: page.next }
}

async function sorted(
  engine: Engine,
  { ref, shard }: CandidateQuery,
  located: readonly Located[],
): Promise<Pick<CandidatePage, 'candidates' | 'misfits'>> {
  const keys = shardKeys(engine, shard)
  const localIds = [...new Set(located.flatMap(({ localId }) => localId ?? []))]
  const known = await Promise.all(localIds.map((localId) => knownQueue(engine, keys, localId)))
  const queues = new Map(localIds.map((localId, i) => [localId, known[i] ?? null]))
  const candidates: Candidate[] = []
  const misfits: Misfit[] = []
  for (const { jobId, localId, section } of located) {
    const queue = localId === null ? null : (queues.get(localId) ?? null)
    if (queue?.team === ref.team) {
      candidates.push({ jobId, rootId: engine.jobIds.rootOf(jobId), queue, section })
    } else {
      // Of a bulk with a filter, the queue was deleted meanwhile.
      misfits.push({ jobId, reason: 'not_found', isChange: true })
    }
  }
  return { candidates, misfits }
}
