import { CRON_RECORDS_MAX } from '../../domain/limits.ts'
import type { Cron, CronRun, CronStore } from '../../ports/crons.ts'
import type { Engine } from '../base/engine/engine.ts'
import { decodeRun } from '../base/layout/cron-record.ts'
import { formatCursor, type ListScope, parseCursor } from '../base/names/list-cursor.ts'
import { listCrons } from './cron-listing.ts'
import { cronIdOf, readCron } from './cron-reader.ts'
import { readInShards } from './cron-shards.ts'
import { createRunNow } from './run-cron-now.ts'
import { CronWriter } from './write/cron-writer.ts'

const WITHOUT_EPOCH = 'a write without an epoch was superseded'

export function createCronStore(engine: Engine): CronStore {
  const writer = new CronWriter(engine, null)
  const runNow = createRunNow(engine)
  return {
    list: (query) => listCrons(engine, query),
    get: (team, cronId) => ofTeam(engine, team, cronId),
    getByName: async (team, name) => {
      const cronId = await cronIdOf(engine, { team, name })
      return cronId === null ? null : readCron(engine, cronId)
    },
    apply: async (team, name, settings, formerId = null) => {
      const end = await writer.apply(team, name, settings, formerId)
      if (end.status === 'superseded') throw new Error(WITHOUT_EPOCH)
      return { cronId: end.cronId, nextRunAtMs: end.nextRunAtMs }
    },
    remove: async (team, name) => {
      const end = await writer.remove(team, name)
      if (end === 'superseded') throw new Error(WITHOUT_EPOCH)
      return end
    },
    runNow,
    runs: async ({ team, cronId, limit, cursor }) => {
      const position = cursor === null ? CRON_RECORDS_MAX : parseCursor(runsScope(team, cronId), cursor)
      const left = position === null ? Number.NaN : Number(position)
      if (Number.isNaN(left)) return 'bad_cursor'
      if ((await ofTeam(engine, team, cronId)) === null) return null
      return listRuns(engine, { team, cronId, limit, left })
    },
  }
}

async function ofTeam(engine: Engine, team: string, cronId: number): Promise<Cron | null> {
  const cron = await readCron(engine, cronId)
  return cron === null || cron.team !== team ? null : cron
}

function runsScope(team: string, cronId: number): ListScope {
  return ['cron runs', team, cronId]
}

async function listRuns(
  engine: Engine,
  page: {
    readonly team: string
    readonly cronId: number
    readonly limit: number
    /** Records left to list, counted from the oldest, so that new ones do not shift the page. */
    readonly left: number
  },
): Promise<{ runs: CronRun[]; nextCursor: string | null }> {
  const { team, cronId, limit } = page
  const records = await readInShards(engine, cronId, async (keys, id) => {
    const [state, found] = await engine.runner.read((redis) =>
      Promise.all([
        redis.hget(keys.cronStates, id),
        redis.lrange(keys.cronRecords(id), 0, CRON_RECORDS_MAX - 1),
      ]),
    )
    return state === null ? null : found
  })
  if (records === null) return { runs: [], nextCursor: null }
  const start = Math.max(0, records.length - page.left)
  const runs = records.slice(start, start + limit).map(decodeRun)
  const left = records.length - start - runs.length
  return { runs, nextCursor: left <= 0 ? null : formatCursor(runsScope(team, cronId), String(left)) }
}
