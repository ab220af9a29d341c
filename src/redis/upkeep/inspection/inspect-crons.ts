import { CRON_RECORDS_MAX, HOLD_RECHECK_MS } from '../../../domain/limits.ts'
import type { InspectedShard, ShardFacts } from './inspect-facts.ts'
import { readHash, readLengths, readList, readSortedSet } from '../../base/engine/paged-reads.ts'
import { homeOfCron } from '../../base/engine/engine.ts'
import { saidIn, stateIn } from '../../base/layout/cron-record.ts'
import { CLOCK } from '../../base/layout/fields.ts'

const RECORD = /^([rRsS]\|\d+\|\d+|[fF]\|\d+\|\d+(\|\w+)?|k\|\d+\|d?|m\|\d+\|\d+)$/
const PAGE = 500
/** How far an executor's estimate of Redis time may be ahead. */
const CLOCK_SLACK_MS = 1_000

/** Checks the crons whose home is this shard, and those whose state lies in it. */
export async function inspectCrons(shard: InspectedShard, facts: ShardFacts): Promise<void> {
  await inspectHomes(shard, facts)
  const ids = await inspectStates(shard)
  await inspectPlaces(shard, facts, ids)
}

async function inspectHomes(shard: InspectedShard, facts: ShardFacts): Promise<void> {
  const { engine, keys } = shard
  const shards = engine.shards.length
  for (const [id, name] of facts.crons) {
    const isOurs = /^[^/]+\/./s.test(name) && /^\d+$/.test(id) && Number(id) % shards === keys.shard
    if (!isOurs) shard.find(keys.cronIds, `maps ${name} to ${id}`)
  }
  for (const [id, places] of await readHash(engine, keys.cronShards)) {
    if (!facts.crons.has(id)) shard.find(keys.cronShards, `places cron ${id}, which has no name`)
    const isPlaces = /^\d+(,\d+)*$/.test(places) && places.split(',').every((each) => Number(each) < shards)
    if (!isPlaces) shard.find(keys.cronShards, `places cron ${id} at ${places}`)
  }
}

async function inspectStates(shard: InspectedShard): Promise<string[]> {
  const { engine, keys, list } = shard
  const states = await readHash(engine, keys.cronStates)
  const lengths = await readLengths(engine, keys.cronDefinitions)
  const due = await readSortedSet(engine, keys.cronsDue)
  // The step that put a cron off has noted its time; our own clock may be wrong.
  const noted = await engine.runner.read((redis) => redis.hget(keys.clock, CLOCK.lastTime))
  const latestMs = Number(noted ?? 0) + HOLD_RECHECK_MS + CLOCK_SLACK_MS
  for (const [id, text] of states) {
    const state = stateIn(text)
    if (state === null) {
      shard.find(keys.cronStates, `holds ${id} = ${text}`)
      continue
    }
    if (lengths.get(id) !== state.bytes) {
      shard.find(keys.cronDefinitions, `has ${lengths.get(id)} bytes for cron ${id}, not ${state.bytes}`)
    }
    const ticks = text.split('|')[2] === '1' && state.tickMs !== null
    const dueMs = ticks ? (state.tickMs ?? 0) + state.spreadMs : undefined
    if (due.get(id) !== dueMs && !isDeferred(due.get(id), dueMs, latestMs))
      shard.find(keys.cronsDue, `has cron ${id} at ${due.get(id)}, not ${dueMs}`)
  }
  const said = await readHash(engine, keys.cronAlerts)
  for (const [id, text] of said)
    if (saidIn(text) === null) shard.find(keys.cronAlerts, `holds ${id} = ${text}`)
  for (const id of [...due.keys(), ...lengths.keys(), ...said.keys(), ...list.records]) {
    if (!states.has(id)) shard.find(keys.cronStates, `lacks cron ${id}`)
  }
  for (const id of list.records) {
    const records = await readList(engine, keys.cronRecords(id))
    if (records.length > CRON_RECORDS_MAX) shard.find(keys.cronRecords(id), `holds ${records.length} records`)
    for (const record of records)
      if (!RECORD.test(record)) shard.find(keys.cronRecords(id), `holds ${record}`)
  }
  return [...states.keys()]
}

/** A held cron is listed for its next look, which is near, and later than its tick. */
function isDeferred(listedMs: number | undefined, dueMs: number | undefined, latestMs: number): boolean {
  return listedMs !== undefined && dueMs !== undefined && listedMs > dueMs && listedMs <= latestMs
}

/** A cron ticks where its state lies: a state that its home does not know of would tick for ever, perhaps a second time. */
async function inspectPlaces(
  { engine, keys, find }: InspectedShard,
  facts: ShardFacts,
  ids: readonly string[],
): Promise<void> {
  for (const [home, ofHome] of Map.groupBy(ids, (id) => homeOfCron(engine, Number(id)))) {
    for (let i = 0; i < ofHome.length; i += PAGE) {
      const page = ofHome.slice(i, i + PAGE)
      const noted = await engine.runner.read((redis) => redis.hmget(home.cronShards, ...page))
      page.forEach((id, at) => {
        const places = noted[at]?.split(',') ?? [String(home.shard)]
        const isNamed = home.shard !== keys.shard || facts.crons.has(id)
        if (isNamed && places.includes(String(keys.shard))) return
        find(keys.cronStates, `holds cron ${id}, which its home does not place there`)
      })
    }
  }
}
