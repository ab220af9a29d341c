import type { Cron, CronRef, CronState } from '../../ports/crons.ts'
import type { Engine } from '../base/engine/engine.ts'
import { decodeRun, definitionIn, stateIn, type CronStateRecord } from '../base/layout/cron-record.ts'
import { nameField, type ShardKeys } from '../base/layout/keys.ts'
import { homeOfCronName, readInShards } from './cron-shards.ts'

export async function cronIdOf(engine: Engine, { team, name }: CronRef): Promise<number | null> {
  const home = homeOfCronName(engine, team, name)
  const id = await engine.runner.read((redis) => redis.hget(home.cronIds, nameField(team, name)))
  return id === null ? null : Number(id)
}

interface FoundCron {
  /** Keys of the shard it lives in. */
  readonly keys: ShardKeys
  readonly cron: Cron
  readonly state: CronStateRecord
}

/** null when it does not exist, is not complete yet, or cannot be read. The settings may be newer than the version. */
export function findCron(engine: Engine, cronId: number): Promise<FoundCron | null> {
  return readInShards(engine, cronId, async (keys, id) => {
    // In this order, so that settings never pass for those of a later version.
    const [text, definition, last] = await engine.runner.read((redis) =>
      Promise.all([
        redis.hget(keys.cronStates, id),
        redis.hget(keys.cronDefinitions, id),
        redis.lindex(keys.cronRecords(id), 0),
      ]),
    )
    if (text === null || definition === null) return null
    return foundCron(cronId, keys, { text, definition, last })
  })
}

/** null when it cannot be read. */
export function foundCron(
  cronId: number,
  keys: ShardKeys,
  { text, definition, last }: { text: string; definition: string; last: string | null },
): FoundCron | null {
  const state = stateIn(text)
  const defined = state === null ? null : definitionIn(definition, state.isActive)
  return state === null || defined === null
    ? null
    : { keys, cron: { ...defined, ...stateOf(cronId, state, last) }, state }
}

export async function readCron(engine: Engine, cronId: number): Promise<Cron | null> {
  return (await findCron(engine, cronId))?.cron ?? null
}

/** @param last the newest record of a tick */
export function stateOf(cronId: number, state: CronStateRecord, last: string | null): CronState {
  return {
    cronId,
    nextRunAtMs: !state.isActive || state.tickMs === null ? null : state.tickMs + state.spreadMs,
    lastRun: last === null ? null : decodeRun(last),
    lastSuccessAtMs: state.successMs,
    consecutiveFailures: state.failures,
  }
}
