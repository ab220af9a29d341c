import type { JobFilter } from '../../../../domain/jobs/job-filter.ts'
import type { ListedJob } from '../../../../ports/jobs.ts'
import type { KnownQueue } from '../../../base/names/known-queue.ts'
import type { Engine } from '../../../base/engine/engine.ts'
import type { InTurn } from '../search-visit.ts'
import type { SearchBudget } from '../sections/search-budget.ts'
import { sectionsOf } from '../sections/sections.ts'
import { type AskedPlaces, type EndedLook, type EndedPlaces, endedPlaces } from './ended-places.ts'
import { EndedStream } from './ended-stream.ts'
import { compareQueues, Line, orderOf, type QueueOrder } from './line.ts'

/**
 * Where a page of ended jobs stops: at a time, and at a queue among those with a job that ended then. Queues whose places
 * do not follow from that are named with theirs.
 */
export interface EndedPosition {
  /** Unix ms; null = the page begins with the newest. */
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
  readonly from: EndedPosition
  readonly limit: number
  readonly budget: SearchBudget
  readonly inTurn: InTurn
}

export const NEWEST_FIRST: EndedPosition = { atMs: null, upTo: null, exceptions: [] }

/** Streams that are read together. */
const READ_TOGETHER = 32
/** One read of a stream looks at no more records than this. */
const RECORDS_A_READ = 500
/** A page goes through at most about this many streams, as a cursor may have to name each of them. */
const STREAMS_A_PAGE = 200

/** Lists the ended jobs of queues, the newest end first, by going on where the newest of all that is left is. */
export async function mergeEnded(engine: Engine, merge: Merge): Promise<EndedPage> {
  const { limit, budget, inTurn } = merge
  const streams = await openStreams(engine, merge)
  const line = new Line(streams)
  const rows: Array<ListedJob & { readonly endMs: number }> = []
  let stop: Stop = merge.from
  const touched = new Set<EndedStream>(streams.filter(({ isNamed }) => isNamed))
  for (let first = line.first; first !== undefined && rows.length < limit; first = line.first) {
    if (first.isEmpty) {
      if (budget.isSpent || touched.size > STREAMS_A_PAGE) break
      const empty = line.next(READ_TOGETHER).filter((each) => each.isEmpty)
      for (const each of empty) touched.add(each)
      await inTurn(() => readPieces(engine, empty, budget))
      line.sort()
      continue
    }
    stop = stopAfter(first, stop)
    rows.push(first.take())
    line.moveFirst()
  }
  const jobs = rows.toSorted((a, b) => b.endMs - a.endMs).map(({ jobId, chain }) => ({ jobId, chain }))
  const left = line.first
  if (left === undefined) return { jobs, next: null }
  if (left.endMs !== null && (stop.atMs === null || left.endMs < stop.atMs)) {
    // All that ended later has been looked at.
    stop = { atMs: left.endMs, upTo: null }
  }
  const queuesTouched = new Set([...touched].map(({ queue }) => queue))
  const moved = streams.filter(({ queue }) => queuesTouched.has(queue))
  return { jobs, next: { ...stop, exceptions: await exceptionsAt(engine, moved, stop, inTurn) } }
}

type Stop = Pick<EndedPosition, 'atMs' | 'upTo'>

/** A job that comes late, because its end was noted late, does not move the place of the list. */
function stopAfter({ endMs, queue }: EndedStream, stop: Stop): Stop {
  if (endMs === null || (stop.atMs !== null && endMs > stop.atMs)) return stop
  return { atMs: endMs, upTo: orderOf(queue) }
}

async function openStreams(engine: Engine, { queues, filter, from, inTurn }: Merge): Promise<EndedStream[]> {
  const named = new Map<string, Partial<EndedPlaces>>()
  for (const exception of from.exceptions) {
    const key = keyOf(exception)
    named.set(key, { ...named.get(key), ...exception.place })
  }
  const asked = queues.map((queue): AskedPlaces => {
    const known = named.get(keyOf(orderOf(queue)))
    return { queue, atMs: timeFor(orderOf(queue), from), ...(known !== undefined && { known }) }
  })
  const looks = await endedPlaces(engine, asked, inTurn)
  const sections = sectionsOf(filter)
  return queues.flatMap((queue, i) => {
    const look = looks[i]
    if (look === undefined) return []
    return (['dead', 'finished'] as const)
      .filter((section) => sections.includes(section))
      .map(
        (section) =>
          new EndedStream({ queue, section, filter, isNamed: asked[i]?.known !== undefined }, look),
      )
  })
}

/** The time up to which the jobs of a queue are left. */
function timeFor(queue: QueueOrder, { atMs, upTo }: Stop): number | null {
  if (atMs === null) return null
  return upTo !== null && compareQueues(queue, upTo) <= 0 ? atMs - 1 : atMs
}

function keyOf({ shard, localId }: QueueOrder): string {
  return `${shard}.${localId}`
}

/** Reads a piece of each stream, and when the next job behind it ended. */
async function readPieces(
  engine: Engine,
  streams: readonly EndedStream[],
  budget: SearchBudget,
): Promise<void> {
  const recordsMax = Math.min(RECORDS_A_READ, Math.max(1, Math.ceil(budget.left / streams.length)))
  await Promise.all(streams.map((stream) => stream.read(engine, { recordsMax, budget })))
  const asked = streams.map(({ queue, readTo }) => ({ queue, atMs: null, known: readTo }))
  const looks = await endedPlaces(engine, asked, (lot) => lot())
  for (const [i, stream] of streams.entries()) stream.goOn(looks[i] as EndedLook)
}

/** Names the streams that the next page would not find at their places by the time alone. */
async function exceptionsAt(
  engine: Engine,
  moved: readonly EndedStream[],
  stop: Stop,
  inTurn: InTurn,
): Promise<EndedException[]> {
  const asked = moved.map(({ queue }) => ({ queue, atMs: timeFor(orderOf(queue), stop) }))
  const looks = await endedPlaces(engine, asked, inTurn)
  return moved.flatMap(({ queue, section, place }, i) => {
    const found = looks[i]
    const isFound =
      found !== undefined &&
      (section === 'dead'
        ? place.purge === found.purge && place.root === found.root
        : place.ordinal === found.ordinal)
    return isFound ? [] : [{ ...orderOf(queue), place }]
  })
}
