import { array, assert, asyncProperty, boolean, constantFrom } from 'fast-check'
import { beforeEach, describe, expect } from 'vitest'
import type { ClaimedJob } from '../../../../src/ports/jobs.ts'
import { assertClean } from '../../../support/engine/model-executor.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { BREAKER, FlowStage, type Answer } from './flow-stage.ts'

describe('a target that asks to be left alone', () => {
  let redis: TestRedis
  let stage: FlowStage

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(async () => {
    stage = await FlowStage.open(redis, { retryDelays: [5], respectRetryAfter: true })
    return () => stage.world.close()
  })

  test('has its retry and all other jobs wait, and one of them try first', async () => {
    await stage.push(10)
    const [first] = await stage.claim(1)
    await stage.end([first as ClaimedJob], { status: 429, retryAfterMs: 100_000 })
    const untilMs = stage.world.clock.wallMs + 100_000
    expect((await stage.queue()).throttle).toEqual({ reason: 'target_asks_to_wait', untilMs })
    expect(await stage.claim()).toEqual([])
    await stage.pass(99_999)
    expect(await stage.claim()).toEqual([])
    stage.world.clock.advance(1)
    await stage.promote()
    const probe = await stage.claim()
    expect(probe).toHaveLength(1)
    await stage.end(probe)
    // The retry is due as well, though its own delay was 5 s.
    expect(await stage.claim()).toHaveLength(9)
    await assertClean(stage.world)
  })

  test('has its retry wait for its own delay where that is longer', async () => {
    await stage.set({ retryDelays: [300], respectRetryAfter: true })
    await stage.push(1)
    await stage.end(await stage.claim(), { status: 429, retryAfterMs: 100_000 })
    await stage.pass(299_999)
    await stage.promote()
    expect(await stage.claim()).toEqual([])
    stage.world.clock.advance(1)
    await stage.promote()
    expect(await stage.claim()).toHaveLength(1)
    await assertClean(stage.world)
  })

  test('is called again at once when somebody resumes the queue', async () => {
    await stage.push(10)
    await stage.end(await stage.claim(1), { status: 503, retryAfterMs: 90_000 })
    const { queueId } = await stage.queue()
    expect(await stage.store.unthrottle('default', queueId)).toBe(true)
    expect(await stage.claim()).toHaveLength(9)
    await assertClean(stage.world)
  })

  test('may ask again, and the later time counts', async () => {
    await stage.push(10)
    const works = await stage.claim(3)
    await stage.end(works.slice(0, 1), { status: 503, retryAfterMs: 60_000 })
    await stage.end(works.slice(1, 2), { status: 503, retryAfterMs: 10_000 })
    expect(await stage.markedAt()).toBe(60_000)
    await stage.end(works.slice(2), { status: 503, retryAfterMs: 90_000 })
    expect(await stage.markedAt()).toBe(90_000)
    await assertClean(stage.world)
  })

  test('is forgotten with the setting, and is not heard again when that comes back', async () => {
    await stage.push(10)
    await stage.end(await stage.claim(1), { status: 429, retryAfterMs: 100_000 })
    await stage.set({ retryDelays: [5], rateLimit: { limit: 1, periodSeconds: 1 } })
    await stage.set({ retryDelays: [5], respectRetryAfter: true })
    expect(await stage.claim()).toHaveLength(9)
  })

  test('is not waited for by a queue that keeps to a rate alone, though a job was trying it', async () => {
    await stage.push(30)
    await stage.end(await stage.claim(1), { status: 503, retryAfterMs: 5_000 })
    await stage.pass(5_000)
    const probe = await stage.claim()
    await stage.set({ retryDelays: [5], rateLimit: { limit: 10, periodSeconds: 1 } })
    await stage.end(probe)
    const before = stage.begins.length
    await stage.run(1_000)
    expect(stage.begins.length - before).toBe(10)
    await assertClean(stage.world)
  })

  test('is tried by one job at a time, also when it asks again while that is under way', async () => {
    await stage.push(10)
    const works = await stage.claim(3)
    await stage.end(works.slice(0, 1), { status: 503, retryAfterMs: 5_000 })
    await stage.pass(5_000)
    expect(await stage.claim()).toHaveLength(1)
    // A call of before the wait ends now, and asks for a second more.
    await stage.end(works.slice(1, 2), { status: 503, retryAfterMs: 1_000 })
    stage.world.clock.advance(1_000)
    await stage.promote()
    expect(await stage.claim()).toEqual([])
    await assertClean(stage.world)
  })

  test('is not heard by a queue that does not want to', async () => {
    await stage.set({ retryDelays: [5], circuitBreaker: BREAKER })
    await stage.push(10)
    await stage.end(await stage.claim(1), { status: 429, retryAfterMs: 100_000 })
    expect((await stage.queue()).throttle).toBe(null)
    expect(await stage.claim()).toHaveLength(9)
    await stage.pass(5_000)
    expect(await stage.claim()).toHaveLength(1)
  })

  test('loses and doubles no job, whatever it answers', async () => {
    const answer = constantFrom<Answer>(
      'good',
      'bad',
      { status: 429, retryAfterMs: 3_000 },
      { status: 503, retryAfterMs: 700 },
    )
    await assert(
      asyncProperty(array(answer, { minLength: 1, maxLength: 40 }), boolean(), async (answers, hasRate) => {
        stage.world.close()
        stage = await FlowStage.open(
          redis,
          {
            retryDelays: [1, 2],
            respectRetryAfter: true,
            circuitBreaker: { failurePercent: 30, minCalls: 3, windowSeconds: 4, openSeconds: 1 },
            ...(hasRate && { rateLimit: { limit: 20, periodSeconds: 1 } }),
          },
          2,
        )
        await stage.push(25)
        let nth = 0
        await stage.run(8_000, { stepMs: 40, answers: () => answers[nth++ % answers.length] ?? 'good' })
        await assertClean(stage.world)
        for (let i = 0; i < 60; i += 1) {
          await stage.run(20_000, { stepMs: 500 })
          if ((await stage.queue()).counts.pending + (await stage.queue()).counts.delayed === 0) break
        }
        const { pending, delayed, processing } = (await stage.queue()).counts
        expect({ pending, delayed, processing }).toEqual({ pending: 0, delayed: 0, processing: 0 })
        await assertClean(stage.world)
      }),
      { numRuns: 15 },
    )
  })
})
