import type { JobListQuery, ListedJob } from '../../ports/jobs.ts'
import { damagedChain } from '../chains/damaged-chain.ts'
import type { KnownQueue } from '../chains/known-queue.ts'
import type { Engine } from '../client/engine.ts'
import type { Section, Spot } from './job-cursor.ts'

/** A part of a queue's list that is to be read. */
export interface AskedSection {
  readonly queue: KnownQueue
  readonly section: Section
  readonly spot: Spot
  readonly status: JobListQuery['status']
  /** How many jobs the section held a moment ago. */
  readonly count: number
}

export interface SectionPage {
  readonly jobs: ListedJob[]
  readonly examined: number
  /** null = the end of the section. */
  readonly next: Spot | null
}

/** The row of a job that is quarantined, or will be when it is claimed. */
export function damagedRow(
  engine: Engine,
  queue: KnownQueue,
  { jobId, text }: { jobId: number; text: string },
): ListedJob[] {
  const { jobIds } = engine
  const parts = { rootId: jobIds.rootOf(jobId), attempt: jobIds.attemptOf(jobId), text, calls: [] }
  return [{ jobId, chain: damagedChain(engine, queue, { ...parts, end: 'dead_lettered' }) }]
}
