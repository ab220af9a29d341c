import type { Engine } from '../../base/engine/engine.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import { bandRange } from '../../base/layout/ring-bands.ts'

/** One reading samples at most this many teams of a shard. */
const SAMPLED_TEAMS_MAX = 64
/** One reading samples at most this many queues of a shard, over all its teams. */
const SAMPLED_QUEUES_MAX = 500

/** Queues of the ring that can run, of one team or of several. */
export interface RingSample {
  /** The local ids of the queues. */
  readonly queues: readonly string[]
  /** How many queues of the ring they stand for. */
  readonly inRing: number
}

/**
 * Samples the teams at the head of the line and, when there are more, as many others from a position that `reading`
 * moves on, and of each team the queues that have waited longest. A team may be in line without a queue that can run.
 * When that is so of all these teams, a piece of the ring itself is the sample.
 */
export async function sampleRing(
  engine: Engine,
  keys: ShardKeys,
  reading: number,
): Promise<readonly RingSample[]> {
  const teams = await sampleTeams(engine, keys, reading)
  if (teams.length === 0) return []
  const queuesMax = Math.floor(SAMPLED_QUEUES_MAX / teams.length)
  const samples = await Promise.all(
    teams.map(async (team): Promise<RingSample> => {
      const [from, to] = bandRange(team)
      const [queues, inRing] = await engine.runner.read((redis) =>
        Promise.all([
          redis.zrange(keys.ring, from, to, 'BYSCORE', 'LIMIT', 0, queuesMax),
          redis.zcount(keys.ring, from, to),
        ]),
      )
      return { queues, inRing }
    }),
  )
  const runnable = samples.filter(({ queues }) => queues.length > 0)
  return runnable.length > 0 ? runnable : sampleQueues(engine, keys, reading)
}

async function sampleTeams(engine: Engine, keys: ShardKeys, reading: number): Promise<readonly string[]> {
  const half = SAMPLED_TEAMS_MAX / 2
  const head = await engine.runner.read((redis) => redis.zrange(keys.teams, '0', String(half - 1)))
  if (head.length < half) return head
  const size = await engine.runner.read((redis) => redis.zcard(keys.teams))
  const start = (reading * half) % size
  const others = await engine.runner.read((redis) =>
    redis.zrange(keys.teams, String(start), String(start + half - 1)),
  )
  return [...new Set([...head, ...others])]
}

async function sampleQueues(engine: Engine, keys: ShardKeys, reading: number): Promise<RingSample[]> {
  const inRing = await engine.runner.read((redis) => redis.zcard(keys.ring))
  const start = inRing === 0 ? 0 : (reading * SAMPLED_QUEUES_MAX) % inRing
  const queues = await engine.runner.read((redis) =>
    redis.zrange(keys.ring, String(start), String(start + SAMPLED_QUEUES_MAX - 1)),
  )
  return queues.length === 0 ? [] : [{ queues, inRing }]
}
