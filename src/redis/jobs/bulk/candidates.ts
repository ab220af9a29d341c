import type { BulkAction, BulkFailureReason } from '../../../domain/bulk/bulk.ts'
import type { JobChain } from '../../../domain/jobs/job.ts'
import { knownQueue } from '../../base/names/known-queue.ts'
import { shardKeys, type Engine } from '../../base/engine/engine.ts'
import type { BulkPart, BulkRecord } from '../../base/layout/bulk-record.ts'
import { indexPlace } from '../../base/layout/keys.ts'
import type { PageJob } from '../mending/pages/page-rows.ts'
import { searchShard } from '../search/search-shard.ts'
import type { BulkRef } from './records/bulk-steps.ts'

/** The clocks by which a job ends and a bulk is created may differ by this much. */
const CLOCKS_APART_MS = 1_000

/** A job that a page is to act on. */
export interface Candidate extends PageJob {
  /** Where its chain was; null = only its id is known. */
  readonly section: 'open' | 'dead' | 'finished' | null
}

/** A job of which it is known before the step that nothing can be done to it. */
export interface Misfit {
  readonly jobId: number
  readonly reason: BulkFailureReason
  /** true = the job has changed since it was found. */
  readonly isChange: boolean
}

export interface CandidatePage {
  readonly candidates: readonly Candidate[]
  readonly misfits: readonly Misfit[]
  /** Where the page after this one begins; null = there is none. */
  readonly next: string | null
}

export interface CandidateQuery {
  readonly ref: BulkRef
  readonly bulk: BulkRecord
  readonly part: BulkPart
  readonly shard: number
  readonly limit: number
  /** Called between the steps of a search, which may take longer than the lock lasts. */
  keepLock(): Promise<unknown>
}

/**
 * Tells which of the chains that a filter finds the action is for. A filter cannot ask for all of that: a retried chain
 * still says that it has failed, so a bulk would find again what it has retried. Of what has ended, only that is meant
 * which had ended when the bulk was created: one that is resumed days later goes on with what was left of it.
 */
export function isMeantBy(
  action: BulkAction,
  { createdAtMs }: { readonly createdAtMs: number },
): (chain: JobChain) => boolean {
  const hadEnded = ({ attempts }: JobChain) =>
    (attempts.at(-1)?.completedAtMs ?? 0) <= createdAtMs + CLOCKS_APART_MS
  if (action === 'replay' || action === 'purge') return hadEnded
  if (action !== 'retry') return () => true
  return (chain) =>
    chain.open === null && chain.end !== 'success' && chain.replayedAs === null && hadEnded(chain)
}

/**
 * Finds the next jobs of a part. From the same position and with a smaller limit it finds fewer of the same, unless
 * they have changed.
 */
export async function findCandidates(engine: Engine, query: CandidateQuery): Promise<CandidatePage> {
  return query.bulk.filter === null ? namedCandidates(engine, query) : searchedCandidates(engine, query)
}

interface Located {
  readonly jobId: number
  readonly localId: string | null
  readonly section: Candidate['section']
}

/** The position is the number of ids that were worked off. */
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

/** The position is that of the search. */
async function searchedCandidates(engine: Engine, query: CandidateQuery): Promise<CandidatePage> {
  const { ref, bulk, part, shard, limit, keepLock } = query
  if (bulk.filter === null) throw new Error('a bulk of ids is not searched')
  const page = await searchShard(engine, {
    team: ref.team,
    shard,
    filter: bulk.filter,
    limit,
    isMeant: isMeantBy(bulk.action, bulk),
    createdBeforeMs: bulk.createdAtMs,
    from: part.place === '' ? null : part.place,
    inTurn: async (step) => {
      await keepLock()
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
      // In a bulk with a filter this means that the queue was deleted meanwhile.
      misfits.push({ jobId, reason: 'not_found', isChange: true })
    }
  }
  return { candidates, misfits }
}
