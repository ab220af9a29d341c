import { ATTEMPTS_PER_CHAIN } from '../../domain/jobs/job-ids.ts'
import type { Cron, CronRef, CronState } from '../../ports/crons.ts'
import { shardKeys, shardOfQueue, type Engine } from '../client/engine.ts'
import { decodeRun, stateIn, definitionIn, type CronStateRecord } from '../layout/cron-record.ts'
import { indexPlace, nameField, type ShardKeys } from '../layout/keys.ts'

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
  const noted = await engine.runner.read((redis) => redis.hget(home.cronShards, String(cronId)))
  if (noted === null) return [home]
  return noted.split(',').map((shard) => shardKeys(engine, Number(shard)))
}

/** As `placesOf` reads it; '' = at home. */
export function placesText(home: ShardKeys, places: readonly ShardKeys[]): string {
  const isHome = places.length === 1 && places[0] === home
  return isHome ? '' : places.map(({ shard }) => shard).join(',')
}

/** A cron that moves while it is looked for may be missed once, at the old place and at the new one. */
const LOOKS_MAX = 2

/** Reads at the places where a cron may be found, until the first that has it. */
export async function readAtPlace<T>(
  engine: Engine,
  cronId: number,
  read: (keys: ShardKeys, id: string) => Promise<T | null>,
): Promise<T | null> {
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    for (const keys of await placesOf(engine, cronId)) {
      const found = await read(keys, String(cronId))
      if (found !== null) return found
    }
  }
  return null
}

export async function cronIdOf(engine: Engine, { team, name }: CronRef): Promise<number | null> {
  const home = homeOf(engine, team, name)
  const id = await engine.runner.read((redis) => redis.hget(home.cronIds, nameField(team, name)))
  return id === null ? null : Number(id)
}

/** A cron, and where and how it is. */
interface FoundCron {
  readonly keys: ShardKeys
  readonly cron: Cron
  readonly state: CronStateRecord
}

/**
 * null when there is none, it is not made yet, or it cannot be read. What it says is of this version or a later one.
 */
export function findCron(engine: Engine, cronId: number): Promise<FoundCron | null> {
  return readAtPlace(engine, cronId, async (keys, id) => {
    // In this order, so that no settings pass for those of a version that came after them.
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

export function stateOf(cronId: number, state: CronStateRecord, last: string | null): CronState {
  return {
    cronId,
    nextRunAtMs: !state.isActive || state.tickMs === null ? null : state.tickMs + state.spreadMs,
    lastRun: last === null ? null : decodeRun(last),
    lastSuccessAtMs: state.successMs,
    consecutiveFailures: state.failures,
  }
}

/** Whether a chain has ended, or is gone: its queue was deleted, or somebody cancelled its job. */
export async function hasEnded(engine: Engine, rootId: number): Promise<boolean> {
  return (await endedAmong(engine, [rootId])).has(rootId)
}

/** The chains that have ended, or are gone. However many there are, it waits for Redis twice. */
export async function endedAmong(engine: Engine, rootIds: readonly number[]): Promise<ReadonlySet<number>> {
  if (rootIds.length === 0) return new Set()
  const { jobIds } = engine
  const chains = rootIds.map((rootId) => {
    const shard = jobIds.shardOf(rootId)
    return { rootId, shard, keys: shardKeys(engine, shard), seq: jobIds.seqOf(rootId) }
  })
  const queues = await readFields(
    engine,
    chains.map(({ keys, seq }) => {
      const { block, field } = indexPlace(seq)
      return { key: keys.jobIndex(block), field }
    }),
  )
  const attempts = chains.flatMap(({ rootId, shard, keys, seq }, i) => {
    const queue = queues[i] ?? null
    if (queue === null) return []
    const key = keys.queue(queue).records
    return Array.from({ length: ATTEMPTS_PER_CHAIN }, (_, nth) => ({
      ...{ rootId, key },
      field: String(jobIds.idOf(shard, seq, nth + 1)),
    }))
  })
  const ended = new Set(rootIds)
  const records = await readFields(engine, attempts)
  attempts.forEach(({ rootId }, i) => {
    if (records[i] !== null) ended.delete(rootId)
  })
  return ended
}

/** Fields of many hashes, in their order: one command for each hash, all at once. */
export async function readFields(
  engine: Engine,
  wanted: ReadonlyArray<{ readonly key: string; readonly field: string }>,
): Promise<Array<string | null>> {
  const places = Map.groupBy(wanted.keys(), (i) => wanted[i]?.key ?? '')
  const values = Array.from<string | null>({ length: wanted.length }).fill(null)
  await engine.runner.read((redis) =>
    Promise.all(
      [...places].map(async ([key, indexes]) => {
        const found = await redis.hmget(key, ...indexes.map((i) => wanted[i]?.field ?? ''))
        indexes.forEach((i, nth) => (values[i] = found[nth] ?? null))
      }),
    ),
  )
  return values
}
