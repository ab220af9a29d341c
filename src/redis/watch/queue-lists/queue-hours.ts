import { hourOf, HOUR_MINUTES, type QueueHour } from '../../../domain/jobs/queues/queue-hour.ts'
import { LruCache } from '../../../domain/lru-cache.ts'
import { MINUTE_MS } from '../../../domain/statistics/point.ts'
import { addTally, emptyTally, type Tally } from '../../../domain/statistics/tally.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import { decodeCells, decodeOpen } from '../../base/layout/statistics/statistics-cell.ts'
import { ownerOfQueue } from '../../base/layout/statistics/statistics-log.ts'

export const READ_HOURS = step('read_hours', import.meta.url, {
  keys: ['openTallies'],
  args: ['since', 'cells'],
  rows: { queues: { keys: ['settledTallies'], args: ['owner'] } },
  rest: 'minutes',
})

/** One step reads at most this many queues: their cells take some 2 ms to take apart. */
const QUEUES_PER_STEP = 25
/** An hour has 60 cells; some minutes have two. */
const CELLS_READ = 80
/** Cells are in order, except that some were settled late, by up to this many minutes. */
const LATE_MINUTES = 60
/** This many minutes before this one, and one to come, may have open tallies. */
const OPEN_MINUTES_READ = 5
/** What was read stays good for this long: statistics are counted by the minute. */
const FRESH_MS = 15_000
/** At most this many queues have their hour remembered. */
const HOURS_CACHED_MAX = 10_000

/** Knows what happened in queues within the last hour. Owns what it has read lately. */
export class QueueHours {
  readonly #engine: Engine
  readonly #read = new LruCache<string, { readonly atMs: number; readonly hour: QueueHour }>(HOURS_CACHED_MAX)

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Answers in the order asked. Throws StoreUnavailableError. */
  async of(keys: ShardKeys, localIds: readonly string[]): Promise<readonly QueueHour[]> {
    const nowMs = this.#engine.runner.redisNowMs(keys.shard)
    const fresh = (localId: string): QueueHour | null => {
      const known = this.#read.get(`${keys.shard}:${localId}`)
      return known !== undefined && Math.abs(nowMs - known.atMs) < FRESH_MS ? known.hour : null
    }
    const hours = new Map<string, QueueHour>()
    const wanted: string[] = []
    for (const localId of localIds) {
      const hour = fresh(localId)
      if (hour === null) wanted.push(localId)
      else hours.set(localId, hour)
    }
    for (let begin = 0; begin < wanted.length; begin += QUEUES_PER_STEP) {
      const page = wanted.slice(begin, begin + QUEUES_PER_STEP)
      const found = await readHours(this.#engine, keys, { localIds: page, nowMs })
      found.forEach((hour, i) => {
        const localId = page[i] as string
        hours.set(localId, hour)
        this.#read.set(`${keys.shard}:${localId}`, { atMs: nowMs, hour })
      })
    }
    return localIds.map((localId) => hours.get(localId) as QueueHour)
  }
}

async function readHours(
  engine: Engine,
  keys: ShardKeys,
  { localIds, nowMs }: { readonly localIds: readonly string[]; readonly nowMs: number },
): Promise<QueueHour[]> {
  const now = Math.floor(nowMs / MINUTE_MS)
  const since = now - HOUR_MINUTES + 1
  const open = Array.from({ length: OPEN_MINUTES_READ + 2 }, (_, i) => now + 1 - i)
  const rows = (await engine.runner.run(
    READ_HOURS.with({
      keys,
      since: since - LATE_MINUTES,
      cells: CELLS_READ,
      queues: localIds.map((localId) => {
        const owner = ownerOfQueue(localId)
        return { settledTallies: keys.settledTallies(owner), owner }
      }),
      minutes: open.map(String),
    }),
  )) as Array<[cells: string, ...opens: string[]]>
  return rows.map(([cells, ...opens]) => {
    const minutes = new Map<number, Tally>()
    const add = (minute: number, tally: Tally): void => {
      const sum = minutes.get(minute) ?? emptyTally()
      addTally(sum, tally, 'max')
      minutes.set(minute, sum)
    }
    for (const { minute, tally } of cells === '' ? [] : decodeCells(cells)) add(minute, tally)
    opens.forEach((text, i) => {
      const tally = text === '' ? null : decodeOpen(text)
      if (tally !== null) add(open[i] as number, tally)
    })
    return hourOf(minutes, since)
  })
}
