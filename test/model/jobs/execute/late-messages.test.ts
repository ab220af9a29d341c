import assert from 'node:assert/strict'
import { expect } from 'vitest'
import { assertClean, claimed, openExecutor, pushOne } from '../../../support/engine/model-executor.ts'
import { openWorld } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import type { SentStep } from '../../../support/lua/wrapped-scripts.ts'

let redis: TestRedis
test.beforeAll(({ emptyRedis }) => {
  redis = emptyRedis
})

test('jobs of a claim that Redis got again long after its answer are given back', async () => {
  const world = await openWorld(redis, { shards: 1 })
  const intake = world.newIntake()
  const source = await openExecutor(world, 'e1')
  const sent: SentStep[] = []
  world.faults.after = (step) => {
    if (step.name === 'claim') sent.push(step)
  }
  await pushOne(intake)
  const known = [...(await claimed(source, 1))]
  await pushOne(intake)
  known.push(...(await claimed(source, 1)))
  const lateId = await pushOne(intake)
  const [first] = sent
  assert.ok(first)
  await world.engine.runner.run({ name: 'claim', keys: first.keys, args: first.args })
  expect(await redis.client.hkeys(world.engine.shards[0]?.heldJobs('e1') ?? '')).toContain(String(lateId))
  expect(await source.releaseUnknown(new Set(known.map((work) => work.jobId)))).toBe(1)
  expect((await claimed(source, 1)).map((work) => work.jobId)).toEqual([lateId])
  await assertClean(world)
  world.close()
})
