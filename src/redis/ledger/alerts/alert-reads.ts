import type { Alert } from '../../../domain/alerts/alert.ts'
import { shardKeys, type Engine } from '../../base/engine/engine.ts'
import { alertIn } from '../../base/layout/alert-record.ts'
import { SHARDS_MAX } from '../../../domain/limits.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'

/** The shard that an alert's id names; null when there is none. */
export function shardOfAlert(engine: Engine, alertId: number): ShardKeys | null {
  const shard = alertId % SHARDS_MAX
  return shard < engine.shards.length ? shardKeys(engine, shard) : null
}

/** Ids of the team's alerts in a shard, newest first, from `max` on; `(` before it leaves itself out. */
export async function newestIds(
  engine: Engine,
  keys: ShardKeys,
  { team, max, limit }: { team: string; max: '+inf' | number | `(${number}`; limit: number },
): Promise<number[]> {
  const ids = await engine.runner.read((redis) =>
    redis.zrange(keys.alertOrder(team), max, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, limit),
  )
  return ids.map(Number)
}

/** Alerts in the order of these ids; null where there is none, or none that can be read. */
export async function readAlerts(
  engine: Engine,
  team: string,
  ids: readonly number[],
): Promise<Array<Alert | null>> {
  const found = new Map<number, Alert | null>()
  const byShard = Map.groupBy(ids, (id) => shardOfAlert(engine, id))
  await engine.runner.read((redis) =>
    Promise.all(
      [...byShard].map(async ([keys, ofShard]) => {
        if (keys === null) return
        const texts = await redis.hmget(keys.alertRecords(team), ...ofShard.map(String))
        ofShard.forEach((id, i) => {
          const text = texts[i]
          if (typeof text === 'string') found.set(id, alertIn(String(id), text)?.alert ?? null)
        })
      }),
    ),
  )
  return ids.map((id) => found.get(id) ?? null)
}
