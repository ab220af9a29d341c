/**
 * What bulks cost, on a Redis of their own, worked off in this process while it pushes jobs of another team:
 * `node bench/bulk.ts replay 100000` replays so many dead letters, `node bench/bulk.ts cancel 1000000` cancels those that
 * hold a text among so many jobs that wait.
 */
import { loopsOf } from '../test/support/loops.ts'
import type { BulkAction } from '../src/domain/bulk/bulk.ts'
import { ANY_JOB, type JobFilter } from '../src/domain/jobs/job-filter.ts'
import { endAttempt } from '../src/domain/jobs/retry-policy.ts'
import { BulkWorkers } from '../src/executor/bulk/bulk-workers.ts'
import { createBulkActs } from '../src/redis/jobs/bulk/acts.ts'
import { createBulkShard } from '../src/redis/jobs/bulk/bulk-shard.ts'
import { createBulkStore } from '../src/redis/jobs/bulk/bulk-store.ts'
import { RedisJobSource } from '../src/redis/jobs/execute/job-source.ts'
import { systemClock } from '../src/telemetry/system-clock.ts'
import { grantOf } from '../test/support/engine/claim-grant.ts'
import { newJob } from '../test/support/engine/engine.ts'
import { quietLogger } from '../test/support/quiet.ts'
import { runMain } from './harness/main-run.ts'
import { type Stand, withStand } from './harness/stand.ts'
import { tell } from './harness/telling.ts'
import { sleep } from './harness/waiting.ts'
import { percentile } from './report/statistics.ts'

const PUSHED_AT_ONCE = 2_000
const CLAIMED_AT_ONCE = 64
/** One in so many jobs is one of those that a filter finds. */
const ONE_IN = 10
const SLOW_MICROSECONDS = 10_000

const [action = 'replay', count = '100000'] = process.argv.slice(2)
await runMain(() => withStand(measure))

async function measure({ engine, intake, redis }: Stand): Promise<void> {
  const what = action as BulkAction
  const jobs = Number(count)
  await push(intake, jobs)
  if (what === 'replay' || what === 'purge') await failAll(engine)
  await redis.client.config('SET', 'slowlog-log-slower-than', String(SLOW_MICROSECONDS))
  await redis.client.config('SET', 'slowlog-max-len', '1000')
  await redis.client.slowlog('RESET')
  const filter: JobFilter = {
    ...ANY_JOB,
    queue: 'emails',
    ...(what === 'replay' || what === 'purge'
      ? { status: 'dead_lettered' }
      : { status: 'pending', text: 'rare' }),
  }
  const store = createBulkStore(engine, Math.random)
  const acts = createBulkActs(engine, null)
  const workers = new BulkWorkers({
    shards: engine.shards.map(({ shard }) => createBulkShard(engine, shard, acts)),
    loops: loopsOf({ clock: systemClock, logger: quietLogger }),
    clock: systemClock,
    logger: quietLogger,
    random: Math.random,
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
    await intake.push(mailJob('other', 'other', '1'))
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
  tell('a push of another team meanwhile, ms: p50', percentile(latencies, 0.5))
  tell('p99', percentile(latencies, 0.99))
  const slow = (await redis.client.slowlog('GET', 100)) as Array<[number, number, number, string[]]>
  tell('commands over 10 ms', slow.length)
  for (const [, , took, words] of slow.slice(0, 10))
    tell(`  ${words.slice(0, 3).join(' ').slice(0, 80)}, µs`, took)
}

async function push(intake: Stand['intake'], jobs: number): Promise<void> {
  for (let made = 0; made < jobs; made += PUSHED_AT_ONCE) {
    const size = Math.min(PUSHED_AT_ONCE, jobs - made)
    const pushes = Array.from({ length: size }, (_, i) =>
      intake.push(mailJob('default', 'emails', i % ONE_IN === 0 ? '{"is":"rare"}' : '{"is":"frequent"}')),
    )
    await Promise.all(pushes)
  }
}

function mailJob(team: string, queue: string, payload: string) {
  return newJob({ team, queue, request: { url: 'https://example.com/hooks/mail', payload } })
}

/** Every job ends as a dead letter. */
async function failAll(engine: Stand['engine']): Promise<void> {
  const grant = grantOf(CLAIMED_AT_ONCE)
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
              completedAtMs: engine.runner.redisNowMs(shard),
              durationMs: 5,
              responseStatus: 500,
              failureReason: 'http_server_error',
              errorMessage: null,
            },
          )
          return [{ type: 'ended', work: one, end, callback: null, call: null } as const]
        }),
      )
    }
    await source.leave()
  }
}
