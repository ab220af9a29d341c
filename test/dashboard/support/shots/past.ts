/** A day behind a shop that has just been opened, for the charts: written as the executors write it. */
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { bucketOf, countIn } from '../../../../src/domain/statistics/histogram.ts'
import { emptyTally, type Tally } from '../../../../src/domain/statistics/tally.ts'
import { type Engine, homeOfCron, shardOfQueue } from '../../../../src/redis/base/engine/engine.ts'
import { nameField } from '../../../../src/redis/base/layout/keys.ts'
import { ownerOfQueue, ownerOfTeam } from '../../../../src/redis/base/layout/statistics/statistics-log.ts'
import {
  changeTallies,
  type OpenTally,
  readVersion,
} from '../../../../src/redis/watch/statistics/tally-store.ts'
import { openEngine } from '../../../support/engine/engine.ts'
import { until } from '../../../support/until.ts'

const TEAM = 'default'
const MINUTES = 1_440
/** The points of a day have ten minutes. The last minute stands for those of its point that are to come. */
const POINT_MINUTES = 10
const WRITTEN_AT_ONCE = 240
/** An hour in which the partner was down, and when it was over, in minutes before now. */
const OUTAGE = { begun: 310, over: 245 }

interface Part {
  readonly queue: string
  /** Jobs a minute at the height of the day. */
  readonly rate: number
  readonly latencyMs: number
  readonly suffers: boolean
}

const PARTS: readonly Part[] = [
  { queue: 'emails', rate: 190, latencyMs: 60, suffers: false },
  { queue: 'webhooks', rate: 90, latencyMs: 140, suffers: true },
  { queue: 'search-index', rate: 140, latencyMs: 25, suffers: false },
]

/** Runs of a cron that a list keeps, every other minute; one of many failed. */
const RUNS = 90
const RUN_EVERY_MS = 120_000
const FAILED_EVERY = 17

/** @param cronId of a cron that ticks every other minute */
export async function writePast(folder: string, cronId: number | string): Promise<void> {
  const path = join(folder, 'redis', 'redis.sock')
  const { engine, close } = await openEngine(path)
  const now = Math.floor(Date.now() / 60_000)
  try {
    for (const part of PARTS) {
      const keys = shardOfQueue(engine, TEAM, part.queue)
      const localId = await engine.runner.read((redis) =>
        redis.hget(keys.queueIds, nameField(TEAM, part.queue)),
      )
      for (const owner of [ownerOfTeam(TEAM), ownerOfQueue(localId ?? '')]) {
        const settled = Array.from({ length: MINUTES + 1 }, (_, at): OpenTally => {
          const ago = MINUTES - at
          return { minute: now - ago, owner, tally: tallyOf(part, now - ago, ago) }
        })
        await write(engine, keys, settled)
      }
    }
    const newestMs = Math.floor(Date.now() / RUN_EVERY_MS) * RUN_EVERY_MS - RUN_EVERY_MS
    const records = Array.from({ length: RUNS }, (_, at) => {
      const kind = at % FAILED_EVERY === FAILED_EVERY - 1 ? 'f' : 's'
      return `${kind}|${newestMs - at * RUN_EVERY_MS}|${70_000 - at * 64}`
    })
    const { cronRecords } = homeOfCron(engine, Number(cronId))
    const redis = new Redis(path)
    await redis.rpush(cronRecords(String(cronId)), ...records)
    redis.disconnect()
  } finally {
    close()
  }
}

async function write(
  engine: Engine,
  keys: ReturnType<typeof shardOfQueue>,
  settled: readonly OpenTally[],
): Promise<void> {
  for (let from = 0; from < settled.length; from += WRITTEN_AT_ONCE) {
    const page = settled.slice(from, from + WRITTEN_AT_ONCE)
    await until('the executor lets the past be written', async () =>
      changeTallies(engine, keys, { version: await readVersion(engine, keys), settled: page }),
    )
  }
}

/** A day has a wave and some noise; in the outage most calls fail, and then what waited is sent. */
function tallyOf({ rate, latencyMs, suffers }: Part, minute: number, ago: number): Tally {
  const tally = emptyTally()
  const wave = 0.55 + 0.45 * Math.sin(((minute % 1_440) / 1_440 - 0.32) * 2 * Math.PI)
  const noise = 0.85 + 0.3 * (((minute * 7_919) % 101) / 101)
  const weight = ago === 0 ? POINT_MINUTES - (minute % POINT_MINUTES) : 1
  const jobs = Math.round(rate * wave * noise * weight)
  const isDown = suffers && ago <= OUTAGE.begun && ago > OUTAGE.over
  const isCatchingUp = suffers && ago <= OUTAGE.over && ago > OUTAGE.over - 15
  tally.done = isDown ? Math.round(jobs * 0.3) : isCatchingUp ? jobs * 2 : jobs
  tally.retried = isDown ? Math.round(jobs * 0.6) : minute % 4 === 0 ? 1 : 0
  tally.dead = isDown && minute % 9 === 0 ? 1 : 0
  tally.depth = isCatchingUp ? jobs : 0
  tally.oldestReadySeconds = isCatchingUp ? 40 : 0
  for (let at = 0; at < 40; at += 1) {
    const place = (at + 0.5) / 40
    const spread = Math.log(place / (1 - place))
    countIn(tally.latency, bucketOf(latencyMs * (isDown ? 4 : 1) * Math.exp(0.5 * spread)), jobs / 40)
    countIn(tally.lateness, bucketOf((isCatchingUp ? 900 : 6) * Math.exp(0.6 * spread)), jobs / 40)
  }
  return tally
}
