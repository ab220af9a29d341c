import type { JobFilter } from '../../../../domain/jobs/job-filter.ts'
import type { ListedJob } from '../../../../ports/jobs.ts'
import type { KnownQueue } from '../../../base/names/known-queue.ts'
import type { Engine } from '../../../base/engine/engine.ts'
import type { InTurn } from '../search-visit.ts'
import type { SearchBudget } from '../sections/search-budget.ts'
import { sectionsOf } from '../sections/sections.ts'
import { type AskedPlaces, type EndedPlaces, endedPlaces } from './ended-places.ts'
import { EndedStream } from './ended-stream.ts'
import { compareQueues, Line, orderOf, type QueueOrder } from './line.ts'
import { readStreams } from './stream-reads.ts'
import { signOf, type TimeOrder } from './time-order.ts'

/**
 * Where a page of ended jobs stops: at a time, and at a queue among those with a job that ended then. Queues whose places
 * do not follow from that are named with theirs.
 */
export interface EndedPosition {
  /** Unix ms; null = the page begins with the first. */
  readonly atMs: number | null
  /** Queues up to this one have listed what ended at that time; null = none has. */
  readonly upTo: QueueOrder | null
  readonly exceptions: readonly EndedException[]
}

export interface EndedException extends QueueOrder {
  readonly place: Partial<EndedPlaces>
}

export interface EndedPage {
  readonly jobs: readonly ListedJob[]
  /** null = this is the end. */
  readonly next: EndedPosition | null
}

interface Merge {
  readonly queues: readonly KnownQueue[]
  readonly filter: JobFilter
  readonly order: TimeOrder
  readonly from: EndedPosition
  readonly limit: number
  readonly budget: SearchBudget
  readonly inTurn: InTurn
}

/** Where the list begins. */
export function endedBegin({ ended: { afterMs } }: JobFilter, order: TimeOrder): EndedPosition {
  // What ended before the time that is asked for does not match, however late it was noted.
  const atMs = order === 'newest' || afterMs === null ? null : Math.max(0, afterMs - NOTED_LATE_MAX_MS)
  return { atMs, upTo: null, exceptions: [] }
}

/** Streams that are read together at first: as many as rows are wanted, within these bounds. */
const READ_TOGETHER_MIN = 16
const READ_TOGETHER_MAX = 100
/** So many times as many are read together the next time when fewer than this part of them had a row. */
const WIDENED_BY = 4
/** Ends are noted out of order by about this, as executors send them in batches and by their own clocks. */
const NOTED_LATE_MS = 2_000
/** No end is noted later than this, as a job that is not noted within its lease is no longer the executor's. */
const NOTED_LATE_MAX_MS = 600_000
/** A page lists jobs of about this many streams, as a cursor may have to name each of them. */
const STREAMS_A_PAGE = 200

/** Lists the ended jobs of queues by their ends, by going on where the first of all that is left is. */
export async function mergeEnded(engine: Engine, merge: Merge): Promise<EndedPage> {
  const { limit, order, budget, inTurn } = merge
  const { streams, named } = await openStreams(engine, merge)
  const line = new Line(streams)
  const rows: Array<ListedJob & { readonly endMs: number }> = []
  let [stop, together]: [Stop, number] = [
    merge.from,
    Math.min(Math.max(limit, READ_TOGETHER_MIN), READ_TOGETHER_MAX),
  ]
  const read = new Set<EndedStream>(named)
  const listed = new Set<EndedStream>()
  for (let first = line.first; first !== undefined && rows.length < limit; first = line.first) {
    if (listed.size > STREAMS_A_PAGE || isTooOld(first, merge.filter)) break
    if (first.isEmpty) {
      if (budget.isSpent) break
      const empty = line.next(together).filter((each) => each.isEmpty)
      for (const each of empty) read.add(each)
      const wanted = limit - rows.length
      const bounds = { budget, inTurn, wanted, untilMs: line.endAt(together), streamsLeft: line.length }
      await readStreams(engine, empty, bounds)
      if (empty.filter((each) => !each.isEmpty).length * WIDENED_BY < empty.length) together *= WIDENED_BY
      line.sort()
      continue
    }
    stop = isLate(first, stop) ? stop : { atMs: first.endMs, upTo: orderOf(first.queue) }
    rows.push(first.take())
    listed.add(first)
    line.moveFirst()
  }
  const jobs = rows
    .toSorted((a, b) => signOf(order) * (b.endMs - a.endMs))
    .map(({ jobId, chain }) => ({ jobId, chain }))
  const left = line.first
  if (left === undefined || isTooOld(left, merge.filter)) return { jobs, next: null }
  // All that comes before what is left has been looked at, also what ended at the same time in the queues before.
  if (!isLate(left, stop)) stop = { atMs: left.endMs, upTo: queueBefore(orderOf(left.queue)) }
  const checked = streams.filter((stream) => read.has(stream) || endsNear(stream, stop))
  return {
    jobs,
    next: { ...stop, exceptions: await exceptionsAt(engine, { checked, left, stop, order }, inTurn) },
  }
}

/** Whether all that is left ended before the time that the filter asks for, however late it was noted. */
function isTooOld({ endMs, order }: EndedStream, { ended: { afterMs } }: JobFilter): boolean {
  return order === 'newest' && endMs !== null && afterMs !== null && endMs < afterMs - NOTED_LATE_MAX_MS
}

/** Whether ends that were noted out of order may lead the next page to another place of a stream that was not read. */
function endsNear({ endMs, order }: EndedStream, { atMs }: Stop): boolean {
  return endMs !== null && atMs !== null && signOf(order) * (atMs - endMs) < NOTED_LATE_MS
}

type Stop = Pick<EndedPosition, 'atMs' | 'upTo'>

/** A job that comes late, because its end was noted late, does not move the place of the list. */
function isLate({ endMs, order }: EndedStream, { atMs }: Stop): boolean {
  return endMs === null || (atMs !== null && signOf(order) * (endMs - atMs) > 0)
}

function queueBefore({ shard, localId }: QueueOrder): QueueOrder | null {
  if (localId > 0) return { shard, localId: localId - 1 }
  return shard > 0 ? { shard: shard - 1, localId: Number.MAX_SAFE_INTEGER } : null
}

interface OpenedStreams {
  readonly streams: readonly EndedStream[]
  /** Those whose queue the cursor named. */
  readonly named: readonly EndedStream[]
}

async function openStreams(
  engine: Engine,
  { queues, filter, order, from, inTurn }: Merge,
): Promise<OpenedStreams> {
  const places = new Map<string, Partial<EndedPlaces>>()
  for (const exception of from.exceptions) {
    const key = keyOf(exception)
    places.set(key, { ...places.get(key), ...exception.place })
  }
  const asked = queues.map((queue): AskedPlaces => {
    const known = places.get(keyOf(orderOf(queue)))
    return { queue, atMs: timeFor(orderOf(queue), from, order), ...(known !== undefined && { known }) }
  })
  const looks = await endedPlaces(engine, asked, { order, inTurn })
  const asksFor = sectionsOf(filter)
  const sections = (['dead', 'finished'] as const).filter((section) => asksFor.includes(section))
  const streams = looks.flatMap((look, i) => {
    const queue = queues[i]
    return queue === undefined
      ? []
      : sections.map((section) => new EndedStream({ queue, section, filter, order }, look))
  })
  return { streams, named: streams.filter(({ queue }) => places.has(keyOf(orderOf(queue)))) }
}

/** The end of the first jobs of a queue that may be left. */
function timeFor(queue: QueueOrder, { atMs, upTo }: Stop, order: TimeOrder): number | null {
  if (atMs === null) return null
  return upTo !== null && compareQueues(queue, upTo) <= 0 ? atMs - signOf(order) : atMs
}

function keyOf({ shard, localId }: QueueOrder): string {
  return `${shard}.${localId}`
}

interface CheckedStreams {
  readonly checked: readonly EndedStream[]
  /** The stream with the first end of all that is left. */
  readonly left: EndedStream
  readonly stop: Stop
  readonly order: TimeOrder
}

/**
 * Names the streams that the next page would not find at their places by the time alone; first those of which it would
 * leave out jobs or list some again, as a cursor has room for so many.
 */
async function exceptionsAt(
  engine: Engine,
  { checked, left, stop, order }: CheckedStreams,
  inTurn: InTurn,
): Promise<EndedException[]> {
  const asked = checked.map(({ queue }) => ({ queue, atMs: timeFor(orderOf(queue), stop, order) }))
  const looks = await endedPlaces(engine, asked, { order, inTurn })
  const [lost, behind]: [EndedException[], EndedException[]] = [[], []]
  for (const [i, stream] of checked.entries()) {
    const look = looks[i]
    const finding = look === undefined ? 'lost' : stream.findingOf(look, stream === left)
    const exception = { ...orderOf(stream.queue), place: stream.place }
    if (finding === 'found') continue
    if (finding === 'lost' || stream === left) lost.push(exception)
    else behind.push(exception)
  }
  return [...lost, ...behind]
}
