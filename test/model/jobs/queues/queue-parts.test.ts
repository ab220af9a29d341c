import assert from 'node:assert/strict'
import { beforeEach, describe } from 'vitest'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { createQueueStore } from '../../../../src/redis/jobs/queues/queue-store.ts'
import { readParts, readySplitOf } from '../../../../src/redis/jobs/queues/queue-parts.ts'
import { claimed, openExecutor, pushAll } from '../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import { AN_ACTOR } from '../../../support/principals.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

describe('the reader of queues', () => {
  let redis: TestRedis
  let world: World

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(async () => {
    world = await openWorld(redis, { shards: 1 })
    return () => world.close()
  })

  const keys = () => shardKeys(world.engine, 0)

  test('takes no cancelled job that still stands in the ready list for a delayed one', async () => {
    const ids = await pushAll(world.newIntake(), 4)
    await pushAll(world.newIntake(), 2, { start: { delaySeconds: 30 } })
    await createJobStore(world.engine).remove('default', ids[1] as number, AN_ACTOR, false)
    assert.equal(await redis.client.llen(keys().queueKey('ready', '1')), 4)
    const [parts] = await readParts(world.engine, keys(), ['1'])
    assert.deepEqual(parts?.counts, { pending: 3, delayed: 2, processing: 0, dead: 0 })
  })

  test('counts the dead letters of a span after its beginning and up to its end', async () => {
    await pushAll(world.newIntake(), 1)
    const now = world.clock.wallMs
    const purgedAt = [now - 1, now, now + 1, now + 1_000, now + 1_001]
    await redis.client.zadd(
      keys().queueKey('deadLetters', '1'),
      ...purgedAt.flatMap((at) => [at, String(at)]),
    )
    const spans = [
      { afterMs: 0, untilMs: 1_000 },
      { afterMs: null, untilMs: 0 },
    ]
    const [parts] = await readParts(world.engine, keys(), ['1'], { spans })
    assert.deepEqual([parts?.counts.dead, parts?.deadInSpans], [5, [2, 2]])
  })

  test('says how many jobs the flow of a queue allows now, as a claim counts them', async () => {
    const rateLimit = { limit: 600, periodSeconds: 1 }
    await createQueueStore(world.engine).apply('default', 'emails', { ...DEFAULT_QUEUE_SETTINGS, rateLimit })
    const split = async () => {
      const [parts] = await readParts(world.engine, keys(), ['1'])
      return parts === undefined ? null : readySplitOf(parts, false)
    }
    await pushAll(world.newIntake(), 2)
    assert.deepEqual([(await split())?.startable, (await split())?.stopped], [2, null])
    await pushAll(world.newIntake(), 60)
    const before = await split()
    const works = await claimed(await openExecutor(world, 'e1'), 50)
    assert.equal(before?.startable, works.length)
    assert.deepEqual(before.stopped, { reason: 'throttled', jobs: 62 - works.length })
    // They are old by intention.
    assert.equal(before.oldestStartableMs, null)
  })

  test('answers settings only when they are asked for', async () => {
    await pushAll(world.newIntake(), 1)
    const asked = async (wantsSettings: boolean) =>
      (await readParts(world.engine, keys(), ['1', '2'], { wantsSettings })).map(
        ({ settingsHash, settingsJson }) => [settingsHash !== '', settingsJson !== null],
      )
    assert.deepEqual(await asked(false), [
      [true, false],
      [false, false],
    ])
    assert.deepEqual(await asked(true), [
      [true, true],
      [false, false],
    ])
  })
})
