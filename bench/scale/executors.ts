import { loopsOf } from '../../test/support/loops.ts'
import { Executor } from '../../src/executor/executor.ts'
import { reserveOf } from '../../src/executor/slots/fair-share.ts'
import type { HttpCall, HttpCaller, HttpCallResult } from '../../src/ports/http-caller.ts'
import { NO_TEAM_SETTINGS } from '../../src/ports/settings.ts'
import type { JobSource } from '../../src/ports/jobs.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../src/domain/jobs/queue-settings.ts'
import type { RedisConnection } from '../../src/redis/base/client/connection.ts'
import { subscribeToWakeHints } from '../../src/redis/base/client/wake-hints.ts'
import { createCronSource } from '../../src/redis/crons/tick/cron-source.ts'
import { RedisJobSource } from '../../src/redis/jobs/execute/job-source.ts'
import { createShardMaintenance } from '../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { createQueueStore } from '../../src/redis/jobs/queues/queue-store.ts'
import type { Engine } from '../../src/redis/base/engine/engine.ts'
import { loadScripts } from '../../src/redis/steps.ts'
import { systemClock } from '../../src/telemetry/system-clock.ts'
import { sleep, waitUntil } from '../harness/waiting.ts'
import { CountedCalls } from './counted-calls.ts'
import { fill, openConnection, openScaleEngine, silent, uncounted } from './filling.ts'
import { quantile, type ScaleRun } from './measurement.ts'
import { RedisNode } from './redis-node.ts'

const SHARDS = 4
const QUEUES = 200
const LIMIT = 4
const JOBS_PER_EXECUTOR = 500
const CONCURRENCY = 50
const CALL_MS = 200
const SHARES = { team: 0.9, queue: 0.8 }
const DONE_WITHIN_MS = 900_000
const IDLE_SECONDS = 10

/** So many executors in this process, each with connections of its own, whose calls take a while and open no socket. */
export async function measureExecutors(run: ScaleRun): Promise<void> {
  const redis = await RedisNode.start(run.folder)
  const connection = await openConnection(redis.url)
  const calls = new CountedCalls()
  const claims: Claims = { ms: [], empty: 0 }
  const executors: SimulatedExecutor[] = []
  try {
    const engine = await openScaleEngine(connection, SHARDS)
    const scripts = loadScripts()
    while (executors.length < run.size) {
      const own = { connection: await openConnection(redis.url), hints: await openConnection(redis.url) }
      const ownEngine = await openScaleEngine(own.connection, SHARDS, scripts)
      executors.push(await startExecutor(ownEngine, own, { name: `x${executors.length}`, calls, claims }))
    }
    await measureIdle(run, redis)
    await measureLimits(run, { redis, engine, calls, claims })
  } finally {
    await Promise.all(executors.map(({ executor }) => executor.stop(1_000)))
    for (const { connections } of executors) for (const one of connections) one.disconnect()
    connection.disconnect()
    await redis.stop()
  }
}

interface SimulatedExecutor {
  readonly executor: Executor
  readonly connections: readonly RedisConnection[]
}

/** How long claims took, and how many brought nothing. */
interface Claims {
  readonly ms: number[]
  empty: number
}

async function measureIdle(run: ScaleRun, redis: RedisNode): Promise<void> {
  await sleep(2_000)
  await redis.resetCounts()
  const before = redis.cpuSeconds()
  await sleep(IDLE_SECONDS * 1000)
  const commands = [...(await redis.commands()).values()].reduce((sum, calls) => sum + calls, 0)
  run.record('at rest: commands of all executors a second', '', commands / IDLE_SECONDS)
  run.record('at rest: CPU of Redis', '%', ((redis.cpuSeconds() - before) / IDLE_SECONDS) * 100)
}

async function measureLimits(
  run: ScaleRun,
  { redis, engine, calls, claims }: { redis: RedisNode; engine: Engine; calls: CountedCalls; claims: Claims },
): Promise<void> {
  const store = createQueueStore(engine)
  for (let i = 0; i < QUEUES; i += 1) {
    await store.apply('default', `q${i}`, { ...DEFAULT_QUEUE_SETTINGS, maxParallelism: LIMIT })
  }
  const jobs = JOBS_PER_EXECUTOR * run.size
  claims.ms.length = claims.empty = 0
  const before = redis.cpuSeconds()
  const began = performance.now()
  // Each queue has a path of its own, by which its calls are counted.
  await fill(engine, { count: jobs, queues: QUEUES, url: 'http://127.0.0.1/{queue}' })
  await waitUntil('all calls have ended', () => calls.state().ended >= jobs, {
    withinMs: DONE_WITHIN_MS,
    everyMs: 100,
  })
  const { most, full } = calls.state()
  run.record('jobs called a second', 'jobs/s', (jobs / (performance.now() - began)) * 1000)
  run.record('CPU of Redis of a job', 'µs', ((redis.cpuSeconds() - before) * 1e6) / jobs)
  run.record('claim, median', 'ms', quantile(claims.ms, 0.5))
  run.record('claim, 99th of 100', 'ms', quantile(claims.ms, 0.99))
  run.record('claims of a job', '', claims.ms.length / jobs)
  run.record('of these without a job', '%', (claims.empty / claims.ms.length) * 100)
  run.record(`queues that had ${most} calls open at once`, '', full)
  run.record('most calls open at once of a queue', '', most, LIMIT)
}

async function startExecutor(
  engine: Engine,
  { connection, hints }: { connection: RedisConnection; hints: RedisConnection },
  { name, calls, claims }: { name: string; calls: CountedCalls; claims: Claims },
): Promise<SimulatedExecutor> {
  const executor = new Executor({
    shards: engine.shards.map(({ shard }) => ({
      shard,
      openSource: (executorId) => timed(new RedisJobSource(engine, shard, executorId), claims),
      maintenance: createShardMaintenance(engine, shard),
      crons: createCronSource(engine, shard),
    })),
    hints: await subscribeToWakeHints(hints),
    caller: callerOf(calls),
    teams: { of: () => NO_TEAM_SETTINGS, ownSecretsOf: () => null },
    jobIds: engine.jobIds,
    clock: systemClock,
    logger: silent,
    metrics: uncounted,
    loops: loopsOf({ clock: systemClock, logger: silent }),
    capacity: {
      concurrency: CONCURRENCY,
      reserve: reserveOf(CONCURRENCY, SHARES),
      callBytes: 64 * 2 ** 20,
      shares: SHARES,
    },
    newExecutorId: () => `${name}-${Math.random().toString(36).slice(2)}`,
    random: Math.random,
    redisNowMs: (shard) => engine.runner.redisNowMs(shard),
  })
  executor.start()
  return { executor, connections: [connection, hints] }
}

function timed(source: JobSource, claims: Claims): JobSource {
  const claim = source.claim.bind(source)
  source.claim = async (grant) => {
    const began = performance.now()
    const answer = await claim(grant)
    claims.ms.push(performance.now() - began)
    if (answer.status !== 'claimed' || answer.work.length === 0) claims.empty += 1
    return answer
  }
  return source
}

/** Answers 200 after a while. */
function callerOf(calls: CountedCalls): HttpCaller {
  return {
    call: async ({ url }: HttpCall): Promise<HttpCallResult> => {
      calls.begin(url)
      await sleep(CALL_MS)
      calls.end(url)
      return {
        kind: 'answered',
        status: 200,
        headers: [],
        body: new Uint8Array(),
        bodyTruncated: false,
        isBodyCutShort: false,
        protocolNotes: [],
        found: new Set(),
        durationMs: CALL_MS,
        timings: NO_TIMINGS,
        requestHeaders: [],
      }
    },
    close: () => Promise.resolve(),
  }
}

const NO_TIMINGS = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null, bodyMs: null }
