import type { JobFilter } from '../../../domain/jobs/job-filter.ts'
import type { JobChain } from '../../../domain/jobs/job.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { formatPosition, parsePosition } from './job-cursor.ts'
import { queuesOfShard } from './listed-queues.ts'
import { readFirst, walkQueues } from './queue-walk.ts'
import type { InTurn } from './search-visit.ts'
import { SearchBudget } from './sections/search-budget.ts'
import { FIRST_SCAN, FIRST_SPOTS } from './sections/section-page.ts'

export interface ShardSearch {
  readonly team: string
  readonly shard: number
  readonly filter: JobFilter
  /** Selects chains beside the filter; absent = every chain. */
  readonly isMeant?: (chain: JobChain) => boolean
  /** Only chains are wanted whose original was created before this, in Unix ms of Redis. */
  readonly createdBeforeMs: number
  /** `next` of the page before; null = from the beginning. */
  readonly from: string | null
  /** How many jobs to find at most. */
  readonly limit: number
  /** How many bytes to look at; absent = as many as a list may. A step may exceed it by what it reads. */
  readonly bytesMax?: number
  /** Runs each step that looks through records; absent = each runs at once. */
  readonly inTurn?: InTurn
}

export interface FoundJob {
  readonly jobId: number
  readonly rootId: number
  /** The local id of its queue. */
  readonly localId: string
  /** Where its chain was: among jobs not ended, dead letters or finished chains. */
  readonly section: 'open' | 'dead' | 'finished'
}

export interface FoundPage {
  readonly found: readonly FoundJob[]
  /**
   * Where the search goes on; null = it is at the end. It stays right while jobs found earlier are deleted. A page may
   * be empty before the end, as a call looks at a bounded number of records.
   */
  readonly next: string | null
  /** How many records were looked at. */
  readonly searched: number
  /** The bytes of these records and of their payloads. */
  readonly bytes: number
}

/** One call looks at at most this many records. */
const SEARCHED_PER_CALL_MAX = 5_000

/** Jobs that have not ended come in no order, because to order them all of them would have to be read. */
const SPOTS = { ...FIRST_SPOTS, open: FIRST_SCAN }

/**
 * Finds a team's jobs in the queues of one shard, each once. Only a job that moves to another section meanwhile, or is
 * in a large queue whose hash shrinks, may come twice. Throws StoreUnavailableError.
 */
export async function searchShard(engine: Engine, search: ShardSearch): Promise<FoundPage> {
  const { filter, createdBeforeMs, limit, isMeant = () => true, inTurn = (step) => step() } = search
  const from = search.from === null ? null : parsePosition(search.from)
  if (from === null && search.from !== null) throw new Error(`not a place of a search: ${search.from}`)
  const budget = new SearchBudget(SEARCHED_PER_CALL_MAX, search.bytesMax)
  const found = new Map<number, FoundJob>()
  const { next } = await walkQueues(engine, {
    filter,
    limit,
    from,
    budget,
    firstSpots: SPOTS,
    queuesFrom: (position) => queuesOfShard(engine, search, position),
    read: async (sections, room) => {
      const part = await inTurn(() => readFirst(engine, sections, { room, budget }))
      const [{ queue, section }] = sections
      const jobs = part.jobs.filter(({ chain }) => createdAtMs(chain) < createdBeforeMs && isMeant(chain))
      for (const { jobId, chain } of jobs) {
        found.set(jobId, { jobId, rootId: chain.rootId, localId: queue.localId, section })
      }
      return { jobs, rest: part.rest }
    },
  })
  return {
    found: [...found.values()],
    next: next === null ? null : formatPosition(next),
    searched: budget.searched,
    bytes: budget.bytes,
  }
}

function createdAtMs({ attempts, open }: JobChain): number {
  return attempts[0]?.createdAtMs ?? open?.createdAtMs ?? 0
}
