import type { JobFilter } from '../../../../domain/jobs/job-filter.ts'
import type { ListedJob } from '../../../../ports/jobs.ts'
import type { KnownQueue } from '../../../base/names/known-queue.ts'
import type { EndedLook, EndedPlaces } from './ended-places.ts'
import { signOf, type TimeOrder } from './time-order.ts'

type Place = Partial<EndedPlaces>

/** A row that was read and not listed yet. */
export interface EndedRow {
  readonly job: ListedJob
  /** What is left before it is listed, and once it has been. */
  readonly from: Place
  readonly rest: Place
}

interface Entry extends EndedRow {
  readonly endMs: number
  readonly isReplayed: boolean
}

/** What a read of a stream has found. */
export interface EndedPiece {
  readonly rows: readonly EndedRow[]
  /** What is left behind it. */
  readonly rest: Place
  /** When the next job of the rest ended, in Unix ms; null = nothing is left. */
  readonly nextEndMs: number | null
  readonly looked: number
}

/** From so many records on, of which fewer than the second figure's part matched, a stream is searched by its blocks. */
const SPARSE_RECORDS_MIN = 256
const SPARSE_PART = 8
/** A cursor names a stream that was read so many chains further than its time says, so that these are not read again. */
const AHEAD_MIN = 32

/** Whether the next page finds the place of a stream by the time alone. */
export type Finding =
  | 'found'
  /** It would look again at what did not match. */
  | 'behind'
  /** It would leave out jobs, or list some again. */
  | 'lost'

/**
 * The finished chains or the dead letters of one queue, in the order of the list. Owns what was read and not listed yet, and the
 * place behind what was listed.
 */
export class EndedStream {
  readonly queue: KnownQueue
  readonly section: 'finished' | 'dead'
  readonly filter: JobFilter
  readonly order: TimeOrder
  #entries: Entry[] = []
  /** The place behind what was listed. */
  #listed: Place
  /** The place behind what was read. */
  #read: Place
  /** When the next job that was not read ended; null = there is none, 0 and the greatest number = it must be read. */
  #nextEndMs: number | null
  #endMs: number | null
  #looked = 0
  #found = 0

  constructor(
    { queue, section, filter, order }: Pick<EndedStream, 'queue' | 'section' | 'filter' | 'order'>,
    look: EndedLook,
  ) {
    this.queue = queue
    this.section = section
    this.filter = filter
    this.order = order
    this.#listed = placeIn(section, look)
    this.#read = this.#listed
    this.#nextEndMs = endIn(section, look)
    this.#endMs = this.#nextEndMs
  }

  /** No job that is left ended later, oldest first none before; null = none is left. */
  get endMs(): number | null {
    return this.#endMs
  }

  /** A place behind what was listed, as far as nothing is left out that was read. */
  get place(): Place {
    return this.#entries[0]?.from ?? this.#read
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0
  }

  /** The place up to which it was read. */
  get readTo(): Place {
    return this.#read
  }

  /** How many records were looked at. */
  get looked(): number {
    return this.#looked
  }

  /** Whether most of what was read does not match. */
  get isSparse(): boolean {
    return this.#looked >= SPARSE_RECORDS_MIN && this.#found * SPARSE_PART < this.#looked
  }

  take(): ListedJob & { readonly endMs: number } {
    const entry = this.#entries.shift()
    if (entry === undefined) throw new Error('a stream without rows was asked for one')
    this.#listed = entry.rest
    this.#setEnd()
    return { ...entry.job, endMs: entry.endMs }
  }

  add({ rows, rest, nextEndMs, looked }: EndedPiece): void {
    for (const row of rows)
      this.#entries.push({ ...row, endMs: endOf(row.job), isReplayed: isReplayed(row.job) })
    this.#read = rest
    this.#nextEndMs = nextEndMs
    this.#looked += looked
    this.#found += rows.length
    this.#setEnd()
  }

  /**
   * Judges the place that a search by time finds.
   *
   * @param isNext whether the next page goes on in this stream, which then has to get further
   */
  findingOf(look: EndedLook, isNext: boolean): Finding {
    const found = placeIn(this.section, look)
    const { place } = this
    // The search may come to any place between what was listed and what is left.
    const sign = signOf(this.order)
    if (sign * comparePlaces(found, this.#listed) > 0 || sign * comparePlaces(found, place) < 0) return 'lost'
    const ahead = sign * ((found.ordinal ?? 0) - (place.ordinal ?? 0))
    const isSame = comparePlaces(found, place) === 0
    return isSame || (!isNext && this.section === 'finished' && ahead < AHEAD_MIN) ? 'found' : 'behind'
  }

  #setEnd(): void {
    const next = this.#nextEndMs
    const isUnknown = next === 0 || next === Number.MAX_SAFE_INTEGER
    // A letter stands where it was replayed, so its end says nothing about what is left behind it.
    const inOrder = this.#entries.flatMap(({ endMs, isReplayed }) =>
      isReplayed || endMs === 0 ? [] : [endMs],
    )
    if (next !== null && !isUnknown) inOrder.push(next)
    if (inOrder.length === 0) this.#endMs = isUnknown ? next : (this.#entries[0]?.endMs ?? null)
    else if (this.order === 'oldest') this.#endMs = Math.min(...inOrder)
    else this.#endMs = Math.max(...inOrder, ...this.#entries.map(({ endMs }) => endMs))
  }
}

/** What is left behind a greater place begins earlier in the list of the newest. */
function comparePlaces(a: Place, b: Place): number {
  const [rootA = '', rootB = ''] = [a.root, b.root]
  const byRoot = rootA === rootB ? 0 : rootA < rootB ? -1 : 1
  return (a.ordinal ?? 0) - (b.ordinal ?? 0) || (a.purge ?? 0) - (b.purge ?? 0) || byRoot
}

function placeIn(section: EndedStream['section'], { ordinal, purge, root }: EndedPlaces): Place {
  return section === 'dead' ? { purge, root } : { ordinal }
}

function endIn(section: EndedStream['section'], { finishedEndMs, deadEndMs }: EndedLook): number | null {
  return section === 'dead' ? deadEndMs : finishedEndMs
}

/** When the last attempt of the chain ended; 0 when that cannot be read. */
function endOf({ chain }: ListedJob): number {
  return chain.attempts.at(-1)?.completedAtMs ?? 0
}

function isReplayed({ chain: { end, replayedAs } }: ListedJob): boolean {
  return end === 'dead_lettered' && replayedAs !== null
}
