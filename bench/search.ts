/**
 * How long a page of a list takes with many finished chains in one queue, by each filter, at rest and while jobs run in the
 * same queue, some a second or as many as one executor runs. At rest it also tells the CPU time that a page takes. `node bench/search.ts [chains] [requests]`, with a Redis, a target and one executor of its own. The chains
 * are written as the steps write them, without the steps; then they are sealed by the product.
 */
import { createSecretKey, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ANY_JOB, type JobFilter } from '../src/domain/jobs/job-filter.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../src/domain/jobs/queue-settings.ts'
import type { JobStore, NewJob } from '../src/ports/jobs.ts'
import { connectRedis } from '../src/redis/client/connection.ts'
import { createEngine, type Engine, shardOfQueue } from '../src/redis/client/engine.ts'
import { createStepRunner } from '../src/redis/client/step-runner.ts'
import { SecretBox } from '../src/redis/sealing/secret-box.ts'
import { createSettingsCompiler } from '../src/redis/control/settings-compiler.ts'
import { createJobIntake } from '../src/redis/enqueue/job-intake.ts'
import { lookAtHistory } from '../src/redis/history/history-reads.ts'
import { sealHistory } from '../src/redis/history/sealer.ts'
import { openInstallation } from '../src/redis/installation/installation.ts'
import { createJobStore } from '../src/redis/jobs/job-store.ts'
import { loadScripts } from '../src/redis/steps.ts'
import { systemClock } from '../src/telemetry/system-clock.ts'
import { startTarget } from './harness/nginx-target.ts'
import { startProgram } from './harness/processes.ts'
import { type RedisServer, startRedisServer } from './harness/redis-server.ts'
import { requirePrograms } from './harness/requirements.ts'
import { sleep } from './harness/waiting.ts'
import { RARE_HOSTS, SPAN_MS, writeChains } from './load/finished-chains.ts'

const MAIN = join(import.meta.dirname, '../src/main.ts')
const TEAM = 'default'
const QUEUE = 'bench'
const SHARDS = 4
/** Jobs that are open while as many run as can. */
const OPEN_MAX = 500
/** A moderate load, jobs a second. */
const MODERATE_RATE = 500
const PUSHED_EVERY_MS = 10
const PAGE = 100

const [chains = '1000000', requests = '200'] = process.argv.slice(2)
requirePrograms((text) => console.error(text))
const folder = mkdtempSync(join(tmpdir(), 'punctual-search-'))
const key = randomBytes(32)
try {
  await measure(Number(chains))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exit()

async function measure(count: number): Promise<void> {
  const redis = await startRedisServer(folder)
  const target = await startTarget(folder)
  const engine = await openEngine(redis.url)
  const compiler = createSettingsCompiler({ engine, box: new SecretBox(createSecretKey(key)), epoch: null })
  await compiler.applyQueue(TEAM, QUEUE, DEFAULT_QUEUE_SETTINGS)
  const startMs = Date.now() - SPAN_MS
  const emptyBytes = await redis.dataBytes()
  const localId = await writeChains(engine, redis, { team: TEAM, queue: QUEUE, count, startMs })
  const writtenBytes = await redis.dataBytes()
  const keys = shardOfQueue(engine, TEAM, QUEUE)
  let sealed = 0
  for (;;) {
    const more = await sealHistory(engine, keys, localId)
    if (more === null || more === 0) break
    sealed += more
  }
  tell('finished chains', count)
  tell('blocks', sealed)
  tell('bytes a chain without blocks', (writtenBytes - emptyBytes) / count)
  tell('bytes a chain of blocks', ((await redis.dataBytes()) - writtenBytes) / count)
  const filters = filtersFor(count, startMs)
  await redis.client.config('SET', 'slowlog-log-slower-than', '10000')
  await redis.client.slowlog('RESET')
  await timeAll('at rest', { engine, redis, filters, tellsCpu: true })
  const executor = startProgram({
    ...{ name: 'executor', command: process.execPath, args: [MAIN, 'executor'], folder },
    env: {
      PUNCTUAL_REDIS_URL: redis.url,
      PUNCTUAL_SECRETS_KEY: key.toString('base64'),
      PUNCTUAL_EGRESS_ALLOW: '127.0.0.0/8',
      PUNCTUAL_OPS_PORT: '0',
    },
  })
  for (const rate of [MODERATE_RATE, Number.POSITIVE_INFINITY]) {
    const when = rate === MODERATE_RATE ? `with ${rate} jobs/s` : 'with all jobs that run'
    const load = pushOn(engine, redis, { localId, url: target.url, rate })
    await timeAll(when, { engine, redis, filters, tellsCpu: false })
    load.stop()
    const { stop, sealedTo } = await lookAtHistory(engine, { keys, localId })
    tell(`${when}, chains at the end`, stop)
    tell(`${when}, chains that no block had yet`, stop - sealedTo)
    tell(`${when}, jobs pushed a second`, load.perSecond())
  }
  const slow = (await redis.client.slowlog('GET', 128)) as Array<[number, number, number, string[]]>
  const micros = slow.flatMap(([, , us, [name]]) => (name === 'CONFIG' ? [] : [us]))
  tell('commands over 10 ms', micros.length)
  tell('the slowest of them, ms', Math.max(0, ...micros) / 1_000)
  await executor.stop()
  await target.stop()
  await redis.stop()
}

type Filters = ReadonlyArray<readonly [name: string, filterOf: (request: number) => Partial<JobFilter>]>

function filtersFor(count: number, startMs: number): Filters {
  const at = (part: number) => startMs + Math.floor(SPAN_MS * part)
  return [
    ['none', () => ({})],
    ['status completed', () => ({ status: 'completed' })],
    ['final status', () => ({ finalStatus: 'failed_no_retries' })],
    ['failure reason', () => ({ failureReason: 'timeout' })],
    ['response status', () => ({ responseStatus: 503 })],
    ['a host of 10', (i) => ({ host: `h${i % 10}.example.com` })],
    ['a host of a few', (i) => ({ host: `rare${((i * 7) % RARE_HOSTS) + 1}.example.com` })],
    ['a tag of its own', (i) => ({ tag: { name: 'order', value: String((i * 7_919) % count) } })],
    ['a tag of nobody', (i) => ({ tag: { name: 'order', value: `none-${i}` } })],
    ['a second of the end', (i) => ({ ended: { afterMs: at(i / 500), beforeMs: at(i / 500) + 1_000 } })],
    [
      'a second of the creation',
      (i) => ({ created: { afterMs: at(i / 500), beforeMs: at(i / 500) + 1_000 } }),
    ],
    ['text, looked through', (i) => ({ text: `none-${i}` })],
  ]
}

interface Timing {
  readonly engine: Engine
  readonly redis: RedisServer
  readonly filters: Filters
  /** Only at rest: this process pushes the load. */
  readonly tellsCpu: boolean
}

async function timeAll(when: string, { engine, redis, filters, tellsCpu }: Timing): Promise<void> {
  const store = createJobStore(engine)
  for (const [name, filterOf] of filters) {
    const times: number[] = []
    let [found, searched] = [0, 0]
    const redisBefore = await redis.cpuSeconds()
    const ownBefore = process.cpuUsage()
    for (let i = 0; i < Number(requests); i += 1) {
      const startedAt = performance.now()
      const page = await pageOf(store, { ...ANY_JOB, queue: QUEUE, ...filterOf(i) })
      times.push(performance.now() - startedAt)
      found += page.jobs.length
      searched += page.searched ?? 0
    }
    const own = process.cpuUsage(ownBefore)
    const ownMs = (own.user + own.system) / 1_000 / times.length
    const redisMs = (((await redis.cpuSeconds()) - redisBefore) * 1_000) / times.length
    const sorted = times.toSorted((a, b) => a - b)
    const at = (part: number) => (sorted[Math.ceil(sorted.length * part) - 1] ?? 0).toFixed(1)
    const means = `${found / times.length} jobs of ${searched / times.length} searched`
    const cpu = tellsCpu ? `, CPU ${redisMs.toFixed(1)} ms of Redis, ${ownMs.toFixed(1)} ms here` : ''
    tell(`${when}, ${name}`, `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${means}${cpu}`)
  }
}

async function pageOf(store: JobStore, filter: JobFilter) {
  const page = await store.list({ team: TEAM, filter, queues: null, limit: PAGE, cursor: null })
  if (typeof page === 'string') throw new Error(`a list was answered with ${page}`)
  return page
}

interface Load {
  readonly localId: string
  readonly url: string
  /** Jobs a second; without a limit it keeps OPEN_MAX jobs open. */
  readonly rate: number
}

/** Pushes jobs to the queue until it is stopped. */
function pushOn(engine: Engine, { client }: RedisServer, { localId, url, rate }: Load) {
  const intake = createJobIntake(engine, { nowMs: () => performance.now() })
  const { records } = shardOfQueue(engine, TEAM, QUEUE).queue(localId)
  const startedAt = performance.now()
  let [pushed, isStopped, endedAt] = [0, false, 0]
  const run = async (): Promise<void> => {
    while (!isStopped) {
      const due = ((performance.now() - startedAt) / 1_000) * rate - pushed
      const room = Math.floor(Math.min(OPEN_MAX - (await client.hlen(records)), due))
      await Promise.allSettled(Array.from({ length: Math.max(0, room) }, () => intake.push(jobFor(url))))
      pushed += Math.max(0, room)
      await sleep(PUSHED_EVERY_MS)
    }
  }
  void run()
  return {
    stop: () => {
      isStopped = true
      endedAt = performance.now()
    },
    perSecond: () => (pushed / (endedAt - startedAt)) * 1_000,
  }
}

function jobFor(url: string): NewJob {
  return {
    ...{ team: TEAM, queue: QUEUE, start: { delaySeconds: 0 }, idempotency: null },
    request: {
      ...({ url, method: 'POST', headers: {}, payload: '{"to":"ada"}', callbackUrl: null } as const),
      ...{ callbackEvents: null, tags: {}, timeoutSeconds: null, retryDelays: null },
      ...{ retriesEnabled: null, successAssertions: null, cron: null },
    },
  }
}

async function openEngine(url: string): Promise<Engine> {
  const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => silent }
  const connection = await connectRedis({ url, commandTimeoutMs: 10_000, name: 'bench', logger: silent })
  const jobIds = await openInstallation(connection, SHARDS)
  const metrics = new Proxy({}, { get: () => nothing }) as Engine['metrics']
  const runner = createStepRunner({ connection, scripts: loadScripts(), clock: systemClock, metrics })
  return createEngine({ runner, jobIds, logger: silent, metrics })
}

function nothing(): void {
  // Neither logs nor counts.
}

function tell(name: string, value: number | string): void {
  process.stdout.write(`${name}: ${typeof value === 'number' ? Math.round(value * 100) / 100 : value}\n`)
}
