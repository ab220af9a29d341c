import type { JobChain, JobStatus, OpenAttempt } from '../../domain/jobs/job.ts'
import type { JobListQuery, ListedJob } from '../../ports/jobs.ts'
import { deadChain, finishedChain, openChain, toOpenAttempt, unlessDamaged } from '../chains/chain-reader.ts'
import type { KnownQueue } from '../chains/known-queue.ts'
import { damagedChain } from '../chains/damaged-chain.ts'
import type { Engine } from '../client/engine.ts'
import { decodeRecord, type JobRecord } from '../layout/job-record.ts'
import { FIRST_DUE, FIRST_SCAN, type Section, type Spot } from './job-cursor.ts'

/**
 * Open jobs of a queue that are listed by due time. There is no index of them by that time: it would cost each delayed
 * job a third more bytes and two more commands, so a page reads and orders all of them. It may be double as many, where
 * they have become more since the first page.
 */
export const ORDERED_JOBS_MAX = 1_000
/**
 * COUNT of every HSCAN of jobs in no order. It may not follow the room on a page: a place within a scan step is only a
 * place again when the step is asked for with the same COUNT.
 */
const SCAN_COUNT = 100

/** Records held at once while they are put in order; those of a page are read again. */
const READ_AT_ONCE = 250

type StatusFilter = JobListQuery['status']

/** What is read of one section. */
export interface AskedSection {
  readonly queue: KnownQueue
  readonly section: Section
  readonly spot: Spot
  readonly status: StatusFilter
  /** How many jobs the section held a moment ago. */
  readonly count: number
}

export interface SectionPage {
  readonly jobs: ListedJob[]
  readonly examined: number
  /** null = the section is at its end. */
  readonly next: Spot | null
}

/** How many jobs each section holds that this list shows, or may show. */
export function countSection(
  engine: Engine,
  { keys, localId }: KnownQueue,
  section: Section,
  status: StatusFilter,
): Promise<number> {
  const { inFlight: a, records: b, deadLetters: x, history: h } = keys.queue(localId)
  return engine.runner.read((redis) => {
    if (section === 'dead') return redis.zcard(x)
    if (section === 'finished') return redis.llen(h)
    return status === 'processing' ? redis.zcard(a) : redis.hlen(b)
  })
}

export function readSection(engine: Engine, asked: AskedSection, room: number): Promise<SectionPage> {
  const { section, spot, count } = asked
  if (spot.kind === 'left') {
    return section === 'dead' ? readDead(engine, asked, spot, room) : readFinished(engine, asked, spot, room)
  }
  if (spot.kind === 'scan') return readScanned(engine, asked, spot, room)
  const isFirst = spot.dueMs === FIRST_DUE.dueMs
  const isOrdered = count <= (isFirst ? ORDERED_JOBS_MAX : 2 * ORDERED_JOBS_MAX)
  return isOrdered ? readOrdered(engine, asked, spot, room) : readScanned(engine, asked, FIRST_SCAN, room)
}

/** All open jobs by due time, in flight or not, so that one keeps its place when it is claimed meanwhile. */
async function readOrdered(
  engine: Engine,
  asked: AskedSection,
  after: Spot & { kind: 'due' },
  room: number,
): Promise<SectionPage> {
  const dues = await (asked.status === 'processing' ? duesInFlight : duesOfAll)(engine, asked.queue)
  if (dues === null) return readScanned(engine, asked, FIRST_SCAN, room)
  const behind = [...dues]
    .map(([id, dueMs]) => ({ id, dueMs }))
    .filter(({ dueMs, id }) => dueMs > after.dueMs || (dueMs === after.dueMs && id > after.id))
    .toSorted((a, b) => a.dueMs - b.dueMs || a.id - b.id)
  const jobs: ListedJob[] = []
  // No more than the page needs is read; of one with a filter, more in turn.
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

interface OpenJob {
  readonly id: number
  /** null when it has ended since it was seen. */
  readonly text: string | null
}

/** Id → due time of every open job, or null when there are too many. Holds no more than a scan step of the records. */
async function duesOfAll(engine: Engine, queue: KnownQueue): Promise<Map<number, number> | null> {
  const { records: b } = queue.keys.queue(queue.localId)
  // A scan may give an entry twice.
  const dues = new Map<number, number>()
  let cursor = '0'
  do {
    const [next, flat] = await engine.runner.read((redis) => redis.hscan(b, cursor, 'COUNT', READ_AT_ONCE))
    for (let i = 0; i < flat.length; i += 2) dues.set(Number(flat[i]), dueIn(flat[i + 1]))
    if (dues.size > 2 * ORDERED_JOBS_MAX) return null
    cursor = next
  } while (cursor !== '0')
  return dues
}

async function duesInFlight(engine: Engine, queue: KnownQueue): Promise<Map<number, number> | null> {
  const { inFlight: a } = queue.keys.queue(queue.localId)
  const ids = await engine.runner.read((redis) => redis.zrange(a, '0', String(2 * ORDERED_JOBS_MAX)))
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

/** That of a damaged record is 0: it comes first. */
function dueIn(text: string | undefined): number {
  return Number(text?.slice(0, 13)) || 0
}

async function readRecords(
  engine: Engine,
  queue: KnownQueue,
  jobs: ReadonlyArray<{ readonly id: number }>,
): Promise<OpenJob[]> {
  const { records: b } = queue.keys.queue(queue.localId)
  const texts = await engine.runner.read((redis) => redis.hmget(b, ...jobs.map(({ id }) => String(id))))
  return jobs.map(({ id }, i) => ({ id, text: texts[i] ?? null }))
}

async function readScanned(
  engine: Engine,
  asked: AskedSection,
  { scan, given }: Spot & { kind: 'scan' },
  room: number,
): Promise<SectionPage> {
  const { records: b } = asked.queue.keys.queue(asked.queue.localId)
  const [next, flat] = await engine.runner.read((redis) => redis.hscan(b, scan, 'COUNT', SCAN_COUNT))
  // A step answers more than a page: it is given out in pages under the same scan cursor.
  const page = flat.slice(given * 2, (given + room) * 2)
  const open: OpenJob[] = []
  for (let i = 0; i < page.length; i += 2) {
    open.push({ id: Number(page[i]), text: page[i + 1] ?? null })
  }
  const jobs = (await rowsOf(engine, asked, open)).flat()
  if ((given + room) * 2 < flat.length) {
    return { jobs, examined: open.length, next: { kind: 'scan', scan, given: given + room } }
  }
  return {
    jobs,
    examined: open.length + 1,
    next: next === '0' ? null : { kind: 'scan', scan: next, given: 0 },
  }
}

/** The rows of open jobs, in their order: none or one each. */
async function rowsOf(
  engine: Engine,
  { queue, status }: AskedSection,
  jobs: readonly OpenJob[],
): Promise<ListedJob[][]> {
  if (jobs.length === 0) return []
  const { inFlight: a } = queue.keys.queue(queue.localId)
  const deadlines = await engine.runner.read((redis) => redis.zmscore(a, ...jobs.map(({ id }) => String(id))))
  return jobs.map(({ id, text }, i): ListedJob[] => {
    if (text === null) return []
    return unlessDamaged(
      () => {
        const record = decodeRecord(text, null)
        const open = toOpenAttempt(record, deadlines[i] ?? null)
        return listOpen(engine, queue, { id, record, open }, status)
      },
      () => (status === null ? listDamaged(engine, queue, id, text) : []),
    )
  })
}

/** The row of an open chain: its open job, or for `failed` the original that a retry follows. */
function listOpen(
  engine: Engine,
  queue: KnownQueue,
  job: { id: number; record: JobRecord; open: OpenAttempt },
  status: StatusFilter,
): ListedJob[] {
  const { id, record, open } = job
  const rootId = engine.jobIds.rootOf(id)
  const row = (jobId: number) => [
    { jobId, chain: openChain(engine, queue, { rootId, record, open, calls: [] }) },
  ]
  if (status === 'failed') return record.earlier.length > 0 ? row(rootId) : []
  return status === null || status === open.status ? row(id) : []
}

/** Newest first. Counted from the oldest end, so that what arrives in between shifts nothing. */
async function readDead(
  engine: Engine,
  { queue }: AskedSection,
  at: Spot & { kind: 'left' },
  room: number,
): Promise<SectionPage> {
  const k = queue.keys.queue(queue.localId)
  const left = entriesLeft(at, await engine.runner.read((redis) => redis.zcard(k.deadLetters)))
  if (left === 0) return { jobs: [], examined: 1, next: null }
  const from = Math.max(0, left - room)
  const roots = await engine.runner.read((redis) =>
    redis.zrange(k.deadLetters, String(from), String(left - 1)),
  )
  const bodies =
    roots.length === 0 ? [] : await engine.runner.read((redis) => redis.hmget(k.deadLetterRecords, ...roots))
  const jobs = roots
    .flatMap((root, i): ListedJob[] => {
      const body = bodies[i]
      if (body === undefined || body === null) return []
      const rootId = Number(root)
      return unlessDamaged(
        () => [{ jobId: rootId, chain: deadChain(engine, queue, rootId, decodeRecord(body, null), []) }],
        () => listDamaged(engine, queue, rootId, body),
      )
    })
    .reverse()
  return { jobs, examined: roots.length + 1, next: from === 0 ? null : { kind: 'left', left: from } }
}

async function readFinished(
  engine: Engine,
  { queue, status }: AskedSection,
  at: Spot & { kind: 'left' },
  room: number,
): Promise<SectionPage> {
  const k = queue.keys.queue(queue.localId)
  const left = entriesLeft(at, await engine.runner.read((redis) => redis.llen(k.history)))
  if (left === 0) return { jobs: [], examined: 1, next: null }
  const to = Math.max(0, left - room)
  const roots = await engine.runner.read((redis) => redis.lrange(k.history, -left, -to - 1))
  const records =
    roots.length === 0 ? [] : await engine.runner.read((redis) => redis.hmget(k.summaries, ...roots))
  const jobs = roots.flatMap((root, i): ListedJob[] => {
    const record = records[i]
    if (record === undefined || record === null) return []
    const rootId = Number(root)
    return unlessDamaged(
      () => listFinished(engine, finishedChain(engine, queue, rootId, record, []), status),
      () => [],
    )
  })
  return { jobs, examined: roots.length + 1, next: to === 0 ? null : { kind: 'left', left: to } }
}

/** A chain that a retry saved is listed as completed by its last job, as failed by its original. */
function listFinished(engine: Engine, chain: JobChain, status: StatusFilter): ListedJob[] {
  if (status === 'completed') {
    return chain.end === 'success'
      ? [{ jobId: lastJobId(engine, chain.rootId, chain.attempts.length), chain }]
      : []
  }
  const jobStatus: JobStatus = chain.end === 'success' && chain.attempts.length === 1 ? 'completed' : 'failed'
  return status === null || status === jobStatus ? [{ jobId: chain.rootId, chain }] : []
}

/** The row of a job that was set aside, or will be when it is claimed. */
function listDamaged(engine: Engine, queue: KnownQueue, jobId: number, text: string): ListedJob[] {
  const { jobIds } = engine
  const parts = { rootId: jobIds.rootOf(jobId), attempt: jobIds.attemptOf(jobId), text, calls: [] }
  return [{ jobId, chain: damagedChain(engine, queue, { ...parts, end: 'dead_lettered' }) }]
}

/** Entries may have gone since the cursor was given out. */
function entriesLeft({ left }: { readonly left: number }, count: number): number {
  return Math.min(left, count)
}

function lastJobId(engine: Engine, rootId: number, attempts: number): number {
  const { jobIds } = engine
  return jobIds.idOf(jobIds.shardOf(rootId), jobIds.seqOf(rootId), attempts)
}
