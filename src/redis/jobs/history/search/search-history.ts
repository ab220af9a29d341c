import type { JobFilter } from '../../../../domain/jobs/job-filter.ts'
import { holdsNeedle, needlesOf } from '../../../../domain/jobs/text-needles.ts'
import { matchingJob } from '../../../../domain/jobs/job-match.ts'
import type { CallRecord } from '../../../../domain/jobs/job.ts'
import type { ListedJob } from '../../../../ports/jobs.ts'
import { finishedChain, unlessDamaged } from '../../../ledger/chain-reader.ts'
import type { KnownQueue } from '../../../base/names/known-queue.ts'
import type { Engine } from '../../../base/engine/engine.ts'
import { mapInPieces } from '../../../base/layout/pieces.ts'
import { blockQuery } from '../blocks/block-match.ts'
import { lookAtHistory, readHistory, type FinishedEntry } from '../history-reads.ts'
import { keptCalls } from './kept-calls.ts'
import { SearchPlan } from './search-plan.ts'

/**
 * How many chains of a history are still to be searched, counted from the first that ever ended there: chains that end
 * later, trims and deletions do not move it.
 */
export type HistoryPlace = number

export interface HistoryPage {
  readonly jobs: ListedJob[]
  /** The ordinals of these jobs' chains. */
  readonly ordinals: number[]
  /** Where the search goes on; null = it is at the end. */
  readonly next: HistoryPlace | null
  /** How many summaries were looked at. */
  readonly searched: number
  /** The bytes of these summaries, and of call records that were read. */
  readonly bytes: number
}

/**
 * One search goes through blocks at most this many times, a thousand at a time at most, which are those of more than a
 * million chains.
 */
const LOOKS_MAX = 32

/**
 * Finds a queue's finished chains, from the newest on, each by the one job that a list under this filter shows of it.
 * Blocks tell where to look for ends, times, hosts, tags and crons; chains without a block, and text, are looked
 * through. A page may be short or empty before the end. Throws StoreUnavailableError.
 *
 * @param filter its queue does not count here
 * @param from `next` of the page before; null = from the newest chain on
 * @param bounds.limit how many jobs to find at most
 * @param bounds.examinedMax how many summaries to look at at most
 */
export async function searchHistory(
  engine: Engine,
  queue: KnownQueue,
  filter: JobFilter,
  from: HistoryPlace | null,
  { limit, examinedMax }: { readonly limit: number; readonly examinedMax: number },
): Promise<HistoryPage> {
  const jobs: ListedJob[] = []
  const ordinals: number[] = []
  if (filter.status === 'pending' || filter.status === 'processing')
    return { jobs, ordinals, next: null, searched: 0, bytes: 0 }
  const { oldest: first, stop, sealedTo } = await lookAtHistory(engine, queue)
  let [oldest, place, searched] = [first, Math.min(from ?? stop, stop), 0]
  const plan = new SearchPlan(engine, queue, { filter, query: blockQuery(filter), sealedTo })
  let bytes = 0
  const judge = await historyJudge(engine, queue, { filter, onRead: (read) => (bytes += read) })
  while (place > oldest) {
    const room = examinedMax - searched
    if (jobs.length >= limit || room <= 0 || plan.looks >= LOOKS_MAX)
      return { jobs, ordinals, next: place, searched, bytes }
    const wanted = limit - jobs.length
    const { spans, after } = await plan.next(place, { room, wanted })
    place = after
    if (spans.length === 0) continue
    const look = await readHistory(engine, queue, { spans, wanted, needles: plan.needles })
    oldest = look.oldest
    place = look.stoppedAt ?? after
    searched += look.looked
    bytes += look.bytes
    const judged = await judge(look.entries)
    for (const [at, { entry, job }] of judged.entries()) {
      if (job !== null) {
        jobs.push(job)
        ordinals.push(entry.ordinal)
      }
      if (jobs.length < limit) continue
      place = entry.ordinal
      // The next page looks at these again, so they do not count here.
      searched -= judged.length - at - 1
      break
    }
  }
  return { jobs, ordinals, next: null, searched, bytes }
}

type Judge = (
  entries: readonly FinishedEntry[],
) => Promise<Array<{ entry: FinishedEntry; job: ListedJob | null }>>

/** Makes what finds the job that a list under this filter shows of each chain, if there is one. */
export async function historyJudge(
  engine: Engine,
  queue: KnownQueue,
  { filter, onRead }: { readonly filter: JobFilter; readonly onRead: (bytes: number) => void },
): Promise<Judge> {
  const callsOf = await keptCalls(engine, queue, { filter, onRead })
  const needles = filter.text === null ? null : needlesOf(filter.text)
  const jobOf = ({ root, text }: FinishedEntry, calls: readonly CallRecord[]): ListedJob | null => {
    // Testing the text is cheaper than reading it, as most do not match.
    if (text === null || (needles !== null && calls.length === 0 && !holdsNeedle(text, needles))) return null
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
    return mapInPieces(entries, charactersOf, (entry) => {
      return { entry, job: jobOf(entry, calls.get(entry.root) ?? []) }
    })
  }
}

function charactersOf({ text }: FinishedEntry): number {
  return text?.length ?? 0
}
