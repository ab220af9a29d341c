import type { Engine } from '../client/engine.ts'
import { step } from '../client/step.ts'
import type { ShardKeys } from '../layout/keys.ts'

export const READ_HISTORY = step('read_history', import.meta.url, {
  queueKeys: ['meta', 'history', 'blocks', 'summaries'],
  rows: { spans: { args: ['from', 'to', 'picks'] } },
})
export const READ_BLOCKS = step('read_blocks', import.meta.url, {
  queueKeys: ['meta', 'history', 'blocks'],
  args: ['below', 'count'],
})

/** Chains and spans that one step reads, so that it holds up no other for long. */
export const HISTORY_PAGE = 500
export const SPANS_MAX = 32
/** Blocks of one page: 32 B to 6 kB each. */
export const BLOCKS_PAGE = 250

/** Ordinals `from` to below `to`. */
export interface HistorySpan {
  readonly from: number
  readonly to: number
  /** Offsets from `from`; null = all. */
  readonly picks: readonly number[] | null
}

export interface FinishedEntry {
  readonly ordinal: number
  readonly root: string
  /** Its summary; null for a tombstone. */
  readonly text: string | null
}

export interface HistoryLook {
  /** Ordinals of the oldest chain and of the next one that will come. */
  readonly oldest: number
  readonly stop: number
  /** Chains below this ordinal are in blocks; `oldest` when there are none. */
  readonly sealedTo: number
  /** Of the spans, newest first. */
  readonly entries: readonly FinishedEntry[]
}

/** @param spans newest first, with at most HISTORY_PAGE chains together and at most SPANS_MAX of them */
export async function readHistory(
  engine: Engine,
  { keys, localId }: { readonly keys: ShardKeys; readonly localId: string },
  spans: readonly HistorySpan[],
): Promise<HistoryLook> {
  const rows = spans.map(({ from, to, picks }) => ({
    from,
    to,
    picks: picks === null ? '' : picks.join(','),
  }))
  const reply = (await engine.runner.run(READ_HISTORY.with({ keys, localId, spans: rows }))) as string[]
  const [oldest, stop, sealedTo, ...flat] = reply
  const entries: FinishedEntry[] = []
  for (let i = 0; i < flat.length; i += 3) {
    const [ordinal, root = '', text] = flat.slice(i, i + 3)
    entries.push({ ordinal: Number(ordinal), root, text: text === '' || text === undefined ? null : text })
  }
  return { oldest: Number(oldest), stop: Number(stop), sealedTo: Number(sealedTo), entries }
}

/** The texts of blocks, newest first, from the one before number `below` on; `from` is the number of the first. */
export async function readBlocks(
  engine: Engine,
  { keys, localId }: { readonly keys: ShardKeys; readonly localId: string },
  below: number,
): Promise<{ readonly from: number; readonly texts: readonly string[] }> {
  const call = READ_BLOCKS.with({ keys, localId, below, count: BLOCKS_PAGE })
  const [above, ...texts] = (await engine.runner.run(call)) as string[]
  return { from: Number(above) - 1, texts }
}
