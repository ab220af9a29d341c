import { step } from '../../../base/engine/step.ts'
import type { Engine } from '../../../base/engine/engine.ts'
import type { KnownQueue } from '../../../base/names/known-queue.ts'
import type { JobFilter } from '../../../../domain/jobs/job-filter.ts'
import { blockQuery } from '../../history/blocks/block-match.ts'
import type { FinishedEntry } from '../../history/history-reads.ts'
import { needlesIn } from '../../history/search/summary-needles.ts'
import type { InTurn } from '../search-visit.ts'
import { inShardLots } from './shard-lots.ts'
import type { TimeOrder } from './time-order.ts'

export const READ_ENDED = step('read_ended', import.meta.url, {
  args: ['skipsPlain', 'oldest'],
  rows: {
    queues: { queueKeys: ['meta', 'history', 'summaries'], args: ['ordinal', 'count', 'untilMs'] },
  },
  rest: 'needles',
})

/** One step reads at most this many chains, of at most this many queues. */
const CHAINS_PER_STEP = 500
const QUEUES_PER_STEP = 25

/** Which chains of a queue are read: so many below an ordinal, oldest first from it on. */
export interface AskedRows {
  readonly queue: KnownQueue
  readonly ordinal: number
  readonly count: number
}

export interface EndedRows {
  /** The ordinal below which the rest of the chains is, oldest first from which on. */
  readonly ordinal: number
  /** When the first of the rest ended, in Unix ms; null = nothing is left. */
  readonly nextEndMs: number | null
  /** How many chains were looked at, and the bytes of their summaries. */
  readonly looked: number
  readonly bytes: number
  /** Those that may match, in the order of the list. */
  readonly entries: readonly FinishedEntry[]
}

interface Bounds {
  readonly filter: JobFilter
  readonly order: TimeOrder
  /** Nothing is read behind a chain that ended before, oldest first after it, in Unix ms; null = all that is asked for. */
  readonly untilMs: number | null
  readonly inTurn: InTurn
}

/**
 * Reads the next finished chains of queues, in their order. A step reads at least one chain of its first queue, and stops
 * early where summaries are large.
 */
export function readEndedRows(
  engine: Engine,
  asked: readonly AskedRows[],
  { filter, order, untilMs, inTurn }: Bounds,
): Promise<EndedRows[]> {
  // Only a block tells whether the text of a host stands in its summaries.
  const needles = needlesIn({ ...filter, host: null })
  // A filter has codes where no chain without one can match.
  const skipsPlain = (blockQuery(filter)?.codes.length ?? 0) > 0 ? 1 : 0
  const most = asked.reduce((max, { count }) => Math.max(max, count), 1)
  return inShardLots(asked, {
    queuesPerStep: Math.max(1, Math.min(QUEUES_PER_STEP, Math.floor(CHAINS_PER_STEP / most))),
    inTurn,
    ask: async (together) => {
      const queues = together.map(({ queue: { localId }, ordinal, count }) => {
        return { localId, ordinal, count, untilMs: untilMs ?? '' }
      })
      const oldest = order === 'oldest' ? 1 : 0
      const call = READ_ENDED.with({ keys: together[0].queue.keys, skipsPlain, oldest, queues, needles })
      return ((await engine.runner.run(call)) as Array<Array<string | number>>).map(rowsIn)
    },
  })
}

function rowsIn([ordinal, nextEnd, looked, bytes, ...flat]: ReadonlyArray<string | number>): EndedRows {
  const entries: FinishedEntry[] = []
  for (let i = 0; i < flat.length; i += 3) {
    entries.push({ ordinal: Number(flat[i]), root: String(flat[i + 1]), text: String(flat[i + 2]) })
  }
  return {
    ordinal: Number(ordinal),
    nextEndMs: nextEnd === '' ? null : Number(nextEnd),
    looked: Number(looked),
    bytes: Number(bytes),
    entries,
  }
}
