import type { Engine } from '../../../base/engine/engine.ts'
import { step } from '../../../base/engine/step.ts'
import type { KnownQueue } from '../../../base/names/known-queue.ts'

export const NEWEST_ENDS = step('newest_ends', import.meta.url, {
  rows: {
    queues: {
      queueKeys: ['meta', 'history', 'summaries', 'deadLetters', 'deadLetterRecords'],
      args: ['at', 'ordinal', 'purge', 'root'],
    },
  },
})

/** One step looks for the places of at most this many queues, with up to 40 probes in each. */
const QUEUES_PER_STEP = 25
/** Steps that are sent together; the search takes a turn for each lot. */
const STEPS_TOGETHER = 4

/** Where the ended jobs of a queue go on: finished chains below an ordinal, dead letters behind one. */
export interface EndedPlaces {
  readonly ordinal: number
  /** The dead letter that was listed last; `root` is '', and `purge` beyond all, when none was. */
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
  /** Only what ended then or before is left, in Unix ms; null = everything. */
  readonly atMs: number | null
  /** Parts of the places that are known already. */
  readonly known?: Partial<EndedPlaces>
}

/** Finds the places of queues, in their order. @param inTurn runs each lot of steps */
export async function endedPlaces(
  engine: Engine,
  asked: readonly AskedPlaces[],
  inTurn: <T>(lot: () => Promise<T>) => Promise<T>,
): Promise<EndedLook[]> {
  const looks: EndedLook[] = []
  const lots = new Map<number, number[]>()
  for (const [i, { queue }] of asked.entries()) {
    const { shard } = queue.keys
    lots.set(shard, [...(lots.get(shard) ?? []), i])
  }
  const batches = [...lots.values()].flatMap((places) => batchesOf(places, QUEUES_PER_STEP))
  for (const together of batchesOf(batches, STEPS_TOGETHER)) {
    await inTurn(() =>
      Promise.all(
        together.map(async (batch) => {
          const found = await lookAt(
            engine,
            batch.flatMap((i) => asked[i] ?? []),
          )
          batch.forEach((i, at) => {
            const look = found[at]
            if (look !== undefined) looks[i] = look
          })
        }),
      ),
    )
  }
  return looks
}

async function lookAt(engine: Engine, asked: readonly AskedPlaces[]): Promise<EndedLook[]> {
  const [first] = asked
  if (first === undefined) return []
  const queues = asked.map(({ queue: { localId }, atMs, known = {} }) => ({
    localId,
    at: atMs ?? '',
    ordinal: known.ordinal ?? '',
    purge: known.purge ?? '',
    root: known.root ?? '',
  }))
  const rows = (await engine.runner.run(NEWEST_ENDS.with({ keys: first.queue.keys, queues }))) as string[][]
  return rows.map(([ordinal, finishedEnd = '', purge, root = '', deadEnd = '']) => ({
    ordinal: Number(ordinal),
    finishedEndMs: finishedEnd === '' ? null : Number(finishedEnd),
    purge: Number(purge),
    root,
    deadEndMs: deadEnd === '' ? null : Number(deadEnd),
  }))
}

function batchesOf<T>(values: readonly T[], size: number): T[][] {
  const batches: T[][] = []
  for (let at = 0; at < values.length; at += size) batches.push(values.slice(at, at + size))
  return batches
}
