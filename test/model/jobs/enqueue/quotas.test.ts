import assert from 'node:assert/strict'
import { afterAll, beforeAll, beforeEach, describe, test } from 'vitest'
import { ANY_JOB } from '../../../../src/domain/jobs/job-filter.ts'
import { StorageFullError } from '../../../../src/domain/errors.ts'
import { NO_QUOTAS, quotasOf, type TeamQuotas } from '../../../../src/domain/quotas.ts'
import type { JobIntake, NewJob, PushResult } from '../../../../src/ports/jobs.ts'
import { NO_TEAM_SETTINGS } from '../../../../src/ports/settings.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { shardOfQueue } from '../../../../src/redis/base/engine/engine.ts'
import { RedisCallQuotas } from '../../../../src/redis/ledger/quotas/call-quota-keeper.ts'
import { createCronStore } from '../../../../src/redis/crons/cron-store.ts'
import { createJobIntake } from '../../../../src/redis/jobs/enqueue/job-intake.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { QuotaKeeper } from '../../../../src/redis/ledger/quotas/quota-keeper.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { createTeamUsageReader } from '../../../../src/redis/ledger/quotas/team-usage.ts'
import { withRunQuotas } from '../../../../src/roles/parts/quota-part.ts'
import { systemClock } from '../../../../src/telemetry/system-clock.ts'
import { cronSettings } from '../../../support/engine/cron-settings.ts'
import { newJob } from '../../../support/engine/engine.ts'
import { assertClean, claimed, ended, openExecutor } from '../../../support/engine/model-executor.ts'
import { openConnection, openWorld, type World } from '../../../support/engine/model-world.ts'
import { heldBytes, startRedis, type TestRedis } from '../../../support/servers/redis-server.ts'
import { until } from '../../../support/until.ts'
import { CronStage, TEAM } from '../../crons/cron-stage.ts'
import { AN_ACTOR } from '../../../support/principals.ts'

const MEMORY_BYTES = 48 * 1024 ** 2
/** What intake leaves to ticks, retries and ends, of so little. */
const RESERVE_BYTES = 8 * 1024 ** 2
/** Of clients that push what is large: intake counts them as memory in use. */
const BUFFERS_BYTES_MAX = 4 * 1024 ** 2
const MEGABYTE = JSON.stringify('x'.repeat(1_000_000))
const SHARDS = 4
const QUEUES = Array.from({ length: 16 }, (_, i) => `q${i}`)
const DAY_MS = 86_400_000

let redis: TestRedis
let connection: RedisConnection
let world: World
let quotas: Map<string, TeamQuotas>

beforeAll(async () => {
  redis = await startRedis({ settings: ['--maxmemory', String(MEMORY_BYTES), '--appendonly', 'no'] })
  connection = await openConnection(redis.url)
})
afterAll(async () => {
  connection.disconnect()
  await redis.stop()
})
beforeEach(async () => {
  await redis.client.config('SET', 'maxmemory', String(MEMORY_BYTES))
  world = await openWorld(redis, { connection, shards: SHARDS })
  quotas = new Map()
})

/** As each API process has one, with looks of its own. */
function newIntake(): JobIntake {
  const { engine } = world
  return createJobIntake(engine, {
    nowMs: () => systemClock.monotonicMs(),
    quotas: new QuotaKeeper({
      engine,
      clock: systemClock,
      quotasOf: (team) => quotas.get(team) ?? NO_QUOTAS,
    }),
  })
}

/** What became of a push: created or repeated, the quota that it met, or full. */
async function outcome(pushed: Promise<PushResult>): Promise<string> {
  try {
    const result = await pushed
    return result.status === 'over_quota' ? result.quota : result.status
  } catch (error) {
    if (error instanceof StorageFullError) return 'full'
    throw error
  }
}

function job(team: string, queue: string, change: Partial<NewJob> = {}): NewJob {
  return newJob({ team, queue, start: { delaySeconds: 3600 }, ...change })
}

function large(team: string, queue: string, delaySeconds = 3600): NewJob {
  return newJob({ team, queue, start: { delaySeconds }, request: { payload: MEGABYTE } })
}

const usedBytes = () => heldBytes(redis.client)

const held = (team: string) => createTeamUsageReader(world.engine).read(team)

/** One after the other, so that each is refused or taken by what the ones before have left. */
async function pushInTurn(intake: JobIntake, jobs: readonly NewJob[]): Promise<string[]> {
  const ends: string[] = []
  for (const one of jobs) ends.push(await outcome(intake.push(one)))
  return ends
}

describe('one team that pushes all it can into 48 MiB', () => {
  test('meets its share long before Redis is full, and another team still pushes', async () => {
    const intake = newIntake()
    const ends = await pushInTurn(
      intake,
      Array.from({ length: 75 }, (_, i) => large('greedy', `q${i % 8}`)),
    )
    assert.deepEqual(new Set(ends), new Set(['created', 'share']))
    const taken = ends.filter((end) => end === 'created').length
    assert.ok(taken > 15, `${taken} were taken`)
    assert.ok((await usedBytes()) < MEMORY_BYTES - RESERVE_BYTES - 1_500_000)
    assert.equal(await outcome(newIntake().push(large('modest', 'mail'))), 'created')
    assert.equal(await outcome(intake.push(job('modest', 'mail'))), 'created')
    await assertClean(world)
  })

  test('and deletes its queues, is taken up again', async () => {
    const intake = newIntake()
    await pushInTurn(
      intake,
      Array.from({ length: 75 }, (_, i) => large('greedy', `q${i % 8}`)),
    )
    const store = createQueueStore(world.engine)
    for (let i = 0; i < 8; i += 1) await store.remove('greedy', `q${i}`)
    for (const { shard } of world.engine.shards) {
      while ((await createShardMaintenance(world.engine, shard).sweep()).isMore);
    }
    assert.equal((await held('greedy')).storedBytes, 0)
    assert.equal(await outcome(newIntake().push(large('greedy', 'q0'))), 'created')
    await assertClean(world)
  })

  test('by a quota of bytes above what there is, stops where the reserve begins', async () => {
    quotas.set('greedy', quotasOf({ storedBytes: 1024 ** 3 }))
    const intake = newIntake()
    const ends = await pushInTurn(
      intake,
      Array.from({ length: 75 }, (_, i) => large('greedy', `q${i % 8}`)),
    )
    assert.deepEqual(new Set(ends), new Set(['created', 'full']))
    const used = await usedBytes()
    assert.ok(used > MEMORY_BYTES - RESERVE_BYTES - 2_500_000 - BUFFERS_BYTES_MAX, `stopped at ${used}`)
    assert.ok(used < MEMORY_BYTES - RESERVE_BYTES + 1_500_000, `went on to ${used}`)
  })
})

test('many small jobs pushed together stop where the reserve begins, too', async () => {
  quotas.set('greedy', quotasOf({ storedBytes: 1024 ** 3 }))
  const limit = (await usedBytes()) + RESERVE_BYTES + 8 * 1024 ** 2
  await redis.client.config('SET', 'maxmemory', String(limit))
  const intake = newIntake()
  const change = { start: { delaySeconds: 3600 }, request: { payload: JSON.stringify('x'.repeat(3_000)) } }
  const ends: string[] = []
  for (let round = 0; round < 10; round += 1) {
    const pushed = Array.from({ length: 500 }, () =>
      outcome(intake.push(newJob({ team: 'greedy', queue: 'q0', ...change }))),
    )
    ends.push(...(await Promise.all(pushed)))
  }
  assert.deepEqual(new Set(ends), new Set(['created', 'full']))
  const used = await usedBytes()
  assert.ok(used < limit - RESERVE_BYTES + 1_500_000, `went on to ${used} of ${limit}`)
})

describe('in the reserve', () => {
  /** Intake is stopped, and stays so when clients free their buffers. */
  async function fill(): Promise<void> {
    quotas.set('greedy', quotasOf({ storedBytes: 1024 ** 3 }))
    const intake = newIntake()
    for (let i = 0; i < 75; i += 1) {
      if ((await outcome(intake.push(large('greedy', `q${i % 8}`)))) !== 'full') continue
      await redis.client.config('SET', 'maxmemory', String((await usedBytes()) + RESERVE_BYTES - 1))
      return
    }
    assert.fail('it was never full')
  }

  test('crons tick, retries are made and jobs end, while pushes are refused', async () => {
    const stage = new CronStage(world)
    await stage.apply('home')
    const intake = newIntake()
    assert.equal(await outcome(intake.push(large('modest', 'mail', 0))), 'created')
    await fill()
    assert.equal(await outcome(newIntake().push(large('modest', 'mail'))), 'full')
    const nextMinuteMs = Math.ceil(world.clock.wallMs / 60_000) * 60_000
    assert.equal(await stage.passTo(nextMinuteMs), 1)

    const source = await openExecutor(world, 'e1', shardOf('modest', 'mail'))
    const work = (await claimed(source, 10)).filter(({ team }) => team === 'modest')
    assert.equal(work.length, 1)
    const failed = work.map((one) => ended(world, one, { failed: true }))
    assert.deepEqual(await source.finish(failed), ['done'])
    assert.equal((await held('modest')).pendingJobs, 1, 'its retry waits')
    await assertClean(world)
  })

  test('no tick goes above 97 %, and the cron is looked at again', async () => {
    const stage = new CronStage(world)
    await stage.apply('home')
    const used = await usedBytes()
    await redis.client.config('SET', 'maxmemory', String(Math.ceil(used / 0.98)))
    const nextMinuteMs = Math.ceil(world.clock.wallMs / 60_000) * 60_000
    await assert.rejects(stage.passTo(nextMinuteMs), StorageFullError)
    await redis.client.config('SET', 'maxmemory', String(MEMORY_BYTES))
    assert.equal(await stage.passTo(nextMinuteMs), 1)
  })

  test('the runs of a team that holds more than its share of it are missed, those of others run', async () => {
    const stage = new CronStage(world)
    await stage.apply('home', { payload: 'x'.repeat(200_000) })
    await stage.store.apply('modest', 'nightly', stage.settings('home'))
    quotas.set(TEAM, quotasOf({ storedBytes: 1024 ** 3 }))
    const intake = newIntake()
    const home = QUEUES.filter((queue) => shardOf(TEAM, queue) === stage.shardAt('home')).slice(0, 1)
    for (let i = 0; i < 30; i += 1) await outcome(intake.push(large(TEAM, home[0] ?? '')))
    const before = await held(TEAM)
    // What is free above what it holds, and below the end of ticks, is less than a quarter of that, and there is some
    // beside the buffers of clients.
    const used = await usedBytes()
    await redis.client.config('SET', 'maxmemory', String(Math.ceil((used * 1.2) / 0.97)))
    const nextMinuteMs = Math.ceil(world.clock.wallMs / 60_000) * 60_000
    assert.equal(await stage.passTo(nextMinuteMs), 1)
    const [run] = await stage.runs()
    assert.deepEqual([run?.result, run?.ticks], ['missed', 1])
    assert.equal((await held(TEAM)).pendingJobs, before.pendingJobs)
    assert.equal((await held('modest')).pendingJobs, 1)
    await assertClean(world)
  })
})

function shardOf(team: string, queue: string): number {
  const { engine } = world
  return shardOfQueue(engine, team, queue).shard
}

describe('a quota of pending jobs', () => {
  test('holds to the job, and frees what ends', async () => {
    quotas.set('a', quotasOf({ pendingJobs: 5 }))
    const intake = newIntake()
    const jobs = Array.from({ length: 8 }, () => job('a', 'mail'))
    assert.deepEqual(await pushInTurn(intake, jobs), [
      ...Array.from({ length: 5 }, () => 'created'),
      ...Array.from({ length: 3 }, () => 'pendingJobs'),
    ])
    assert.equal(
      (await createJobStore(world.engine).remove('a', await firstJobOf('a'), AN_ACTOR, true)).status,
      'removed',
    )
    assert.deepEqual(await pushInTurn(newIntake(), [job('a', 'mail'), job('a', 'mail')]), [
      'created',
      'pendingJobs',
    ])
    assert.equal(await outcome(intake.push(job('b', 'mail'))), 'created')
    await assertClean(world)
  })

  test('over two APIs and all shards at once is exceeded by a batch a shard at most', async () => {
    quotas.set('a', quotasOf({ pendingJobs: 200 }))
    const intakes = [newIntake(), newIntake()]
    const flood = (): Promise<string[]> =>
      Promise.all(
        Array.from({ length: 600 }, (_, i) =>
          outcome((intakes[i % 2] as JobIntake).push(job('a', QUEUES[i % QUEUES.length] ?? ''))),
        ),
      )
    await flood()
    const { pendingJobs } = await held('a')
    assert.ok(pendingJobs >= 150, `only ${pendingJobs} were taken`)
    assert.ok(pendingJobs <= 200 + 2 * SHARDS * 128, `${pendingJobs} were taken`)
    // Whoever comes later finds it used up.
    assert.deepEqual(await pushInTurn(newIntake(), [job('a', 'q1')]), [
      pendingJobs >= 200 ? 'pendingJobs' : 'created',
    ])
  })

  test('does not refuse what was accepted before, sent once more', async () => {
    quotas.set('a', quotasOf({ pendingJobs: 1 }))
    const keyed = (): NewJob => job('a', 'mail', { idempotency: { key: 'k', fingerprint: 'f' } })
    const intake = newIntake()
    assert.deepEqual(await pushInTurn(intake, [keyed(), keyed(), job('a', 'mail')]), [
      'created',
      'repeated',
      'pendingJobs',
    ])
  })

  test('counts a resent step once', async () => {
    const intake = newIntake()
    world.faults.resent.add('enqueue')
    assert.equal(await outcome(intake.push(job('a', 'mail'))), 'created')
    const { pendingJobs, jobsPerMonth } = await held('a')
    assert.deepEqual([pendingJobs, jobsPerMonth], [1, 1])
    await assertClean(world)
  })
})

test('a quota of stored bytes refuses what does not fit, and takes what does', async () => {
  quotas.set('a', quotasOf({ storedBytes: 2_500_000 }))
  const intake = newIntake()
  assert.deepEqual(
    await pushInTurn(intake, [large('a', 'q0'), large('a', 'q0'), large('a', 'q0'), job('a', 'q0')]),
    ['created', 'created', 'storedBytes', 'created'],
  )
  const { storedBytes } = await held('a')
  assert.ok(storedBytes > 2_000_000 && storedBytes <= 2_500_000, String(storedBytes))
})

test('a quota of stored bytes holds to the job also where many alike are pushed together', async () => {
  quotas.set('a', quotasOf({ storedBytes: 10_000 }))
  const intake = newIntake()
  const ends = await Promise.all(Array.from({ length: 200 }, () => outcome(intake.push(job('a', 'q0')))))
  assert.deepEqual(new Set(ends), new Set(['created', 'storedBytes']))
  const { storedBytes } = await held('a')
  // Intake counts the head of a record as a few bytes less or more than it is.
  assert.ok(storedBytes > 9_000 && storedBytes < 11_000, String(storedBytes))
  await assertClean(world)
})

test('a quota of stored bytes over all shards is exceeded by one job a shard at most', async () => {
  quotas.set('a', quotasOf({ storedBytes: 4_000_000 }))
  const intake = newIntake()
  const ends = await pushInTurn(
    intake,
    Array.from({ length: 20 }, (_, i) => large('a', QUEUES[i % 16] ?? '')),
  )
  assert.ok(ends.includes('storedBytes'))
  const { storedBytes } = await held('a')
  assert.ok(storedBytes > 3_000_000 && storedBytes < 4_000_000 + SHARDS * 1_100_000, String(storedBytes))
})

test('a quota of queues refuses new names only', async () => {
  quotas.set('a', quotasOf({ queues: 3 }))
  const intake = newIntake()
  const jobs = ['q0', 'q1', 'q2', 'q3', 'q1', 'q4'].map((queue) => job('a', queue))
  assert.deepEqual(await pushInTurn(intake, jobs), [
    'created',
    'created',
    'created',
    'queues',
    'created',
    'queues',
  ])
  assert.equal((await held('a')).queues, 3)
  assert.equal(await outcome(newIntake().push(job('b', 'q4'))), 'created')
  await createQueueStore(world.engine).remove('a', 'q0')
  assert.equal(await outcome(newIntake().push(job('a', 'q9'))), 'created')
})

test('a quota of jobs a month is counted anew with the next month, and not given back by ends', async () => {
  quotas.set('a', quotasOf({ jobsPerMonth: 2 }))
  const now = (): NewJob => job('a', 'mail', { start: { delaySeconds: 0 } })
  const intake = newIntake()
  assert.deepEqual(await pushInTurn(intake, [now(), now(), now()]), ['created', 'created', 'jobsPerMonth'])
  const source = await openExecutor(world, 'e1', shardOf('a', 'mail'))
  const work = await claimed(source, 10)
  await source.finish(work.map((one) => ended(world, one, { failed: true })))
  assert.equal((await held('a')).jobsPerMonth, 2, 'retries are not counted')
  assert.equal(await outcome(newIntake().push(now())), 'jobsPerMonth')
  world.clock.advance(3 * DAY_MS)
  assert.equal(await outcome(newIntake().push(now())), 'created')
  assert.equal((await held('a')).jobsPerMonth, 1)
})

test('a replay and a run by hand count as jobs of the month, once, and are refused beyond it', async () => {
  quotas.set('a', quotasOf({ jobsPerMonth: 3 }))
  const { engine } = world
  const ofTeam = (team: string) => quotas.get(team) ?? NO_QUOTAS
  const jobs = createJobStore(engine, new QuotaKeeper({ engine, clock: systemClock, quotasOf: ofTeam }))
  const crons = createCronStore(engine)
  const byHand = withRunQuotas(crons, {
    usage: createTeamUsageReader(engine),
    quotasOf: ofTeam,
    metrics: engine.metrics,
    clock: systemClock,
  })
  const once = { start: { delaySeconds: 0 }, request: { retryDelays: [1] } }
  const pushed = await newIntake().push(newJob({ team: 'a', queue: 'mail', ...once }))
  assert.ok(pushed.status === 'created')
  const source = await openExecutor(world, 'e1', shardOf('a', 'mail'))
  for (const _ of ['the first attempt', 'its retry']) {
    const work = await claimed(source, 1)
    await source.finish(work.map((one) => ended(world, one, { failed: true })))
    world.clock.advance(1_500)
    await createShardMaintenance(engine, shardOf('a', 'mail')).promote()
  }
  world.faults.resent.add('remake_page')
  assert.equal((await jobs.replay('a', pushed.jobId, AN_ACTOR)).status, 'made')
  assert.equal((await held('a')).jobsPerMonth, 2)
  const { cronId } = await crons.apply('a', 'nightly', cronSettings())
  assert.equal((await byHand.runNow('a', cronId)).status, 'started')
  assert.equal((await held('a')).jobsPerMonth, 3)
  await assert.rejects(byHand.runNow('a', cronId), { quota: 'jobsPerMonth' })
  assert.equal((await held('a')).jobsPerMonth, 3)
  await assertClean(world)
})

test('bounds are met in the order that the contract names', async () => {
  quotas.set('a', quotasOf({ queues: 1, pendingJobs: 1, storedBytes: 1000, jobsPerMonth: 1 }))
  const intake = newIntake()
  assert.equal(await outcome(intake.push(job('a', 'mail'))), 'created')
  assert.equal(await outcome(newIntake().push(job('a', 'other'))), 'queues')
  assert.equal(await outcome(newIntake().push(large('a', 'mail'))), 'pendingJobs')
  quotas.set('a', quotasOf({ queues: 1, pendingJobs: 2, storedBytes: 1000, jobsPerMonth: 1 }))
  assert.equal(await outcome(newIntake().push(large('a', 'mail'))), 'storedBytes')
  quotas.set('a', quotasOf({ queues: 1, pendingJobs: 2, storedBytes: 5_000_000, jobsPerMonth: 1 }))
  assert.equal(await outcome(newIntake().push(large('a', 'mail'))), 'jobsPerMonth')
})

test('a quota of calls in flight is parted between executors, and they make no more together', async () => {
  const settings = {
    of: (team: string) => ({ ...NO_TEAM_SETTINGS, quotas: quotas.get(team) ?? NO_QUOTAS }),
    boundedTeams: () => [...quotas.keys()],
  }
  quotas.set('a', quotasOf({ callsInFlight: 8 }))
  const intake = newIntake()
  await pushInTurn(
    intake,
    Array.from({ length: 30 }, () => job('a', 'mail', { start: { delaySeconds: 0 } })),
  )
  const shard = shardOf('a', 'mail')
  const executors = await Promise.all(
    ['e1', 'e2'].map(async (name) => ({
      source: await openExecutor(world, name, shard),
      quotas: new RedisCallQuotas({ engine: world.engine, clock: systemClock, settings, quotas: NO_QUOTAS }),
      held: 0,
    })),
  )
  const inFlight = () => executors.reduce((sum, { held: calls }) => sum + calls, 0)
  // Each claims what its own quotas let it, whatever the other has just done.
  await until('all eight run', async () => {
    for (const executor of executors) {
      const room = executor.quotas.headroomOf('a', executor.held) ?? assert.fail('it has a quota')
      if (room > 0) executor.held += (await claimed(executor.source, room)).length
      // The last one may be taken by each.
      assert.ok(inFlight() <= 8 + executors.length - 1, `${inFlight()} calls`)
    }
    return inFlight() >= 8
  })
  assert.deepEqual(executors[0]?.quotas.teamsWithQuota(), ['a'])
  assert.equal(executors[0]?.quotas.headroomOf('b', 0), null)
  assert.equal((await held('a')).callsInFlight, inFlight())
})

async function firstJobOf(team: string): Promise<number> {
  const query = { team, filter: ANY_JOB, queues: null, limit: 1, cursor: null }
  const page = await createJobStore(world.engine).list(query)
  assert.ok(typeof page !== 'string')
  return page.jobs[0]?.jobId ?? assert.fail()
}
