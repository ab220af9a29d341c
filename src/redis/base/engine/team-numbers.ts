import { LruCache } from '../../../domain/lru-cache.ts'
import type { ShardKeys } from '../layout/keys.ts'
import type { StepRunner } from './step-runner.ts'

/** Numbers remembered of all shards. */
const REMEMBERED_MAX = 20_000
/** Stands for a team without a number, as after the loss of the shard's data: no job of such a batch is still held. */
const NO_NUMBER = '0'

/** The numbers of teams in their shards. lib/team.lua assigns them, and a team keeps its number. */
export interface TeamNumbers {
  /** Throws StoreUnavailableError. */
  of(keys: ShardKeys, team: string): Promise<string>
  /** A number has changed, because Redis lost its last writes. */
  forget(): void
}

export function createTeamNumbers(runner: StepRunner): TeamNumbers {
  const known = new LruCache<string, string>(REMEMBERED_MAX)
  return {
    of: async (keys, team) => {
      const name = `${keys.shard}/${team}`
      const remembered = known.get(name)
      if (remembered !== undefined) return remembered
      const found = await runner.read((redis) => redis.hget(keys.teamNumbers, team))
      if (found === null) return NO_NUMBER
      known.set(name, found)
      return found
    },
    forget: () => known.clear(),
  }
}
