import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'vitest'
import type { WindowResource } from '../../../../src/domain/windows/maintenance-window.ts'
import type { JobSource } from '../../../../src/ports/jobs.ts'
import { createCronStore } from '../../../../src/redis/crons/cron-store.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { RedisJobSource } from '../../../../src/redis/jobs/execute/job-source.ts'
import { callbackQueueOf } from '../../../../src/redis/base/layout/keys.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import { cronSettings } from '../../../support/engine/cron-settings.ts'
import { createFakeWindows, type FakeWindows } from '../../../support/engine/fake-windows.ts'
import { grantOf } from '../../../support/engine/claim-grant.ts'
import { assertClean, ended, openExecutor, pushAll, pushOne } from '../../../support/engine/model-executor.ts'

import {
  BAND,
  commandsOf,
  finish,
  intake,
  keys,
  makeManyQueues,
  push,
  redis,
  teamsOf,
  useTeamClaims,
  world,
} from './team-claims-scene.ts'
import { AN_ACTOR } from '../../../support/principals.ts'

const queue = (name: string): WindowResource => ({ kind: 'queue', name })

describe('a claim while maintenance windows hold', () => {
  useTeamClaims()
  let windows: FakeWindows
  let source: JobSource

  beforeEach(async () => {
    windows = createFakeWindows()
    source = new RedisJobSource(world.engine, 0, 'e1', { windows })
    await source.beat(true)
  })

  /** Claims as a claim loop would, until nothing comes three times. */
  async function claimAll(slots = 64, from = source) {
    const works = []
    for (let idle = 0; idle < 3;) {
      const answer = await from.claim(grantOf(slots))
      assert.notEqual(answer.status, 'lease_lost')
      const found = answer.status === 'claimed' ? answer.work : []
      idle = found.length === 0 ? idle + 1 : 0
      works.push(...found)
    }
    return works
  }
  const namesOf = (works: Awaited<ReturnType<typeof claimAll>>) =>
    works.map((work) => (work.kind === 'job' ? `${work.team}/${work.queueName}` : work.kind)).toSorted()

  test('takes no job of a held queue, and all others of its team', async () => {
    await push('a', 3, 'held')
    await push('a', 2, 'free')
    await push('b', 1, 'held')
    windows.hold('a', queue('held'))
    assert.deepEqual(namesOf(await claimAll()), ['a/free', 'a/free', 'b/held'])
    assert.equal((await source.claim(grantOf(64))).status, 'held')
    windows.clear()
    assert.deepEqual(namesOf(await claimAll()), ['a/held', 'a/held', 'a/held'])
    await assertClean(world)
  })

  test('of queues that were just woken hides no other queue', async () => {
    await push('a', 1, 'held')
    windows.hold('a', null)
    assert.deepEqual(await claimAll(), [])
    await push('b', 1)
    world.engine.wokenQueues.note(0, ['1', '1'], world.engine.runner.redisNowMs(0))
    const answer = await source.claim(grantOf(64))
    assert.deepEqual(answer.status === 'claimed' && teamsOf(answer.work), { b: 1 })
  })

  test('leaves a team of which all is held in the order of teams', async () => {
    await push('a', 3, 'held')
    await push('b', 1, 'held')
    windows.hold('a', queue('held'))
    assert.deepEqual(namesOf(await claimAll()), ['b/held'])
    await assertClean(world)
    await push('b', 2)
    assert.deepEqual(teamsOf(await claimAll()), { b: 2 })
    await assertClean(world)
    windows.clear()
    assert.deepEqual(teamsOf(await claimAll()), { a: 3 })
  })

  test('takes no job of a held team, and all of others', async () => {
    for (let i = 0; i < 100; i += 1) await push('a', 1, `queue ${i}`)
    await push('b', 70)
    windows.hold('a', null)
    assert.deepEqual(teamsOf(await claimAll()), { b: 70 })
    assert.equal((await source.claim(grantOf(64))).status, 'held')
    windows.clear()
    assert.deepEqual(teamsOf(await claimAll()), { a: 100 })
    await assertClean(world)
  })

  test('holds from the start of the window to its end, and as long as one of several lasts', async () => {
    const startMs = world.clock.wallMs + 1_000
    windows.hold('a', queue('one'), startMs, startMs + 10_000)
    windows.hold('a', null, startMs + 5_000, startMs + 20_000)
    await push('a', 30)
    const take = async () => namesOf(await claimAll(1)).length
    // The estimate of Redis time comes from the last answer.
    const at = async (ms: number) => {
      world.clock.advance(startMs + ms - world.clock.wallMs)
      await source.beat(false)
    }
    await at(-1)
    const early = await source.claim(grantOf(1))
    assert.equal(early.status === 'claimed' && early.work.length, 1)
    for (const ms of [0, 9_999, 10_000, 19_999]) {
      await at(ms)
      assert.equal(await take(), 0, `${ms} ms after the start`)
    }
    await at(20_000)
    assert.equal(await take(), 29)
  })

  test('a window that opens holds the queues that the last claim named', async () => {
    await push('a', 20)
    const first = await source.claim(grantOf(4))
    assert.equal(first.status === 'claimed' && first.work.length, 4)
    windows.hold('a', queue('one'))
    assert.equal((await claimAll()).length, 0)
    windows.clear()
    assert.equal((await claimAll()).length, 16)
  })

  test('holds a queue that is made, or made again, while the window is open', async () => {
    windows.hold('a', queue('new'))
    await push('a', 1, 'new')
    assert.equal((await claimAll()).length, 0)
    const queues = createQueueStore(world.engine)
    assert.equal(await queues.remove('a', 'new'), 'removed')
    await push('a', 1, 'new')
    await push('a', 1, 'other')
    assert.deepEqual(namesOf(await claimAll()), ['a/other'])
  })

  test('nothing that makes jobs ready starts a held one', async () => {
    const queues = createQueueStore(world.engine)
    await queues.apply('a', 'one', { ...DEFAULT_QUEUE_SETTINGS, retriesEnabled: false, isActive: false })
    const dead = await pushOne(intake, { team: 'a', queue: 'one' })
    await queues.apply('a', 'one', { ...DEFAULT_QUEUE_SETTINGS, retriesEnabled: false })
    const [work] = await claimAll()
    assert.ok(work !== undefined)
    await source.finish([ended(world, work, { failed: true })])
    windows.hold('a', queue('one'))
    await pushAll(intake, 2, { team: 'a', queue: 'one', start: { delaySeconds: 5 } })
    await createJobStore(world.engine).replay('a', dead, AN_ACTOR)
    await queues.apply('a', 'one', { ...DEFAULT_QUEUE_SETTINGS, isActive: false })
    await queues.apply('a', 'one', { ...DEFAULT_QUEUE_SETTINGS, isActive: true, maxParallelism: 5 })
    world.clock.advance(6_000)
    await source.beat(true)
    await createShardMaintenance(world.engine, 0).promote()
    assert.equal((await claimAll()).length, 0)
    windows.clear()
    assert.ok((await claimAll()).length >= 2)
    await assertClean(world)
  })

  test('callbacks of a held team still go out', async () => {
    await pushAll(intake, 2, { request: { callbackUrl: 'http://target.test/' }, team: 'a' })
    const works = await claimAll()
    for (let i = 0; i < 80; i += 1) await push('a', 1, `queue ${i}`)
    windows.hold('a', null)
    assert.equal((await claimAll()).length, 0)
    await finish(source, works)
    assert.equal(await redis.client.llen(keys.queue(callbackQueueOf('1')).ready), 2)
    assert.deepEqual(namesOf(await claimAll()), ['callback', 'callback'])
    await assertClean(world)
  })

  test('a held cron’s hidden queue waits, also for runs by hand; one of a removed cron only for its team', async () => {
    const crons = createCronStore(world.engine)
    const { cronId } = await crons.apply('a', 'nightly', cronSettings({ queue: null }))
    const other = await crons.apply('a', 'hourly', cronSettings({ queue: null }))
    windows.hold('a', { kind: 'cron', name: 'nightly' })
    for (const id of [cronId, other.cronId]) assert.equal((await crons.runNow('a', id)).status, 'started')
    const works = await claimAll()
    assert.deepEqual(
      works.map((work) => (work.kind === 'job' ? work.request.cron?.cronId : null)),
      [other.cronId],
    )
    windows.clear()
    assert.equal((await claimAll()).length, 1)
  })

  test('a held suspect waits, and hides none behind it', async () => {
    await push('a', 600, 'held')
    await push('a', 1, 'free')
    const lost = await openExecutor(world, 'lost')
    assert.equal((await claimAll(64, lost)).length, 601)
    const maintenance = createShardMaintenance(world.engine, 0)
    for (let i = 0; i < 2; i += 1) {
      world.clock.advance(8_600)
      await maintenance.promote()
    }
    await source.beat(true)
    for (let i = 0; i < 20; i += 1) await maintenance.reap()
    assert.equal(await redis.client.zcard(keys.suspects), 601)
    // The one that is not held is the last in line.
    const score = Number((await redis.client.zrange(keys.suspects, '600', '600', 'WITHSCORES'))[1])
    const free = (await redis.client.zrange(keys.suspects, '0', '-1')).find((each) => each.startsWith('2|'))
    await redis.client.zadd(keys.suspects, score + 1, String(free))
    windows.hold('a', queue('held'))
    const found = []
    for (let i = 0; i < 4; i += 1) {
      world.clock.advance(1_000)
      await source.beat(true)
      found.push(...(await claimAll()))
    }
    assert.deepEqual(namesOf(found), ['a/free'])
    windows.clear()
    world.clock.advance(1_000)
    await source.beat(true)
    assert.ok((await claimAll(1)).length > 0)
  })

  test('finds the job behind more held queues than one claim names', async () => {
    await makeManyQueues(300)
    const ids = await redis.client.zrange(keys.ring, '0', '199')
    for (const id of ids) {
      const name = await redis.client.hget(keys.queueKey('meta', id), 'n')
      windows.hold('many', queue(String(name).slice('many/'.length)))
    }
    const found = await claimAll(64)
    assert.equal(found.length, 301 - 200)
    assert.equal((await source.claim(grantOf(64))).status, 'held')
    windows.clear()
    assert.equal((await claimAll(64)).length, 200)
  })

  test('asks no queue twice at once', async () => {
    for (let i = 0; i < 150; i += 1) await push('a', 2, `queue ${i}`)
    windows.hold('a', queue('queue 0'))
    for (let i = 0; i < 40; i += 1) {
      await source.claim(grantOf(1))
      const asked = (world.sent.get('claim')?.keys ?? []).filter((key) => /:q:\d+$/.test(key))
      assert.equal(new Set(asked).size, asked.length)
    }
  })

  test('a held team with 100,000 queues costs another team no claim and hardly a command', async () => {
    await makeManyQueues(0)
    await push('busy', 200)
    await source.claim(grantOf(8))
    const alone = await commandsOf(() => source.claim(grantOf(8)))
    await makeManyQueues(100_000)
    windows.hold('many', null)
    // Learns what is held.
    for (let i = 0; i < 3; i += 1) await source.claim(grantOf(1))
    for (let i = 0; i < 10; i += 1) {
      let taken = 0
      const beside = await commandsOf(async () => {
        const answer = await source.claim(grantOf(8))
        taken = answer.status === 'claimed' ? answer.work.length : 0
      })
      assert.equal(taken, 8)
      assert.ok(beside <= alone + 6, `${beside} commands, ${alone} without the held team`)
    }
  })

  test('300 held teams keep no other team from its full batch', async () => {
    for (let i = 0; i < 300; i += 1) {
      await push(`held-${i}`, 1)
      windows.hold(`held-${i}`, null)
    }
    await push('busy', 640)
    // Learns what is held.
    for (let i = 0; i < 10; i += 1) await source.claim(grantOf(1))
    const before = await redis.client.llen(keys.queue('301').ready)
    for (let i = 0; i < 5; i += 1) await source.claim(grantOf(64))
    assert.equal(await redis.client.llen(keys.queue('301').ready), before - 5 * 64)
    windows.clear()
    const works = await claimAll()
    assert.equal(new Set(works.map(({ team }) => team)).size, 301)
    await assertClean(world)
  })

  test('a team that joins starts level with those that run, not with a held one', async () => {
    await push('held', 1)
    await push('busy', 300)
    windows.hold('held', null)
    await source.claim(grantOf(1))
    await redis.client.zadd(keys.teams, 1_000_000, '2')
    for (let i = 0; i < 3; i += 1) await source.claim(grantOf(1))
    await push('new', 1)
    await source.claim(grantOf(1))
    const score = Number(await redis.client.zscore(keys.teams, '3'))
    assert.ok(score >= 1_000_000, `it joined at ${score}`)
  })

  test('a shard in which all is held is looked at with few commands', async () => {
    for (let i = 0; i < 50; i += 1) await push('a', 100, `queue ${i}`)
    windows.hold('a', null)
    for (let i = 0; i < 3; i += 1) await source.claim(grantOf(64))
    const commands = await commandsOf(() => source.claim(grantOf(64)))
    assert.ok(commands <= 4, `${commands} commands`)
    await makeManyQueues(5_000)
    windows.hold('many', null)
    for (let i = 0; i < 3; i += 1) await source.claim(grantOf(64))
    const many = await commandsOf(() => source.claim(grantOf(64)))
    assert.ok(many <= 24, `${many} commands`)
    assert.equal(BAND, 2 ** 37)
  })
})
