import type { Cron } from '../../ports/crons.ts'
import { foundCron, homeOfId, readFields } from './cron-reader.ts'
import { shardKeys, type Engine } from '../client/engine.ts'
import type { ShardKeys } from '../layout/keys.ts'
import { formatCursor, parseCursor } from '../names/list-cursor.ts'
import { teamNames } from '../names/team-names.ts'

/** Definitions one page reads, over all shards, beyond the first one of each: some hold 256 KiB of payload. */
const PAGE_BYTES_MAX = 8 * 1024 * 1024
/** A cron that moves while it is looked for may be missed once, at the old place and at the new one. */
const LOOKS_MAX = 2
/** What the step answers of a cron. */
const ANSWERED = 3

export async function listCrons(
  engine: Engine,
  { team, limit, cursor }: { team: string; limit: number; cursor: string | null },
): Promise<{ crons: Cron[]; nextCursor: string | null } | 'bad_cursor'> {
  const after = cursor === null ? null : parseCursor(['crons', team], cursor)
  if (after === null && cursor !== null) return 'bad_cursor'
  const begin = after === null ? '-' : (`(${after}` as const)
  const named = await teamNames(engine, { kind: 'crons', team, begin, limit: limit + 1 })
  const asked = named.slice(0, limit)
  const found = await readCrons(
    engine,
    asked.map(({ id }) => Number(id)),
  )
  // What did not fit is where the next page begins.
  const unread = asked.findIndex((_, i) => found[i] === 'unread')
  const page = unread === -1 ? asked : asked.slice(0, unread)
  const crons = page.flatMap((_, i) => {
    const cron = found[i]
    return cron === undefined || cron === null || cron === 'unread' ? [] : [cron]
  })
  const last = page.at(-1)
  const nextCursor = named.length > page.length && last ? formatCursor(['crons', team], last.name) : null
  return { crons, nextCursor }
}

/** null: there is none, it is not made yet, or it cannot be read. */
type ReadCron = Cron | 'unread' | null

/** Crons in the order asked. However many there are, it waits for Redis twice, twice more where one was not found. */
async function readCrons(engine: Engine, cronIds: readonly number[]): Promise<ReadCron[]> {
  const found = new Map<number, ReadCron>()
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    const missing = cronIds.filter((cronId) => !found.has(cronId))
    if (missing.length === 0) break
    for (const [cronId, cron] of await lookAt(engine, missing)) found.set(cronId, cron)
  }
  return cronIds.map((cronId) => found.get(cronId) ?? null)
}

/** What was found of these crons, at all places where they may be at once. */
async function lookAt(engine: Engine, cronIds: readonly number[]): Promise<Map<number, ReadCron>> {
  const noted = await readFields(
    engine,
    cronIds.map((cronId) => ({ key: homeOfId(engine, cronId).cronShards, field: String(cronId) })),
  )
  const places = cronIds.map((cronId, i): readonly ShardKeys[] => {
    const shards = noted[i]?.split(',').map(Number) ?? [homeOfId(engine, cronId).shard]
    return shards.map((shard) => shardKeys(engine, shard))
  })
  const byShard = Map.groupBy(
    cronIds.flatMap((cronId, i) => (places[i] ?? []).map((keys) => ({ cronId, keys }))),
    ({ keys }) => keys,
  )
  const bytesMax = Math.floor(PAGE_BYTES_MAX / byShard.size)
  const read = new Map<ShardKeys, ReadonlyMap<number, ReadCron>>()
  await Promise.all(
    [...byShard].map(async ([keys, ofShard]) => {
      const ids = ofShard.map(({ cronId }) => cronId)
      read.set(keys, await readShard(engine, keys, { ids, bytesMax }))
    }),
  )
  // The newest place that has it counts.
  return new Map(
    cronIds.flatMap((cronId, i) => {
      const cron = places[i]?.map((keys) => read.get(keys)?.get(cronId)).find((each) => each !== undefined)
      return cron === undefined ? [] : [[cronId, cron] as const]
    }),
  )
}

/** Without those that are not there. */
async function readShard(
  engine: Engine,
  keys: ShardKeys,
  { ids, bytesMax }: { ids: readonly number[]; bytesMax: number },
): Promise<Map<number, ReadCron>> {
  const reply = (await engine.runner.run({
    name: 'read_crons',
    keys: [keys.cronStates, keys.cronDefinitions, ...ids.map((id) => keys.cronRecords(String(id)))],
    args: [bytesMax, ids.length, ...ids],
  })) as string[]
  const read = new Map<number, ReadCron>()
  ids.forEach((cronId, i) => {
    const [text, definition = '', last = ''] = reply.slice(i * ANSWERED, (i + 1) * ANSWERED)
    if (text === '') return
    const parts = text === undefined ? null : { text, definition, last: last === '' ? null : last }
    read.set(cronId, parts === null ? 'unread' : (foundCron(cronId, keys, parts)?.cron ?? null))
  })
  return read
}
