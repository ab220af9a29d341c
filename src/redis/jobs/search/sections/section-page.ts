import type { JobFilter } from '../../../../domain/jobs/job-filter.ts'
import { matchesFilter } from '../../../../domain/jobs/job-match.ts'
import type { ListedJob } from '../../../../ports/jobs.ts'
import { damagedChain } from '../../../ledger/damaged-chain.ts'
import type { KnownQueue } from '../../../base/names/known-queue.ts'
import type { Engine } from '../../../base/engine/engine.ts'
import type { Spot } from './spot.ts'
import type { SearchBudget } from './search-budget.ts'
import type { Section } from './sections.ts'

/** A part of a queue's list that is to be read. */
export interface AskedSection {
  readonly queue: KnownQueue
  readonly section: Section
  readonly spot: Spot
  readonly filter: JobFilter
  /** How many jobs the section held a moment ago. */
  readonly count: number
}

/** A part of a queue's list, wherever it is read from. */
export type SectionOfQueue = Pick<AskedSection, 'queue' | 'section' | 'filter'>

/** How much of a section one call reads. */
export interface Room {
  /** How many rows at most. */
  readonly room: number
  readonly budget: SearchBudget
}

export interface SectionPage {
  readonly jobs: ListedJob[]
  /** null = this is the end of the section. */
  readonly next: Spot | null
}

/** One command reads at most this many records, which take 1 MiB at most. */
export const READ_AT_ONCE = 250

export const FIRST_SPOTS: Readonly<Record<Section, Spot>> = {
  open: { kind: 'due', dueMs: 0, id: 0 },
  dead: { kind: 'purge', purgeMs: Number.MAX_SAFE_INTEGER, id: 0 },
  finished: { kind: 'left', left: Number.MAX_SAFE_INTEGER },
}
export const FIRST_SCAN = { kind: 'scan', scan: '0', found: [] } as const satisfies Spot

/** Makes the row of a job that is quarantined, or will be when it is claimed. */
export function damagedRow(
  engine: Engine,
  { queue, section, filter }: SectionOfQueue,
  { jobId, text }: { readonly jobId: number; readonly text: string },
): ListedJob | null {
  // The job has ended by what is shown of it, but not by the part of the list that it stands in.
  if (section === 'open' && (filter.status !== null || filter.statuses !== undefined)) return null
  const { jobIds } = engine
  const parts = { rootId: jobIds.rootOf(jobId), attempt: jobIds.attemptOf(jobId), text, calls: [] }
  const row = { jobId, chain: damagedChain(engine, queue, { ...parts, end: 'dead_lettered' }) }
  return matchesFilter(filter, row, jobIds) ? row : null
}
