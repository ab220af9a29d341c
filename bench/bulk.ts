/**
 * What bulks cost, on a Redis of their own, worked off in this process while it pushes jobs of another team:
 * `node bench/bulk.ts replay 100000` replays so many dead letters, `node bench/bulk.ts cancel 1000000` cancels those that
 * hold a text among so many jobs that wait.
 */
import { loopsOf } from '../test/support/loops.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BulkAction } from '../src/domain/bulk/bulk.ts'
import { ANY_JOB, type JobFilter } from '../src/domain/jobs/job-filter.ts'
import type { JobRequest } from '../src/domain/jobs/job.ts'
import { endAttempt } from '../src/domain/jobs/retry-policy.ts'
import { BulkWorkers } from '../src/executor/bulk/bulk-workers.ts'
import { createBulkActs } from '../src/redis/bulk/pages/acts.ts'
import { createBulkShard } from '../src/redis/bulk/bulk-shard.ts'
import { createBulkStore } from '../src/redis/bulk/bulk-store.ts'
import { connectRedis } from '../src/redis/client/connection.ts'
import { createEngine, type Engine } from '../src/redis/client/engine.ts'
import { createStepRunner } from '../src/redis/client/step-runner.ts'
import { createJobIntake } from '../src/redis/enqueue/job-intake.ts'
import { RedisJobSource } from '../src/redis/execute/job-source.ts'
import { openInstallation } from '../src/redis/installation/installation.ts'
import { loadScripts } from '../src/redis/steps.ts'
import { systemClock } from '../src/telemetry/system-clock.ts'
import { startRedisServer } from './harness/redis-server.ts'
import { requirePrograms } from './harness/requirements.ts'
import { sleep } from './harness/waiting.ts'

const SHARDS = 4
const PUSHED_AT_ONCE = 2_000
const CLAIMED_AT_ONCE = 64
/** One in so many jobs is one of those that a filter finds. */
const ONE_IN = 10
const SLOW_MICROSECONDS = 10_000

const [action = 'replay', count = '100000'] = process.argv.slice(2)
requirePrograms((text) => console.error(text))
const folder = mkdtempSync(join(tmpdir(), 'punctual-bulk-'))
const redis = await startRedisServer(folder)
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => silent }
const engine = await openEngine(redis.url)
const intake = createJobIntake(engine, { nowMs: () => systemClock.monotonicMs() })
try {
  await measure(action as BulkAction, Number(count))
} finally {
  await redis.stop()
  rmSync(folder, { recursive: true, force: true })
}
process.exit()

async function measure(what: BulkAction, jobs: number): Promise<void> {
  await push(jobs)
  if (what === 'replay' || what === 'purge') await failAll()
  await redis.client.config('SET', 'slowlog-log-slower-than', String(SLOW_MICROSECONDS))
  await redis.client.config('SET', 'slowlog-max-len', '1000')
  await redis.client.slowlog('RESET')
  const filter: JobFilter = {
    ...{ ...ANY_JOB, queue: 'emails' },
    ...(what === 'replay' || what === 'purge'
      ? { status: 'dead_lettered' }
      : { status: 'pending', text: 'rare' }),
  }
  const store = createBulkStore(engine, Math.random)
  const acts = createBulkActs(engine, null)
  const workers = new BulkWorkers({
    shards: engine.shards.map(({ shard }) => createBulkShard(engine, shard, acts)),
    loops: loopsOf({ clock: systemClock, logger: silent }),
    ...{ clock: systemClock, logger: silent, random: Math.random },
  })
  globalThis.gc?.()
  const cpuBefore = { own: process.cpuUsage(), redis: await redis.cpuSeconds() }
  const heapBefore = process.memoryUsage().heapUsed
  const startedMs = performance.now()
  const actor = { kind: 'token', name: 'bench', via: 'api', address: null } as const
  const target = { kind: 'filter', filter } as const
  const bulk = await store.create('default', { action: what, target, ratePerSecond: null }, actor)
  if (bulk === 'too_many') throw new Error('too many bulks')
  tell('created after, ms', performance.now() - startedMs)
  workers.start()
  const latencies: number[] = []
  let heapMost = 0
  for (;;) {
    const askedMs = performance.now()
    await intake.push(newJob('other', 'other', '1'))
    latencies.push(performance.now() - askedMs)
    heapMost = Math.max(heapMost, process.memoryUsage().heapUsed)
    const now = await store.get('default', bulk.id)
    if (now?.state === 'done') {
      const seconds = (performance.now() - startedMs) / 1000
      tell('state', JSON.stringify([now.matched, now.done, now.skipped, now.failed]))
      tell('seconds', seconds)
      tell('jobs acted on a second', now.done / seconds)
      const { user, system } = process.cpuUsage(cpuBefore.own)
      tell('CPU of this process, s', (user + system) / 1e6)
      tell('CPU of Redis, s', (await redis.cpuSeconds()) - cpuBefore.redis)
      tell('jobs looked at a second', jobs / seconds)
      break
    }
    await sleep(20)
  }
  await workers.stop()
  tell('heap above the start, MB', (heapMost - heapBefore) / 1e6)
  const sorted = latencies.toSorted((a, b) => a - b)
  tell('a push of another team meanwhile, ms: p50', sorted[Math.floor(sorted.length / 2)] ?? 0)
  tell('p99', sorted[Math.floor(sorted.length * 0.99)] ?? 0)
  const slow = (await redis.client.slowlog('GET', 100)) as Array<[number, number, number, string[]]>
  tell('commands over 10 ms', slow.length)
  for (const [, , took, words] of slow.slice(0, 10))
    tell(`  ${words.slice(0, 3).join(' ').slice(0, 80)}, µs`, took)
}

async function push(jobs: number): Promise<void> {
  for (let made = 0; made < jobs; made += PUSHED_AT_ONCE) {
    const size = Math.min(PUSHED_AT_ONCE, jobs - made)
    const pushes = Array.from({ length: size }, (_, i) =>
      intake.push(newJob('default', 'emails', i % ONE_IN === 0 ? '{"is":"rare"}' : '{"is":"frequent"}')),
    )
    await Promise.all(pushes)
  }
}

function newJob(team: string, queue: string, payload: string) {
  const request: JobRequest = {
    ...{ url: 'https://example.com/hooks/mail', method: 'POST', headers: {}, payload },
    ...{ callbackUrl: null, callbackEvents: null, tags: {}, timeoutSeconds: null, retryDelays: null },
    ...{ retriesEnabled: null, successAssertions: null, cron: null },
  }
  return { team, queue, request, start: { delaySeconds: 0 }, idempotency: null }
}

/** Every job ends as a dead letter. */
async function failAll(): Promise<void> {
  const grant = {
    ...{ slots: CLAIMED_AT_ONCE, bytes: 2 ** 20, otherTeamsHeadroom: 1e6, otherQueuesHeadroom: 1e6 },
    ...{ teamHeadroom: new Map<string, number>(), queueHeadroom: new Map<string, number>() },
  }
  for (const { shard } of engine.shards) {
    const source = new RedisJobSource(engine, shard, 'bench')
    await source.beat(true)
    for (;;) {
      await source.beat(false)
      const answer = await source.claim(grant)
      const work = answer.status === 'claimed' ? answer.work : []
      if (work.length === 0) break
      await source.finish(
        work.flatMap((one) => {
          if (one.kind !== 'job') return []
          const settings = { ...one.settings, retryDelays: [] }
          const end = endAttempt(
            { ...one, settings },
            {
              ...{ completedAtMs: engine.runner.redisNowMs(shard), durationMs: 5, responseStatus: 500 },
              ...{ failureReason: 'http_server_error', errorMessage: null },
            },
          )
          return [{ type: 'ended', work: one, end, callback: null, call: null } as const]
        }),
      )
    }
    await source.leave()
  }
}

async function openEngine(url: string): Promise<Engine> {
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
