import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { inspect } from '../../../src/redis/upkeep/inspection/inspect.ts'
import { createJobIntake } from '../../../src/redis/jobs/enqueue/job-intake.ts'
import { cronSettings } from '../../support/engine/cron-settings.ts'
import { openCronWorld, type CronWorld } from '../../support/engine/cron-world.ts'
import { newJob } from '../../support/engine/engine.ts'
import { createFakeWindows, type FakeWindows } from '../../support/engine/fake-windows.ts'
import { startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { startTarget, type Target } from '../../support/targets/target.ts'
import { until } from '../../support/until.ts'

const MINUTE_MS = 60_000
/** The start of a minute. */
const NOON_MS = Date.UTC(2032, 1, 28, 12)
/** Users are promised one second; five catch an executor that waits for something else, on any machine. */
const STARTED_WITHIN_MS = 5_000

let redis: TestRedis
let target: Target
let world: CronWorld
let windows: FakeWindows

beforeAll(async () => {
  ;[redis, target] = await Promise.all([startRedis(), startTarget()])
})
afterAll(async () => {
  await Promise.all([redis.stop(), target.close()])
})
beforeEach(async () => {
  world = await openCronWorld(redis, NOON_MS - 30_000)
  windows = createFakeWindows()
})
afterEach(async () => {
  await world.stopExecutors()
  const findings = await inspect(world.engine)
  await world.close()
  if (findings.length > 0) throw new Error(JSON.stringify(findings))
})

async function push(team: string, queue: string, path: string): Promise<void> {
  const intake = createJobIntake(world.engine, { nowMs: () => performance.now() })
  await intake.push(newJob({ team, queue, request: { url: target.url + path } }))
}

test('jobs of a held queue and of a held team start when the window ends, others at once', async () => {
  for (let i = 0; i < 10; i += 1) {
    await push('default', 'held', '/held')
    await push('other', `queue-${i}`, '/held')
  }
  await push('default', 'free', '/free')
  const untilMs = world.nowMs() + 3_000
  windows.hold('default', { kind: 'queue', name: 'held' }, 0, untilMs)
  windows.hold('other', null, 0, untilMs)
  world.startExecutor(windows)
  world.startExecutor(windows)
  await target.arrived('/free')
  expect(target.arrivals('/held')).toHaveLength(0)
  await target.arrived('/held')
  expect(world.nowMs()).toBeGreaterThanOrEqual(untilMs)
  await target.arrived('/held', 20)
  expect(world.nowMs() - untilMs).toBeLessThan(STARTED_WITHIN_MS)
  expect(target.arrivals('/held')).toHaveLength(20)
})

test('a held cron makes one run for all its ticks when the window ends, and a run by hand waits until then', async () => {
  const untilMs = NOON_MS + 2 * MINUTE_MS + 30_000
  const settings = cronSettings({ url: `${target.url}/held-cron` })
  const { cronId } = await world.store.apply('default', 'nightly', settings)
  windows.hold('default', { kind: 'cron', name: 'nightly' }, NOON_MS - 20_000, untilMs)
  world.setTime(NOON_MS + 2 * MINUTE_MS + 28_000)
  world.startExecutor(windows)
  world.startExecutor(windows)
  expect(await world.store.runNow('default', cronId)).toMatchObject({ status: 'started' })
  await target.arrived('/held-cron', 2)
  expect(world.nowMs()).toBeGreaterThanOrEqual(untilMs)
  const runs = async () => {
    const answer = await world.store.runs({ team: 'default', cronId, limit: 10, cursor: null })
    return typeof answer === 'object' && answer?.runs.length === 3 ? answer.runs : null
  }
  expect(await until('three records', runs)).toMatchObject([
    { scheduledAtMs: NOON_MS + 2 * MINUTE_MS, isManual: false },
    { scheduledAtMs: NOON_MS + MINUTE_MS, result: 'missed', ticks: 2 },
    { isManual: true },
  ])
  expect(target.arrivals('/held-cron')).toHaveLength(2)
})
