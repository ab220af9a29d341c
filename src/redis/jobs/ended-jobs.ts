import type { JobChain, JobStatus } from '../../domain/jobs/job.ts'
import type { JobListQuery, ListedJob } from '../../ports/jobs.ts'
import { chainOf, finishedChain, unlessDamaged } from '../chains/chain-reader.ts'
import type { Engine } from '../client/engine.ts'
import { decodeRecord } from '../layout/job-record.ts'
import { damagedRow, type AskedSection, type SectionPage } from './section-page.ts'

/** Entries still to list, counted from the oldest, so that new entries do not shift the page; some may be gone by now. */
interface Left {
  readonly left: number
  readonly room: number
}

/** Newest first. */
export async function readDeadLetters(
  engine: Engine,
  { queue }: AskedSection,
  { left, room }: Left,
): Promise<SectionPage> {
  const k = queue.keys.queue(queue.localId)
  const { runner } = engine
  const to = Math.min(left, await runner.read((redis) => redis.zcard(k.deadLetters)))
  if (to === 0) return { jobs: [], examined: 1, next: null }
  const from = Math.max(0, to - room)
  const roots = await runner.read((redis) => redis.zrange(k.deadLetters, String(from), String(to - 1)))
  const bodies =
    roots.length === 0 ? [] : await runner.read((redis) => redis.hmget(k.deadLetterRecords, ...roots))
  const jobs = roots.flatMap((root, i): ListedJob[] => {
    const body = bodies[i]
    if (body === undefined || body === null) return []
    const rootId = Number(root)
    return unlessDamaged(
      () => {
        const record = decodeRecord(body, null)
        return [{ jobId: rootId, chain: chainOf(engine, queue, { rootId, record, open: null, calls: [] }) }]
      },
      () => damagedRow(engine, queue, { jobId: rootId, text: body }),
    )
  })
  return {
    jobs: jobs.reverse(),
    examined: roots.length + 1,
    next: from === 0 ? null : { kind: 'left', left: from },
  }
}

/** Newest first. */
export async function readFinished(
  engine: Engine,
  { queue, status }: AskedSection,
  { left, room }: Left,
): Promise<SectionPage> {
  const k = queue.keys.queue(queue.localId)
  const { runner } = engine
  const from = Math.min(left, await runner.read((redis) => redis.llen(k.history)))
  if (from === 0) return { jobs: [], examined: 1, next: null }
  const to = Math.max(0, from - room)
  const roots = await runner.read((redis) => redis.lrange(k.history, -from, -to - 1))
  const texts = roots.length === 0 ? [] : await runner.read((redis) => redis.hmget(k.summaries, ...roots))
  const jobs = roots.flatMap((root, i): ListedJob[] => {
    const text = texts[i]
    if (text === undefined || text === null) return []
    return unlessDamaged(
      () => {
        const chain = finishedChain(engine, queue, { rootId: Number(root), text, calls: [] })
        return finishedRow(engine, chain, status)
      },
      () => [],
    )
  })
  return { jobs, examined: roots.length + 1, next: to === 0 ? null : { kind: 'left', left: to } }
}

/** A chain that succeeded at a retry is listed twice: as completed by its last job, as failed by its original. */
function finishedRow(engine: Engine, chain: JobChain, status: JobListQuery['status']): ListedJob[] {
  const { rootId, end, attempts } = chain
  if (status === 'completed') {
    const { jobIds } = engine
    const jobId = jobIds.idOf(jobIds.shardOf(rootId), jobIds.seqOf(rootId), attempts.length)
    return end === 'success' ? [{ jobId, chain }] : []
  }
  const jobStatus: JobStatus = end === 'success' && attempts.length === 1 ? 'completed' : 'failed'
  return status === null || status === jobStatus ? [{ jobId: rootId, chain }] : []
}
