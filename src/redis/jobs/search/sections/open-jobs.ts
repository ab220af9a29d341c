import type { ListedJob } from '../../../../ports/jobs.ts'
import type { KnownQueue } from '../../../base/names/known-queue.ts'
import type { Engine } from '../../../base/engine/engine.ts'
import type { Spot } from './spot.ts'
import { openRows, readRecords } from './open-rows.ts'
import { readScanned } from './open-scan.ts'
import { FIRST_SCAN, READ_AT_ONCE, type AskedSection, type Room, type SectionPage } from './section-page.ts'
import { isNarrow } from './sections.ts'

/**
 * At most this many open jobs of a queue are listed by due time. An index by that time would cost each delayed job a
 * third more bytes and two more commands, so every page reads and orders all of them. Twice as many are allowed when
 * jobs were added after the first page.
 */
export const ORDERED_JOBS_MAX = 1_000

/** Lists all open jobs by due time, in flight or not, so that a job keeps its position when it is claimed meanwhile. */
export async function readOrdered(
  engine: Engine,
  asked: AskedSection,
  { from: after, room, budget }: Room & { readonly from: Spot & { readonly kind: 'due' } },
): Promise<SectionPage> {
  const dues = await (asked.filter.status === 'processing' ? duesInFlight : duesOfAll)(engine, asked.queue)
  if (dues === null) return readScanned(engine, asked, { from: FIRST_SCAN, room, budget })
  const behind = [...dues]
    .map(([id, dueMs]) => ({ id, dueMs }))
    .filter(({ dueMs, id }) => dueMs > after.dueMs || (dueMs === after.dueMs && id > after.id))
    .toSorted((a, b) => a.dueMs - b.dueMs || a.id - b.id)
  const jobs: ListedJob[] = []
  let read = 0
  do {
    const ids = behind.slice(read, read + countOf(asked, room)).map(({ id }) => id)
    if (ids.length === 0) break
    const rows = await openRows(engine, asked, { jobs: await readRecords(engine, asked.queue, ids), budget })
    for (let i = 0; i < rows.length && jobs.length < room; i += 1) {
      const row = rows[i] ?? null
      if (row !== null) jobs.push(row)
      read += 1
    }
  } while (jobs.length < room && !budget.isSpent)
  const end = behind[read - 1]
  const isMore = end !== undefined && read < behind.length
  return { jobs, next: isMore ? { kind: 'due', dueMs: end.dueMs, id: end.id } : null }
}

/** Answers no more than the page needs. A filter may drop jobs, and then more are read, step by step. */
function countOf({ filter }: AskedSection, room: number): number {
  const isFiltered = filter.status !== null || filter.statuses !== undefined || isNarrow(filter)
  return Math.min(READ_AT_ONCE, isFiltered ? READ_AT_ONCE : room)
}

/**
 * Reads the due time of every open job, by its id; null = there are too many. Holds one scan step of records at a time.
 */
async function duesOfAll(engine: Engine, queue: KnownQueue): Promise<Map<number, number> | null> {
  const { records } = queue.keys.queue(queue.localId)
  // A scan may return an entry twice.
  const dues = new Map<number, number>()
  let cursor = '0'
  do {
    const [next, flat] = await engine.runner.read((redis) =>
      redis.hscan(records, cursor, 'COUNT', READ_AT_ONCE),
    )
    for (let i = 0; i < flat.length; i += 2) dues.set(Number(flat[i]), dueIn(flat[i + 1]))
    if (dues.size > 2 * ORDERED_JOBS_MAX) return null
    cursor = next
  } while (cursor !== '0')
  return dues
}

async function duesInFlight(engine: Engine, queue: KnownQueue): Promise<Map<number, number> | null> {
  const { inFlight } = queue.keys.queue(queue.localId)
  const ids = await engine.runner.read((redis) => redis.zrange(inFlight, '0', String(2 * ORDERED_JOBS_MAX)))
  if (ids.length > 2 * ORDERED_JOBS_MAX) return null
  const dues = new Map<number, number>()
  for (let i = 0; i < ids.length; i += READ_AT_ONCE) {
    const page = ids.slice(i, i + READ_AT_ONCE).map(Number)
    for (const { id, text } of await readRecords(engine, queue, page)) {
      if (text !== null) dues.set(id, dueIn(text))
    }
  }
  return dues
}

/** Is 0 for a damaged record, so that it comes first. */
function dueIn(text: string | undefined): number {
  return Number(text?.slice(0, 13)) || 0
}
