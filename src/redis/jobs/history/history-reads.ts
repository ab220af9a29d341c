import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'

export const READ_HISTORY = step('read_history', import.meta.url, {
  queueKeys: ['meta', 'history', 'blocks', 'summaries'],
  args: ['wanted'],
  rows: { spans: { args: ['from', 'to', 'picks', 'tests'] } },
  rest: 'needles',
})

/**
 * Bounds the chains that one step answers, those that it looks at, and the spans that it reads, so that it holds up no
 * other step for long.
 */
export const HISTORY_PAGE = 500
export const TESTED_PAGE = 2_048
export const SPANS_MAX = 64

/** The ordinals from `from` to below `to`. */
export interface HistorySpan {
  readonly from: number
  readonly to: number
  /** Offsets from `from`, the greatest first; null = all. */
  readonly picks: readonly number[] | null
  /** true = only chains are wanted whose summaries contain the needles. */
  readonly isTested: boolean
}

export interface FinishedEntry {
  readonly ordinal: number
  readonly root: string
  /** The summary of the chain; null = it is a tombstone. */
  readonly text: string | null
}

export interface HistoryLook {
  /** The ordinals of the oldest chain and of the next one that will come. */
  readonly oldest: number
  readonly stop: number
  /** Chains below this ordinal are in blocks. It equals `oldest` when there are no blocks. */
  readonly sealedTo: number
  /** How many chains were looked at, and the bytes of their summaries. */
  readonly looked: number
  readonly bytes: number
  /** The ordinal of the last chain when the step stopped before the end of the spans; else null. */
  readonly stoppedAt: number | null
  /** The chains of the spans, newest first. */
  readonly entries: readonly FinishedEntry[]
}

interface Asked {
  /**
   * The spans, newest first. They have at most TESTED_PAGE chains together, HISTORY_PAGE of them not tested, and there
   * are at most SPANS_MAX.
   */
  readonly spans: readonly HistorySpan[]
  /** The step may stop when this many tested chains have passed. */
  readonly wanted: number
  /** Texts that stand in each summary that is wanted. */
  readonly needles: readonly string[]
}

type HistoryOwner = Readonly<{ keys: ShardKeys; localId: string }>

/** Reads as much of the spans as one step may. It stops early when the summaries are large. */
export async function readHistory(
  engine: Engine,
  { keys, localId }: HistoryOwner,
  { spans, wanted, needles }: Asked,
): Promise<HistoryLook> {
  const rows = spans.map(({ from, to, picks, isTested }) => ({
    from,
    to,
    picks: picks === null ? '' : picks.join(','),
    tests: isTested ? 1 : 0,
  }))
  const call = READ_HISTORY.with({ keys, localId, wanted, spans: rows, needles })
  const reply = (await engine.runner.run(call)) as Array<string | number>
  const [oldest, stop, sealedTo, looked, bytes, stoppedAt, ...flat] = reply
  const entries: FinishedEntry[] = []
  for (let i = 0; i < flat.length; i += 3) {
    const text = String(flat[i + 2])
    entries.push({ ordinal: Number(flat[i]), root: String(flat[i + 1]), text: text === '' ? null : text })
  }
  return {
    oldest: Number(oldest),
    stop: Number(stop),
    sealedTo: Number(sealedTo),
    looked: Number(looked),
    bytes: Number(bytes),
    stoppedAt: stoppedAt === '' ? null : Number(stoppedAt),
    entries,
  }
}

/** Reads where a history stands. */
export function lookAtHistory(engine: Engine, owner: HistoryOwner): Promise<HistoryLook> {
  return readHistory(engine, owner, { spans: [], wanted: 0, needles: [] })
}

/** Reads all chains of a span that has at most HISTORY_PAGE, newest first, however large they are. */
export async function readChains(
  engine: Engine,
  owner: HistoryOwner,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<HistoryLook> {
  const entries: FinishedEntry[] = []
  for (let below = to; ;) {
    const spans = [{ from, to: below, picks: null, isTested: false }]
    const look = await readHistory(engine, owner, { spans, wanted: 0, needles: [] })
    entries.push(...look.entries)
    if (look.stoppedAt === null) return { ...look, entries }
    below = look.stoppedAt
  }
}
