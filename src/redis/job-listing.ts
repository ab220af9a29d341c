import type { JobChain, JobStatus, OpenAttempt } from '../domain/job.ts'
import type { JobListQuery, ListedJob } from '../ports/job-store.ts'
import { deadChain, finishedChain, openChain, toOpenAttempt, type KnownQueue } from './chain-reader.ts'
import type { Engine } from './engine.ts'
import { decodeRecord, type JobRecord } from './job-record.ts'
import { queueNamed, teamNames } from './team-names.ts'

/** Where a page ended: which queue, which of its three stores, and how far in it. */
interface Cursor {
  readonly queue: string
  readonly section: Section
  /** open: HSCAN cursor and entries already given of that scan step; dead, finished: entries left, counted from the oldest. */
  readonly scan: string
  readonly position: number
}

const SECTIONS = ['open', 'dead', 'finished'] as const
type Section = (typeof SECTIONS)[number]

/** One request looks at this many entries and queues at most, then answers what it has and a cursor. */
const EXAMINED_ENTRIES_MAX = 5_000
const EXAMINED_QUEUES_MAX = 500
/**
 * COUNT of every HSCAN. It may not follow the room on a page: a place within a scan step is only a place again when
 * the step is asked for with the same COUNT.
 */
const SCAN_COUNT = 100
/** Redis refuses a larger cursor of HSCAN. */
const SCAN_MAX = 2n ** 64n - 1n

type StatusFilter = JobListQuery['status']

export async function listJobs(
  engine: Engine,
  query: JobListQuery,
): Promise<{ jobs: ListedJob[]; nextCursor: string | null } | 'bad_cursor'> {
  const from = query.cursor === null ? null : parseCursor(query.cursor)
  if (from === 'bad_cursor') return 'bad_cursor'
  const queues = await queuesFrom(engine, query, from?.queue ?? null)
  const jobs: ListedJob[] = []
  let examined = 0
  for (let i = 0; i < queues.length; i += 1) {
    const queue = queues[i] as KnownQueue
    let at: Cursor | null =
      from !== null && from.queue === queue.name ? from : firstOf(queue.name, query.status)
    while (at !== null) {
      const budget = { room: query.limit - jobs.length, entries: EXAMINED_ENTRIES_MAX - examined }
      if (budget.room <= 0 || budget.entries <= 0 || i >= EXAMINED_QUEUES_MAX) {
        return { jobs, nextCursor: formatCursor(at) }
      }
      const page = await readSection(engine, queue, query.status, at, budget.room)
      jobs.push(...page.jobs)
      examined += page.examined
      at = page.next ?? nextSection(at, query.status)
    }
  }
  return { jobs, nextCursor: null }
}

/** The queues a page may look at, and one more, by which it knows that it is not the last. */
async function queuesFrom(engine: Engine, query: JobListQuery, first: string | null): Promise<KnownQueue[]> {
  const { team, queue } = query
  if (queue !== null) {
    const known = await queueNamed(engine, team, queue)
    return known === null ? [] : [known]
  }
  const named = await teamNames(engine, {
    kind: 'queues',
    team,
    begin: first === null ? '-' : `[${first}`,
    limit: EXAMINED_QUEUES_MAX + 1,
  })
  return named.map(({ keys, name, id }) => ({ keys, localId: id, team, name }))
}

function sectionsOf(status: StatusFilter): readonly Section[] {
  switch (status) {
    case 'pending':
    case 'processing':
      return ['open']
    case 'completed':
      return ['finished']
    case 'dead_lettered':
      return ['dead']
    case 'failed':
    case null:
      return SECTIONS
  }
}

function firstOf(queue: string, status: StatusFilter): Cursor {
  return { queue, section: sectionsOf(status)[0] as Section, scan: '0', position: -1 }
}

function nextSection(at: Cursor, status: StatusFilter): Cursor | null {
  const sections = sectionsOf(status)
  const next = sections[sections.indexOf(at.section) + 1]
  return next === undefined ? null : { queue: at.queue, section: next, scan: '0', position: -1 }
}

interface SectionPage {
  readonly jobs: ListedJob[]
  readonly examined: number
  /** null = the section is at its end. */
  readonly next: Cursor | null
}

function readSection(
  engine: Engine,
  queue: KnownQueue,
  status: StatusFilter,
  at: Cursor,
  room: number,
): Promise<SectionPage> {
  switch (at.section) {
    case 'open':
      return readOpen(engine, queue, status, at, room)
    case 'dead':
      return readDead(engine, queue, at, room)
    case 'finished':
      return readFinished(engine, queue, status, at, room)
  }
}

async function readOpen(
  engine: Engine,
  queue: KnownQueue,
  status: StatusFilter,
  at: Cursor,
  room: number,
): Promise<SectionPage> {
  const k = queue.keys.queue(queue.localId)
  const [next, flat] = await engine.runner.read((redis) => redis.hscan(k.b, at.scan, 'COUNT', SCAN_COUNT))
  // A step answers more than a page: it is given out in pages under the same scan cursor.
  const start = Math.max(0, at.position)
  const page = flat.slice(start * 2, (start + room) * 2)
  const ids = page.filter((_, i) => i % 2 === 0)
  const deadlines = ids.length === 0 ? [] : await engine.runner.read((redis) => redis.zmscore(k.a, ...ids))
  const jobs = ids.flatMap((id, i): ListedJob[] => {
    return unlessDamaged(engine, Number(id), () => {
      const record = decodeRecord(page[i * 2 + 1] as string, null)
      const open = toOpenAttempt(record, deadlines[i] ?? null)
      return listOpen(engine, queue, { id: Number(id), record, open }, status)
    })
  })
  const isRest = (start + room) * 2 < flat.length
  if (isRest) return { jobs, examined: ids.length, next: { ...at, position: start + room } }
  return {
    jobs,
    examined: ids.length + 1,
    next: next === '0' ? null : { ...at, scan: next, position: 0 },
  }
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
async function readDead(engine: Engine, queue: KnownQueue, at: Cursor, room: number): Promise<SectionPage> {
  const k = queue.keys.queue(queue.localId)
  const left = entriesLeft(at, await engine.runner.read((redis) => redis.zcard(k.x)))
  if (left === 0) return { jobs: [], examined: 1, next: null }
  const from = Math.max(0, left - room)
  const roots = await engine.runner.read((redis) => redis.zrange(k.x, String(from), String(left - 1)))
  const bodies = roots.length === 0 ? [] : await engine.runner.read((redis) => redis.hmget(k.xb, ...roots))
  const jobs = roots
    .flatMap((root, i): ListedJob[] => {
      const body = bodies[i]
      if (body === undefined || body === null) return []
      const rootId = Number(root)
      return unlessDamaged(engine, rootId, () => [
        { jobId: rootId, chain: deadChain(engine, queue, rootId, decodeRecord(body, null), []) },
      ])
    })
    .reverse()
  return { jobs, examined: roots.length + 1, next: from === 0 ? null : { ...at, position: from } }
}

async function readFinished(
  engine: Engine,
  queue: KnownQueue,
  status: StatusFilter,
  at: Cursor,
  room: number,
): Promise<SectionPage> {
  const k = queue.keys.queue(queue.localId)
  const left = entriesLeft(at, await engine.runner.read((redis) => redis.llen(k.h)))
  if (left === 0) return { jobs: [], examined: 1, next: null }
  const to = Math.max(0, left - room)
  const roots = await engine.runner.read((redis) => redis.lrange(k.h, -left, -to - 1))
  const records = roots.length === 0 ? [] : await engine.runner.read((redis) => redis.hmget(k.d, ...roots))
  const jobs = roots.flatMap((root, i): ListedJob[] => {
    const record = records[i]
    if (record === undefined || record === null) return []
    const rootId = Number(root)
    return unlessDamaged(engine, rootId, () =>
      listFinished(engine, finishedChain(engine, queue, rootId, record, []), status),
    )
  })
  return { jobs, examined: roots.length + 1, next: to === 0 ? null : { ...at, position: to } }
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

/** A job that cannot be read is missing from a list: the others can be. */
function unlessDamaged(engine: Engine, jobId: number, list: () => ListedJob[]): ListedJob[] {
  try {
    return list()
  } catch {
    // Not why: it would quote the request.
    engine.logger.warn('A job cannot be read and is not listed', { jobId })
    return []
  }
}

/** Entries may have gone since the cursor was given out. */
function entriesLeft(at: Cursor, count: number): number {
  return at.position >= 0 ? Math.min(at.position, count) : count
}

function lastJobId(engine: Engine, rootId: number, attempts: number): number {
  const { jobIds } = engine
  return jobIds.idOf(jobIds.shardOf(rootId), jobIds.seqOf(rootId), attempts)
}

function formatCursor(cursor: Cursor): string {
  return Buffer.from(JSON.stringify([cursor.queue, cursor.section, cursor.scan, cursor.position])).toString(
    'base64url',
  )
}

function parseCursor(text: string): Cursor | 'bad_cursor' {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    if (!Array.isArray(parsed) || parsed.length !== 4) return 'bad_cursor'
    const [queue, section, scan, position] = parsed as unknown[]
    const isOurs =
      typeof queue === 'string' &&
      SECTIONS.includes(section as Section) &&
      typeof scan === 'string' &&
      /^\d{1,20}$/.test(scan) &&
      BigInt(scan) <= SCAN_MAX &&
      Number.isSafeInteger(position)
    return isOurs ? { queue, section: section as Section, scan, position: position as number } : 'bad_cursor'
  } catch {
    return 'bad_cursor'
  }
}
