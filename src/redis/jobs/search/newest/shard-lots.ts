import type { KnownQueue } from '../../../base/names/known-queue.ts'
import type { InTurn } from '../search-visit.ts'

/** Steps that are sent together; a search takes a turn for each lot. */
const STEPS_TOGETHER = 4

interface Lots<Asked, Found> {
  /** One step is asked about at most this many queues. */
  readonly queuesPerStep: number
  /** Runs each lot of steps. */
  readonly inTurn: InTurn
  /** Asks about queues of one shard, and answers in their order. */
  ask(asked: readonly [Asked, ...Asked[]]): Promise<readonly Found[]>
}

/** Asks steps about queues of several shards, some steps at a time. Answers in the order of what is asked. */
export async function inShardLots<Asked extends { readonly queue: KnownQueue }, Found>(
  asked: readonly Asked[],
  { queuesPerStep, inTurn, ask }: Lots<Asked, Found>,
): Promise<Found[]> {
  const found: Found[] = []
  const shards = new Map<number, number[]>()
  for (const [i, { queue }] of asked.entries()) {
    const places = shards.get(queue.keys.shard)
    if (places === undefined) shards.set(queue.keys.shard, [i])
    else places.push(i)
  }
  const steps = [...shards.values()].flatMap((places) => batchesOf(places, queuesPerStep))
  for (const together of batchesOf(steps, STEPS_TOGETHER)) {
    await inTurn(() =>
      Promise.all(
        together.map(async (places) => {
          const [first, ...others] = places.flatMap((i) => asked[i] ?? [])
          if (first === undefined) return
          for (const [at, one] of (await ask([first, ...others])).entries()) found[places[at] ?? 0] = one
        }),
      ),
    )
  }
  return found
}

function batchesOf<T>(values: readonly T[], size: number): T[][] {
  const batches: T[][] = []
  for (let at = 0; at < values.length; at += size) batches.push(values.slice(at, at + size))
  return batches
}
