/**
 * What crons cost, on a Redis, a target and one executor of their own: `node bench/crons.ts due 10000` lets so many
 * crons come due at one instant, `node bench/crons.ts sleeping 1000000` lets them sleep.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { DEFAULT_CRON_SETTINGS } from '../src/domain/crons/cron.ts'
import { connectRedis } from '../src/redis/client/connection.ts'
import { createCronStore } from '../src/redis/crons/cron-store.ts'
import { createEngine, type Engine } from '../src/redis/client/engine.ts'
import { openInstallation } from '../src/redis/installation/installation.ts'
import { decodeFinished } from '../src/redis/layout/finished-record.ts'
import { loadScripts } from '../src/redis/steps.ts'
import { createStepRunner } from '../src/redis/client/step-runner.ts'
import { systemClock } from '../src/telemetry/system-clock.ts'
import { startTarget } from './harness/nginx-target.ts'
import { startProgram, type Program } from './harness/processes.ts'
import { startRedisServer, type RedisServer } from './harness/redis-server.ts'
import { requirePrograms } from './harness/requirements.ts'
import { sleep, waitUntil } from './harness/waiting.ts'

const MAIN = join(import.meta.dirname, '../src/main.ts')
const SHARDS = 4
const MINUTE_MS = 60_000
const APPLIED_AT_ONCE = 256
const IDLE_SECONDS = 30
const DONE_WITHIN_MS = 180_000

const [what = '', count = '10000'] = process.argv.slice(2)
requirePrograms((text) => console.error(text))
const folder = mkdtempSync(join(tmpdir(), 'punctual-crons-'))
const redis = await startRedisServer(folder)
const engine = await openEngine(redis.url)
const target = await startTarget(folder)
const executor = startExecutor(redis.url)
try {
  await (what === 'sleeping' ? measureSleeping(Number(count)) : measureDue(Number(count)))
} finally {
  await executor.stop()
  await redis.stop()
  await target.stop()
  rmSync(folder, { recursive: true, force: true })
}
process.exit()

/** Two instants: at the first the executor is cold, and no queue of a cron is there yet. */
async function measureDue(crons: number): Promise<void> {
  // They take a while to make, and none may be made after its tick.
  const firstMs = firstOfTwoMinutes(Date.now() + 5_000 + crons / 2)
  await makeCrons(crons, [firstMs, firstMs + MINUTE_MS])
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
  const attempts = (await finished()).map((text) => decodeFinished(text).attempts[0])
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

async function measureSleeping(crons: number): Promise<void> {
  const idleBefore = await idleCpu(redis, executor)
  const bytes = await redis.dataBytes()
  await makeCrons(crons, [Date.now() + 40 * 24 * 60 * MINUTE_MS])
  tell('MB of the data', ((await redis.dataBytes()) - bytes) / 1e6)
  const idleAfter = await idleCpu(redis, executor)
  tell('Redis CPU before and with them, %', `${idleBefore.redis.toFixed(2)} ${idleAfter.redis.toFixed(2)}`)
  tell(
    'executor CPU before and with them, %',
    `${idleBefore.executor.toFixed(2)} ${idleAfter.executor.toFixed(2)}`,
  )
}

/** In percent of a core. */
async function idleCpu(server: RedisServer, program: Program): Promise<{ redis: number; executor: number }> {
  await sleep(2_000)
  const from = { redis: await server.cpuSeconds(), executor: program.cpuSeconds() }
  await sleep(IDLE_SECONDS * 1000)
  const percent = (seconds: number) => (seconds / IDLE_SECONDS) * 100
  return {
    redis: percent((await server.cpuSeconds()) - from.redis),
    executor: percent(program.cpuSeconds() - from.executor),
  }
}

/** Once a year, at these minutes of one hour. */
async function makeCrons(crons: number, timesMs: readonly number[]): Promise<void> {
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
async function finished(): Promise<string[]> {
  const texts: string[] = []
  let cursor = '0'
  do {
    const [next, keys] = await redis.client.scan(cursor, 'MATCH', 'punctual:*:d:*', 'COUNT', 2_000)
    cursor = next
    const pipeline = redis.client.pipeline()
    for (const key of keys) pipeline.hvals(key)
    for (const [, values] of (await pipeline.exec()) ?? []) texts.push(...(values as string[]))
  } while (cursor !== '0')
  return texts
}

async function openEngine(url: string): Promise<Engine> {
  const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => silent }
  const connection = await connectRedis({ url, commandTimeoutMs: 10_000, name: 'bench', logger: silent })
  const jobIds = await openInstallation(connection, SHARDS)
  const metrics = new Proxy({}, { get: () => nothing }) as Engine['metrics']
  const runner = createStepRunner({ connection, scripts: loadScripts(), clock: systemClock, metrics })
  return createEngine({ runner, jobIds, logger: silent, metrics })
}

function startExecutor(url: string): Program {
  return startProgram({
    name: 'executor',
    command: process.execPath,
    args: [MAIN, 'executor'],
    folder,
    env: {
      PUNCTUAL_REDIS_URL: url,
      PUNCTUAL_SECRETS_KEY: randomBytes(32).toString('base64'),
      PUNCTUAL_EGRESS_ALLOW: '127.0.0.0/8',
      PUNCTUAL_OPS_PORT: '0',
    },
  })
}

function nothing(): void {
  // Neither logs nor counts.
}

function report(name: string, values: number[]): void {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
  tell(name, `p50 ${at(0.5)}, p99 ${at(0.99)}, last ${sorted.at(-1)}`)
}

function tell(name: string, value: number | string): void {
  process.stdout.write(`${name}: ${typeof value === 'number' ? Math.round(value * 100) / 100 : value}\n`)
}
