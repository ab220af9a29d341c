import type { CronStats, CronRef, CronState } from '../../ports/crons.ts'
import { homeOf, stateOf } from './cron-reader.ts'
import { stateIn } from '../layout/cron-record.ts'
import { shardKeys, type Engine } from '../client/engine.ts'
import { nameField, splitNameField, type ShardKeys } from '../layout/keys.ts'

/** Crons asked for in one command, and names read in one. */
const PAGE = 500
/** Crons looked at by one `look`; more would hold too much at once. */
const LOOKED_MAX = 10_000

export function createCronStats(engine: Engine): CronStats {
  return {
    read: async (places) => {
      if (places.length > LOOKED_MAX) throw new Error(`at most ${LOOKED_MAX} crons at once`)
      const found: Array<CronState | null> = []
      for (let i = 0; i < places.length; i += PAGE) {
        found.push(...(await lookAt(engine, places.slice(i, i + PAGE))))
      }
      return found
    },
    page: (cursor) => page(engine, cursor),
  }
}

/** A cron under way from one shard to another is looked at where it goes first. */
async function lookAt(engine: Engine, places: readonly CronRef[]): Promise<Array<CronState | null>> {
  const homes = places.map(({ team, name }) => ({
    keys: homeOf(engine, team, name),
    field: nameField(team, name),
  }))
  const ids = await readByShard(engine, homes, (keys) => keys.cronIds)
  const known = homes.map(({ keys }, i) => ({ keys, field: ids[i] ?? '' }))
  const elsewhere = await readByShard(engine, known, (keys) => keys.cronShards)
  const lived = known.map(({ keys, field }, i) => {
    const shard = elsewhere[i]?.split(',')[0]
    return { keys: shard === undefined ? keys : shardKeys(engine, Number(shard)), field }
  })
  const states = await readByShard(engine, lived, (keys) => keys.cronStates)
  const last = await engine.runner.read((redis) =>
    Promise.all(
      lived.map(async ({ keys, field }, i) =>
        states[i] === null ? null : redis.lindex(keys.cronRecords(field), 0),
      ),
    ),
  )
  return lived.map(({ field }, i) => {
    const text = states[i]
    // One whose state is damaged counts as not there, so that it is put in force anew.
    const state = typeof text === 'string' ? stateIn(text) : null
    return state === null ? null : stateOf(Number(field), state, last[i] ?? null)
  })
}

/** One field each of a hash of its shard; null where there is none, or the field is ''. */
async function readByShard(
  engine: Engine,
  asked: ReadonlyArray<{ readonly keys: ShardKeys; readonly field: string }>,
  hashOf: (keys: ShardKeys) => string,
): Promise<Array<string | null>> {
  const found: Array<string | null> = asked.map(() => null)
  const byShard = Map.groupBy(asked.keys(), (i) => asked[i]?.keys)
  await Promise.all(
    [...byShard].map(async ([keys, positions]) => {
      const wanted = positions.filter((i) => asked[i]?.field !== '')
      if (keys === undefined || wanted.length === 0) return
      const values = await engine.runner.read((redis) =>
        redis.hmget(hashOf(keys), ...wanted.map((i) => asked[i]?.field ?? '')),
      )
      wanted.forEach((i, at) => (found[i] = values[at] ?? null))
    }),
  )
  return found
}

/** The cursor is the shard and the place of the scan in it. */
async function page(engine: Engine, cursor: string | null) {
  const [shard = 0, scan = '0'] = cursor === null ? [] : [Number(cursor.split(' ')[0]), cursor.split(' ')[1]]
  const [next, flat] = await engine.runner.read((redis) =>
    redis.hscan(shardKeys(engine, shard).cronIds, scan, 'COUNT', PAGE),
  )
  const crons: CronRef[] = []
  for (let i = 0; i < flat.length; i += 2) {
    const { team, queue } = splitNameField(flat[i] as string)
    crons.push({ team, name: queue })
  }
  if (next !== '0') return { crons, cursor: `${shard} ${next}` }
  return { crons, cursor: shard + 1 < engine.shards.length ? `${shard + 1} 0` : null }
}
