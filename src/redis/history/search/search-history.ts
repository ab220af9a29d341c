import type { JobFilter } from '../../../domain/jobs/job-filter.ts'
import { matchingJob } from '../../../domain/jobs/job-match.ts'
import type { CallRecord } from '../../../domain/jobs/job.ts'
import type { ListedJob } from '../../../ports/jobs.ts'
import { finishedChain, unlessDamaged } from '../../chains/chain-reader.ts'
import type { KnownQueue } from '../../chains/known-queue.ts'
import type { Engine } from '../../client/engine.ts'
import { blockQuery } from '../blocks/block-match.ts'
import { readHistory, type FinishedEntry } from '../history-reads.ts'
import { keptCalls, summaryTest } from './kept-calls.ts'
import { SearchPlan } from './search-plan.ts'

/**
 * How many chains of a history are still to be searched, counted from the first that ever ended there: chains that end
 * later, trims and deletions do not move it.
 */
export type HistoryPlace = number

export interface HistoryPage {
  readonly jobs: ListedJob[]
  /** Where the search goes on; null = at the end. */
  readonly next: HistoryPlace | null
  /** Summaries that were looked at. */
  readonly searched: number
  /** Of these summaries, and of call records that were read. */
  readonly bytes: number
}

/** Blocks that one search looks at, those of more than a million chains. */
const BLOCKS_MAX = 5_000

/**
 * Finds a queue's finished chains, newest end first, each by the one job that a list under this filter shows of it. Blocks
 * tell where to look for ends, times, hosts, tags and crons; chains without a block, and text, are looked through. A page
 * may be short or empty before the end. Throws StoreUnavailableError.
 *
 * @param filter the queue that it names is not looked at
 * @param from `next` of the page before; null = from the newest chain on
 * @param bounds.limit most jobs to find
 * @param bounds.examinedMax most summaries to look at
 */
export async function searchHistory(
  engine: Engine,
  queue: KnownQueue,
  filter: JobFilter,
  from: HistoryPlace | null,
  { limit, examinedMax }: { readonly limit: number; readonly examinedMax: number },
): Promise<HistoryPage> {
  const jobs: ListedJob[] = []
  if (filter.status === 'pending' || filter.status === 'processing')
    return { jobs, next: null, searched: 0, bytes: 0 }
  const { oldest: first, stop, sealedTo } = await readHistory(engine, queue, [])
  let [oldest, place, searched] = [first, Math.min(from ?? stop, stop), 0]
  const plan = new SearchPlan(engine, queue, { query: blockQuery(filter), sealedTo })
  let bytes = 0
  const judge = await judgeOf(engine, queue, filter, (read) => (bytes += read))
  while (place > oldest) {
    const room = examinedMax - searched
    if (jobs.length >= limit || room <= 0 || plan.blocks >= BLOCKS_MAX)
      return { jobs, next: place, searched, bytes }
    const piece = await plan.next(place, { room, wanted: limit - jobs.length })
    place = piece.after
    if (piece.spans.length === 0) continue
    const look = await readHistory(engine, queue, piece.spans)
    oldest = look.oldest
    for (const { entry, job } of await judge(look.entries)) {
      searched += 1
      bytes += entry.text?.length ?? 0
      if (job !== null) jobs.push(job)
      if (jobs.length < limit) continue
      place = entry.ordinal
      break
    }
  }
  return { jobs, next: null, searched, bytes }
}

type Judge = (
  entries: readonly FinishedEntry[],
) => Promise<Array<{ entry: FinishedEntry; job: ListedJob | null }>>

async function judgeOf(
  engine: Engine,
  queue: KnownQueue,
  filter: JobFilter,
  onRead: (bytes: number) => void,
): Promise<Judge> {
  const callsOf = await keptCalls(engine, queue, { filter, onRead })
  const mayMatch = summaryTest(filter)
  const jobOf = ({ root, text }: FinishedEntry, calls: readonly CallRecord[]): ListedJob | null => {
    if (text === null || (calls.length === 0 && !mayMatch(text))) return null
    return unlessDamaged(
      () => {
        const chain = finishedChain(engine, queue, { rootId: Number(root), text, calls })
        const jobId = matchingJob(filter, chain, engine.jobIds)
        return jobId === null ? null : { jobId, chain: { ...chain, calls: [] } }
      },
      () => null,
    )
  }
  return async (entries) => {
    const calls = await callsOf(entries.map(({ root }) => root))
    return entries.map((entry) => ({ entry, job: jobOf(entry, calls.get(entry.root) ?? []) }))
  }
}
