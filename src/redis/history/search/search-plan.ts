import { HISTORY_BLOCK_CHAINS } from '../../../domain/limits.ts'
import type { KnownQueue } from '../../chains/known-queue.ts'
import type { Engine } from '../../client/engine.ts'
import { blockPlace, decodeBlock } from '../blocks/block.ts'
import { offsetsIn, type BlockQuery } from '../blocks/block-match.ts'
import { HISTORY_PAGE, readBlocks, SPANS_MAX, type HistorySpan } from '../history-reads.ts'

/** What is read next, and the place once all of it has been looked at. */
export interface SearchPiece {
  readonly spans: readonly HistorySpan[]
  readonly after: number
}

/** Chains that a piece has at least where most of them may match, so that a few misses cost no round trip. */
const PIECE_CHAINS_MIN = 64
const ALL_OFFSETS = Array.from({ length: HISTORY_BLOCK_CHAINS }, (_, i) => HISTORY_BLOCK_CHAINS - 1 - i)

/** Decides where to look, from a place on towards the old end. Owns one page of blocks, as far as they may hold matches. */
export class SearchPlan {
  readonly #engine: Engine
  readonly #queue: KnownQueue
  readonly #query: BlockQuery | null
  /** Chains below this ordinal are in blocks. */
  #sealedTo: number
  /** Newest first: blocks that may hold a match, and the offsets of these. */
  #candidates: Array<{ readonly number: number; readonly offsets: readonly number[] }> = []
  /** The ordinal down to which the candidates say where matches are. */
  #plannedTo = Number.MAX_SAFE_INTEGER
  /** Blocks that were looked at. */
  blocks = 0

  constructor(
    engine: Engine,
    queue: KnownQueue,
    { query, sealedTo }: { query: BlockQuery | null; sealedTo: number },
  ) {
    this.#engine = engine
    this.#queue = queue
    this.#query = query
    this.#sealedTo = query === null ? 0 : sealedTo
  }

  /**
   * @param place chains with lower ordinals are left
   * @param room most chains to read
   * @param wanted how many matches are; without a filter, as many chains are read
   */
  async next(place: number, { room, wanted }: { room: number; wanted: number }): Promise<SearchPiece> {
    const most = Math.min(room, HISTORY_PAGE)
    if (this.#query !== null && place <= this.#sealedTo) {
      if (this.#candidates.length === 0 && place <= this.#plannedTo) await this.#look(place, this.#query)
      if (place <= this.#sealedTo)
        return this.#pieceOfBlocks(place, Math.min(most, Math.max(wanted, PIECE_CHAINS_MIN)))
    }
    const low = Math.max(this.#sealedTo, place - most)
    return { spans: [{ from: low, to: place, picks: null }], after: low }
  }

  /** Looks at the blocks from the place on. Without any, as when an earlier version has trimmed, the rest is looked through. */
  async #look(place: number, query: BlockQuery): Promise<void> {
    const { number } = blockPlace(place - 1)
    const { from, texts } = await readBlocks(this.#engine, this.#queue, number + 1)
    if (from !== number || texts.length === 0) {
      this.#sealedTo = 0
      return
    }
    this.blocks += texts.length
    this.#plannedTo = (number + 1 - texts.length) * HISTORY_BLOCK_CHAINS
    this.#candidates = texts.flatMap((text, i) => {
      const block = decodeBlock(text)
      const offsets = (block === null ? ALL_OFFSETS : offsetsIn(block, query)).filter(
        (offset) => (number - i) * HISTORY_BLOCK_CHAINS + offset < place,
      )
      return offsets.length === 0 ? [] : [{ number: number - i, offsets }]
    })
  }

  #pieceOfBlocks(place: number, most: number): SearchPiece {
    const spans: HistorySpan[] = []
    let after = Math.min(place, this.#plannedTo)
    let left = most
    while (left > 0 && spans.length < SPANS_MAX) {
      const candidate = this.#candidates.shift()
      if (candidate === undefined) return { spans, after: this.#plannedTo }
      const { number, offsets } = candidate
      const from = number * HISTORY_BLOCK_CHAINS
      const picks = offsets.slice(0, left)
      spans.push({ from, to: from + HISTORY_BLOCK_CHAINS, picks })
      left -= picks.length
      after = from + (picks.at(-1) ?? 0)
      if (picks.length < offsets.length)
        this.#candidates.unshift({ number, offsets: offsets.slice(picks.length) })
    }
    return { spans, after }
  }
}
