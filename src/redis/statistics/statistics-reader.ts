import { STATISTICS_DAYS } from '../../domain/limits.ts'
import { MINUTE_MS } from '../../domain/statistics/point.ts'
import { addTally, emptyTally, type Tally } from '../../domain/statistics/tally.ts'
import type { StatisticsReader } from '../../ports/queues.ts'
import { knownQueue } from '../chains/known-queue.ts'
import { shardKeys, type Engine } from '../client/engine.ts'
import { step } from '../client/step.ts'
import type { ShardKeys } from '../layout/keys.ts'
import { decodeCells, decodeOpen, PERIOD_MINUTES } from '../layout/statistics-cell.ts'
import { ownerOfQueue, ownerOfTeam } from '../layout/statistics-log.ts'

export const READ_TALLIES = step('read_tallies', import.meta.url, {
  keys: ['openTallies'],
  args: ['owner'],
  rows: { periods: { keys: ['settledTallies'] } },
  rest: 'minutes',
})

/** Minutes before this one whose tallies may still be open, and one to come. */
const OPEN_MINUTES_READ = 5

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

/** The tallies of a queue or team in one shard, by minutes since 1970. Throws StoreUnavailableError. */
export async function readMinutes(
  engine: Engine,
  keys: ShardKeys,
  { owner, sinceMs }: { readonly owner: string; readonly sinceMs: number },
): Promise<Map<number, Tally>> {
  const now = Math.floor(engine.runner.redisNowMs(keys.shard) / MINUTE_MS)
  const since = Math.max(Math.floor(sinceMs / MINUTE_MS), now - STATISTICS_DAYS * 1440)
  const first = Math.floor(since / PERIOD_MINUTES)
  const count = Math.max(1, Math.floor((now + 1) / PERIOD_MINUTES) - first + 1)
  const periods = Array.from({ length: count }, (_, i) => first + i)
  const open = Array.from({ length: OPEN_MINUTES_READ + 1 }, (_, i) => now + 1 - i)
  const [cells, opens] = (await engine.runner.run(
    READ_TALLIES.with({
      ...{ keys, owner },
      periods: periods.map((period) => ({ settledTallies: keys.settledTallies(period) })),
      minutes: open.map((minute) => `${minute}.`),
    }),
  )) as [cells: string[], opens: string[]]
  const minutes = new Map<number, Tally>()
  cells.forEach((text, i) => {
    for (const { minute, tally } of decodeCells(periods[i] as number, text).cells) {
      if (minute >= since) addTally(tallyOf(minutes, minute), tally, 'max')
    }
  })
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
