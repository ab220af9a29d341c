/**
 * What statistics cost, on a Redis of their own. `node bench/statistics.ts cost` pushes, claims and ends jobs with and
 * without them, in turns, and counts the CPU of Redis and of this process for each job; `node bench/statistics.ts bytes`
 * measures the memory of a minute of a queue; `node bench/statistics.ts read` reads a week of minutes;
 * `node bench/statistics.ts explain` asks why jobs wait behind a million others.
 */
import { bucketOf, countIn } from '../src/domain/statistics/histogram.ts'
import { emptyTally, type Tally } from '../src/domain/statistics/tally.ts'
import { endAttempt } from '../src/domain/jobs/retry-policy.ts'
import type { ClaimedWork, WorkEnd } from '../src/ports/jobs.ts'
import { type Engine, shardKeys } from '../src/redis/base/engine/engine.ts'
import { RedisJobSource } from '../src/redis/jobs/execute/job-source.ts'
import { ownerOfQueue, ownerOfTeam } from '../src/redis/base/layout/statistics/statistics-log.ts'
import { foldPage } from '../src/redis/watch/statistics/folder.ts'
import { createStatisticsReader } from '../src/redis/watch/statistics/statistics-reader.ts'
import { changeTallies, readVersion, type OpenTally } from '../src/redis/watch/statistics/tally-store.ts'
import { loadScripts } from '../src/redis/steps.ts'
import { createWaitExplainer } from '../src/redis/watch/wait-explainer.ts'
import { grantOf } from '../test/support/engine/claim-grant.ts'
import { newJob } from '../test/support/engine/engine.ts'
import { runMain } from './harness/main-run.ts'
import { type Stand, withStand } from './harness/stand.ts'
import { tell } from './harness/telling.ts'
import { spreadOf } from './report/statistics.ts'

const PUSHED_AT_ONCE = 512
const BATCH = 64
const WEEK_MINUTES = 10_080
const SETTLED_AT_ONCE = 250
const READS = 50

const [what = 'cost', jobs = '20000', pairs = '6', queues = '8'] = process.argv.slice(2)
await runMain(async () => {
  if (what === 'bytes') await measureBytes()
  else if (what === 'read') await measureRead()
  else if (what === 'explain') await measureExplain(Number(jobs))
  else await measureCost(Number(jobs), Number(pairs))
})

/** Redis has all work of a job here, and this process all but the call: a call makes the share smaller. */
async function measureCost(count: number, rounds: number): Promise<void> {
  const byKind = (): Record<'without' | 'with', number[]> => ({ without: [], with: [] })
  const [redisCpu, cpu, commands, finishUs] = [byKind(), byKind(), byKind(), byKind()]
  for (let round = 0; round <= rounds; round += 1) {
    for (const kind of round % 2 === 1 ? (['without', 'with'] as const) : (['with', 'without'] as const)) {
      await withEngine({ hasStatistics: kind === 'with' }, async (stand) => {
        const { redis } = stand
        const before = { redis: await redis.cpuSeconds(), commands: await redis.commandsProcessed() }
        const own = process.cpuUsage()
        const inFinish = await live(stand, count, kind === 'with')
        const used = process.cpuUsage(own)
        // The first round warms up.
        if (round === 0) return
        finishUs[kind].push(inFinish)
        redisCpu[kind].push((((await redis.cpuSeconds()) - before.redis) * 1e6) / count)
        cpu[kind].push((used.user + used.system) / count)
        commands[kind].push(((await redis.commandsProcessed()) - before.commands) / count)
      })
    }
  }
  const both = (name: string, { without, with: having }: typeof cpu) => {
    const [a, b] = [median(without), median(having)]
    tell(name, `${a.toFixed(2)} ${b.toFixed(2)} (${((b / a - 1) * 100).toFixed(1)} %)`)
  }
  tell('jobs, queues', `${count}, ${queues}`)
  both('steps that end jobs, Redis µs a job without and with', finishUs)
  both('Redis CPU a job, µs without and with', redisCpu)
  both('CPU of this process a job, µs without and with', cpu)
  both('commands a job without and with', commands)
}

/** Pushes, claims and ends jobs. @returns µs of Redis in `finish`, a job */
async function live(stand: Stand, count: number, hasStatistics: boolean): Promise<number> {
  const { engine, redis } = stand
  await push(stand, count)
  const source = new RedisJobSource(engine, 0, 'bench')
  await source.beat(true)
  let [ended, inFinish, batches] = [0, 0, 0]
  while (ended < count) {
    const answer = await source.claim(grantOf(BATCH))
    if (answer.status !== 'claimed') throw new Error(answer.status)
    if (answer.work.length === 0) continue
    const ends = answer.work.map((work) => endOf(engine, work))
    const before = await scriptUs(redis)
    await source.finish(ends)
    inFinish += (await scriptUs(redis)) - before
    ended += ends.length
    batches += 1
    if (hasStatistics && batches % 100 === 0) await fold(engine)
    if (batches % 100 === 0) await source.beat(false)
  }
  if (hasStatistics) await fold(engine)
  return inFinish / count
}

async function fold(engine: Engine): Promise<void> {
  while ((await foldPage(engine, shardKeys(engine, 0))) === 'more');
}

async function scriptUs({ client }: Stand['redis']): Promise<number> {
  const info = await client.info('commandstats')
  return Number(/cmdstat_evalsha:calls=\d+,usec=(\d+)/.exec(info)?.[1] ?? 0)
}

function endOf(engine: Engine, work: ClaimedWork): WorkEnd {
  if (work.kind !== 'job') throw new Error(`a ${work.kind} was claimed`)
  const end = endAttempt(work, {
    completedAtMs: engine.runner.redisNowMs(0),
    durationMs: 5 + (work.jobId % 200),
    responseStatus: 200,
    failureReason: null,
    errorMessage: null,
  })
  return { type: 'ended', work, end, callback: null, call: null }
}

async function push({ intake }: Stand, count: number): Promise<void> {
  for (let i = 0; i < count; i += PUSHED_AT_ONCE) {
    const page = Array.from({ length: Math.min(PUSHED_AT_ONCE, count - i) }, (_, at) =>
      intake.push(
        newJob({ queue: `queue-${(i + at) % Number(queues)}`, request: { payload: '{"to":"ada"}' } }),
      ),
    )
    await Promise.all(page)
  }
}

async function measureBytes(): Promise<void> {
  for (const rate of [1, 60, 1_000, 100_000]) {
    for (const [owners, minutes, apart] of [
      [2_000, 7, 1_440],
      [1_000, 42, 240],
      [200, 168, 60],
      [20, WEEK_MINUTES / 5, 5],
      [5, WEEK_MINUTES, 1],
    ] as const) {
      await withEngine({}, async ({ engine, redis }) => {
        const before = await redis.dataBytes()
        await settle(engine, { owners, minutes, apart, rate })
        const bytes = ((await redis.dataBytes()) - before) / (owners * minutes)
        tell(`${rate} jobs in one minute of ${apart} for a week, ${owners} queues, bytes a minute`, bytes)
      })
    }
  }
}

async function settle(
  engine: Engine,
  { owners, minutes, apart = 1, rate }: { owners: number; minutes: number; apart?: number; rate: number },
): Promise<void> {
  const keys = shardKeys(engine, 0)
  const now = Math.floor(Date.now() / 60_000)
  for (let i = 0; i < minutes; i += 1) {
    const minute = now - (minutes - 1 - i) * apart
    for (let from = 0; from < owners; from += SETTLED_AT_ONCE) {
      const settled = Array.from({ length: Math.min(SETTLED_AT_ONCE, owners - from) }, (_, at): OpenTally => {
        const owner = from + at === 0 ? ownerOfTeam('default') : ownerOfQueue(String(from + at))
        return { minute, owner, tally: someTally(rate, from + at + minute) }
      })
      await changeTallies(engine, keys, { version: await readVersion(engine, keys), settled })
    }
  }
}

/** Calls of about 40 ms with a long tail, 1 % of them failed. */
function someTally(rate: number, seed: number): Tally {
  const tally = emptyTally()
  tally.retried = Math.floor(rate / 100)
  tally.done = rate - tally.retried
  tally.depth = rate > 500 ? seed % 50 : 0
  const drawn = Math.min(rate, 1_000)
  for (let i = 0; i < drawn; i += 1) {
    const place = (i + 0.5) / drawn
    countIn(tally.latency, bucketOf(40 * Math.exp(1.2 * Math.log(place / (1 - place)))), rate / drawn)
    countIn(tally.lateness, bucketOf(4 * Math.exp(0.8 * Math.log(place / (1 - place)))), rate / drawn)
  }
  return tally
}

async function measureRead(): Promise<void> {
  await withEngine({}, async ({ engine, redis }) => {
    await settle(engine, { owners: 1, minutes: WEEK_MINUTES, rate: 10_000 })
    const reader = createStatisticsReader(engine)
    for (const [name, sinceMs] of [
      ['a week', 0],
      ['an hour', Date.now() - 3_600_000],
    ] as const) {
      const took: number[] = []
      const cpuBefore = { redis: await redis.cpuSeconds(), own: process.cpuUsage() }
      for (let i = 0; i < READS; i += 1) {
        const startedAt = performance.now()
        const minutes = await reader.ofTeam('default', sinceMs)
        took.push(performance.now() - startedAt)
        if (i === 0) tell(`minutes of ${name}`, minutes.size)
      }
      tell(`reading ${name} of one shard, ms, median`, median(took))
      const { user, system } = process.cpuUsage(cpuBefore.own)
      tell('CPU of this process a read, ms', (user + system) / 1000 / READS)
      tell('CPU of Redis a read, ms', (((await redis.cpuSeconds()) - cpuBefore.redis) * 1000) / READS)
    }
  })
}

async function measureExplain(count: number): Promise<void> {
  await withEngine({}, async (stand) => {
    const { engine, redis } = stand
    await push(stand, count)
    const listed = await redis.client.lrange(shardKeys(engine, 0).queue('1').ready, 0, -1)
    const explainer = createWaitExplainer(engine, {
      windows: { ofTeam: () => [] },
      callQuotaOf: () => null,
    })
    tell('ready jobs of the queue', listed.length)
    for (const share of [0, 0.005, 0.5, 0.999]) {
      const jobId = Number(listed[Math.floor(listed.length * share)])
      await redis.client.config('RESETSTAT')
      await redis.client.slowlog('RESET')
      const waiting = await explainer.explain('default', jobId)
      const steps = (await redis.client.info('commandstats')).match(/cmdstat_evalsha:.*/)?.[0]
      const text = await redis.client.info('latencystats')
      tell(`job at ${share}: before it`, `${waiting?.facts.before?.jobs}; ${steps}`)
      tell('longest step', /latency_percentiles_usec_evalsha:.*/.exec(text)?.[0] ?? '-')
    }
  })
}

/** One shard. */
async function withEngine(
  { hasStatistics = true }: { hasStatistics?: boolean },
  run: (stand: Stand) => Promise<void>,
): Promise<void> {
  const scripts = loadScripts((source) =>
    hasStatistics ? source : source.replaceAll(/^ *EndLog\.(?:add_end|push)\(.*\)$/gm, ''),
  )
  await withStand(run, { shards: 1, scripts })
}

function median(values: readonly number[]): number {
  return spreadOf(values).median
}
