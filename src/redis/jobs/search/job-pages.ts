import type { CostGate } from '../../../domain/shares/cost-gate.ts'
import { LIST_LIMIT_DEFAULT } from '../../../domain/limits.ts'
import type { JobListPage, JobListQuery, ListedJob } from '../../../ports/jobs.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { formatJobCursor, type ListPosition, parseJobCursor } from './job-cursor.ts'
import { readSection } from './sections/read-section.ts'
import { queuesFrom } from './listed-queues.ts'
import { readFirst, type ReadPart, type ReadSections, type Sections, walkQueues } from './queue-walk.ts'
import { SearchBudget, SEARCHED_RECORDS_MAX } from './sections/search-budget.ts'
import { listNewest } from './newest/list-newest.ts'
import { parseNewestCursor } from './newest/newest-cursor.ts'
import { searchInTurn } from './search-visit.ts'
import { FIRST_SPOTS, type AskedSection, type Room, type SectionPage } from './sections/section-page.ts'
import { isNarrow } from './sections/sections.ts'

/** After this many records a request without further filters answers what it has found, and a cursor. */
const LISTED_RECORDS_MAX = 5_000
/** At most this many sections are read together. */
const READ_TOGETHER = 16

/** Lists jobs; where it must look through records, the gate bounds how many such requests there are. */
export async function listJobs(
  engine: Engine,
  query: JobListQuery,
  gate: CostGate | null,
): Promise<JobListPage | 'bad_cursor' | 'too_many_searches' | 'too_many_queues'> {
  const { cursor, order } = query
  const isByTime = order === 'newest' || order === 'oldest'
  if (cursor === null) {
    if (isByTime) return listNewest(engine, { query, order, from: null, gate })
    return listByQueue(engine, query, { from: null, gate })
  }
  const byTime = parseNewestCursor(query, cursor)
  if (byTime !== null && (order === undefined || order === byTime.order)) {
    return listNewest(engine, { query, order: byTime.order, from: byTime.position, gate })
  }
  const from = parseJobCursor(query, cursor)
  if (from === null || isByTime) return 'bad_cursor'
  return listByQueue(engine, query, { from, gate })
}

async function listByQueue(
  engine: Engine,
  query: JobListQuery,
  { from, gate }: { readonly from: ListPosition | null; readonly gate: CostGate | null },
): Promise<JobListPage | 'too_many_searches'> {
  const { team, filter, limit } = query
  const walk = async (budget: SearchBudget, read: ReadSections) => {
    const { jobs, next } = await walkQueues(engine, {
      filter,
      limit,
      from,
      budget,
      read,
      firstSpots: FIRST_SPOTS,
      queuesFrom: (position) => queuesFrom(engine, query, position),
    })
    return { jobs, nextCursor: next === null ? null : formatJobCursor(query, next) }
  }
  if (!isNarrow(filter)) {
    // A short page is so little work that it takes no turn.
    return searchInTurn(
      { team, gate: limit > LIST_LIMIT_DEFAULT ? gate : null, signal: query.signal },
      async (inTurn) => {
        const budget = new SearchBudget(LISTED_RECORDS_MAX)
        const page = await walk(budget, (sections, room) =>
          inTurn(() => readTogether(engine, sections, { room, budget })),
        )
        return { ...page, searched: null }
      },
    )
  }
  return searchInTurn({ team, gate, signal: query.signal }, async (inTurn) => {
    const budget = new SearchBudget(SEARCHED_RECORDS_MAX)
    const page = await walk(budget, (sections, room) =>
      inTurn(() => readFirst(engine, sections, { room, budget })),
    )
    return { ...page, searched: budget.searched }
  })
}

/**
 * Reads as many sections at once as fill the page when all their jobs are listed, so that many queues with few jobs
 * take few round trips.
 */
async function readTogether(engine: Engine, sections: Sections, { room, budget }: Room): Promise<ReadPart> {
  let left = room
  const reads: Array<Promise<SectionPage>> = []
  for (const asked of sections.slice(0, READ_TOGETHER)) {
    if (left <= 0) break
    // No more is read than was counted, because jobs that arrive meanwhile must not make the page too long.
    reads.push(readSection(engine, asked, { room: Math.min(left, asked.count), budget }))
    left -= asked.count
  }
  const jobs: ListedJob[] = []
  const pages = await Promise.all(reads)
  for (const [i, page] of pages.entries()) {
    jobs.push(...page.jobs)
    if (page.next !== null) return { jobs, rest: restFrom(sections, i, page.next) }
  }
  return { jobs, rest: sections.slice(pages.length) }
}

function restFrom(sections: Sections, at: number, spot: AskedSection['spot']): AskedSection[] {
  return sections.slice(at).map((asked, i) => (i === 0 ? { ...asked, spot } : asked))
}
