import type { JobFilter } from '../../../../domain/jobs/job-filter.ts'
import type { JobChain } from '../../../../domain/jobs/job.ts'
import type { ListedJob } from '../../../../ports/jobs.ts'
import type { KnownQueue } from '../../../base/names/known-queue.ts'
import type { Engine } from '../../../base/engine/engine.ts'
import type { InTurn } from '../search-visit.ts'
import { countSection, readSection } from '../sections/read-section.ts'
import type { SearchBudget } from '../sections/search-budget.ts'
import { FIRST_SPOTS, type AskedSection } from '../sections/section-page.ts'
import { sectionsOf } from '../sections/sections.ts'
import { signOf, type TimeOrder } from './time-order.ts'

/** Jobs that have not ended have no index by their push, so at most this many of a list are read and put in order. */
export const SORTED_OPEN_MAX = 2_000
/** Queues whose jobs are read together. */
const READ_TOGETHER = 16
/** Queues whose jobs are counted together. */
const COUNTED_TOGETHER = 1_000

/** The open job that was listed last. */
export interface OpenPosition {
  readonly createdMs: number
  readonly rootId: number
}

interface Asked {
  readonly queues: readonly KnownQueue[]
  readonly filter: JobFilter
  readonly budget: SearchBudget
  readonly inTurn: InTurn
}

/** The queues with jobs that have not ended, as far as the list asks for these. */
export async function openSections(
  engine: Engine,
  { queues, filter, inTurn }: Omit<Asked, 'budget'>,
): Promise<AskedSection[]> {
  if (!sectionsOf(filter).includes('open')) return []
  const open: AskedSection[] = []
  for (let at = 0; at < queues.length; at += COUNTED_TOGETHER) {
    const sections = queues.slice(at, at + COUNTED_TOGETHER).map((queue) => ({
      queue,
      filter,
      section: 'open' as const,
      spot: FIRST_SPOTS.open,
    }))
    const counts = await inTurn(() => Promise.all(sections.map((section) => countSection(engine, section))))
    for (const [i, section] of sections.entries()) {
      const count = counts[i] ?? 0
      if (count > 0) open.push({ ...section, count })
    }
  }
  return open
}

/** Reads all open jobs of these sections that match, by their push, behind a position. */
export async function newestOpen(
  engine: Engine,
  sections: readonly AskedSection[],
  {
    budget,
    inTurn,
    order,
    from,
  }: Pick<Asked, 'budget' | 'inTurn'> & { readonly order: TimeOrder; readonly from: OpenPosition | null },
): Promise<ListedJob[]> {
  const sign = signOf(order)
  const jobs: ListedJob[] = []
  for (let at = 0; at < sections.length; at += READ_TOGETHER) {
    const together = sections.slice(at, at + READ_TOGETHER)
    const read = await inTurn(() => Promise.all(together.map((asked) => readWhole(engine, asked, budget))))
    jobs.push(...read.flat())
  }
  const unique = new Map(jobs.map((job) => [job.chain.rootId, job]))
  return [...unique.values()]
    .filter((job) => from === null || sign * compare(positionOf(job), from) > 0)
    .toSorted((a, b) => sign * compare(positionOf(a), positionOf(b)))
}

/** A section has at most as many records as may be sorted, and twice that when jobs were added meanwhile. */
async function readWhole(engine: Engine, asked: AskedSection, budget: SearchBudget): Promise<ListedJob[]> {
  const jobs: ListedJob[] = []
  let { spot } = asked
  for (let read = 0; read < 2 * SORTED_OPEN_MAX;) {
    const page = await readSection(engine, { ...asked, spot }, { room: SORTED_OPEN_MAX, budget })
    jobs.push(...page.jobs)
    if (page.next === null) break
    spot = page.next
    read += Math.max(1, page.jobs.length)
  }
  return jobs
}

export function positionOf({ chain }: ListedJob): OpenPosition {
  return { createdMs: createdMsOf(chain), rootId: chain.rootId }
}

function createdMsOf({ attempts, open }: JobChain): number {
  return attempts[0]?.createdAtMs ?? open?.createdAtMs ?? 0
}

/** Newer pushes come first in the list of the newest. */
function compare(a: OpenPosition, b: OpenPosition): number {
  return b.createdMs - a.createdMs || b.rootId - a.rootId
}
