/**
 * What crons cost, on a Redis, a target and one executor of their own: `node bench/crons.ts due 10000` lets so many
 * crons come due at one instant, `node bench/crons.ts sleeping 1000000` lets them sleep.
 */
import { DEFAULT_CRON_SETTINGS } from '../src/domain/crons/cron.ts'
import { createCronStore } from '../src/redis/crons/cron-store.ts'
import { decodeFinished } from '../src/redis/base/layout/finished-record.ts'
import { runMain } from './harness/main-run.ts'
import type { Target } from './harness/nginx-target.ts'
import type { Program } from './harness/processes.ts'
import { type Stand, withStand } from './harness/stand.ts'
import { tell } from './harness/telling.ts'
import { sleep, waitUntil } from './harness/waiting.ts'
import { percentile } from './report/statistics.ts'

const MINUTE_MS = 60_000
const APPLIED_AT_ONCE = 256
const IDLE_SECONDS = 30
const DONE_WITHIN_MS = 180_000

const [what = '', count = '10000'] = process.argv.slice(2)
await runMain(() =>
  withStand(async (stand) => {
    const target = await stand.startTarget()
    const { program } = await stand.start('executor')
    const place = { ...stand, target, executor: program }
    await (what === 'sleeping' ? measureSleeping(place, Number(count)) : measureDue(place, Number(count)))
  }),
)

interface Place extends Stand {
  readonly target: Target
  readonly executor: Program
}

/** Two instants: at the first the executor is cold, and no queue of a cron is there yet. */
async function measureDue(place: Place, crons: number): Promise<void> {
  const { redis, executor, target } = place
  // They take a while to make, and none may be made after its tick.
  const firstMs = firstOfTwoMinutes(Date.now() + 5_000 + crons / 2)
  await makeCrons(place, crons, [firstMs, firstMs + MINUTE_MS])
  tell('made, ms before the first tick', firstMs - Date.now())
  for (const [round, tickMs] of [firstMs, firstMs + MINUTE_MS].entries()) {
    await sleep(Math.max(0, tickMs - 1_000 - Date.now()))
    const before = { redis: await redis.cpuSeconds(), executor: executor.cpuSeconds() }
    await waitUntil('all calls have been made', async () => (await target.count()) >= crons * (round + 1), {
      withinMs: DONE_WITHIN_MS,
      everyMs: 1_000,
    })
    tell(`instant ${round + 1}: Redis CPU, s`, (await redis.cpuSeconds()) - before.redis)
    tell(`instant ${round + 1}: executor CPU, s`, executor.cpuSeconds() - before.executor)
  }
  const attempts = (await finished(redis)).map((text) => decodeFinished(text).attempts[0])
  for (const [round, tickMs] of [firstMs, firstMs + MINUTE_MS].entries()) {
    const late = (at: 'createdAtMs' | 'startedAtMs') =>
      attempts
        .filter((attempt) => attempt?.scheduledAtMs === tickMs)
        .map((attempt) => (attempt?.[at] ?? 0) - tickMs)
    tell(`instant ${round + 1}: runs`, late('createdAtMs').length)
    report(`instant ${round + 1}: recorded late, ms`, late('createdAtMs'))
    report(`instant ${round + 1}: call begun late, ms`, late('startedAtMs'))
  }
}

/** Both in one hour. */
function firstOfTwoMinutes(fromMs: number): number {
  const firstMs = Math.ceil(fromMs / MINUTE_MS) * MINUTE_MS
  return new Date(firstMs).getUTCMinutes() === 59 ? firstMs + MINUTE_MS : firstMs
}

async function measureSleeping(place: Place, crons: number): Promise<void> {
  const { redis } = place
  const idleBefore = await idleCpu(place)
  const bytes = await redis.dataBytes()
  await makeCrons(place, crons, [Date.now() + 40 * 24 * 60 * MINUTE_MS])
  tell('MB of the data', ((await redis.dataBytes()) - bytes) / 1e6)
  const idleAfter = await idleCpu(place)
  tell('Redis CPU before and with them, %', `${idleBefore.redis.toFixed(2)} ${idleAfter.redis.toFixed(2)}`)
  tell(
    'executor CPU before and with them, %',
    `${idleBefore.executor.toFixed(2)} ${idleAfter.executor.toFixed(2)}`,
  )
}

/** In percent of a core. */
async function idleCpu({ redis, executor }: Place): Promise<{ redis: number; executor: number }> {
  await sleep(2_000)
  const from = { redis: await redis.cpuSeconds(), executor: executor.cpuSeconds() }
  await sleep(IDLE_SECONDS * 1000)
  const percent = (seconds: number) => (seconds / IDLE_SECONDS) * 100
  return {
    redis: percent((await redis.cpuSeconds()) - from.redis),
    executor: percent(executor.cpuSeconds() - from.executor),
  }
}

/** Once a year, at these minutes of one hour. */
async function makeCrons(
  { engine, target }: Place,
  crons: number,
  timesMs: readonly number[],
): Promise<void> {
  const store = createCronStore(engine)
  const at = new Date(timesMs[0] ?? 0)
  const minutes = timesMs.map((timeMs) => new Date(timeMs).getUTCMinutes())
  const cronExpression = `${minutes.join(',')} ${at.getUTCHours()} ${at.getUTCDate()} ${at.getUTCMonth() + 1} *`
  const settings = {
    ...DEFAULT_CRON_SETTINGS,
    cronExpression,
    url: target.url,
    payload: '{"report":"nightly"}',
  }
  let made = 0
  const make = async () => {
    while (made < crons) {
      made += 1
      const name = `nightly-report-${made}`
      await store.apply('default', name, { ...settings, displayName: name })
    }
  }
  await Promise.all(Array.from({ length: APPLIED_AT_ONCE }, make))
}

/** Summaries of the runs that have ended. */
async function finished({ client }: Stand['redis']): Promise<string[]> {
  const texts: string[] = []
  let cursor = '0'
  do {
    const [next, keys] = await client.scan(cursor, 'MATCH', 'punctual:*:d:*', 'COUNT', 2_000)
    cursor = next
    const pipeline = client.pipeline()
    for (const key of keys) pipeline.hvals(key)
    for (const [, values] of (await pipeline.exec()) ?? []) texts.push(...(values as string[]))
  } while (cursor !== '0')
  return texts
}

function report(name: string, values: number[]): void {
  const [half, most] = [percentile(values, 0.5), percentile(values, 0.99)]
  tell(name, `p50 ${half}, p99 ${most}, last ${Math.max(...values)}`)
}
