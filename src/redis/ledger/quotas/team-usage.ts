import { monthOf } from '../../../domain/quotas.ts'
import type { TeamStats, TeamUsage, TeamUsageReader } from '../../../ports/quotas.ts'
import type { Engine } from '../../base/engine/engine.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import { readShardUsage, NOTHING_HELD } from './usage-reader.ts'

/** Teams that one step reads, so that it does not hold up other steps. */
const COUNTED_TEAMS_MAX = 250

export function createTeamUsageReader(engine: Engine): TeamUsageReader {
  return { read: async (team) => usageOf(team, await readAllShards(engine, [team])) }
}

export function createTeamStats(engine: Engine): TeamStats {
  return {
    read: async (teams) => {
      const usages: TeamUsage[] = []
      for (let begin = 0; begin < teams.length; begin += COUNTED_TEAMS_MAX) {
        const page = teams.slice(begin, begin + COUNTED_TEAMS_MAX)
        const shards = await readAllShards(engine, page)
        usages.push(...page.map((team) => usageOf(team, shards)))
      }
      return usages
    },
  }
}

type UsageByTeam = ReadonlyMap<string, TeamUsage>

function readAllShards(engine: Engine, teams: readonly string[]): Promise<readonly UsageByTeam[]> {
  return Promise.all(engine.shards.map((keys) => readShard(engine, keys, teams)))
}

async function readShard(engine: Engine, keys: ShardKeys, teams: readonly string[]): Promise<UsageByTeam> {
  const { month } = monthOf(engine.runner.redisNowMs(keys.shard))
  const [reading, queues, crons] = await Promise.all([
    readShardUsage(engine, keys, teams, month),
    engine.runner.read((redis) => Promise.all(teams.map((team) => redis.zcard(keys.teamQueues(team))))),
    engine.runner.read((redis) => Promise.all(teams.map((team) => redis.zcard(keys.teamCrons(team))))),
  ])
  return new Map(
    teams.map((team, at) => {
      const { jobs, countedBytes, monthJobs, inFlight } = reading.teams.get(team) ?? NOTHING_HELD
      const usage: TeamUsage = {
        queues: queues[at] ?? 0,
        crons: crons[at] ?? 0,
        pendingJobs: jobs,
        storedBytes: countedBytes,
        jobsPerMonth: monthJobs,
        callsInFlight: inFlight,
      }
      return [team, usage]
    }),
  )
}

function usageOf(team: string, shards: readonly UsageByTeam[]): TeamUsage {
  const held = shards.flatMap((byTeam) => byTeam.get(team) ?? [])
  // A wrong counter must not produce an answer or a status that its schema refuses.
  const total = (of: (usage: TeamUsage) => number): number =>
    held.reduce((sum, usage) => sum + Math.max(0, of(usage)), 0)
  return {
    queues: total(({ queues }) => queues),
    crons: total(({ crons }) => crons),
    pendingJobs: total(({ pendingJobs }) => pendingJobs),
    storedBytes: total(({ storedBytes }) => storedBytes),
    jobsPerMonth: total(({ jobsPerMonth }) => jobsPerMonth),
    callsInFlight: total(({ callsInFlight }) => callsInFlight),
  }
}
