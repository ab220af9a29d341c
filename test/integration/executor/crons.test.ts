import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { inspect } from '../../../src/redis/upkeep/inspection/inspect.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../src/domain/jobs/queue-settings.ts'
import { createCronSource } from '../../../src/redis/crons/tick/cron-source.ts'
import { createJobStore } from '../../../src/redis/jobs/job-store.ts'
import { createQueueStore } from '../../../src/redis/jobs/queues/queue-store.ts'
import { createShardMaintenance } from '../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { cronSettings } from '../../support/engine/cron-settings.ts'
import { openCronWorld, type CronWorld } from '../../support/engine/cron-world.ts'
import { startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { latch, startTarget, statuses, type Target } from '../../support/targets/target.ts'
import { tickAll } from '../../support/engine/tick-all.ts'
import { until } from '../../support/until.ts'

const MINUTE_MS = 60_000
/** The start of a minute. */
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
  // Leaves time to create crons; each test sets the clock to shortly before noon.
  world = await openCronWorld(redis, NOON_MS - 30_000)
})
afterEach(async () => {
  await world.stopExecutors()
  const findings = await inspect(world.engine)
  await world.close()
  if (findings.length > 0) throw new Error(JSON.stringify(findings))
})

let paths = 0
const newPath = () => `/cron-${(paths += 1)}`

describe('a tick', () => {
  test('makes one run at its minute, whose end becomes the last run of the cron', async () => {
    const path = newPath()
    const { cronId, nextRunAtMs } = await world.store.apply(
      'default',
      'nightly',
      cronSettings({ url: target.url + path, payload: 'as it is' }),
    )
    expect(nextRunAtMs).toBe(NOON_MS)
    world.setTime(NOON_MS - 500)
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

  test('in the future is not missed, even if the clock of the deciding executor is wrong', async () => {
    const settings = cronSettings({ url: target.url, missedRunPolicy: 'skip' })
    const { cronId } = await world.store.apply('default', 'nightly', settings)
    const sources = world.engine.shards.map(({ shard }) => createCronSource(world.engine, shard))
    for (const source of sources) {
      const crons = await source.upcoming(0, NOON_MS, 1)
      await tickAll(
        source,
        crons.map((cron) => ({
          cron,
          run: [],
          nextMs: NOON_MS + 60 * MINUTE_MS,
          missed: { firstMs: NOON_MS, lastMs: NOON_MS + 59 * MINUTE_MS, count: 60 },
        })),
      )
    }
    expect(await world.store.get('default', cronId)).toMatchObject({ nextRunAtMs: NOON_MS, lastRun: null })
  })

  test('that was due while no executor ran makes one run for all', async () => {
    const path = newPath()
    const { cronId } = await world.store.apply('default', 'nightly', cronSettings({ url: target.url + path }))
    world.setTime(NOON_MS + 5 * MINUTE_MS + 1_000)
    world.startExecutor()
    const ended = async () => (await world.store.get('default', cronId))?.lastRun?.result === 'succeeded'
    await until('the run has ended', ended)
    const answer = await world.store.runs({ team: 'default', cronId, limit: 10, cursor: null })
    expect(answer).toMatchObject({
      runs: [
        { scheduledAtMs: NOON_MS + 5 * MINUTE_MS, result: 'succeeded' },
        { scheduledAtMs: NOON_MS + 4 * MINUTE_MS, result: 'missed', ticks: 5 },
      ],
    })
    expect(target.arrivals(path)).toHaveLength(1)
  })

  test('is skipped while the previous run has not ended, when concurrent runs are forbidden', async () => {
    const path = newPath()
    const held = latch()
    target.route(path, held.answering)
    const { cronId } = await world.store.apply(
      'default',
      'nightly',
      cronSettings({ url: target.url + path, concurrencyPolicy: 'forbid' }),
    )
    world.setTime(NOON_MS - 500)
    world.startExecutor()
    const [arrival] = await target.arrived(path)
    expect(await world.store.runNow('default', cronId)).toEqual({
      status: 'still_running',
      jobId: arrival?.jobId,
    })
    world.setTime(NOON_MS + MINUTE_MS)
    const last = async () => (await world.store.get('default', cronId))?.lastRun
    await until('the next tick is skipped', async () => (await last())?.result === 'skipped')
    held.open()
    await until('the run has ended', async () => {
      const answer = await world.store.runs({ team: 'default', cronId, limit: 10, cursor: null })
      return typeof answer === 'object' && answer?.runs[1]?.result === 'succeeded'
    })
    world.setTime(NOON_MS + 2 * MINUTE_MS)
    await target.arrived(path, 2)
    await until('the next run has ended', async () => (await last())?.result === 'succeeded')
  })
})

describe('a cron', () => {
  test('with a queue has retries, and counts a failed chain as one failure', async () => {
    const path = newPath()
    target.route(path, statuses(500))
    await createQueueStore(world.engine).apply('default', 'reports', {
      ...DEFAULT_QUEUE_SETTINGS,
      retryDelays: [1],
    })
    const { cronId } = await world.store.apply(
      'default',
      'nightly',
      cronSettings({ url: target.url + path, queue: 'reports' }),
    )
    world.setTime(NOON_MS - 500)
    world.startExecutor()
    await target.arrived(path, 2)
    await until('the chain is a dead letter', async () => {
      return (await world.store.get('default', cronId))?.consecutiveFailures === 1
    })
    expect(await world.store.get('default', cronId)).toMatchObject({
      lastRun: { result: 'failed', scheduledAtMs: NOON_MS },
      lastSuccessAtMs: null,
    })
  })

  test('that moves to another queue ticks there, once', async () => {
    const path = newPath()
    const names = ['one', 'two', 'three', 'four', 'five']
    for (const queue of names) {
      await world.store.apply('default', 'nightly', cronSettings({ url: target.url + path, queue }))
    }
    world.setTime(NOON_MS - 500)
    world.startExecutor()
    await target.arrived(path)
    world.setTime(NOON_MS + MINUTE_MS - 50)
    await target.arrived(path, 2)
    const cron = await world.store.getByName('default', 'nightly')
    expect(cron?.settings.queue).toBe('five')
    await until('both runs have ended', async () => {
      const { cronId = 0 } = cron ?? {}
      const answer = await world.store.runs({ team: 'default', cronId, limit: 10, cursor: null })
      return typeof answer === 'object' && answer?.runs.every(({ result }) => result === 'succeeded') === true
    })
    expect(target.arrivals(path)).toHaveLength(2)
  })

  test('that was paused does not catch up, and can be run by hand', async () => {
    const path = newPath()
    const settings = cronSettings({ url: target.url + path, missedRunPolicy: 'all' })
    const { cronId } = await world.store.apply('default', 'nightly', { ...settings, isActive: false })
    world.startExecutor()
    const started = await world.store.runNow('default', cronId)
    expect(started.status).toBe('started')
    await target.arrived(path)
    world.setTime(NOON_MS + 10 * MINUTE_MS + 1_000)
    expect(await world.store.apply('default', 'nightly', settings)).toEqual({
      cronId,
      nextRunAtMs: NOON_MS + 11 * MINUTE_MS,
    })
    await until('the run has ended', async () => {
      return (await world.store.get('default', cronId))?.lastRun?.result === 'succeeded'
    })
    expect(target.arrivals(path)).toHaveLength(1)
  })

  test('that is removed leaves nothing behind', async () => {
    const path = newPath()
    const { cronId } = await world.store.apply('default', 'nightly', cronSettings({ url: target.url + path }))
    world.setTime(NOON_MS - 500)
    const executor = world.startExecutor()
    await target.arrived(path)
    await until('the run has ended', async () => {
      return (await world.store.get('default', cronId))?.lastRun?.result === 'succeeded'
    })
    expect(await world.store.remove('default', 'nightly')).toBe('removed')
    expect(await world.store.remove('default', 'nightly')).toBe('not_found')
    expect(await world.store.get('default', cronId)).toBeNull()
    await executor.stop(0)
    for (const { shard } of world.engine.shards) await createShardMaintenance(world.engine, shard).sweep()
    const left = await redis.client.keys('punctual:*')
    const kept = /:(clk|qseq|seq|tok|tu|use|ex|mark|mr|tn|teams|sl|so|stat|s:\d+)$|:meta$/
    expect(left.filter((key) => !kept.test(key))).toEqual([])
    // The team's counter of runs this month remains.
    for (const key of left.filter((name) => name.endsWith(':tu'))) {
      const counters = Object.entries(await redis.client.hgetall(key))
      const held = counters.filter(([field, value]) => !field.endsWith(':m') && value !== '0')
      expect(held).toEqual([])
    }
  })
})
