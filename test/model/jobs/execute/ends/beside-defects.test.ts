import assert from 'node:assert/strict'
import { afterAll, beforeEach, describe } from 'vitest'
import type { CallRecord } from '../../../../../src/domain/jobs/job.ts'
import { Finisher } from '../../../../../src/executor/shard/finisher.ts'
import type { ClaimedJob, ClaimedWork, WorkEnd } from '../../../../../src/ports/jobs.ts'
import type { WindowSource } from '../../../../../src/ports/windows.ts'
import { createAlertStore } from '../../../../../src/redis/ledger/alerts/alert-store.ts'
import type { RedisConnection } from '../../../../../src/redis/base/client/connection.ts'
import type { Engine } from '../../../../../src/redis/base/engine/engine.ts'
import { RedisJobSource } from '../../../../../src/redis/jobs/execute/job-source.ts'
import { createJobStore } from '../../../../../src/redis/jobs/job-store.ts'
import { systemClock } from '../../../../../src/telemetry/system-clock.ts'
import { assertClean, claimed, ended, pushAll } from '../../../../support/engine/model-executor.ts'
import { openConnection, openWorld, type World } from '../../../../support/engine/model-world.ts'
import { AN_ACTOR } from '../../../../support/principals.ts'
import { quietLogger, quietMetrics } from '../../../../support/quiet.ts'
import type { TestRedis } from '../../../../support/servers/redis-server.ts'
import { test } from '../../../../support/servers/shared-redis.ts'
import { until } from '../../../../support/until.ts'

let redis: TestRedis
let connection: RedisConnection
let world: World
let engine: Engine
let told: string[]

test.beforeAll(async ({ emptyRedis }) => {
  redis = emptyRedis
  connection = await openConnection(redis.url)
})
afterAll(() => connection.disconnect())
beforeEach(async () => {
  world = await openWorld(redis, { connection, shards: 1 })
  world.newQueues = { ...world.newQueues, alertsEnabled: true, retryDelays: [] }
  told = []
  engine = {
    ...world.engine,
    logger: {
      ...quietLogger,
      error: (line, fields) => void told.push(`${line} ${String(fields?.['team'])}`),
    },
    metrics: { ...quietMetrics, defectConfined: (part) => void told.push(part) },
  }
})

/** Pushes this many jobs of each team, and claims them all. */
async function claimBoth(source: RedisJobSource, count: number): Promise<readonly ClaimedJob[]> {
  assert.equal((await source.beat(true)).status, 'ok')
  const intake = world.newIntake()
  for (const team of ['bad', 'good']) await pushAll(intake, count, { team, queue: 'q' })
  return (await claimed(source, 64)) as readonly ClaimedJob[]
}

async function endAll(source: RedisJobSource, ends: readonly WorkEnd[]): Promise<string[]> {
  const settled: string[] = []
  const finisher = new Finisher<ClaimedWork>({
    source,
    clock: systemClock,
    noteDefect: (part, error, { team }) => told.push(`${part} of ${team}: ${String(error)}`),
    iterations: { succeeded: () => undefined, failed: () => assert.fail('an end is held back') },
    onSettled: (endings, codes) =>
      endings.forEach(({ end }, i) => settled.push(`${end.work.team} ${end.type} ${codes[i]}`)),
  })
  for (const end of ends) finisher.add(end, end.work)
  await until('all ends are written', () => finisher.isIdle())
  return settled
}

/** The alerts of a team: what was raised, why, and the window that muted it. */
async function alertsOf(team: string): Promise<string[]> {
  const filter = {
    type: null,
    reason: null,
    resourceKind: null,
    resourceId: null,
    isRead: null,
    afterMs: null,
    beforeMs: null,
  }
  const page = await createAlertStore(engine).list({ team, filter, limit: 100, cursor: null })
  assert.ok(page !== 'bad_cursor')
  return page.alerts.map(({ type, reason, suppressedBy }) => `${type} ${reason} ${suppressedBy}`).toSorted()
}

describe('what throws while ends are prepared', () => {
  test('a window: the end is written and its alerts are raised, not muted', async () => {
    const windows: WindowSource = {
      mutes: (team) => {
        if (team === 'bad') throw new RangeError('CST is no zone')
        return { all: 'night', queues: new Map(), crons: new Map() }
      },
      holds: () => [],
    }
    const source = new RedisJobSource(engine, 0, 'e1', { windows })
    const works = await claimBoth(source, 2)
    const settled = await endAll(
      source,
      works.map((work) => ended(world, work, { failed: true })),
    )
    assert.deepEqual(settled.toSorted(), [
      'bad ended done',
      'bad ended done',
      'good ended done',
      'good ended done',
    ])
    assert.deepEqual(await alertsOf('bad'), [
      'failure http_server_error null',
      'warning http_server_error null',
    ])
    assert.deepEqual(await alertsOf('good'), [
      'failure http_server_error night',
      'warning http_server_error night',
    ])
    assert.deepEqual(told, [
      'Windows could not be judged because of a defect; alerts are not muted bad',
      'window',
    ])
    await assertClean(world)
  })

  test('an alert rule: the end is written, and what failed for good is told', async () => {
    const source = new RedisJobSource(engine, 0, 'e1')
    const works = await claimBoth(source, 1)
    const settled = await endAll(
      source,
      works.map((work) => {
        const end = ended(world, work, { failed: true })
        return work.team === 'good' || end.type !== 'ended' ? end : { ...end, work: withoutRule(work) }
      }),
    )
    assert.deepEqual(settled.toSorted(), ['bad ended done', 'good ended done'])
    assert.deepEqual(await alertsOf('bad'), ['failure http_server_error null'])
    assert.equal((await alertsOf('good')).length, 2)
    assert.ok(told.includes('alert'))
    await assertClean(world)
  })

  test('a job: it is set aside, counted and told to its team; 62 others end in the same batch or its halves', async () => {
    const source = new RedisJobSource(engine, 0, 'e1')
    const works = await claimBoth(source, 32)
    const bad = works.find(({ team }) => team === 'bad') as ClaimedJob
    let finishes = 0
    world.faults.after = ({ name }) => void (finishes += name === 'finish' ? 1 : 0)
    const settled = await endAll(
      source,
      works.map((work) => {
        const end = ended(world, work)
        // A record that cannot be written as JSON.
        return work !== bad || end.type !== 'ended'
          ? end
          : { ...end, call: { size: 1n } as unknown as CallRecord }
      }),
    )
    assert.equal(settled.filter((line) => line === 'good ended done').length, 32)
    assert.equal(settled.filter((line) => line === 'bad ended done').length, 31)
    assert.equal(settled.filter((line) => line === 'bad quarantined done').length, 1)
    // Six halves without it, and its own.
    assert.equal(finishes, 7)
    const store = createJobStore(engine)
    const chain = await store.get('bad', bad.jobId)
    assert.equal(chain?.attempts.at(-1)?.failureReason, 'damaged')
    assert.deepEqual(await alertsOf('bad'), ['failure damaged null'])
    assert.deepEqual(await alertsOf('good'), [])
    assert.deepEqual(
      told.filter((line) => line.startsWith('end of')),
      ['end of bad: TypeError: Do not know how to serialize a BigInt'],
    )
    await assertClean(world)
    assert.equal((await store.remove('bad', bad.jobId, AN_ACTOR, true)).status, 'removed')
    await assertClean(world)
  })
})

/** Settings that a rule stumbles over. */
function withoutRule(work: ClaimedJob): ClaimedJob {
  const settings = {
    ...work.settings,
    get alertsEnabled(): boolean {
      throw new Error('a rule of a version to come')
    },
  }
  return { ...work, settings }
}
