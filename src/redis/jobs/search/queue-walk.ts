import type { JobFilter } from '../../../domain/jobs/job-filter.ts'
import type { ListedJob } from '../../../ports/jobs.ts'
import type { KnownQueue } from '../../base/names/known-queue.ts'
import type { Engine } from '../../base/engine/engine.ts'
import type { ListPosition } from './job-cursor.ts'
import type { Spot } from './sections/spot.ts'
import { countSection, readSection } from './sections/read-section.ts'
import type { ListedQueues } from './listed-queues.ts'
import type { SearchBudget } from './sections/search-budget.ts'
import type { AskedSection, Room } from './sections/section-page.ts'
import { type Section, sectionsOf } from './sections/sections.ts'

/** One request goes through at most this many queues. */
const QUEUES_MAX = 500

export type Sections = readonly [AskedSection, ...AskedSection[]]

export interface ReadPart {
  readonly jobs: readonly ListedJob[]
  readonly rest: readonly AskedSection[]
}

/** Reads at least a piece of the first section. */
export type ReadSections = (sections: Sections, room: number) => Promise<ReadPart>

/** Reads a piece of the first section. */
export async function readFirst(engine: Engine, [first, ...rest]: Sections, room: Room): Promise<ReadPart> {
  const { jobs, next } = await readSection(engine, first, room)
  return { jobs, rest: next === null ? rest : [{ ...first, spot: next }, ...rest] }
}

interface Walk {
  readonly filter: JobFilter
  readonly limit: number
  readonly from: ListPosition | null
  readonly firstSpots: Readonly<Record<Section, Spot>>
  /** Absent = those that may hold what the filter asks for. */
  readonly sections?: readonly Section[]
  readonly budget: SearchBudget
  readonly queuesFrom: (from: ListPosition | null) => Promise<ListedQueues>
  readonly read: ReadSections
}

interface WalkedPage {
  readonly jobs: readonly ListedJob[]
  /** null = this is the end. */
  readonly next: ListPosition | null
}

/**
 * Goes through queues by name, and through each queue section by section, until the page is full, the budget is spent
 * or as many queues have been read as may be.
 */
export async function walkQueues(engine: Engine, walk: Walk): Promise<WalkedPage> {
  const { limit, budget, read } = walk
  const jobs: ListedJob[] = []
  // A scan of a hash that shrinks may find a job again, and a job may move on to the next section.
  const listed = new Set<number>()
  let [position, queues] = [walk.from, 0]
  while (queues < QUEUES_MAX) {
    const counted = await countFrom(engine, walk, position)
    queues += counted.queues
    let sections = counted.sections
    while (isSome(sections)) {
      const [{ queue, section, spot }] = sections
      const room = limit - jobs.length
      if (room <= 0 || budget.isSpent) return { jobs, next: { queue: queue.name, section, spot } }
      const part = await read(sections, room)
      for (const job of part.jobs) {
        if (!listed.has(job.jobId)) jobs.push(job)
        listed.add(job.jobId)
      }
      sections = part.rest
    }
    if (counted.last === null) return { jobs, next: null }
    position = { queue: counted.last, section: null }
  }
  return { jobs, next: position }
}

function isSome(sections: readonly AskedSection[]): sections is Sections {
  return sections.length > 0
}

interface CountedSections {
  /** The sections with jobs, in the order of the list. */
  readonly sections: readonly AskedSection[]
  readonly queues: number
  /** The name behind which to go on; null = there are no more queues. */
  readonly last: string | null
}

async function countFrom(engine: Engine, walk: Walk, from: ListPosition | null): Promise<CountedSections> {
  const { queues, last } = await walk.queuesFrom(from)
  const asked = queues.flatMap((queue) => sectionsFrom(walk, queue, from))
  const counts = await Promise.all(asked.map((section) => countSection(engine, section)))
  const sections = asked.flatMap((section, i) => {
    const count = counts[i] ?? 0
    return count === 0 ? [] : [{ ...section, count }]
  })
  return { sections, queues: queues.length, last }
}

/** Lists the sections of a queue, from the position on. */
function sectionsFrom(
  { filter, firstSpots, sections = sectionsOf(filter) }: Walk,
  queue: KnownQueue,
  from: ListPosition | null,
): Array<Omit<AskedSection, 'count'>> {
  const all = sections.map((section) => ({ queue, section, filter, spot: firstSpots[section] }))
  if (from === null || from.section === null || from.queue !== queue.name) return all
  const at = all.findIndex(({ section }) => section === from.section)
  return all.slice(at).map((asked, i) => (i === 0 ? { ...asked, spot: from.spot } : asked))
}
