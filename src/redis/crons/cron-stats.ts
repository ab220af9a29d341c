import type { FailureReason } from '../../domain/jobs/job.ts'
import type { CronRef, CronStats, CronStatsEntry } from '../../ports/crons.ts'
import { shardKeys, type Engine } from '../base/engine/engine.ts'
import { decodeRun, type CronStateRecord, saidIn, stateIn } from '../base/layout/cron-record.ts'
import { nameField, splitNameField } from '../base/layout/keys.ts'
import { stateOf } from './cron-reader.ts'
import { homeOfCronName } from './cron-shards.ts'
import { readFields } from './read-fields.ts'

/** Crons of one reading, and names read in one command. */
const PAGE = 500
/** Records that are looked through for a failure where the newest one is none: more runs of a cron seldom overlap. */
const FAILURE_LOOK_MAX = 10
/** More in one call would hold too much at once. */
const CRONS_MAX = 10_000

export function createCronStats(engine: Engine): CronStats {
  return {
    read: async (places) => {
      if (places.length > CRONS_MAX) throw new Error(`at most ${CRONS_MAX} crons at once`)
      const found: Array<CronStatsEntry | null> = []
      for (let i = 0; i < places.length; i += PAGE) {
        found.push(...(await readPage(engine, places.slice(i, i + PAGE))))
      }
      return found
    },
    page: (cursor) => page(engine, cursor),
  }
}

/** Reads a cron that moves in the shard it moves to. */
async function readPage(engine: Engine, places: readonly CronRef[]): Promise<Array<CronStatsEntry | null>> {
  const homes = places.map(({ team, name }) => homeOfCronName(engine, team, name))
  const found = await readFields(
    engine,
    homes.map((home, i) => ({
      key: home.cronIds,
      field: nameField(places[i]?.team ?? '', places[i]?.name ?? ''),
    })),
  )
  const ids = found.map((id) => id ?? '')
  const noted = await readFields(
    engine,
    homes.map((home, i) => ({ key: home.cronShards, field: ids[i] ?? '' })),
  )
  const shards = homes.map((home, i) => {
    const [first] = noted[i]?.split(',') ?? []
    return first === undefined ? home : shardKeys(engine, Number(first))
  })
  const texts = await readFields(
    engine,
    shards.map((keys, i) => ({ key: keys.cronStates, field: ids[i] ?? '' })),
  )
  const said = await readFields(
    engine,
    shards.map((keys, i) => ({ key: keys.cronAlerts, field: ids[i] ?? '' })),
  )
  // A cron with a damaged state counts as missing, so that it is applied again.
  const states = texts.map((text) => (text === null ? null : stateIn(text)))
  const records = await engine.runner.read((redis) =>
    Promise.all(
      shards.map(async (keys, i) => {
        const state = states[i] ?? null
        if (state === null) return []
        // Most crons do not fail, and their newest record is enough.
        return redis.lrange(
          keys.cronRecords(ids[i] ?? ''),
          0,
          state.failures === 0 ? 0 : FAILURE_LOOK_MAX - 1,
        )
      }),
    ),
  )
  return states.map((state, i) => {
    if (state === null) return null
    const runs = records[i] ?? []
    return {
      ...stateOf(Number(ids[i]), state, runs[0] ?? null),
      failing: failingOf(state, said[i] ?? null),
      lastFailure: lastFailureIn(runs),
    }
  })
}

/** @param records newest first */
function lastFailureIn(records: readonly string[]): CronStatsEntry['lastFailure'] {
  for (const { result, scheduledAtMs, failureReason: reason } of records.map(decodeRun))
    if (result === 'failed' && reason !== undefined) return { scheduledAtMs, reason }
  return null
}

/** A program without alerts counts a success, and leaves what was said before it. */
function failingOf({ failures }: CronStateRecord, said: string | null): FailureReason | null {
  return failures === 0 || said === null ? null : (saidIn(said)?.raised?.reason ?? null)
}

/** The cursor is the shard and the HSCAN cursor in it. */
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
