import { ATTEMPTS_PER_CHAIN } from '../domain/job-ids.ts'
import type { Cron, CronPlace, CronState } from '../ports/cron-store.ts'
import { shardKeys, shardOfQueue, type Engine } from './engine.ts'
import { decodeDefinition, decodeRun, decodeState, type CronStateRecord } from './cron-record.ts'
import { indexPlace, nameField, type ShardKeys } from './keys.ts'

/** The shard that gives a cron its id; it lives there as long as it has no queue in another. */
export function homeOf(engine: Engine, team: string, name: string): ShardKeys {
  return shardOfQueue(engine, team, name)
}

export function homeOfId(engine: Engine, cronId: number): ShardKeys {
  return shardKeys(engine, cronId % engine.shards.length)
}

/** Where a cron may be found, the newest place first; while it moves there are several. */
export async function placesOf(engine: Engine, cronId: number): Promise<ShardKeys[]> {
  const home = homeOfId(engine, cronId)
  const noted = await engine.runner.read((redis) => redis.hget(home.ki, String(cronId)))
  if (noted === null) return [home]
  return noted.split(',').map((shard) => shardKeys(engine, Number(shard)))
}

export async function cronIdOf(engine: Engine, { team, name }: CronPlace): Promise<number | null> {
  const home = homeOf(engine, team, name)
  const id = await engine.runner.read((redis) => redis.hget(home.kn, nameField(team, name)))
  return id === null ? null : Number(id)
}

/** null when there is none, or it is not made yet. */
export async function readCron(engine: Engine, cronId: number): Promise<Cron | null> {
  for (const keys of await placesOf(engine, cronId)) {
    const id = String(cronId)
    const [text, definition, last] = await engine.runner.read((redis) =>
      Promise.all([redis.hget(keys.ks, id), redis.hget(keys.kd, id), redis.lindex(keys.kr(id), 0)]),
    )
    if (text === null || definition === null) continue
    const state = decodeState(text)
    return { ...decodeDefinition(definition, state.isActive), ...stateOf(cronId, state, last) }
  }
  return null
}

export function stateOf(cronId: number, state: CronStateRecord, last: string | null): CronState {
  return {
    cronId,
    nextRunAtMs: !state.isActive || state.tickMs === null ? null : state.tickMs + state.spreadMs,
    lastRun: last === null ? null : decodeRun(last, state.spreadMs),
    lastSuccessAtMs: state.successMs,
    consecutiveFailures: state.failures,
  }
}

/** Whether a chain has ended, or is gone: its queue was deleted, or somebody cancelled its job. */
export async function hasEnded(engine: Engine, rootId: number): Promise<boolean> {
  const { jobIds } = engine
  const shard = jobIds.shardOf(rootId)
  const keys = shardKeys(engine, shard)
  const seq = jobIds.seqOf(rootId)
  const { block, field } = indexPlace(seq)
  const queue = await engine.runner.read((redis) => redis.hget(keys.index(block), field))
  if (queue === null) return true
  const ids = Array.from({ length: ATTEMPTS_PER_CHAIN }, (_, i) => String(jobIds.idOf(shard, seq, i + 1)))
  const records = await engine.runner.read((redis) => redis.hmget(keys.queue(queue).b, ...ids))
  return records.every((record) => record === null)
}
