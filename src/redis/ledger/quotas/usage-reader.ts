import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import { usageField, type ShardKeys } from '../../base/layout/keys.ts'

export const READ_USAGE = step('read_usage', import.meta.url, { keys: ['teamUsage'], rest: 'fields' })

/** Usage of a team in one shard. */
export interface ShardUsage {
  readonly jobs: number
  /** Bytes of all its records, as the steps count them. */
  readonly bytes: number
  /** Part of `bytes` that counts for its quota: chains in blocks that the budget may drop do not. */
  readonly countedBytes: number
  readonly inFlight: number
  /** Jobs in the month asked for. */
  readonly monthJobs: number
}

export const NOTHING_HELD: ShardUsage = Object.freeze({
  jobs: 0,
  bytes: 0,
  countedBytes: 0,
  inFlight: 0,
  monthJobs: 0,
})

/** How full the Redis under a shard is. */
export interface MemoryReading {
  /** Run id of the server; shards on one server have the same. */
  readonly server: string
  readonly usedBytes: number
  /** 0 = no limit. */
  readonly maxBytes: number
  /** Bytes of all teams in this shard. */
  readonly allBytes: number
}

export interface UsageReading {
  readonly memory: MemoryReading
  readonly teams: ReadonlyMap<string, ShardUsage>
}

/** Reads the usage of teams in one shard. Throws StoreUnavailableError. */
export async function readShardUsage(
  engine: Engine,
  keys: ShardKeys,
  teams: readonly string[],
  month: number,
): Promise<UsageReading> {
  const fields = teams.flatMap((team) => [
    usageField(team, 'jobs'),
    usageField(team, 'bytes'),
    usageField(team, 'inFlight'),
    usageField(team, 'month'),
    usageField(team, 'sealed'),
  ])
  const reply = await engine.runner.run(
    READ_USAGE.with({ keys, fields: [usageField('*', 'bytes'), ...fields] }),
  )
  const [server = '', used, max, all, ...values] = reply as string[]
  const usages = teams.map((team, i): [string, ShardUsage] => {
    const [jobs, bytes, inFlight, monthText = '', sealed] = values.slice(i * 5, i * 5 + 5)
    const [countedMonth, monthJobs] = monthText.split(' ')
    return [
      team,
      {
        jobs: Number(jobs),
        bytes: Number(bytes),
        // A block counts whole until the last of its chains has left.
        countedBytes: Math.max(0, Number(bytes) - Number(sealed)),
        inFlight: Number(inFlight),
        monthJobs: Number(countedMonth) === month ? Number(monthJobs) : 0,
      },
    ]
  })
  const memory = { server, usedBytes: Number(used), maxBytes: Number(max), allBytes: Number(all) }
  return { memory, teams: new Map(usages) }
}
