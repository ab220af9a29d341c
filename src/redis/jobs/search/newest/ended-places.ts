import type { Engine } from '../../../base/engine/engine.ts'
import { step } from '../../../base/engine/step.ts'
import type { KnownQueue } from '../../../base/names/known-queue.ts'
import type { InTurn } from '../search-visit.ts'
import { inShardLots } from './shard-lots.ts'
import type { TimeOrder } from './time-order.ts'

export const NEWEST_ENDS = step('newest_ends', import.meta.url, {
  args: ['oldest'],
  rows: {
    queues: {
      queueKeys: ['meta', 'history', 'summaries', 'deadLetters', 'deadLetterRecords'],
      args: ['at', 'ordinal', 'purge', 'root'],
    },
  },
})

/** One step looks at the newest ends of at most this many queues, or goes on from known places there. */
const QUEUES_PER_LOOK = 100
/** One step looks for the places of at most this many queues, with up to 40 probes in each. */
const QUEUES_PER_SEARCH = 25

/**
 * Where the ended jobs of a queue go on: finished chains below an ordinal, oldest first from it on; dead letters behind
 * one.
 */
export interface EndedPlaces {
  readonly ordinal: number
  /** The dead letter that was listed last; `root` is '', and `purge` beyond all or 0, when none was. */
  readonly purge: number
  readonly root: string
}

/** The places, and when the next job there ended, in Unix ms; null = there is none. */
export interface EndedLook extends EndedPlaces {
  readonly finishedEndMs: number | null
  readonly deadEndMs: number | null
}

/** What is asked of a queue. */
export interface AskedPlaces {
  readonly queue: KnownQueue
  /** Only what ended then or before is left, oldest first then or later, in Unix ms; null = everything. */
  readonly atMs: number | null
  /** Parts of the places that are known already. */
  readonly known?: Partial<EndedPlaces>
}

/** Finds the places of queues, in their order. */
export function endedPlaces(
  engine: Engine,
  asked: readonly AskedPlaces[],
  { order, inTurn }: { readonly order: TimeOrder; readonly inTurn: InTurn },
): Promise<EndedLook[]> {
  const isSearch = asked.some(({ atMs }) => atMs !== null)
  return inShardLots(asked, {
    queuesPerStep: isSearch ? QUEUES_PER_SEARCH : QUEUES_PER_LOOK,
    inTurn,
    ask: (together) => lookAt(engine, together, order),
  })
}

async function lookAt(
  engine: Engine,
  asked: readonly [AskedPlaces, ...AskedPlaces[]],
  order: TimeOrder,
): Promise<EndedLook[]> {
  const queues = asked.map(({ queue: { localId }, atMs, known = {} }) => ({
    localId,
    at: atMs ?? '',
    ordinal: known.ordinal ?? '',
    purge: known.purge ?? '',
    root: known.root ?? '',
  }))
  const call = NEWEST_ENDS.with({ keys: asked[0].queue.keys, oldest: order === 'oldest' ? 1 : 0, queues })
  const rows = (await engine.runner.run(call)) as string[][]
  return rows.map(([ordinal, finishedEnd = '', purge, root = '', deadEnd = '']) => ({
    ordinal: Number(ordinal),
    finishedEndMs: finishedEnd === '' ? null : Number(finishedEnd),
    purge: Number(purge),
    root,
    deadEndMs: deadEnd === '' ? null : Number(deadEnd),
  }))
}
