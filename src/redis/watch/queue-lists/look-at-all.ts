import type { OrderFacts } from '../../../domain/jobs/queues/queue-order.ts'
import type { QueueListQuery } from '../../../ports/live/queue-lists.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { queueIdOf } from '../../base/layout/keys.ts'
import type { KnownQueue } from '../../base/names/known-queue.ts'
import { teamNames } from '../../base/names/team-names.ts'
import { READ_QUEUES_MAX, readParts, readySplitOf } from '../../jobs/queues/queue-parts.ts'
import type { QueueHours } from './queue-hours.ts'

/** A list looks at no more queues of a team than this, and a search at no more names in a page. */
export const QUEUES_LOOKED_MAX = 5_000

/** What lists are made with. */
export interface ListWorld {
  readonly engine: Engine
  readonly hours: QueueHours
  isHeld(queue: KnownQueue): boolean
}

/** What a list has to know of a queue to find its place. */
export interface Look extends OrderFacts {
  readonly queue: KnownQueue
  readonly queueId: number
}

export interface LookedAt {
  readonly looks: readonly Look[]
  /** false = the team has more queues. */
  readonly isComplete: boolean
}

/** The names that a query asks for, among names. */
export function askedFor({
  text,
  may,
}: Pick<QueueListQuery, 'text' | 'may'>): (queue: { readonly name: string }) => boolean {
  const sought = text?.toLowerCase() ?? ''
  return ({ name }) => may(name) && (sought === '' || name.toLowerCase().includes(sought))
}

/** Looks at all queues that a query asks for, shard by shard in pages, so that each page leaves room for other work. */
export async function lookAtAll(world: ListWorld, query: QueueListQuery): Promise<LookedAt> {
  const { team } = query
  const limit = QUEUES_LOOKED_MAX + 1
  const found = await teamNames(world.engine, { kind: 'queues', team, begin: '-', limit })
  const asked = found
    .slice(0, QUEUES_LOOKED_MAX)
    .filter(askedFor(query))
    .map(({ keys, id, name }): KnownQueue => ({ keys, localId: id, team, name }))
  const byShard = Map.groupBy(asked, ({ keys }) => keys)
  const looks = await Promise.all([...byShard.values()].map((queues) => lookAtShard(world, queues)))
  return { looks: looks.flat(), isComplete: found.length <= QUEUES_LOOKED_MAX }
}

async function lookAtShard(world: ListWorld, queues: readonly KnownQueue[]): Promise<Look[]> {
  const { engine, hours } = world
  const looks: Look[] = []
  for (let begin = 0; begin < queues.length; begin += READ_QUEUES_MAX) {
    const page = queues.slice(begin, begin + READ_QUEUES_MAX)
    const { keys } = page[0] as KnownQueue
    const localIds = page.map(({ localId }) => localId)
    const read = await readParts(engine, keys, localIds)
    const lastHours = await hours.of(keys, localIds)
    read.forEach((parts, i) => {
      const queue = page[i] as KnownQueue
      const hour = lastHours[i]
      // The name is reserved, but the push or edit that makes the queue has not run yet.
      if (parts.settingsHash === '' || hour === undefined) return
      looks.push({
        queue,
        queueId: queueIdOf(queue.localId, keys.shard, engine.shards.length),
        name: queue.name,
        dead: parts.counts.dead,
        throttled: parts.throttle?.reason ?? null,
        split: readySplitOf(parts, world.isHeld(queue)),
        hour,
      })
    })
  }
  return looks
}
