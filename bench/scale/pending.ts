import { RedisJobSource } from '../../src/redis/jobs/execute/job-source.ts'
import type { Engine } from '../../src/redis/base/engine/engine.ts'
import { endAttempt } from '../../src/domain/jobs/retry-policy.ts'
import { startTarget, type Target } from '../harness/nginx-target.ts'
import { waitUntil } from '../harness/waiting.ts'
import { fill, openConnection, openScaleEngine } from './filling.ts'
import { quantile, type ScaleRun } from './measurement.ts'
import { RedisNode } from './redis-node.ts'
import { Roles } from './roles.ts'

const SHARDS = 4
const QUEUES = 100
/** What the same is measured with before. */
const FEW_JOBS = 100_000
const CLAIMS = 300
const CLAIMED_AT_ONCE = 64
const CONCURRENCY = 300
const CALLS_BEFORE_RESTART = 1_000
const CALLED_WITHIN_MS = 600_000

/** So many jobs that are due: their memory, claims among them, and a restart of Redis that holds them. */
export async function measurePending(run: ScaleRun): Promise<void> {
  const redis = await RedisNode.start(run.folder)
  const target = await startTarget(run.folder)
  const connection = await openConnection(redis.url)
  try {
    const engine = await openScaleEngine(connection, SHARDS)
    await fill(engine, { count: QUEUES * 10, queues: QUEUES, url: target.url })
    const before = await redis.dataBytes()
    const few = Math.min(FEW_JOBS, run.size)
    await fill(engine, { count: few, queues: QUEUES, url: target.url })
    run.record(
      `bytes per job of ${few.toLocaleString('en-US')}`,
      'B',
      ((await redis.dataBytes()) - before) / few,
    )
    await measureClaims(run, { redis, engine }, `among ${few.toLocaleString('en-US')}`)
    const beforeAll = await redis.dataBytes()
    const { seconds } = await fill(engine, { count: run.size, queues: QUEUES, url: target.url })
    run.record('jobs stored a second, by one process without HTTP', 'jobs/s', run.size / seconds)
    run.record('bytes per job of all', 'B', ((await redis.dataBytes()) - beforeAll) / run.size)
    run.record('resident memory of Redis', 'MiB', (await redis.field('memory', 'used_memory_rss')) / 2 ** 20)
    await measureClaims(run, { redis, engine }, 'among all')
    await measureRestarts(run, redis, target)
  } finally {
    connection.disconnect()
    await redis.stop()
    await target.stop()
  }
}

/** Claims of 64 one after another in one shard; what they bring ends at once. */
async function measureClaims(
  run: ScaleRun,
  { redis, engine }: { redis: RedisNode; engine: Engine },
  among: string,
): Promise<void> {
  const source = new RedisJobSource(engine, 0, 'bench')
  await source.beat(true)
  const grant = {
    slots: CLAIMED_AT_ONCE,
    bytes: 2 ** 20,
    otherTeamsHeadroom: 1e6,
    otherQueuesHeadroom: 1e6,
    teamHeadroom: new Map<string, number>(),
    queueHeadroom: new Map<string, number>(),
  }
  const claimMs: number[] = []
  const finishMs: number[] = []
  let claimed = 0
  const cpuBefore = redis.cpuSeconds()
  for (let i = 0; i < CLAIMS; i += 1) {
    await source.beat(false)
    const began = performance.now()
    const answer = await source.claim(grant)
    claimMs.push(performance.now() - began)
    const work = answer.status === 'claimed' ? answer.work : []
    if (work.length === 0) break
    const ends = work.flatMap((one) => {
      if (one.kind !== 'job') return []
      const call = { completedAtMs: one.startedAtMs, durationMs: 5, responseStatus: 200 }
      const end = endAttempt(one, { ...call, failureReason: null, errorMessage: null })
      return [{ type: 'ended', work: one, end, callback: null, call: null } as const]
    })
    const ended = performance.now()
    await source.finish(ends)
    finishMs.push(performance.now() - ended)
    claimed += ends.length
  }
  const cpuSeconds = redis.cpuSeconds() - cpuBefore
  await source.leave()
  run.record(`claim and finish of a job, ${among}: CPU of Redis`, 'µs', (cpuSeconds * 1e6) / claimed)
  run.record(`claim of 64, ${among}: median`, 'ms', quantile(claimMs, 0.5))
  run.record(`claim of 64, ${among}: 99th of 100`, 'ms', quantile(claimMs, 0.99))
  run.record(`finish of 64, ${among}: 99th of 100`, 'ms', quantile(finishMs, 0.99))
}

/** First with the append-only file as the fill has left it, then with a file that was just rewritten. */
async function measureRestarts(run: ScaleRun, redis: RedisNode, target: Target): Promise<void> {
  const roles = new Roles({ folder: run.folder, redisUrl: redis.url, shards: SHARDS })
  try {
    await roles.startExecutor(CONCURRENCY)
    await redis.isRewritten()
    await measureRestart(run, { redis, target, file: 'file as it was' })
    await redis.rewriteAppendOnlyFile()
    await measureRestart(run, { redis, target, file: 'file just rewritten' })
  } finally {
    await roles.stop()
  }
}

async function measureRestart(
  run: ScaleRun,
  { redis, target, file }: { redis: RedisNode; target: Target; file: string },
): Promise<void> {
  const earlier = await target.count()
  const isWorking = async () => (await target.count()) > earlier + CALLS_BEFORE_RESTART
  await waitUntil('calls are made', isWorking, { withinMs: CALLED_WITHIN_MS })
  await redis.restart()
  const startedMs = performance.now()
  await redis.isLoaded()
  const loadedMs = performance.now()
  // Calls that were open when Redis ended have come by now: one more needs a claim.
  const before = await target.count()
  const isCalled = async () => (await target.count()) > before
  await waitUntil('a call is made', isCalled, { withinMs: CALLED_WITHIN_MS, everyMs: 10 })
  run.record(`restart of Redis, ${file}: until it has loaded`, 's', (loadedMs - startedMs) / 1000)
  run.record(
    `restart of Redis, ${file}: from then to the first call`,
    's',
    (performance.now() - loadedMs) / 1000,
  )
}
