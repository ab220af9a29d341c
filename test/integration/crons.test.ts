import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { audit } from '../../src/redis/audit.ts'
import { createJobStore } from '../../src/redis/job-store.ts'
import { cronSettings } from '../support/cron-settings.ts'
import { openCronWorld, type CronWorld } from '../support/cron-world.ts'
import { startRedis, type TestRedis } from '../support/redis-server.ts'
import { startTarget, type Target } from '../support/target.ts'
import { until } from '../support/until.ts'

const MINUTE_MS = 60_000
/** A minute begins there. */
const NOON_MS = Date.UTC(2032, 1, 28, 12)

let redis: TestRedis
let target: Target
let world: CronWorld

beforeAll(async () => {
  ;[redis, target] = await Promise.all([startRedis(), startTarget()])
})
afterAll(async () => {
  await Promise.all([redis.stop(), target.close()])
})
beforeEach(async () => {
  world = await openCronWorld(redis, NOON_MS - 1_000)
})
afterEach(async () => {
  expect(await audit(world.engine)).toEqual([])
  await world.close()
})

let paths = 0
const newPath = () => `/cron-${(paths += 1)}`

describe('a tick', () => {
  test('makes one run at its minute, and its end is the cron’s', async () => {
    const path = newPath()
    const { cronId, nextRunAtMs } = await world.store.apply(
      'default',
      'nightly',
      cronSettings({ url: target.url + path, payload: 'as it is' }),
    )
    expect(nextRunAtMs).toBe(NOON_MS)
    world.startExecutor()
    world.startExecutor()
    const [arrival] = await target.arrived(path)
    expect(arrival).toMatchObject({ method: 'POST', body: 'as it is', attempt: 1 })
    expect(world.nowMs()).toBeGreaterThanOrEqual(NOON_MS)
    const ended = async () => (await world.store.get('default', cronId))?.lastRun?.result === 'succeeded'
    await until('the run has ended', ended)
    const jobId = arrival?.jobId
    expect(await world.store.get('default', cronId)).toMatchObject({
      cronId,
      name: 'nightly',
      nextRunAtMs: NOON_MS + MINUTE_MS,
      lastSuccessAtMs: NOON_MS,
      consecutiveFailures: 0,
      lastRun: { scheduledAtMs: NOON_MS, result: 'succeeded', jobId, isManual: false, ticks: 1 },
    })
    const chain = await createJobStore(world.engine).get('default', jobId as number)
    expect(chain).toMatchObject({
      end: 'success',
      request: { cron: { cronId, tickMs: NOON_MS, isManual: false } },
      attempts: [{ scheduledAtMs: NOON_MS }],
    })
    expect(target.arrivals(path)).toHaveLength(1)
  })
})
