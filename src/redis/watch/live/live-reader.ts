import type { AskedTeam, LiveFigures, LiveKind, LiveReading, LiveReader } from '../../../ports/live/live.ts'
import { NO_WINDOWS, type WindowSource } from '../../../ports/windows.ts'
import { HeldQueues } from '../../jobs/execute/claim/held-queues.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { changedKinds } from './changed-kinds.ts'
import { readLiveShard, type LiveShardReading } from './live-shard-reading.ts'

/** One step reads at most this many teams, so that it does not hold up other steps. */
const TEAMS_PER_STEP = 50

/** @param windows these hold queues, whose jobs do not wait for executors */
export function createLiveReader(engine: Engine, windows: WindowSource = NO_WINDOWS): LiveReader {
  const held = engine.shards.map((keys) => new HeldQueues(engine, keys, windows))
  return {
    read: async (asked) => {
      const readings: LiveReading[] = []
      for (let begin = 0; begin < asked.length; begin += TEAMS_PER_STEP) {
        const page = asked.slice(begin, begin + TEAMS_PER_STEP)
        const shards = await Promise.all(
          engine.shards.map((keys, shard) =>
            readLiveShard(
              engine,
              { keys, held: held[shard] as HeldQueues },
              page.map(({ team, before }) => ({ team, seen: before?.marks[shard]?.audit ?? '' })),
            ),
          ),
        )
        readings.push(
          ...page.map((one, at) =>
            readingOf(
              one,
              shards.map((teams) => teams[at] as LiveShardReading),
            ),
          ),
        )
      }
      return readings
    },
  }
}

function readingOf({ before }: AskedTeam, shards: readonly LiveShardReading[]): LiveReading {
  const changed = new Set<LiveKind>()
  shards.forEach((reading, shard) => {
    const marks = before?.marks[shard]
    if (marks !== undefined) for (const kind of changedKinds(marks, reading)) changed.add(kind)
  })
  return { figures: figuresOf(shards), changed, marks: shards.map(({ marks }) => marks) }
}

function figuresOf(shards: readonly LiveShardReading[]): LiveFigures {
  // A wrong counter must not produce an answer that its schema refuses.
  const total = (of: (reading: LiveShardReading) => number): number =>
    Math.max(
      0,
      shards.reduce((sum, reading) => sum + of(reading), 0),
    )
  const waiting = shards.flatMap(({ oldestStartable }) => oldestStartable ?? [])
  return {
    pending: total(({ pending }) => pending),
    inFlight: total(({ inFlight }) => inFlight),
    startable: total(({ startable }) => startable),
    stopped: total(({ stopped }) => stopped),
    oldestStartable: waiting.toSorted((one, other) => other.ageMs - one.ageMs)[0] ?? null,
    unreadAlerts: total(({ unreadAlerts }) => unreadAlerts),
  }
}
