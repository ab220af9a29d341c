import { monthOf } from '../domain/quotas.ts'
import type { TeamUsage, TeamUsageReader } from '../ports/team-usage.ts'
import type { Engine } from './engine.ts'
import type { ShardKeys } from './keys.ts'
import { lookAtShard, NOTHING_HELD } from './usage-look.ts'

export function createTeamUsageReader(engine: Engine): TeamUsageReader {
  return {
    read: async (team) => {
      const shards = await Promise.all(engine.shards.map((keys) => readShard(engine, keys, team)))
      const total = (of: (usage: TeamUsage) => number): number =>
        shards.reduce((sum, usage) => sum + of(usage), 0)
      return {
        queues: total(({ queues }) => queues),
        crons: total(({ crons }) => crons),
        pendingJobs: total(({ pendingJobs }) => pendingJobs),
        storedBytes: total(({ storedBytes }) => storedBytes),
        jobsPerMonth: total(({ jobsPerMonth }) => jobsPerMonth),
        callsInFlight: total(({ callsInFlight }) => callsInFlight),
      }
    },
  }
}

async function readShard(engine: Engine, keys: ShardKeys, team: string): Promise<TeamUsage> {
  const { month } = monthOf(engine.runner.redisNowMs(keys.shard))
  const [look, queues, crons] = await Promise.all([
    lookAtShard(engine, keys, [team], month),
    engine.runner.read((redis) => redis.zcard(keys.qnOf(team))),
    engine.runner.read((redis) => redis.zcard(keys.knOf(team))),
  ])
  const { jobs, bytes, monthJobs, inFlight } = look.teams.get(team) ?? NOTHING_HELD
  return {
    queues,
    crons,
    pendingJobs: jobs,
    storedBytes: bytes,
    jobsPerMonth: monthJobs,
    callsInFlight: inFlight,
  }
}
