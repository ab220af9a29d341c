import { afterAll, beforeEach, describe, expect } from 'vitest'
import {
  inspectLive,
  type InspectionProgress,
  type LiveInspection,
} from '../../../../src/redis/upkeep/inspection/live-inspection.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { usageField, type ShardKeys } from '../../../../src/redis/base/layout/keys.ts'
import { systemClock } from '../../../../src/telemetry/system-clock.ts'
import { pushAll } from '../../../support/engine/model-executor.ts'
import { openConnection, openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

let redis: TestRedis
let connection: RedisConnection
let world: World
let keys: ShardKeys

test.beforeAll(async ({ emptyRedis }) => {
  redis = emptyRedis
  connection = await openConnection(redis.url)
})
afterAll(() => connection.disconnect())
beforeEach(async () => {
  world = await openWorld(redis, { connection, shards: 1 })
  keys = shardKeys(world.engine, 0)
  await pushAll(world.newIntake(), 3)
})

/** On the connection of the inspection, so that its next read comes after it. */
function change(...words: string[]): void {
  void connection.eval('return redis.call(unpack(ARGV))', 0, ...words)
}

/** Looks without waiting between the looks; `during` is called for each queue of each look. */
function look(during: (progress: InspectionProgress) => void = () => undefined): Promise<LiveInspection> {
  const clock = { ...systemClock, after: (_: number, run: () => void) => systemClock.after(0, run) }
  return inspectLive(world.engine, { clock, onProgress: during })
}

describe('an inspection of a live installation', () => {
  test('finds nothing where nothing is wrong', async () => {
    expect(await look()).toEqual({ findings: [], queues: 1, uncounted: [] })
  })

  test('reports what is out of place at every look', async () => {
    await redis.client.sadd(`${keys.jobBlock}-of-another-program`, 'x')
    await redis.client.del(keys.ring)
    const { findings } = await look()
    expect(findings).toEqual([
      { key: `${keys.jobBlock}-of-another-program`, message: 'is used by no part of the program' },
      { key: keys.ring, message: expect.stringMatching(/^lacks queue \d+, which may run$/) as string },
    ])
  })

  test('reports a queue that stands in the band of another team', async () => {
    const [id = ''] = await redis.client.zrange(keys.ring, '0', '0')
    await redis.client.zincrby(keys.ring, 2 ** 37, id)
    const { findings } = await look()
    expect(findings).toEqual([
      { key: keys.ring, message: expect.stringMatching(/outside the band of team number 1$/) as string },
    ])
  })

  test('forgets what is in its place at a later look', async () => {
    await redis.client.sadd(keys.pushedBuckets, '77')
    let looks = 0
    const { findings } = await look(({ pass: number }) => {
      looks = number
      if (number === 2) change('SREM', keys.pushedBuckets, '77')
    })
    expect({ findings, looks }).toEqual({ findings: [], looks: 3 })
  })

  test('does not report what only a later look sees', async () => {
    await redis.client.sadd(keys.pushedBuckets, '77')
    const { findings } = await look(({ pass: number }) => {
      if (number > 1) return
      change('SREM', keys.pushedBuckets, '77')
      change('SADD', keys.pushedBuckets, '78')
    })
    expect(findings).toEqual([])
  })

  test.each([
    ['does not report chains that each look sees twice while others end', '9', 0],
    ['reports a chain that the history holds twice', '7', 1],
  ])('%s', async (_, later, reported) => {
    const { history } = keys.queue('1')
    await redis.client.rpush(history, '7', '7')
    const { findings } = await look(({ pass: number }) => {
      if (number > 1) return
      change('DEL', history)
      change('RPUSH', history, later, later)
    })
    expect(findings.filter(({ message }) => message.endsWith('twice'))).toHaveLength(reported)
  })

  test('reports a wrong counter of a shard at rest', async () => {
    await redis.client.hincrby(keys.teamUsage, usageField('default', 'jobs'), 1)
    const { findings, uncounted } = await look()
    expect({ findings, uncounted }).toMatchObject({
      findings: [{ key: keys.teamUsage, message: expect.stringContaining('it is 3') as string }],
      uncounted: [],
    })
  })

  test('compares no counter while jobs come and go, and says so', async () => {
    await redis.client.hincrby(keys.teamUsage, usageField('default', 'jobs'), 1)
    const result = await look(() => change('INCR', keys.fencingToken))
    expect(result).toMatchObject({ findings: [], uncounted: [0] })
  })

  test('compares them at the first look at which nothing changes', async () => {
    await redis.client.hincrby(keys.teamUsage, usageField('default', 'jobs'), 1)
    const { findings, uncounted } = await look(({ pass: number }) => {
      if (number < 3) change('INCR', keys.fencingToken)
    })
    expect(uncounted).toEqual([])
    expect(findings).toHaveLength(1)
  })

  test('names the key of a part without its queue', async () => {
    const stray = keys.queue('99').records
    await redis.client.hset(stray, '1', 'x')
    expect((await look()).findings).toContainEqual({ key: stray, message: 'belongs to no queue' })
  })
})
