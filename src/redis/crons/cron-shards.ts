import { homeOfCron, shardKeys, shardOfQueue, type Engine } from '../base/engine/engine.ts'
import type { ShardKeys } from '../base/layout/keys.ts'

/** The shard that gives a cron its id. The cron lives there unless it runs through a queue of another shard. */
export function homeOfCronName(engine: Engine, team: string, name: string): ShardKeys {
  return shardOfQueue(engine, team, name)
}

/** The shards a cron may live in: one, or several while it moves, the newest first. */
export async function shardsOf(engine: Engine, cronId: number): Promise<ShardKeys[]> {
  const home = homeOfCron(engine, cronId)
  const noted = await engine.runner.read((redis) => redis.hget(home.cronShards, String(cronId)))
  return shardsIn(engine, cronId, noted)
}

/** @param noted as the home shard has it; null = at home */
export function shardsIn(engine: Engine, cronId: number, noted: string | null): ShardKeys[] {
  if (noted === null) return [homeOfCron(engine, cronId)]
  return noted.split(',').map((shard) => shardKeys(engine, Number(shard)))
}

/** The opposite of `shardsIn`; '' = at home. */
export function shardsText(home: ShardKeys, shards: readonly ShardKeys[]): string {
  const isAtHome = shards.length === 1 && shards[0] === home
  return isAtHome ? '' : shards.map(({ shard }) => shard).join(',')
}

/** A reader may miss a cron that moves once: in its old shard after it left, in the new one before it came. */
export const MOVING_TRIES_MAX = 2

/** Reads in the shards a cron may live in, until one of them has it. */
export async function readInShards<T>(
  engine: Engine,
  cronId: number,
  read: (keys: ShardKeys, id: string) => Promise<T | null>,
): Promise<T | null> {
  for (let tries = 0; tries < MOVING_TRIES_MAX; tries += 1) {
    for (const keys of await shardsOf(engine, cronId)) {
      const found = await read(keys, String(cronId))
      if (found !== null) return found
    }
  }
  return null
}
