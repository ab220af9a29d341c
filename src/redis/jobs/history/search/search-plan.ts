import type { JobFilter } from '../../../../domain/jobs/job-filter.ts'
import { HISTORY_BLOCK_CHAINS } from '../../../../domain/limits.ts'
import type { KnownQueue } from '../../../base/names/known-queue.ts'
import type { Engine } from '../../../base/engine/engine.ts'
import { decodeBlock } from '../blocks/block.ts'
import { offsetsIn, type BlockQuery } from '../blocks/block-match.ts'
import { matchBlocks } from '../blocks/block-reads.ts'
import { HISTORY_PAGE, SPANS_MAX, TESTED_PAGE, type HistorySpan } from '../history-reads.ts'
import { needlesIn } from './summary-needles.ts'

/** What is read next, and the position once all of it has been looked at. */
export interface SearchPiece {
  readonly spans: readonly HistorySpan[]
  readonly after: number
}

interface Candidate {
  readonly number: number
  /** The offsets of the chains that may match, the greatest first. */
  readonly offsets: readonly number[]
  readonly isTested: boolean
}

/** A piece has at least this many chains where most of them may match, so that a few misses cost no round trip. */
const PIECE_CHAINS_MIN = 64
const ALL_OFFSETS = Array.from({ length: HISTORY_BLOCK_CHAINS }, (_, i) => HISTORY_BLOCK_CHAINS - 1 - i)

/**
 * Decides where to look, from a position on towards the old end. Owns those blocks of the last read that may hold
 * matches.
 */
export class SearchPlan {
  readonly #engine: Engine
  readonly #queue: KnownQueue
  readonly #query: BlockQuery | null
  /** Texts that stand in the summary of each match, as far as Redis can tell. */
  readonly needles: readonly string[]
  /** true = only a block says that one of the needles stands in its summaries at all. */
  readonly #needsBlock: boolean
  readonly #matchesAll: boolean
  /** Chains below this ordinal are in blocks. */
  #sealedTo: number
  /** The blocks that may hold a match, and where, newest first. */
  #candidates: Candidate[] = []
  /** The ordinal down to which the candidates say where matches are. */
  #plannedTo = Number.MAX_SAFE_INTEGER
  /** How often blocks were looked through. */
  looks = 0

  constructor(
    engine: Engine,
    queue: KnownQueue,
    { filter, query, sealedTo }: { filter: JobFilter; query: BlockQuery | null; sealedTo: number },
  ) {
    this.#engine = engine
    this.#queue = queue
    this.#query = query
    this.needles = needlesIn(filter)
    this.#needsBlock = filter.host !== null
    this.#matchesAll = query === null && filter.text === null
    this.#sealedTo = query === null ? 0 : sealedTo
  }

  /**
   * @param place where to go on: chains with lower ordinals are left
   * @param room how many chains to look at at most
   * @param wanted how many matches are; without a filter, as many chains are read
   */
  async next(place: number, { room, wanted }: { room: number; wanted: number }): Promise<SearchPiece> {
    if (this.#query !== null && place <= this.#sealedTo) {
      if (place <= this.#plannedTo) await this.#look(place, this.#query)
      if (place <= this.#sealedTo) return this.#pieceOfBlocks(place, { room, wanted })
    }
    const isTested = this.needles.length > 0 && !this.#needsBlock
    const page = this.#matchesAll ? pieceFor(wanted) : isTested ? TESTED_PAGE : HISTORY_PAGE
    const low = Math.max(this.#sealedTo, place - Math.min(room, page))
    return { spans: [{ from: low, to: place, picks: null, isTested }], after: low }
  }

  /** Reads the blocks from the position on. If none fits the history, the rest is looked through. */
  async #look(place: number, query: BlockQuery): Promise<void> {
    const below = Math.ceil(place / HISTORY_BLOCK_CHAINS)
    const found = await matchBlocks(this.#engine, this.#queue, { below, query })
    if (found === null) {
      this.#sealedTo = 0
      return
    }
    this.looks += 1
    this.#plannedTo = found.last * HISTORY_BLOCK_CHAINS
    this.#candidates = found.blocks.flatMap(({ number, text }) => {
      const block = decodeBlock(text)
      const offsets = block === null ? ALL_OFFSETS : offsetsIn(block, query)
      const isTested = this.needles.length > 0 && (!this.#needsBlock || block?.hasPlainHosts === true)
      return offsets.length === 0 ? [] : [{ number, offsets, isTested }]
    })
  }

  /** A piece has more chains when Redis tests them, as only those that pass are answered. */
  #pieceOfBlocks(place: number, { room, wanted }: { room: number; wanted: number }): SearchPiece {
    const spans: HistorySpan[] = []
    let [after, left, untested] = [place, Math.min(room, TESTED_PAGE), pieceFor(wanted)]
    for (const { number, offsets, isTested } of this.#candidates) {
      const rest = offsets.filter((offset) => number * HISTORY_BLOCK_CHAINS + offset < place)
      if (rest.length === 0) continue
      const picks = rest.slice(0, isTested ? left : Math.min(left, untested))
      if (picks.length === 0 || spans.length === SPANS_MAX) return { spans, after }
      const span = spanOf(number, picks, isTested)
      spans.push(span)
      after = span.from
      left -= picks.length
      if (!isTested) untested -= picks.length
      if (picks.length < rest.length) return { spans, after }
    }
    return { spans, after: this.#plannedTo }
  }
}

function pieceFor(wanted: number): number {
  return Math.min(HISTORY_PAGE, Math.max(wanted, PIECE_CHAINS_MIN))
}

/** Makes a span no wider than its picks, so that a step reads no more of the history. */
function spanOf(number: number, offsets: readonly number[], isTested: boolean): HistorySpan {
  const [greatest, least] = [offsets[0] ?? 0, offsets.at(-1) ?? 0]
  const from = number * HISTORY_BLOCK_CHAINS + least
  const to = number * HISTORY_BLOCK_CHAINS + greatest + 1
  const picks = to - from === offsets.length ? null : offsets.map((offset) => offset - least)
  return { from, to, picks, isTested }
}
