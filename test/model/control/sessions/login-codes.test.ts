import assert from 'node:assert/strict'
import { beforeEach } from 'vitest'
import { LOGIN_CODE_MS } from '../../../../src/domain/access/session.ts'
import type { LoginCodes } from '../../../../src/ports/access/login-codes.ts'
import { createLoginCodes } from '../../../../src/redis/control/sessions/login-codes.ts'
import { assertClean } from '../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

const TOKEN = 'canary-token-0123456789'
const GRANT = { token: TOKEN, team: 'shop' }

let redis: TestRedis
let world: World
let codes: LoginCodes

test.beforeAll(({ emptyRedis }) => {
  redis = emptyRedis
})
beforeEach(async () => {
  world = await openWorld(redis, { shards: 2 })
  codes = createLoginCodes(world.engine)
  return () => world.close()
})

test('a code is taken once, by whoever is first, at any process', async () => {
  const { code } = await codes.create(GRANT)
  await assertClean(world)
  const other = createLoginCodes(world.engine)
  // To look at it does not use it up.
  assert.deepEqual([await codes.find(code), await other.find(code)], [GRANT, GRANT])
  const taken = await Promise.all([codes.take(code), other.take(code)])
  assert.equal(taken.filter((isFirst) => isFirst).length, 1)
  assert.deepEqual([await codes.find(code), await codes.take(code)], [null, false])
})

test('whoever takes it has it, although the step is sent again because its answer was lost', async () => {
  const { code } = await codes.create(GRANT)
  world.faults.resent.add('take_code')
  assert.deepEqual([await codes.take(code), await codes.take(code)], [true, false])
})

test('it ends after ten minutes, and what is no code is none', async () => {
  const { code } = await codes.create(GRANT)
  const [key = ''] = await redis.client.keys('*:code')
  const leftMs = await redis.client.pttl(key)
  assert.ok(leftMs > LOGIN_CODE_MS - 10_000 && leftMs <= LOGIN_CODE_MS)
  for (const wrong of ['', 'x', `${code}x`, '*'.repeat(43), code.replace(/.$/, '-')]) {
    assert.deepEqual([await codes.find(wrong), await codes.take(wrong)], [null, false], wrong)
  }
  await redis.client.pexpire(key, 0)
  assert.deepEqual([await codes.find(code), await codes.take(code)], [null, false])
})

test('neither a code nor its token can be learnt from Redis, and a record that was moved opens nothing', async () => {
  const [one, other] = [await codes.create(GRANT), await codes.create(GRANT)]
  const keys = await redis.client.keys('*:code')
  const stored = await Promise.all(keys.map((key) => redis.client.hgetall(key)))
  const text = JSON.stringify([keys, stored])
  for (const secret of [TOKEN, one.code, other.code]) assert.ok(!text.includes(secret))
  await redis.client.rename(keys[0] ?? '', 'aside')
  await redis.client.rename(keys[1] ?? '', keys[0] ?? '')
  await redis.client.rename('aside', keys[1] ?? '')
  assert.deepEqual([await codes.find(one.code), await codes.find(other.code)], [null, null])
})
