import { matchingJob } from '../../../../domain/jobs/job-match.ts'
import type { JobChain } from '../../../../domain/jobs/job.ts'
import { ATTEMPTS_PER_CHAIN } from '../../../../domain/jobs/job-ids.ts'
import type { JobListPage, JobListQuery, ListedJob } from '../../../../ports/jobs.ts'
import { chainOf, finishedChain, toOpenAttempt, unlessDamaged } from '../../../ledger/chain-reader.ts'
import { damagedChain } from '../../../ledger/damaged-chain.ts'
import { shardKeys, type Engine } from '../../../base/engine/engine.ts'
import { decodeRecord } from '../../../base/layout/job-record.ts'
import type { KnownQueue } from '../../../base/names/known-queue.ts'
import { formatJobPlace, parseJobPlace } from '../../search/job-cursor.ts'
import { partMember } from '../records/bulk-steps.ts'
import { locateJobs } from './located-jobs.ts'

/** Jobs that are read together. */
const READ_AT_ONCE = 100
/** A page ends after so many jobs of the bulk, whether the other filters find them or not. */
const LOOKED_MAX = 2_000

/** Where a page begins: a shard, and how many of the bulk's jobs there came before. */
interface Place {
  readonly shard: number
  readonly from: number
}

/** Lists the jobs that a bulk made or fired, by its own list of them: shard by shard, the first one first. */
export async function listBulkJobs(
  engine: Engine,
  query: JobListQuery & { readonly bulkId: number },
): Promise<JobListPage | 'bad_cursor'> {
  const begin = query.cursor === null ? { shard: 0, from: 0 } : placeIn(query, query.cursor)
  if (begin === null) return 'bad_cursor'
  const jobs: ListedJob[] = []
  let place: Place | null = begin
  let looked = 0
  while (place !== null && jobs.length < query.limit && looked < LOOKED_MAX) {
    const wanted = Math.min(READ_AT_ONCE, query.limit - jobs.length)
    const ids = await idsAt(engine, query, place, wanted)
    jobs.push(...(await rowsOf(engine, query, { shard: place.shard, ids })))
    looked += ids.length
    place = placeAfter(engine, place, ids.length < wanted ? 'end' : ids.length)
  }
  return {
    jobs,
    nextCursor: place === null ? null : formatJobPlace(query, `${place.shard}.${place.from}`),
    searched: looked,
  }
}

function placeIn(query: JobListQuery, cursor: string): Place | null {
  const [, shard, from] = /^(\d{1,4})\.(\d{1,9})$/.exec(parseJobPlace(query, cursor) ?? '') ?? []
  return shard === undefined ? null : { shard: Number(shard), from: Number(from) }
}

function placeAfter(engine: Engine, { shard, from }: Place, read: number | 'end'): Place | null {
  if (read !== 'end') return { shard, from: from + read }
  return shard + 1 < engine.shards.length ? { shard: shard + 1, from: 0 } : null
}

async function idsAt(
  engine: Engine,
  { team, bulkId }: { readonly team: string; readonly bulkId: number },
  { shard, from }: Place,
  wanted: number,
): Promise<number[]> {
  if (shard >= engine.shards.length) return []
  const key = shardKeys(engine, shard).bulkJobs(partMember({ team, id: bulkId }))
  const texts = await engine.runner.read((redis) =>
    redis.lrange(key, String(from), String(from + wanted - 1)),
  )
  return texts.map(Number)
}

async function rowsOf(
  engine: Engine,
  { team, queues, filter }: JobListQuery,
  { shard, ids }: { readonly shard: number; readonly ids: readonly number[] },
): Promise<ListedJob[]> {
  const located = await locateJobs(engine, shard, ids)
  const chains = await Promise.all(
    located.map(async ({ jobId, queue }) => {
      if (queue === null || queue.team !== team || queues?.has(queue.name) === false) return null
      return listedChain(engine, queue, engine.jobIds.rootOf(jobId))
    }),
  )
  return chains.flatMap((chain) => {
    if (chain === null) return []
    // The list itself says that they are of the bulk, and a job that was fired does not.
    const jobId = matchingJob({ ...filter, bulkId: null }, chain, engine.jobIds)
    return jobId === null ? [] : [{ jobId, chain }]
  })
}

/** Reads a chain as lists show it: without its call records and the tail of a large request. */
async function listedChain(engine: Engine, queue: KnownQueue, rootId: number): Promise<JobChain | null> {
  const { records, inFlight, deadLetterRecords, summaries } = queue.keys.queue(queue.localId)
  const { jobIds } = engine
  const ids = Array.from({ length: ATTEMPTS_PER_CHAIN }, (_, i) =>
    String(jobIds.idOf(queue.keys.shard, jobIds.seqOf(rootId), i + 1)),
  )
  const [open, deadlines, dead, finished] = await engine.runner.read((redis) =>
    Promise.all([
      redis.hmget(records, ...ids),
      redis.zmscore(inFlight, ...ids),
      redis.hget(deadLetterRecords, String(rootId)),
      redis.hget(summaries, String(rootId)),
    ]),
  )
  const at = open.findIndex((body) => body !== null)
  const text = open[at] ?? dead
  const damaged = (body: string, attempt: number) =>
    damagedChain(engine, queue, { rootId, attempt, text: body, calls: [], end: 'dead_lettered' })
  if (text !== null) {
    return unlessDamaged(
      () => {
        const record = decodeRecord(text, null)
        const attempt = at === -1 ? null : toOpenAttempt(record, deadlines[at] ?? null)
        return chainOf(engine, queue, { rootId, record, open: attempt, calls: [] })
      },
      () => damaged(text, at === -1 ? 1 : at + 1),
    )
  }
  if (finished === null) return null
  return unlessDamaged(
    () => finishedChain(engine, queue, { rootId, text: finished, calls: [] }),
    () => damaged(finished, 1),
  )
}
