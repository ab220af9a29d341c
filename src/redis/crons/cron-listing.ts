import type { Cron } from '../../ports/crons.ts'
import { homeOfCron, type Engine } from '../base/engine/engine.ts'
import { mapInPieces } from '../base/layout/pieces.ts'
import { step } from '../base/engine/step.ts'
import type { ShardKeys } from '../base/layout/keys.ts'
import { formatCursor, parseCursor } from '../base/names/list-cursor.ts'
import { teamNames } from '../base/names/team-names.ts'
import { foundCron } from './cron-reader.ts'
import { MOVING_TRIES_MAX, shardsIn } from './cron-shards.ts'
import { readFields } from './read-fields.ts'

export const READ_CRONS = step('read_crons', import.meta.url, {
  keys: ['cronStates', 'cronDefinitions'],
  args: ['bytesMax'],
  rows: { crons: { keys: ['records'], args: ['cronId'] } },
})

/** Definitions on a page, over all shards, beyond the first one of each shard: a payload may take 256 KiB. */
const PAGE_BYTES_MAX = 8 * 1024 * 1024
/** Values that the step answers for each cron. */
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
  // The page ends before the first cron that no longer fits.
  const unread = found.indexOf('unread')
  const page = unread === -1 ? asked : asked.slice(0, unread)
  const crons = found.slice(0, page.length).filter((cron) => cron !== null && cron !== 'unread')
  const last = page.at(-1)
  const nextCursor = named.length > page.length && last ? formatCursor(['crons', team], last.name) : null
  return { crons, nextCursor }
}

/** null: it does not exist, is not complete yet, or cannot be read. */
type ReadCron = Cron | 'unread' | null

/** Crons in the order asked. Takes two round trips for any number of them, and two more when one was not found. */
async function readCrons(engine: Engine, cronIds: readonly number[]): Promise<ReadCron[]> {
  const found = new Map<number, ReadCron>()
  for (let tries = 0; tries < MOVING_TRIES_MAX; tries += 1) {
    const missing = cronIds.filter((cronId) => !found.has(cronId))
    if (missing.length === 0) break
    for (const [cronId, cron] of await readOnce(engine, missing)) found.set(cronId, cron)
  }
  return cronIds.map((cronId) => found.get(cronId) ?? null)
}

/** Reads each cron in all shards it may live in; the newest of them counts. */
async function readOnce(engine: Engine, cronIds: readonly number[]): Promise<Map<number, ReadCron>> {
  const noted = await readFields(
    engine,
    cronIds.map((cronId) => ({ key: homeOfCron(engine, cronId).cronShards, field: String(cronId) })),
  )
  const shards = cronIds.map((cronId, i) => shardsIn(engine, cronId, noted[i] ?? null))
  const byShard = Map.groupBy(
    cronIds.flatMap((cronId, i) => (shards[i] ?? []).map((keys) => ({ cronId, keys }))),
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
  return new Map(
    cronIds.flatMap((cronId, i) => {
      const cron = shards[i]?.map((keys) => read.get(keys)?.get(cronId)).find((each) => each !== undefined)
      return cron === undefined ? [] : [[cronId, cron] as const]
    }),
  )
}

/** The crons that live in this shard. */
async function readShard(
  engine: Engine,
  keys: ShardKeys,
  { ids, bytesMax }: { ids: readonly number[]; bytesMax: number },
): Promise<Map<number, ReadCron>> {
  const crons = ids.map((cronId) => ({ cronId, records: keys.cronRecords(String(cronId)) }))
  const reply = (await engine.runner.run(READ_CRONS.with({ keys, bytesMax, crons }))) as string[]
  const read = await mapInPieces(
    ids,
    (_id, i) => reply[i * ANSWERED + 1]?.length ?? 0,
    (cronId, i): readonly [number, ReadCron] | null => {
      const [text, definition = '', last = ''] = reply.slice(i * ANSWERED, (i + 1) * ANSWERED)
      if (text === '') return null
      if (text === undefined) return [cronId, 'unread']
      const parts = { text, definition, last: last === '' ? null : last }
      return [cronId, foundCron(cronId, keys, parts)?.cron ?? null]
    },
  )
  return new Map(read.filter((each) => each !== null))
}
