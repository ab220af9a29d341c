import { LIST_LIMIT_DEFAULT } from '../../../../domain/limits.ts'
import type { CostGate } from '../../../../domain/shares/cost-gate.ts'
import type { JobListPage, JobListQuery, ListedJob } from '../../../../ports/jobs.ts'
import type { KnownQueue } from '../../../base/names/known-queue.ts'
import type { Engine } from '../../../base/engine/engine.ts'
import type { ListPosition } from '../job-cursor.ts'
import { type ListedQueues, queuesFrom } from '../listed-queues.ts'
import { readFirst, walkQueues } from '../queue-walk.ts'
import { type InTurn, searchInTurn } from '../search-visit.ts'
import { SearchBudget, SEARCHED_RECORDS_MAX } from '../sections/search-budget.ts'
import { FIRST_SPOTS } from '../sections/section-page.ts'
import { isNarrow, sectionsOf } from '../sections/sections.ts'
import { endedBegin, mergeEnded, type EndedPosition } from './merge-ended.ts'
import { formatNewestCursor, type NewestPosition } from './newest-cursor.ts'
import { newestOpen, openSections, positionOf, SORTED_OPEN_MAX } from './newest-open.ts'
import type { TimeOrder } from './time-order.ts'

/** A list by time looks at each of its queues, so it has no more of them than this. */
const QUEUES_MAX = 10_000
/** Names of queues that are read together; a shard answers about half as many in a step. */
const NAMES_TOGETHER = 1_000

interface Part {
  readonly jobs: readonly ListedJob[]
  /** null = this is the end of the list. */
  readonly next: NewestPosition | null
}

interface Search {
  readonly query: JobListQuery
  readonly order: TimeOrder
  readonly queues: readonly KnownQueue[]
  readonly budget: SearchBudget
  readonly inTurn: InTurn
}

interface Asked {
  readonly query: JobListQuery
  readonly order: TimeOrder
  readonly from: NewestPosition | null
  readonly gate: CostGate | null
}

/**
 * Lists the jobs of all queues by time: those that have not ended, newest push first, then those that have, newest end
 * first; or the oldest first of both. Of more open jobs than can be put in order, all come last, queue by queue. No job is left out or comes twice
 * because others end, run or come meanwhile; one that ends moves to the front, as it would in the list read anew.
 */
export async function listNewest(
  engine: Engine,
  { query, order, from, gate }: Asked,
): Promise<JobListPage | 'too_many_searches' | 'too_many_queues'> {
  const { team, filter, limit } = query
  const isCheap = filter.queue !== null && !isNarrow(filter) && limit <= LIST_LIMIT_DEFAULT
  return searchInTurn({ team, gate: isCheap ? null : gate, signal: query.signal }, async (inTurn) => {
    const queues = await mergedQueues(engine, query, inTurn)
    if (queues === null) return 'too_many_queues'
    const budget = new SearchBudget(SEARCHED_RECORDS_MAX)
    const search: Search = { query, order, queues, budget, inTurn }
    const jobs = new Map<number, ListedJob>()
    let [next, isBegun]: [NewestPosition | null, boolean] = [from, false]
    while ((!isBegun || next !== null) && jobs.size < limit && (!isBegun || !budget.isSpent)) {
      const part: Part = await readPart(engine, search, { from: next, room: limit - jobs.size })
      for (const job of part.jobs) jobs.set(job.jobId, job)
      next = part.next
      isBegun = true
    }
    return {
      jobs: [...jobs.values()],
      nextCursor: next === null ? null : formatNewestCursor(query, { order, position: next }),
      searched: isNarrow(filter) ? budget.searched : null,
    }
  })
}

/** null = there are too many. */
async function mergedQueues(
  engine: Engine,
  query: JobListQuery,
  inTurn: InTurn,
): Promise<readonly KnownQueue[] | null> {
  const queues: KnownQueue[] = []
  const namesFrom = (from: ListPosition | null): Promise<ListedQueues> =>
    inTurn(() => queuesFrom(engine, { ...query, atOnce: NAMES_TOGETHER }, from))
  let page = await namesFrom(null)
  queues.push(...page.queues)
  while (page.last !== null && queues.length <= QUEUES_MAX) {
    page = await namesFrom({ queue: page.last, section: null })
    queues.push(...page.queues)
  }
  return queues.length > QUEUES_MAX ? null : queues
}

interface PartAsked {
  readonly from: NewestPosition | null
  readonly room: number
}

async function readPart(engine: Engine, search: Search, { from, room }: PartAsked): Promise<Part> {
  if (from === null || from.part === 'open') return readOpen(engine, search, { from: from?.at ?? null, room })
  if (from.part === 'ended') return readEnded(engine, search, { ...from, room })
  const { query, budget, inTurn } = search
  const { jobs, next } = await walkQueues(engine, {
    filter: query.filter,
    limit: room,
    from: from.at,
    budget,
    firstSpots: FIRST_SPOTS,
    sections: ['open'],
    queuesFrom: (position) => queuesFrom(engine, query, position),
    read: (sections, left) => inTurn(() => readFirst(engine, sections, { room: left, budget })),
  })
  return { jobs, next: next === null ? null : { part: 'walk', at: next } }
}

async function readOpen(
  engine: Engine,
  { query: { filter }, order, queues, budget, inTurn }: Search,
  {
    from,
    room,
  }: { readonly from: Extract<NewestPosition, { part: 'open' }>['at'] | null; readonly room: number },
): Promise<Part> {
  const sections = await openSections(engine, { queues, filter, inTurn })
  const count = sections.reduce((sum, section) => sum + section.count, 0)
  // Once a page was put in order, the list goes on so with twice as many.
  const isOpenLast = count > (from === null ? 1 : 2) * SORTED_OPEN_MAX
  const ended: Part['next'] = { part: 'ended', at: endedBegin(filter, order), isOpenLast }
  if (isOpenLast || sections.length === 0) return { jobs: [], next: ended }
  const jobs = await newestOpen(engine, sections, { budget, inTurn, order, from })
  const listed = jobs.slice(0, room)
  const last = listed.at(-1)
  if (last === undefined || listed.length === jobs.length) return { jobs: listed, next: ended }
  return { jobs: listed, next: { part: 'open', at: positionOf(last) } }
}

async function readEnded(
  engine: Engine,
  { query: { filter }, order, queues, budget, inTurn }: Search,
  {
    at,
    isOpenLast,
    room,
  }: { readonly at: EndedPosition; readonly isOpenLast: boolean; readonly room: number },
): Promise<Part> {
  const afterwards: Part['next'] = isOpenLast ? { part: 'walk', at: null } : null
  const hasEnded = sectionsOf(filter).some((section) => section !== 'open')
  if (!hasEnded) return { jobs: [], next: afterwards }
  const page = await mergeEnded(engine, { queues, filter, order, from: at, limit: room, budget, inTurn })
  return {
    jobs: page.jobs,
    next: page.next === null ? afterwards : { part: 'ended', at: page.next, isOpenLast },
  }
}
