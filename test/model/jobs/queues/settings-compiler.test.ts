import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import { beforeEach, describe } from 'vitest'
import { StorageFullError } from '../../../../src/domain/errors.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import type { MaintenanceWindow } from '../../../../src/domain/windows/maintenance-window.ts'
import type { LeaderEpochs, SettingsCompiler } from '../../../../src/ports/settings.ts'
import { createLeaderEpochs, untilLed } from '../../../../src/redis/control/leader-epochs.ts'
import { shardOfQueue } from '../../../../src/redis/base/engine/engine.ts'
import { bindStoreId, openInstallation } from '../../../../src/redis/base/installation/installation.ts'
import { META_KEY } from '../../../../src/redis/base/layout/keys.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { SecretBox } from '../../../../src/redis/base/secret-box.ts'
import { createSettingsCompiler } from '../../../../src/redis/control/compiler/settings-compiler.ts'
import { cronSettings } from '../../../support/engine/cron-settings.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { assertClean, pushAll, pushOne } from '../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { until } from '../../../support/until.ts'
import { anApiToken } from '../../../support/principals.ts'

const BOX = new SecretBox(createSecretKey(randomBytes(32)))
const SETTINGS = { ...DEFAULT_QUEUE_SETTINGS, maxParallelism: 3 }
const POLICY = { egressAllow: ['10.0.0.0/8'], signingSecrets: ['whsec_c2VjcmV0'] }
const SHA = 'ab'.repeat(32)
const WINDOW: MaintenanceWindow = {
  team: 'default',
  name: 'night',
  action: 'mute',
  resource: null,
  reason: null,
  times: { kind: 'once', startMs: 1, endMs: 2 },
}
const SUPERSEDED = { status: 'superseded' } as const

describe('terms and what is compiled under them', () => {
  let redis: TestRedis
  let world: World
  let epochs: LeaderEpochs

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(async () => {
    world = await openWorld(redis, { shards: 2 })
    epochs = createLeaderEpochs(world.engine, BOX)
    return () => world.close()
  })

  const lead = async () => (await epochs.begin()).compiler
  const dump = async () => {
    const held: Record<string, unknown> = {}
    for (const key of (await redis.client.keys('*')).toSorted()) held[key] = await redis.client.dump(key)
    return held
  }
  /** Commands that Redis says it has executed since, of those that write. */
  const writes = async () => {
    const stats = await redis.client.info('commandstats')
    const written =
      /^cmdstat_(hset|hsetnx|hdel|hincrby|set|sadd|srem|zadd|zrem|del|unlink|incr|rpush):calls=(\d+)/gm
    return [...stats.matchAll(written)].map(([, name, calls]) => `${name} ${calls}`)
  }
  const compileAll = async (compiler: SettingsCompiler) => [
    await compiler.applyQueue('default', 'emails', SETTINGS),
    await compiler.putTeam('default', POLICY),
    await compiler.putToken(anApiToken('first', { sha256Hex: SHA })),
    await compiler.putWindow(WINDOW),
  ]
  const changeAll = (compiler: SettingsCompiler): Array<Promise<unknown>> => [
    compiler.applyQueue('default', 'emails', { ...SETTINGS, maxParallelism: 9 }),
    compiler.applyQueue('default', 'new', SETTINGS),
    compiler.removeQueue('default', 'emails'),
    compiler.putTeam('default', { egressAllow: [], signingSecrets: [] }),
    compiler.removeTeam('default'),
    compiler.putToken(anApiToken('first', { sha256Hex: 'cd'.repeat(32) })),
    compiler.removeToken('default', 'first'),
    compiler.putWindow({ ...WINDOW, action: 'hold' }),
    compiler.removeWindow('default', 'night'),
  ]

  test('a former leader changes nothing', async () => {
    const former = await lead()
    await compileAll(former)
    await lead()
    const before = await dump()
    for (const end of changeAll(former)) assert.deepEqual(await end, SUPERSEDED)
    assert.deepEqual(await dump(), before)
    await assertClean(world)
  })

  test('a leader that died on its way supersedes where it came, and the next one everywhere', async () => {
    const former = await lead()
    await former.applyQueue('default', 'emails', SETTINGS)
    // It reached one shard of two: in each, either both its queues are refused or none is.
    const [shard] = world.engine.shards
    await redis.client.set(shard?.leaderEpoch ?? '', '2')
    const names = Array.from({ length: 20 }, (_, i) => `queue ${i}`)
    const ends = await Promise.all(names.map((name) => former.applyQueue('default', name, SETTINGS)))
    const refused = ends.filter(({ status }) => status === 'superseded').length
    assert.ok(refused > 0 && refused < names.length)
    const next = await lead()
    assert.ok((await epochs.facts()).epoch > 2)
    for (const name of names) {
      assert.deepEqual(
        await former.applyQueue('default', name, { ...SETTINGS, timeoutSeconds: 7 }),
        SUPERSEDED,
      )
      assert.equal((await next.applyQueue('default', name, SETTINGS)).status, 'applied')
    }
    await assertClean(world)
  })

  test.each([
    ['is an older copy', async (key: string) => redis.client.set(key, '1')],
    ['was emptied', async (key: string) => redis.client.del(key)],
  ])('a shard that %s is not written to, and not taken for what it was', async (_what, lose) => {
    await lead()
    const { facts: known, compiler } = await epochs.begin()
    const { leaderEpoch: epoch } = shardOfQueue(world.engine, 'default', 'emails')
    await lose(epoch)
    assert.deepEqual(await compiler.applyQueue('default', 'emails', SETTINGS), SUPERSEDED)
    assert.ok((await epochs.facts()).epoch < known.epoch)
    const { facts } = await epochs.begin(known)
    assert.equal(facts.epoch, known.epoch + 1)
    const counters = await redis.client.mget(world.engine.shards.map(({ jobBlock: seq }) => seq))
    assert.ok(counters.every((seq) => Number(seq) >= known.idFloor.jobBlock))
  })

  test('a leader that died with its epoch half known leaves an older copy for one', async () => {
    const known = { ...(await epochs.begin()).facts, epoch: 40 }
    await redis.client.hset(META_KEY, 'term', '41')
    const [shard] = world.engine.shards
    await redis.client.set(shard?.leaderEpoch ?? '', '41')
    const { facts } = await epochs.begin(known)
    assert.equal(facts.epoch, 42)
    const counters = await redis.client.mget(world.engine.shards.map(({ jobBlock: seq }) => seq))
    assert.ok(counters.every((seq) => Number(seq) >= known.idFloor.jobBlock))
  })

  test('two leaders that begin at once get two epochs, and one of them holds', async () => {
    const begun = await Promise.all([epochs.begin(), epochs.begin()])
    const ends = await Promise.all(
      begun.map(({ compiler }) => compiler.applyQueue('default', 'emails', SETTINGS)),
    )
    // The lower one may have come before the other was known.
    assert.ok(ends.some(({ status }) => status === 'applied'))
    const later = await Promise.all(
      begun.map(({ compiler }) =>
        compiler.applyQueue('default', 'emails', { ...SETTINGS, timeoutSeconds: 5 }),
      ),
    )
    assert.deepEqual(later.map(({ status }) => status).toSorted(), ['applied', 'superseded'])
  })

  test('without a leader everything is taken, whatever epochs there were', async () => {
    await lead()
    const compiler = createSettingsCompiler({ engine: world.engine, box: BOX, epoch: null })
    assert.deepEqual(
      (await compileAll(compiler)).map(({ status }) => status),
      ['applied', 'applied', 'applied', 'applied'],
    )
    const queues = createQueueStore(world.engine)
    await queues.apply('default', 'emails', DEFAULT_QUEUE_SETTINGS)
    assert.equal(await queues.remove('default', 'emails'), 'removed')
  })

  test('what is in force already is not written, not even by the next leader', async () => {
    await compileAll(await lead())
    const next = await lead()
    await compileAll(next)
    await redis.client.config('RESETSTAT')
    for (let round = 0; round < 3; round += 1) await compileAll(next)
    assert.deepEqual(await writes(), [])
    const fresh = createSettingsCompiler({ engine: world.engine, box: BOX, epoch: null })
    await compileAll(fresh)
    assert.deepEqual(await writes(), [])
  })

  test.each([
    ['timeout', { timeoutSeconds: 5 }],
    ['limit', { maxParallelism: 4 }],
    ['no limit', { maxParallelism: null }],
    ['pause', { isActive: false }],
    ['strictness', { strictParallelism: true }],
    ['retry delays', { retryDelays: [1] }],
  ])('a change of one thing is in force: %s', async (_, change) => {
    const compiler = await lead()
    const queues = createQueueStore(world.engine)
    for (const settings of [SETTINGS, { ...SETTINGS, ...change }, SETTINGS]) {
      await compiler.applyQueue('default', 'emails', settings)
      assert.deepEqual((await queues.getByName('default', 'emails'))?.settings, settings)
      await assertClean(world)
    }
  })

  test('a pushed queue keeps its id and its jobs', async () => {
    await pushAll(world.newIntake(), 3)
    const queues = createQueueStore(world.engine)
    const before = await queues.getByName('default', 'emails')
    world.faults.resent.add('set_queue')
    const end = await (await lead()).applyQueue('default', 'emails', SETTINGS)
    assert.deepEqual(end, { status: 'applied', queueId: before?.queueId })
    assert.equal((await queues.getByName('default', 'emails'))?.counts.pending, 3)
    await assertClean(world)
  })

  test('a Redis without room lets a leader begin, and roles start on what is there', async () => {
    const before = (await epochs.begin()).facts
    const bind = () => bindStoreId(world.connection, 'a-store', '/resources')
    await bind()
    await redis.client.config('SET', 'maxmemory', '1')
    try {
      assert.deepEqual((await epochs.begin()).facts, { ...before, epoch: before.epoch + 1 })
      await assert.doesNotReject(openInstallation(world.connection, 2))
      await assert.doesNotReject(bind())
    } finally {
      await redis.client.config('SET', 'maxmemory', '0')
    }
  })

  test('a Redis without room lets a queue be paused, deleted and a token be taken away', async () => {
    const compiler = await lead()
    await compileAll(compiler)
    await redis.client.config('SET', 'maxmemory', '1')
    try {
      await assert.rejects(pushOne(world.newIntake()))
      const paused = await compiler.applyQueue('default', 'emails', { ...SETTINGS, isActive: false })
      assert.equal(paused.status, 'applied')
      assert.deepEqual(await compiler.removeToken('default', 'first'), { status: 'removed' })
      assert.deepEqual(await compiler.removeQueue('default', 'emails'), { status: 'removed' })
      await assert.rejects(compiler.applyQueue('default', 'another', SETTINGS), StorageFullError)
    } finally {
      await redis.client.config('SET', 'maxmemory', '0')
    }
  })

  test('a Redis without room lets a role that has just begun pause queues and crons, and make none', async () => {
    const former = await lead()
    await former.applyQueue('default', 'emails', SETTINGS)
    await former.applyCron('default', 'daily', cronSettings())
    const compiler = await lead()
    await redis.client.config('SET', 'maxmemory', '1')
    try {
      const queue = await compiler.applyQueue('default', 'emails', { ...SETTINGS, isActive: false })
      const cron = await compiler.applyCron('default', 'daily', cronSettings({ isActive: false }))
      assert.deepEqual([queue.status, cron.status], ['applied', 'applied'])
      await assert.rejects(compiler.applyCron('default', 'hourly', cronSettings()), StorageFullError)
      assert.deepEqual(await compiler.removeCron('default', 'daily'), { status: 'removed' })
    } finally {
      await redis.client.config('SET', 'maxmemory', '0')
    }
    await assertClean(world)
  })

  test('ids of wiped data never come again', async () => {
    const jobs = await pushAll(world.newIntake(), 300)
    const { queueId } = (await createQueueStore(world.engine).getByName('default', 'emails')) ?? {}
    const known = (await epochs.begin()).facts
    assert.deepEqual((await epochs.begin(known)).facts, { ...known, epoch: known.epoch + 1 })
    const untouched = await redis.client.mget(world.engine.shards.map(({ jobBlock: seq }) => seq))

    world.close()
    world = await openWorld(redis, { shards: 2 })
    epochs = createLeaderEpochs(world.engine, BOX)
    const { facts, compiler } = await epochs.begin(known)
    assert.notEqual(facts.installation, known.installation)
    assert.ok(facts.epoch > known.epoch)
    const counters = await redis.client.mget(world.engine.shards.map(({ jobBlock: seq }) => seq))
    assert.ok(counters.every((seq, i) => Number(seq) > Number(untouched[i] ?? 0)))
    const again = await pushAll(world.newIntake(), 300)
    assert.equal(new Set([...jobs, ...again]).size, 600)
    assert.ok(Math.min(...again) > Math.max(...jobs))
    const end = await compiler.applyQueue('default', 'emails', SETTINGS)
    assert.ok(end.status === 'applied' && end.queueId > Number(queueId))
    await assertClean(world)
  })

  test('an older copy of the data is known by its epoch and goes on above what was given since', async () => {
    const known = (await epochs.begin()).facts
    const { facts } = await epochs.begin({ ...known, epoch: 40 })
    assert.equal(facts.epoch, 41)
    const counters = await redis.client.mget(world.engine.shards.map(({ jobBlock: seq }) => seq))
    assert.deepEqual(
      counters.map(Number),
      world.engine.shards.map(() => known.idFloor.jobBlock),
    )
  })

  test('the floor lies above all numbers given and stays where it is for long', async () => {
    const { idFloor } = await epochs.facts()
    await pushAll(world.newIntake(), 1_000)
    assert.deepEqual((await epochs.facts()).idFloor, idFloor)
    const [shard] = world.engine.shards
    await redis.client.set(shard?.jobBlock ?? '', idFloor.jobBlock - 1)
    assert.ok((await epochs.facts()).idFloor.jobBlock > idFloor.jobBlock)
  })

  test('a Redis that was emptied is another installation, and made one', async () => {
    const known = (await epochs.begin()).facts
    await redis.client.flushall()
    const found = await epochs.facts()
    assert.notEqual(found.installation, known.installation)
    assert.deepEqual([found.epoch, await epochs.facts()], [0, found])
    assert.equal((await epochs.begin(known)).facts.installation, found.installation)
    await assertClean(world)
  })

  test('who takes jobs in waits until an epoch is known everywhere', async () => {
    const clock = createFakeClock()
    const { signal } = new AbortController()
    let isLed = false
    const waiting = untilLed(world.engine, { clock, signal }).then(() => {
      isLed = true
    })
    await until('it looked', () => clock.timers > 0)
    const [first] = world.engine.shards
    await redis.client.set(first?.leaderEpoch ?? '', '1')
    await clock.advance(500)
    await until('it looked again', () => clock.timers > 0)
    assert.equal(isLed, false)
    await epochs.begin()
    await clock.advance(500)
    await waiting
    await untilLed(world.engine, { clock, signal })
    await redis.client.flushall()
    await untilLed(world.engine, { clock, signal: AbortSignal.abort() })
  })
})
