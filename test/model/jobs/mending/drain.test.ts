import assert from 'node:assert/strict'
import { afterAll, beforeEach } from 'vitest'
import { cronScheduleOf } from '../../../../src/domain/crons/cron.ts'
import { decideCron } from '../../../../src/executor/crons/cron-decision.ts'
import { createCronSource } from '../../../../src/redis/crons/tick/cron-source.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { createCronStore } from '../../../../src/redis/crons/cron-store.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { cronSettings } from '../../../support/engine/cron-settings.ts'
import { newJob } from '../../../support/engine/engine.ts'
import { assertClean, claimed, ended, openExecutor, pushOne } from '../../../support/engine/model-executor.ts'
import { openConnection, openWorld, type World } from '../../../support/engine/model-world.ts'
import { tickAll } from '../../../support/engine/tick-all.ts'
import { AN_ACTOR } from '../../../support/principals.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { makeFailed } from './mending-scenes.ts'

let redis: TestRedis
let connection: RedisConnection
let world: World

test.beforeAll(async ({ emptyRedis }) => {
  redis = emptyRedis
  connection = await openConnection(redis.url)
})
afterAll(() => connection.disconnect())
beforeEach(async () => {
  world = await openWorld(redis, { connection, shards: 1 })
})

const set = (isDraining: boolean) =>
  createQueueStore(world.engine).apply('default', 'emails', { ...DEFAULT_QUEUE_SETTINGS, isDraining })

test('a queue that drains takes no new job, runs off what it has, and takes jobs again once it is resumed', async () => {
  const intake = world.newIntake()
  const store = createJobStore(world.engine)
  const [failed] = await makeFailed({ world, intake, accepted: [] }, 1)
  const key = { key: 'k', fingerprint: 'f' }
  const keyed = await intake.push(newJob({ idempotency: key, start: { delaySeconds: 30 } }))
  const waiting = await pushOne(intake)
  await set(true)
  assert.equal(
    (await createQueueStore(world.engine).getByName('default', 'emails'))?.settings.isDraining,
    true,
  )

  const refused = { status: 'queue_draining', queue: 'emails' }
  assert.deepEqual(await intake.push(newJob()), refused)
  assert.deepEqual(await intake.push(newJob({ idempotency: { key: 'new', fingerprint: 'f' } })), refused)
  assert.deepEqual(await store.retry('default', failed as number, AN_ACTOR), refused)
  // A push that was taken before the drain is answered as it was then.
  assert.ok(keyed.status === 'created')
  const again = await intake.push(newJob({ idempotency: key, start: { delaySeconds: 30 } }))
  assert.deepEqual(again, { ...keyed, status: 'repeated' })
  assert.equal((await intake.push(newJob({ queue: 'others' }))).status, 'created')

  assert.equal((await store.fire('default', keyed.jobId, AN_ACTOR)).status, 'fired')
  const source = await openExecutor(world, 'e')
  const works = (await claimed(source, 10)).filter(({ jobId }) => [waiting, keyed.jobId].includes(jobId))
  assert.equal(works.length, 2)
  await source.finish(works.map((work) => ended(world, work, { failed: work.jobId === waiting })))
  assert.equal((await store.get('default', waiting))?.open?.attempt, 2, 'retries go on')
  await assertClean(world)

  await set(false)
  assert.equal((await intake.push(newJob())).status, 'created')
  assert.equal((await store.retry('default', failed as number, AN_ACTOR)).status, 'made')
  await assertClean(world)
})

test('ticks through a queue that drains are skipped and say why', async () => {
  await set(true)
  const crons = createCronStore(world.engine)
  const { cronId } = await crons.apply('default', 'nightly', cronSettings({ queue: 'emails' }))
  assert.deepEqual(await crons.runNow('default', cronId), { status: 'queue_draining', queue: 'emails' })
  world.clock.advance(120_000)
  const source = createCronSource(world.engine, 0)
  const schedule = cronScheduleOf(cronSettings())
  assert.ok(!('problem' in schedule))
  const due = await source.due(0)
  await tickAll(
    source,
    due.map((cron) => decideCron(schedule, cron, source.redisNowMs())),
  )
  const page = await crons.runs({ team: 'default', cronId, limit: 10, cursor: null })
  assert.ok(page !== null && page !== 'bad_cursor')
  const [run] = page.runs
  assert.deepEqual([run?.result, run?.cause, run?.jobId], ['skipped', 'queue_draining', null])
  assert.equal((await createQueueStore(world.engine).getByName('default', 'emails'))?.counts.pending, 0)
  await assertClean(world)
  await set(false)
  assert.equal((await crons.runNow('default', cronId)).status, 'started')
})
