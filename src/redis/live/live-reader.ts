import type { AskedTeam, LiveFigures, LiveKind, LiveLook, LiveReader } from '../../ports/live/live.ts'
import type { Engine } from '../client/engine.ts'
import { changedKinds } from './changed-kinds.ts'
import { lookAtShard, type ShardLook } from './shard-look.ts'

/** Teams that one step reads, so that it does not hold up other steps. */
const TEAMS_PER_STEP = 50

export function createLiveReader(engine: Engine): LiveReader {
  return {
    look: async (asked) => {
      const looks: LiveLook[] = []
      for (let begin = 0; begin < asked.length; begin += TEAMS_PER_STEP) {
        const page = asked.slice(begin, begin + TEAMS_PER_STEP)
        const shards = await Promise.all(
          engine.shards.map((keys, shard) =>
            lookAtShard(
              engine,
              keys,
              page.map(({ team, before }) => ({ team, seen: before?.marks[shard]?.audit ?? '' })),
            ),
          ),
        )
        looks.push(
          ...page.map((one, at) =>
            lookOf(
              one,
              shards.map((teams) => teams[at] as ShardLook),
            ),
          ),
        )
      }
      return looks
    },
  }
}

function lookOf({ before }: AskedTeam, shards: readonly ShardLook[]): LiveLook {
  const changed = new Set<LiveKind>()
  shards.forEach((look, shard) => {
    const marks = before?.marks[shard]
    if (marks !== undefined) for (const kind of changedKinds(marks, look)) changed.add(kind)
  })
  return { figures: figuresOf(shards), changed, marks: shards.map(({ marks }) => marks) }
}

function figuresOf(shards: readonly ShardLook[]): LiveFigures {
  // A wrong counter must not produce an answer that its schema refuses.
  const total = (of: (look: ShardLook) => number): number =>
    Math.max(
      0,
      shards.reduce((sum, look) => sum + of(look), 0),
    )
  const ages = shards.flatMap(({ oldestReadyMs }) => (oldestReadyMs === null ? [] : [oldestReadyMs]))
  return {
    pending: total(({ pending }) => pending),
    inFlight: total(({ inFlight }) => inFlight),
    oldestReadyMs: ages.length === 0 ? null : Math.max(...ages),
    unreadAlerts: total(({ unreadAlerts }) => unreadAlerts),
  }
}
