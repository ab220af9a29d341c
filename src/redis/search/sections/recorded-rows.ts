import { asksForEnd, matchingJob } from '../../../domain/jobs/job-match.ts'
import type { JobChain } from '../../../domain/jobs/job.ts'
import type { ListedJob } from '../../../ports/jobs.ts'
import { unlessDamaged } from '../../chains/chain-reader.ts'
import type { Engine } from '../../client/engine.ts'
import { mapInPieces } from '../../layout/pieces.ts'
import { decodeRecord, isFirstAttempt, type JobRecord } from '../../layout/job-record.ts'
import { type LargeChain, rowsByPayload } from './payload-look.ts'
import type { SearchBudget } from './search-budget.ts'
import { damagedRow, type AskedSection } from './section-page.ts'

/** A job and its record; null when it has gone since it was seen. */
export interface SeenJob {
  readonly id: number
  readonly text: string | null
}

interface SeenJobs {
  readonly jobs: readonly SeenJob[]
  readonly budget: SearchBudget
  readonly chainWith: (job: { readonly id: number; readonly at: number }, record: JobRecord) => JobChain
}

/** In the order of jobs, null for one that does not match. They end early where payloads are too large to look at all. */
export type Rows = ReadonlyArray<ListedJob | null>

/** The rows of jobs with records, at least of the first one. */
export async function recordedRows(
  engine: Engine,
  asked: AskedSection,
  { jobs, budget, chainWith }: SeenJobs,
): Promise<Rows> {
  const { jobIds } = engine
  const cannotMatch = noMatchTest(asked)
  const large: LargeChain[] = []
  let bytes = 0
  const rows = await mapInPieces(jobs, charactersOf, ({ id, text }, at): ListedJob | null => {
    if (text === null) return null
    bytes += text.length
    if (cannotMatch(text)) return null
    return unlessDamaged(
      () => {
        const record = decodeRecord(text, null)
        const chain = chainWith({ id, at }, record)
        const jobId = matchingJob(asked.filter, chain, jobIds)
        if (jobId === null && record.isLarge) large.push({ at, chain, text })
        return jobId === null ? null : { jobId, chain }
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

function charactersOf({ text }: SeenJob): number {
  return text?.length ?? 0
}

/** A record of a first attempt has no ended job to show: where one is asked for, it need not be read. */
function noMatchTest({ section, filter }: AskedSection): (text: string) => boolean {
  const isEndedAsked = filter.status === 'failed' || (filter.status === null && asksForEnd(filter))
  return section === 'open' && isEndedAsked ? isFirstAttempt : () => false
}
