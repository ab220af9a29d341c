import { STATISTICS_DAYS } from '../../../domain/limits.ts'
import { MINUTE_MS } from '../../../domain/statistics/point.ts'
import { addTally, emptyTally, type Tally } from '../../../domain/statistics/tally.ts'
import type { StatisticsReader } from '../../../ports/queues.ts'
import { knownQueue } from '../../base/names/known-queue.ts'
import { shardKeys, type Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import { decodeCells, decodeOpen } from '../../base/layout/statistics/statistics-cell.ts'
import { ownerOfQueue, ownerOfTeam } from '../../base/layout/statistics/statistics-log.ts'
import { openField } from './tally-store.ts'

export const READ_TALLIES = step('read_tallies', import.meta.url, {
  keys: ['openTallies', 'settledTallies'],
  args: ['since', 'page'],
  rest: 'fields',
})

/** This many minutes before this one, and one to come, may have open tallies. */
const OPEN_MINUTES_READ = 5
/** One page has this many cells; an hour has 60. */
const PAGE_CELLS = 200
/** Cells are in order, except that some were settled late, by up to this many minutes. */
const LATE_MINUTES = 60

export function createStatisticsReader(engine: Engine): StatisticsReader {
  return {
    ofTeam: async (team, sinceMs) => {
      const owner = ownerOfTeam(team)
      const shards = await Promise.all(
        engine.shards.map((keys) => readMinutes(engine, keys, { owner, sinceMs })),
      )
      const [first = new Map<number, Tally>(), ...others] = shards
      for (const minutes of others) {
        for (const [minute, tally] of minutes) addTally(tallyOf(first, minute), tally, 'sum')
      }
      return first
    },
    ofQueue: async (team, queueId, sinceMs) => {
      const keys = shardKeys(engine, queueId % engine.shards.length)
      const localId = String(Math.floor(queueId / engine.shards.length))
      const queue = await knownQueue(engine, keys, localId)
      // The hidden queue of a cron has no name.
      if (queue === null || queue.team !== team || queue.name === '') return null
      return readMinutes(engine, keys, { owner: ownerOfQueue(localId), sinceMs })
    },
  }
}

/** Reads the tallies of a queue or team in one shard, by minutes since 1970. Throws StoreUnavailableError. */
export async function readMinutes(
  engine: Engine,
  keys: ShardKeys,
  { owner, sinceMs }: { readonly owner: string; readonly sinceMs: number },
): Promise<Map<number, Tally>> {
  const now = Math.floor(engine.runner.redisNowMs(keys.shard) / MINUTE_MS)
  const since = Math.max(Math.floor(sinceMs / MINUTE_MS), now - STATISTICS_DAYS * 1440)
  const open = Array.from({ length: OPEN_MINUTES_READ + 1 }, (_, i) => now + 1 - i)
  const [pages, opens] = (await engine.runner.run(
    READ_TALLIES.with({
      keys,
      settledTallies: keys.settledTallies(owner),
      since: since - LATE_MINUTES,
      page: PAGE_CELLS,
      fields: open.map((minute) => openField(minute, owner)),
    }),
  )) as [pages: string[], opens: string[]]
  const minutes = new Map<number, Tally>()
  for (const { minute, tally } of pages.flatMap(decodeCells)) {
    if (minute >= since) addTally(tallyOf(minutes, minute), tally, 'max')
  }
  opens.forEach((text, i) => {
    const [minute, tally] = [open[i] as number, text === '' ? null : decodeOpen(text)]
    if (tally !== null && minute >= since) addTally(tallyOf(minutes, minute), tally, 'max')
  })
  return minutes
}

function tallyOf(minutes: Map<number, Tally>, minute: number): Tally {
  const known = minutes.get(minute) ?? emptyTally()
  minutes.set(minute, known)
  return known
}
