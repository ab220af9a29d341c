import type { OpenAttempt } from '../../domain/jobs/job.ts'
import type { JobListQuery, ListedJob } from '../../ports/jobs.ts'
import { chainOf, toOpenAttempt, unlessDamaged } from '../chains/chain-reader.ts'
import type { KnownQueue } from '../chains/known-queue.ts'
import type { Engine } from '../client/engine.ts'
import { decodeRecord, type JobRecord } from '../layout/job-record.ts'
import { FIRST_SCAN, type Spot } from './job-cursor.ts'
import { damagedRow, type AskedSection, type SectionPage } from './section-page.ts'

/**
 * Open jobs of a queue that are listed by due time. An index by that time would cost each delayed job a third more bytes
 * and two more commands, so every page reads and orders all of them. Twice as many are allowed when jobs were added after
 * the first page.
 */
export const ORDERED_JOBS_MAX = 1_000
/**
 * COUNT of every HSCAN of jobs in no order, whatever the page still holds: a position within a scan step is only valid
 * when the step is repeated with the same COUNT.
 */
const SCAN_COUNT = 100
/** Records held at once while they are ordered; those of the page are read again. */
const READ_AT_ONCE = 250

interface OpenJob {
  readonly id: number
  /** null when it has ended since it was seen. */
  readonly text: string | null
}

/** All open jobs by due time, in flight or not, so that a job keeps its position when it is claimed meanwhile. */
export async function readOrdered(
  engine: Engine,
  asked: AskedSection,
  { after, room }: { after: Spot & { kind: 'due' }; room: number },
): Promise<SectionPage> {
  const dues = await (asked.status === 'processing' ? duesInFlight : duesOfAll)(engine, asked.queue)
  if (dues === null) return readScanned(engine, asked, { from: FIRST_SCAN, room })
  const behind = [...dues]
    .map(([id, dueMs]) => ({ id, dueMs }))
    .filter(({ dueMs, id }) => dueMs > after.dueMs || (dueMs === after.dueMs && id > after.id))
    .toSorted((a, b) => a.dueMs - b.dueMs || a.id - b.id)
  const jobs: ListedJob[] = []
  // Reads no more than the page needs. A filter may drop jobs, so then it reads more, step by step.
  const step = asked.status === null ? room : Math.max(room, READ_AT_ONCE)
  let read = 0
  while (read < behind.length && jobs.length < room) {
    const open = await readRecords(engine, asked.queue, behind.slice(read, read + step))
    const rows = await rowsOf(engine, asked, open)
    for (let i = 0; i < rows.length && jobs.length < room; i += 1) {
      jobs.push(...(rows[i] ?? []))
      read += 1
    }
  }
  const end = behind[read - 1]
  const isMore = end !== undefined && read < behind.length
  return {
    jobs,
    examined: dues.size + 1,
    next: isMore ? { kind: 'due', dueMs: end.dueMs, id: end.id } : null,
  }
}

/** Job id → due time of every open job; null when there are too many. Holds one scan step of records at a time. */
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
    const page = ids.slice(i, i + READ_AT_ONCE).map((id) => ({ id: Number(id) }))
    for (const { id, text } of await readRecords(engine, queue, page)) {
      if (text !== null) dues.set(id, dueIn(text))
    }
  }
  return dues
}

/** 0 for a damaged record, so that it comes first. */
function dueIn(text: string | undefined): number {
  return Number(text?.slice(0, 13)) || 0
}

async function readRecords(
  engine: Engine,
  queue: KnownQueue,
  jobs: ReadonlyArray<{ readonly id: number }>,
): Promise<OpenJob[]> {
  const { records } = queue.keys.queue(queue.localId)
  const texts = await engine.runner.read((redis) => redis.hmget(records, ...jobs.map(({ id }) => String(id))))
  return jobs.map(({ id }, i) => ({ id, text: texts[i] ?? null }))
}

/** Open jobs in no order. A scan step holds more than a page: its pages share the scan cursor. */
export async function readScanned(
  engine: Engine,
  asked: AskedSection,
  { from, room }: { from: Spot & { kind: 'scan' }; room: number },
): Promise<SectionPage> {
  const { scan, given } = from
  const { records } = asked.queue.keys.queue(asked.queue.localId)
  const [next, flat] = await engine.runner.read((redis) => redis.hscan(records, scan, 'COUNT', SCAN_COUNT))
  const page = flat.slice(given * 2, (given + room) * 2)
  const open: OpenJob[] = []
  for (let i = 0; i < page.length; i += 2) {
    open.push({ id: Number(page[i]), text: page[i + 1] ?? null })
  }
  const jobs = (await rowsOf(engine, asked, open)).flat()
  if ((given + room) * 2 < flat.length) {
    return { jobs, examined: open.length, next: { kind: 'scan', scan, given: given + room } }
  }
  return { jobs, examined: open.length + 1, next: next === '0' ? null : { ...FIRST_SCAN, scan: next } }
}

/** The rows of open jobs, in their order: none or one each. */
async function rowsOf(
  engine: Engine,
  { queue, status }: AskedSection,
  jobs: readonly OpenJob[],
): Promise<ListedJob[][]> {
  if (jobs.length === 0) return []
  const { inFlight } = queue.keys.queue(queue.localId)
  const deadlines = await engine.runner.read((redis) =>
    redis.zmscore(inFlight, ...jobs.map(({ id }) => String(id))),
  )
  return jobs.map(({ id, text }, i): ListedJob[] => {
    if (text === null) return []
    return unlessDamaged(
      () => {
        const record = decodeRecord(text, null)
        const open = toOpenAttempt(record, deadlines[i] ?? null)
        return openRow(engine, queue, { id, record, open, status })
      },
      () => (status === null ? damagedRow(engine, queue, { jobId: id, text }) : []),
    )
  })
}

/** The row of an open chain: its open job, or for `failed` the original of a retry. */
function openRow(
  engine: Engine,
  queue: KnownQueue,
  job: { id: number; record: JobRecord; open: OpenAttempt; status: JobListQuery['status'] },
): ListedJob[] {
  const { id, record, open, status } = job
  const rootId = engine.jobIds.rootOf(id)
  const isShown = status === 'failed' ? record.earlier.length > 0 : status === null || status === open.status
  if (!isShown) return []
  const chain = chainOf(engine, queue, { rootId, record, open, calls: [] })
  return [{ jobId: status === 'failed' ? rootId : id, chain }]
}
