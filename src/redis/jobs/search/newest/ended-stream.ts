import type { JobFilter } from '../../../../domain/jobs/job-filter.ts'
import type { ListedJob } from '../../../../ports/jobs.ts'
import type { KnownQueue } from '../../../base/names/known-queue.ts'
import type { Engine } from '../../../base/engine/engine.ts'
import { searchHistory } from '../../history/search/search-history.ts'
import { lettersFrom } from '../sections/dead-jobs.ts'
import type { SearchBudget } from '../sections/search-budget.ts'
import type { EndedLook, EndedPlaces } from './ended-places.ts'

/** A row that was read and not listed yet. */
interface Entry {
  readonly job: ListedJob
  readonly endMs: number
  /** What is left once it has been listed. */
  readonly rest: Place
}

type Place = Partial<EndedPlaces>

/** The first read of a stream takes so many rows, and each further one twice as many, up to the second figure. */
const ROWS_FIRST = 4
const ROWS_MAX = 128

/** How much one read of a stream may look at. */
export interface ReadBounds {
  readonly recordsMax: number
  readonly budget: SearchBudget
}

interface Filtered {
  readonly filter: JobFilter
}

/**
 * The finished chains or the dead letters of one queue, newest first. Owns what was read and not listed yet, and the
 * place behind what was listed.
 */
export class EndedStream {
  readonly queue: KnownQueue
  readonly section: 'finished' | 'dead'
  readonly #filter: JobFilter
  #entries: Entry[] = []
  /** The place behind what was listed; what is in `#entries` lies behind it. */
  #listed: Place
  /** The place behind what was read. */
  #read: Place
  /** When the next job that was not read ended; null = there is none. */
  #nextEndMs: number | null
  #endMs: number | null
  #rows = ROWS_FIRST
  /** Whether the cursor named the places of its queue. */
  readonly isNamed: boolean

  constructor(
    { queue, section, filter, isNamed }: Pick<EndedStream, 'queue' | 'section' | 'isNamed'> & Filtered,
    look: EndedLook,
  ) {
    this.isNamed = isNamed
    this.queue = queue
    this.section = section
    this.#filter = filter
    this.#listed = placeIn(section, look)
    this.#read = this.#listed
    this.#nextEndMs = endIn(section, look)
    this.#endMs = this.#nextEndMs
  }

  /** No job that is left ended later; null = none is left. */
  get endMs(): number | null {
    return this.#endMs
  }

  #setEnd(): void {
    const ends = this.#entries.map(({ endMs }) => endMs)
    if (this.#nextEndMs !== null) ends.push(this.#nextEndMs)
    this.#endMs = ends.length === 0 ? null : Math.max(...ends)
  }

  /** The place behind what was listed. */
  get place(): Place {
    return this.#entries.length === 0 ? this.#read : this.#listed
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0
  }

  /** The place up to which it was read. */
  get readTo(): Place {
    return this.#read
  }

  /** Tells when the next job behind `readTo` ended. */
  goOn(look: EndedLook): void {
    this.#nextEndMs = endIn(this.section, look)
    this.#setEnd()
  }

  take(): ListedJob & { readonly endMs: number } {
    const entry = this.#entries.shift()
    if (entry === undefined) throw new Error('a stream without rows was asked for one')
    this.#listed = entry.rest
    this.#setEnd()
    return { ...entry.job, endMs: entry.endMs }
  }

  /** Reads a bounded piece; there may be no row in it. */
  async read(engine: Engine, bounds: ReadBounds): Promise<void> {
    const entries = await (this.section === 'dead'
      ? this.#readDead(engine, bounds)
      : this.#readFinished(engine, bounds))
    this.#entries.push(...entries)
    this.#rows = Math.min(2 * this.#rows, ROWS_MAX)
  }

  async #readFinished(engine: Engine, { recordsMax, budget }: ReadBounds): Promise<Entry[]> {
    const bounds = { limit: this.#rows, examinedMax: recordsMax }
    const page = await searchHistory(engine, this.queue, this.#filter, this.#read.ordinal ?? null, bounds)
    budget.spend(page.searched, page.bytes)
    this.#read = { ordinal: page.next ?? 0 }
    return page.jobs.map((job, i) => ({ job, endMs: endOf(job), rest: { ordinal: page.ordinals[i] ?? 0 } }))
  }

  async #readDead(engine: Engine, { recordsMax, budget }: ReadBounds): Promise<Entry[]> {
    const { purge = 0, root = '' } = this.#read
    const { letters, rows } = await lettersFrom(
      engine,
      { queue: this.queue, section: 'dead', filter: this.#filter },
      { from: { purgeMs: purge, id: Number(root) }, wanted: Math.min(this.#rows, recordsMax), budget },
    )
    const entries: Entry[] = []
    for (const [i, job] of rows.entries()) {
      const letter = letters[i]
      if (letter === undefined) break
      this.#read = { purge: letter.purgeMs, root: String(letter.id) }
      if (job !== null) entries.push({ job, endMs: endOf(job), rest: this.#read })
    }
    // None is left behind the last.
    if (letters.length === 0) this.#nextEndMs = null
    return entries
  }
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
