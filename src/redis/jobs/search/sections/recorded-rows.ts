import { asksForEnd, matchingJob } from '../../../../domain/jobs/job-match.ts'
import type { CallRecord, JobChain } from '../../../../domain/jobs/job.ts'
import type { ListedJob } from '../../../../ports/jobs.ts'
import { unlessDamaged } from '../../../ledger/chain-reader.ts'
import type { Engine } from '../../../base/engine/engine.ts'
import { keptCalls } from '../../history/search/kept-calls.ts'
import { mapInPieces } from '../../../base/layout/pieces.ts'
import { decodeRecord, isFirstAttempt, type JobRecord } from '../../../base/layout/job-record.ts'
import { type LargeChain, rowsByPayload } from './payload-look.ts'
import type { SearchBudget } from './search-budget.ts'
import { damagedRow, type SectionOfQueue } from './section-page.ts'

/** A job and its record; null = it has gone since it was seen. */
export interface SeenJob {
  readonly id: number
  readonly text: string | null
}

interface SeenJobs {
  readonly jobs: readonly SeenJob[]
  readonly budget: SearchBudget
  readonly chainWith: (job: { readonly id: number; readonly at: number }, record: JobRecord) => JobChain
}

/**
 * The rows in the order of jobs; null = the job does not match. They end early where payloads are too large to look at
 * all.
 */
export type Rows = ReadonlyArray<ListedJob | null>

/** Reads the rows of jobs with records, at least that of the first one. */
export async function recordedRows(
  engine: Engine,
  asked: SectionOfQueue,
  { jobs, budget, chainWith }: SeenJobs,
): Promise<Rows> {
  const { jobIds } = engine
  const cannotMatch = noMatchTest(asked)
  const large: LargeChain[] = []
  let bytes = 0
  const callsOf = await callReader(engine, asked, { jobs, onRead: (read) => (bytes += read) })
  const rows = await mapInPieces(jobs, charactersOf, ({ id, text }, at): ListedJob | null => {
    if (text === null) return null
    bytes += text.length
    if (cannotMatch(text)) return null
    return unlessDamaged(
      () => {
        const record = decodeRecord(text, null)
        const bare = chainWith({ id, at }, record)
        const chain = { ...bare, calls: callsOf(bare.rootId) }
        const jobId = matchingJob(asked.filter, chain, jobIds)
        if (jobId === null && record.isLarge) large.push({ at, chain: bare, text })
        return jobId === null ? null : { jobId, chain: bare }
      },
      () => damagedRow(engine, asked, { jobId: id, text }),
    )
  })
  budget.spend(jobs.length, bytes)
  if (asked.filter.text === null || large.length === 0) return rows
  const { found, undecidedAt } = await rowsByPayload(engine, asked, { large, budget })
  for (const { at, row } of found) rows[at] = row
  return undecidedAt === null ? rows : rows.slice(0, undecidedAt)
}

/** Reads the call records of the jobs' chains, as far as a search for a text needs them. */
async function callReader(
  engine: Engine,
  { queue, filter }: SectionOfQueue,
  { jobs, onRead }: { readonly jobs: readonly SeenJob[]; readonly onRead: (bytes: number) => void },
): Promise<(rootId: number) => readonly CallRecord[]> {
  if (filter.text === null) return () => []
  const read = await keptCalls(engine, queue, { filter, onRead })
  const calls = await read([...new Set(jobs.map(({ id }) => String(engine.jobIds.rootOf(id))))])
  return (rootId) => calls.get(String(rootId)) ?? []
}

function charactersOf({ text }: SeenJob): number {
  return text?.length ?? 0
}

/** A record of a first attempt has no ended job to show, so it need not be read where an ended job is asked for. */
function noMatchTest({ section, filter }: SectionOfQueue): (text: string) => boolean {
  const isEndedAsked = filter.status === 'failed' || (filter.status === null && asksForEnd(filter))
  return section === 'open' && isEndedAsked ? isFirstAttempt : () => false
}
