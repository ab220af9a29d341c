import type { JobListQuery, ListedJob } from '../../ports/jobs.ts'
import type { KnownQueue } from '../chains/known-queue.ts'
import type { Engine } from '../client/engine.ts'
import {
  firstSpot,
  formatJobCursor,
  type ListPosition,
  parseJobCursor,
  sectionsOf,
  type Spot,
} from './job-cursor.ts'
import { countSection, readSection } from './job-sections.ts'
import type { AskedSection, SectionPage } from './section-page.ts'
import { queueNamed, teamNames } from '../names/team-names.ts'

/** After this many entries or queues, a request answers what it has found, and a cursor. */
const EXAMINED_ENTRIES_MAX = 5_000
const EXAMINED_QUEUES_MAX = 500
/** Queues whose sections are counted together, and sections that are read together. */
const COUNTED_TOGETHER = 100
const READ_TOGETHER = 16

interface JobPage {
  readonly jobs: ListedJob[]
  readonly nextCursor: string | null
}

/**
 * Lists queues by name, and each queue section by section. Sections are counted first, and those that cannot fill the page
 * alone are read together, so that many queues with few jobs take few round trips.
 */
export async function listJobs(engine: Engine, query: JobListQuery): Promise<JobPage | 'bad_cursor'> {
  const from = query.cursor === null ? null : parseJobCursor(query, query.cursor)
  if (from === null && query.cursor !== null) return 'bad_cursor'
  const jobs: ListedJob[] = []
  const cursorAt = ({ queue, section, spot }: AskedSection): string =>
    formatJobCursor(query, { queue: queue.name, section, spot })
  let [position, examined, queues] = [from, 0, 0]
  while (queues < EXAMINED_QUEUES_MAX) {
    const counted = await countFrom(engine, query, position)
    queues += counted.queues
    let sections = counted.sections
    while (sections.length > 0) {
      const [first] = sections
      if (first === undefined) break
      const room = query.limit - jobs.length
      if (room <= 0 || examined >= EXAMINED_ENTRIES_MAX) return { jobs, nextCursor: cursorAt(first) }
      const read = await readTogether(engine, sections, room)
      jobs.push(...read.jobs)
      examined += read.examined
      sections = read.rest
    }
    if (counted.lastQueue === null) return { jobs, nextCursor: null }
    position = { queue: counted.lastQueue, section: null }
  }
  return { jobs, nextCursor: position === null ? null : formatJobCursor(query, position) }
}

interface CountedSections {
  /** Sections with jobs, in the order of the list. */
  readonly sections: readonly AskedSection[]
  readonly queues: number
  /** null when these are the last queues. */
  readonly lastQueue: string | null
}

async function countFrom(
  engine: Engine,
  query: JobListQuery,
  from: ListPosition | null,
): Promise<CountedSections> {
  const { queues, isMore } = await queuesFrom(engine, query, from)
  const asked = queues.flatMap((queue) => sectionsFrom(query, queue, from))
  const counts = await Promise.all(asked.map((section) => countSection(engine, section)))
  return {
    sections: asked.flatMap((section, i) => {
      const count = counts[i] ?? 0
      return count === 0 ? [] : [{ ...section, count }]
    }),
    queues: queues.length,
    lastQueue: isMore ? (queues.at(-1)?.name ?? null) : null,
  }
}

async function queuesFrom(
  engine: Engine,
  { team, queue }: JobListQuery,
  from: ListPosition | null,
): Promise<{ queues: KnownQueue[]; isMore: boolean }> {
  if (queue !== null) {
    const known = from?.section === null ? null : await queueNamed(engine, team, queue)
    return { queues: known === null ? [] : [known], isMore: false }
  }
  const begin = from === null ? '-' : (`${from.section === null ? '(' : '['}${from.queue}` as const)
  const named = await teamNames(engine, { kind: 'queues', team, begin, limit: COUNTED_TOGETHER + 1 })
  return {
    queues: named.slice(0, COUNTED_TOGETHER).map(({ keys, name, id }) => ({ keys, localId: id, team, name })),
    isMore: named.length > COUNTED_TOGETHER,
  }
}

/** The sections of a queue, from the position on. */
function sectionsFrom(
  { status }: JobListQuery,
  queue: KnownQueue,
  from: ListPosition | null,
): Array<Omit<AskedSection, 'count'>> {
  const all = sectionsOf(status).map((section) => ({ queue, section, status, spot: firstSpot(section) }))
  if (from === null || from.section === null || from.queue !== queue.name) return all
  const at = all.findIndex(({ section }) => section === from.section)
  return all.slice(at).map((asked, i) => (i === 0 ? { ...asked, spot: from.spot } : asked))
}

/** Reads at least one section, and as many as fill the page when all their jobs are listed. */
async function readTogether(
  engine: Engine,
  sections: readonly AskedSection[],
  room: number,
): Promise<{ jobs: ListedJob[]; examined: number; rest: readonly AskedSection[] }> {
  let left = room
  const reads: Array<Promise<SectionPage>> = []
  for (const asked of sections.slice(0, READ_TOGETHER)) {
    if (left <= 0) break
    // No more than was counted: jobs that arrive meanwhile must not make the page too long.
    reads.push(readSection(engine, asked, Math.min(left, asked.count)))
    left -= asked.count
  }
  const jobs: ListedJob[] = []
  let examined = 0
  const pages = await Promise.all(reads)
  for (const page of pages) examined += page.examined
  for (const [i, page] of pages.entries()) {
    jobs.push(...page.jobs)
    if (page.next !== null) return { jobs, examined, rest: restFrom(sections, i, page.next) }
  }
  return { jobs, examined, rest: sections.slice(pages.length) }
}

function restFrom(sections: readonly AskedSection[], at: number, spot: Spot): AskedSection[] {
  return sections.slice(at).map((asked, i) => (i === 0 ? { ...asked, spot } : asked))
}
