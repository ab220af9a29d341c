import { afterAll, beforeAll, expect, test } from 'vitest'
import { LeasedRates } from '../../../../src/redis/control/access/leased-rates.ts'
import { takeRate } from '../../../../src/redis/control/access/take-rate.ts'
import { shardOfQueue } from '../../../../src/redis/base/engine/engine.ts'
import { openEngine, type TestEngine } from '../../../support/engine/engine.ts'
import { startRedis, type TestRedis } from '../../../support/servers/redis-server.ts'
import { systemClock } from '../../../../src/telemetry/system-clock.ts'

let redis: TestRedis
let opened: TestEngine

beforeAll(async () => {
  redis = await startRedis()
  opened = await openEngine(redis.url)
})
afterAll(async () => {
  opened.close()
  await redis.stop()
})

const token = (name: string) => ({ team: 'default', name })
/** So slow that nothing is earned while a test runs. */
const SLOW = { requestsPerSecond: 1, burst: 1_000 }

test('a burst is taken once, by however many ask', async () => {
  const wanted = Array.from({ length: 40 }, (_, i) => i + 1)
  const answers = await Promise.all(
    wanted.map((count) => takeRate(opened.engine, token('burst'), { ...SLOW, wanted: count })),
  )
  const taken = answers.reduce((sum, answer) => sum + answer.taken, 0)
  expect(taken).toBe(820)
  const rest = await takeRate(opened.engine, token('burst'), { ...SLOW, wanted: 1_000 })
  expect(rest.taken).toBeGreaterThanOrEqual(180)
  expect(rest.taken).toBeLessThanOrEqual(190)
  const none = await takeRate(opened.engine, token('burst'), { ...SLOW, wanted: 1 })
  expect(none).toMatchObject({ taken: 0, left: 0 })
  expect(none.waitMs).toBeGreaterThan(0)
  expect(none.waitMs).toBeLessThanOrEqual(1_000)
  expect(none.fullMs).toBeGreaterThan(980_000)
  // Another token of the team has all of its own.
  expect(await takeRate(opened.engine, token('other'), { ...SLOW, wanted: 1_000 })).toMatchObject({
    taken: 1_000,
  })
})

test('what was taken is earned again in its time, and then forgotten', async () => {
  const fast = { requestsPerSecond: 100_000, burst: 100 }
  expect((await takeRate(opened.engine, token('fast'), { ...fast, wanted: 100 })).taken).toBe(100)
  const key = shardOfQueue(opened.engine, 'default', 'fast').tokenRate('default/fast')
  const leftMs = await redis.client.pttl(key)
  expect(leftMs).toBeLessThanOrEqual(3)
})

test('a clock that was set back stops a token for no longer than a burst takes', async () => {
  const key = shardOfQueue(opened.engine, 'default', 'back').tokenRate('default/back')
  await redis.client.set(key, String((Date.now() + 86_400_000) * 1_000))
  const { taken, waitMs, fullMs } = await takeRate(opened.engine, token('back'), {
    requestsPerSecond: 10,
    burst: 5,
    wanted: 1,
  })
  expect([taken, waitMs, fullMs]).toEqual([0, 100, 500])
})

test('three processes that all want more let in one burst, but for what is left of their slices', async () => {
  const limit = { requestsPerSecond: 1, burst: 60 }
  const processes = Array.from(
    { length: 3 },
    () => new LeasedRates({ clock: systemClock, take: (of, wanted) => takeRate(opened.engine, of, wanted) }),
  )
  let admitted = 0
  for (let i = 0; i < 100; i += 1) {
    const all = await Promise.all(processes.map(async (one) => one.admit(token('three'), limit)))
    admitted += all.filter(({ isAdmitted }) => isAdmitted).length
  }
  expect(admitted).toBeGreaterThanOrEqual(60)
  expect(admitted).toBeLessThanOrEqual(70)
})
