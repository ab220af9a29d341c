import type { Engine } from '../../../base/engine/engine.ts'
import { blockQuery } from '../../history/blocks/block-match.ts'
import { historyJudge, searchHistory } from '../../history/search/search-history.ts'
import type { InTurn } from '../search-visit.ts'
import { lettersFrom } from '../sections/dead-jobs.ts'
import type { SearchBudget } from '../sections/search-budget.ts'
import { endedPlaces, type EndedPlaces } from './ended-places.ts'
import { readEndedRows, type EndedRows } from './ended-rows.ts'
import type { EndedPiece, EndedRow, EndedStream } from './ended-stream.ts'

/** One read of a stream looks at so many records, and at twice as many each time that it finds too few. */
const RECORDS_FIRST = 4
const RECORDS_MAX = 128
/** A search for a text first lists the call records of a queue, which takes more than a few chains. */
const RECORDS_FIRST_OF_TEXT = 64
/** Of so many streams each may be searched by its blocks, which takes some steps of its own. */
const STREAMS_BY_BLOCKS_MAX = 64
/** A search by blocks looks at no more records than this. */
const RECORDS_BY_BLOCKS = 500
/** Streams that are read one by one in one turn. */
const READ_TOGETHER = 16

/** How much is read of streams. */
export interface ReadBounds {
  readonly budget: SearchBudget
  readonly inTurn: InTurn
  /** How many rows are wanted of all of them. */
  readonly wanted: number
  /** The next end beside these streams, in Unix ms; what comes behind it is not needed yet. null = there is none. */
  readonly untilMs: number | null
  /** How many streams the list has left. */
  readonly streamsLeft: number
}

/** Reads a bounded piece of each stream, of the first one at least a record; there may be no row in it. */
export async function readStreams(
  engine: Engine,
  streams: readonly EndedStream[],
  bounds: ReadBounds,
): Promise<void> {
  const [first] = streams
  if (first === undefined) return
  // Blocks are searched from the newest on.
  const isByBlocks =
    first.order === 'newest' &&
    bounds.streamsLeft <= STREAMS_BY_BLOCKS_MAX &&
    blockQuery(first.filter) !== null
  const isAlone = ({ section, isSparse }: EndedStream) => section === 'dead' || (isByBlocks && isSparse)
  await readTogether(
    engine,
    streams.filter((stream) => !isAlone(stream)),
    bounds,
  )
  const alone = streams.filter(isAlone)
  for (let at = 0; at < alone.length; at += READ_TOGETHER) {
    if (at > 0 && bounds.budget.isSpent) return
    const together = alone.slice(at, at + READ_TOGETHER)
    await bounds.inTurn(() => readAlone(engine, together, bounds))
  }
}

/** Reads the next chains of histories, those of many queues in a step. */
async function readTogether(
  engine: Engine,
  streams: readonly EndedStream[],
  { budget, inTurn, wanted, untilMs }: ReadBounds,
): Promise<void> {
  const [first] = streams
  if (first === undefined) return
  const { filter, order } = first
  const least = Math.max(
    filter.text === null ? RECORDS_FIRST : RECORDS_FIRST_OF_TEXT,
    Math.ceil(wanted / streams.length),
  )
  const share = Math.max(1, Math.floor(budget.left / streams.length))
  const asked = streams.map((stream) => ({
    queue: stream.queue,
    ordinal: stream.readTo.ordinal ?? 0,
    count: Math.min(Math.max(least, stream.looked), RECORDS_MAX, share),
  }))
  const read = await readEndedRows(engine, asked, { filter, order, untilMs, inTurn })
  for (const [i, stream] of streams.entries()) {
    const piece = read[i]
    if (piece !== undefined) stream.add(await pieceOf(engine, stream, { piece, budget }))
  }
}

async function pieceOf(
  engine: Engine,
  { queue, filter, order }: EndedStream,
  { piece, budget }: { readonly piece: EndedRows; readonly budget: SearchBudget },
): Promise<EndedPiece> {
  let bytes = piece.bytes
  const judge = await historyJudge(engine, queue, { filter, onRead: (read) => (bytes += read) })
  const judged = await judge(piece.entries)
  budget.spend(piece.looked, bytes)
  return {
    rows: judged.flatMap(({ entry: { ordinal }, job }): EndedRow[] => {
      const [newer, older] = [{ ordinal: ordinal + 1 }, { ordinal }]
      if (job === null) return []
      return [order === 'newest' ? { job, from: newer, rest: older } : { job, from: older, rest: newer }]
    }),
    rest: { ordinal: piece.ordinal },
    nextEndMs: piece.nextEndMs,
    looked: piece.looked,
  }
}

async function readAlone(
  engine: Engine,
  streams: readonly EndedStream[],
  { budget }: ReadBounds,
): Promise<void> {
  const share = Math.max(1, Math.floor(budget.left / streams.length))
  const found = await Promise.all(
    streams.map((stream) =>
      stream.section === 'dead'
        ? readDead(engine, stream, { budget, share })
        : searchFinished(engine, stream, { budget, share }),
    ),
  )
  const asked = streams.map(({ queue }, i) => ({ queue, atMs: null, known: found[i]?.rest ?? {} }))
  const order = streams[0]?.order ?? 'newest'
  const looks = await endedPlaces(engine, asked, { order, inTurn: (lot) => lot() })
  for (const [i, stream] of streams.entries()) {
    const { isEnd = false, ...piece } = found[i] ?? { rows: [], rest: stream.readTo, looked: 0 }
    const { finishedEndMs = null, deadEndMs = null } = looks[i] ?? {}
    const nextEndMs = isEnd ? null : stream.section === 'dead' ? deadEndMs : finishedEndMs
    stream.add({ ...piece, nextEndMs })
  }
}

type Read = Omit<EndedPiece, 'nextEndMs'> & {
  /** Whether nothing is left behind it. */
  readonly isEnd: boolean
}

interface Share {
  readonly budget: SearchBudget
  /** How many records one stream may look at. */
  readonly share: number
}

async function searchFinished(
  engine: Engine,
  { queue, filter, readTo }: EndedStream,
  { budget, share }: Share,
): Promise<Read> {
  const bounds = { limit: RECORDS_MAX, examinedMax: Math.min(RECORDS_BY_BLOCKS, share) }
  const page = await searchHistory(engine, queue, filter, readTo.ordinal ?? null, bounds)
  budget.spend(page.searched, page.bytes)
  const rows = page.jobs.map((job, i): EndedRow => {
    const ordinal = page.ordinals[i] ?? 0
    return { job, from: { ordinal: ordinal + 1 }, rest: { ordinal } }
  })
  return { rows, rest: { ordinal: page.next ?? 0 }, looked: page.searched, isEnd: page.next === null }
}

async function readDead(
  engine: Engine,
  { queue, filter, order, readTo, looked }: EndedStream,
  { budget, share }: Share,
): Promise<Read> {
  const from = { purgeMs: readTo.purge ?? 0, id: Number(readTo.root ?? '') }
  const wanted = Math.min(Math.max(looked, RECORDS_FIRST), RECORDS_MAX, share)
  const asked = { queue, section: 'dead', filter } as const
  const { letters, rows: jobs } = await lettersFrom(engine, asked, { from, wanted, budget, order })
  const rows: EndedRow[] = []
  let rest: Partial<EndedPlaces> = readTo
  for (const [i, job] of jobs.entries()) {
    const letter = letters[i]
    if (letter === undefined) break
    const behind = { purge: letter.purgeMs, root: String(letter.id) }
    if (job !== null) rows.push({ job, from: rest, rest: behind })
    rest = behind
  }
  // None is left behind the last.
  return { rows, rest, looked: jobs.length, isEnd: letters.length === 0 }
}
