import { beforeEach, describe, expect } from 'vitest'
import type { AttemptSummary } from '../../../../src/domain/jobs/job.ts'
import type { ClaimedJob, WorkEnd } from '../../../../src/ports/jobs.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { throttleMark } from '../../../../src/redis/base/layout/queue-record.ts'
import { RedisJobSource } from '../../../../src/redis/jobs/execute/job-source.ts'
import { CHECK_RING } from '../../../../src/redis/upkeep/maintenance/ring-check.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { assertClean, claimed } from '../../../support/engine/model-executor.ts'
import { commandsDuring } from '../../../support/servers/command-counts.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { alertsOf, told } from '../../ledger/alerts/alert-stage.ts'
import { BREAKER, FlowStage, type Answer } from './flow-stage.ts'

const once = { retriesEnabled: false }

describe('the breaker of a queue', () => {
  let redis: TestRedis
  let stage: FlowStage

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(async () => {
    stage = await FlowStage.open(redis, { ...once, alertsEnabled: true, circuitBreaker: BREAKER })
    return () => stage.world.close()
  })
  const throttle = async () => (await stage.queue()).throttle
  const alerts = async () => (await alertsOf(stage.world)).map(told)
  /** Calls so many jobs, one after the other. */
  const call = async (answers: readonly Answer[]) => {
    for (const answer of answers) {
      await stage.push(1)
      await stage.end(await stage.claim(1), answer)
    }
  }
  /** Lets the breaker open. */
  const trip = () => call(['bad', 'bad', 'bad', 'bad'])

  test('opens with the end that makes it too many failures, and not before', async () => {
    await call(['good', 'good', 'bad'])
    expect(await throttle()).toBe(null)
    await call(['bad'])
    expect(await throttle()).toEqual({ reason: 'circuit_open', untilMs: stage.world.clock.wallMs + 30_000 })
    await stage.push(3)
    expect(await stage.claim()).toEqual([])
    expect(await stage.isInRing()).toBe(false)
    expect(await stage.markedAt()).toBe(stage.nowMs + 30_000)
    await assertClean(stage.world)
  })

  test('does not open by too few calls, nor by failures that blame the job', async () => {
    await call(['bad', 'bad', 'bad'])
    expect(await throttle()).toBe(null)
    await stage.push(20)
    const works = await stage.claim()
    await stage.source.finish(works.map((work) => refused(stage, work)))
    expect(await throttle()).toBe(null)
    await call(['bad', 'bad'])
    expect(await throttle()).toBe(null)
  })

  test('forgets what ended before its window', async () => {
    await call(['bad', 'bad', 'bad'])
    stage.world.clock.advance(61_000)
    await stage.source.beat(true)
    await call(['bad', 'good', 'good'])
    expect(await throttle()).toBe(null)
    await call(['bad'])
    expect((await throttle())?.reason).toBe('circuit_open')
  })

  test('lets one job try, and closes with its success', async () => {
    await trip()
    await stage.push(10)
    expect(await stage.claim()).toEqual([])
    // The executor has something to claim now.
    expect(await stage.pass(30_000)).toMatchObject({ promoted: 1 })
    const [probe, ...others] = await stage.claim()
    expect(others).toEqual([])
    expect(await stage.claim()).toEqual([])
    expect(await throttle()).toEqual({ reason: 'circuit_open', untilMs: null })
    await stage.end([probe as ClaimedJob])
    expect(await throttle()).toBe(null)
    expect(await stage.claim()).toHaveLength(9)
    await assertClean(stage.world)
  })

  test('opens for twice as long each time that one fails, and 15 minutes at most', async () => {
    await stage.push(14)
    for (let i = 0; i < 4; i += 1) await stage.end(await stage.claim(1), 'bad')
    for (const seconds of [30, 60, 120, 240, 480, 900, 900]) {
      expect(await stage.markedAt()).toBe(stage.nowMs + seconds * 1000)
      await stage.pass(seconds * 1000)
      const probe = await stage.claim()
      expect(probe).toHaveLength(1)
      await stage.end(probe, 'bad')
    }
    await assertClean(stage.world)
  })

  test('lets another job try when the one that did was released, or lost with its executor', async () => {
    await trip()
    await stage.push(10)
    await stage.pass(30_000)
    const [probe] = await stage.claim()
    await stage.source.finish([{ type: 'released', work: probe as ClaimedJob }])
    expect(await stage.claim()).toHaveLength(1)
    // Its executor is lost with it.
    const other = new RedisJobSource(stage.world.engine, 0, 'e2')
    for (let seconds = 0; seconds < 30; seconds += 5) {
      await other.beat(true)
      await createShardMaintenance(stage.world.engine, 0).reap()
      await stage.promote()
      stage.world.clock.advance(5_000)
    }
    const next = (await claimed(other, 64)).filter((work) => work.kind === 'job')
    expect(next).toHaveLength(1)
    await stage.end(next, 'good', other)
    expect(await throttle()).toBe(null)
    await assertClean(stage.world)
  })

  test('does not count the ends of calls that were in flight as it opened', async () => {
    await stage.push(30)
    const works = await stage.claim()
    await stage.end(works.slice(0, 4), 'bad')
    const until = (await throttle())?.untilMs
    stage.world.clock.advance(1_000)
    await stage.end(works.slice(4, 20), 'bad')
    await stage.end(works.slice(20), 'good')
    expect(await throttle()).toEqual({ reason: 'circuit_open', untilMs: until })
    await assertClean(stage.world)
  })

  test('raises a warning when it opens and a recovery when it closes, once each', async () => {
    await trip()
    const opened = 'warning circuit_open of queue partner ×1'
    expect((await alerts()).filter((text) => text.includes('circuit'))).toEqual([opened])
    for (const [seconds, answer] of [
      [30, 'bad'],
      [60, 'good'],
    ] as const) {
      await stage.push(1)
      await stage.pass(seconds * 1000)
      await stage.end(await stage.claim(), answer)
    }
    expect((await alerts()).filter((text) => text.includes('circuit'))).toEqual([
      opened,
      'recovery circuit_open of queue partner ×1',
    ])
    const [first, last] = (await alertsOf(stage.world)).filter(({ alert }) => alert.reason === 'circuit_open')
    expect(first?.alert.message).toContain('has stopped calling target.test')
    expect(last?.alert.message).toContain('calls target.test again')
  })

  test('ends by hand, and counts anew', async () => {
    await trip()
    await stage.push(8)
    const { queueId } = await stage.queue()
    expect(await stage.store.unthrottle('default', queueId)).toBe(true)
    expect(await stage.store.unthrottle('other', queueId)).toBe(false)
    expect(await throttle()).toBe(null)
    const works = await stage.claim()
    expect(works).toHaveLength(8)
    await stage.end(works.slice(0, 3), 'bad')
    expect(await throttle()).toBe(null)
    await stage.end(works.slice(3, 4), 'bad')
    expect((await throttle())?.reason).toBe('circuit_open')
    await assertClean(stage.world)
  })

  test('that is taken away lets the queue go on', async () => {
    await trip()
    await stage.push(3)
    await stage.set(once)
    expect(await throttle()).toBe(null)
    expect(await stage.claim()).toHaveLength(3)
    await assertClean(stage.world)
  })

  test('stays as it is when other settings change, or the queue is paused and resumed', async () => {
    await trip()
    await stage.push(3)
    const settings = { ...once, alertsEnabled: true, circuitBreaker: BREAKER }
    await stage.set({ ...settings, maxParallelism: 5 })
    await stage.set({ ...settings, isActive: false })
    await stage.set(settings)
    expect(await stage.claim()).toEqual([])
    expect(await throttle()).toMatchObject({ reason: 'circuit_open' })
    await assertClean(stage.world)
  })

  test('lets one job try after a pause that was longer than it is open', async () => {
    await trip()
    await stage.push(10)
    const settings = { ...once, alertsEnabled: true, circuitBreaker: BREAKER }
    await stage.set({ ...settings, isActive: false })
    stage.world.clock.advance(31_000)
    await stage.source.beat(true)
    await stage.set(settings)
    const probe = await stage.claim()
    expect(probe).toHaveLength(1)
    await stage.end(probe, 'bad')
    expect(await stage.markedAt()).toBe(stage.nowMs + 60_000)
    await assertClean(stage.world)
  })

  test('is kept by an edit of the rate, and not by one of its own', async () => {
    await trip()
    await stage.push(3)
    await stage.set({ ...once, circuitBreaker: BREAKER, rateLimit: { limit: 100, periodSeconds: 1 } })
    expect(await stage.claim()).toEqual([])
    await stage.set({ ...once, circuitBreaker: { ...BREAKER, minCalls: 5 } })
    expect(await stage.claim()).toHaveLength(3)
  })

  test.each(['executor_lost', 'unknown', 'blocked_target', 'damaged'] as const)(
    'learns nothing of its target by %s: another job tries',
    async (failureReason) => {
      await trip()
      await stage.push(10)
      await stage.pass(30_000)
      const [probe] = await stage.claim()
      await stage.source.finish([failed(stage, probe as ClaimedJob, { responseStatus: null, failureReason })])
      expect(await stage.claim()).toHaveLength(1)
      expect(await stage.claim()).toEqual([])
      await assertClean(stage.world)
    },
  )

  test('closes when its target answers, though not as the job wants it', async () => {
    await trip()
    await stage.push(10)
    await stage.pass(30_000)
    const [probe] = await stage.claim()
    await stage.source.finish([refused(stage, probe as ClaimedJob)])
    expect(await stage.claim()).toHaveLength(9)
    expect(await alerts()).toContain('recovery circuit_open of queue partner ×1')
  })

  test('needs no mark while no job waits, and wants no executor', async () => {
    await trip()
    expect(await throttle()).toMatchObject({ reason: 'circuit_open' })
    expect(await stage.markedAt()).toBe(null)
    stage.world.clock.advance(10_000)
    await stage.source.beat(true)
    await stage.push(1)
    expect(await stage.claim()).toEqual([])
    expect(await stage.markedAt()).toBe(stage.nowMs + 20_000)
    await stage.pass(400_000)
    expect(await throttle()).toBe(null)
    expect(await stage.claim()).toHaveLength(1)
    await assertClean(stage.world)
  })

  test('does not stay open without its mark, which an older executor drops', async () => {
    await trip()
    await stage.push(3)
    await stage.claim()
    const { engine } = stage.world
    const keys = shardKeys(engine, 0)
    await redis.client.zrem(keys.nearSet, throttleMark('1'))
    expect(await engine.runner.run(CHECK_RING.with({ keys, localId: '1' }))).toBe(1)
    await stage.promote()
    expect(await stage.markedAt()).toBe(stage.nowMs + 30_000)
    await redis.client.zrem(keys.nearSet, throttleMark('1'))
    await stage.set({ ...once, alertsEnabled: true, circuitBreaker: BREAKER })
    expect(await stage.claim()).toEqual([])
    expect(await stage.markedAt()).toBe(stage.nowMs + 30_000)
    await assertClean(stage.world)
  })

  test('has no word about a queue that was paused, whatever mark is left of it', async () => {
    await stage.push(3)
    await stage.set({ ...once, circuitBreaker: BREAKER, isActive: false })
    await redis.client.zadd(shardKeys(stage.world.engine, 0).nearSet, 0, throttleMark('1'))
    expect(await stage.promote()).toMatchObject({ promoted: 0 })
    expect((await stage.queue()).settings.isActive).toBe(false)
    expect(await stage.claim()).toEqual([])
    await assertClean(stage.world)
  })

  test('is gone with its queue', async () => {
    await trip()
    await stage.store.remove('default', 'partner')
    expect(await stage.markedAt()).toBe(null)
    await assertClean(stage.world)
  })

  test('costs nothing while it is open, though jobs are pushed and wait', async () => {
    await trip()
    await stage.push(100)
    await stage.claim()
    const counts = await commandsDuring(redis.client, async () => {
      await stage.claim()
      await stage.promote()
    })
    expect(counts).not.toHaveProperty('zadd')
    expect(counts).not.toHaveProperty('zrem')
    // Each step notes its time, and nothing else is written.
    expect(counts['hset']).toBe(counts['evalsha'])
  })
})

/** The end of a job that its target refuses. */
function refused(stage: FlowStage, work: ClaimedJob): WorkEnd {
  return failed(stage, work, { responseStatus: 404, failureReason: 'http_client_error' })
}

function failed(
  stage: FlowStage,
  work: ClaimedJob,
  outcome: Pick<AttemptSummary, 'responseStatus' | 'failureReason'>,
): WorkEnd {
  const end = stage.endOf(work, 'bad')
  if (end.type !== 'ended') throw new Error('the job has not ended')
  const attempts = end.end.attempts.map((attempt) => ({ ...attempt, ...outcome }))
  return { ...end, end: { ...end.end, attempts } }
}
