import { array, assert, asyncProperty, constantFrom, integer, nat, record } from 'fast-check'
import { beforeEach, describe, expect } from 'vitest'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import type { ClaimedJob } from '../../../../src/ports/jobs.ts'
import { RedisJobSource } from '../../../../src/redis/jobs/execute/job-source.ts'
import { createShardMaintenance } from '../../../../src/redis/upkeep/maintenance/shard-maintenance.ts'
import { grantOf } from '../../../support/engine/claim-grant.ts'
import { assertClean, claimed } from '../../../support/engine/model-executor.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { BREAKER, FlowStage } from './flow-stage.ts'

/** What an executor does not see of how late an answer is: UNSEEN_MS of flow.lua. */
const UNSEEN_MS = 2

describe('a job of a queue with a rate', () => {
  let redis: TestRedis
  let stage: FlowStage | null = null

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(() => () => stage?.world.close())
  const open = async (...[settings, executors]: [Parameters<FlowStage['set']>[0], number?]) =>
    (stage = await FlowStage.open(redis, settings, executors))
  const withLead = async (leadMs: number): Promise<ClaimedJob[]> => {
    const works = await claimed((stage as FlowStage).source, grantOf(64, { leadMs }))
    return works.filter((work) => work.kind === 'job')
  }

  test('says from when until when it may begin, and the same when its claim is sent again', async () => {
    const { world } = await open({ rateLimit: { limit: 1, periodSeconds: 10 } })
    const { runner } = world.engine
    let isLost = true
    const run: typeof runner.run = async (call, resendForMs) => {
      const answer = await runner.run(call, resendForMs)
      if (call.name === 'claim' && isLost) throw new StoreUnavailableError('the answer was lost')
      return answer
    }
    const source = new RedisJobSource({ ...world.engine, runner: { ...runner, run } }, 0, 'e1')
    await stage?.push(2)
    const fromMs = world.clock.wallMs
    await expect(claimed(source, 64)).rejects.toThrow('the answer was lost')
    world.clock.advance(400)
    isLost = false
    expect(await claimed(source, 64)).toMatchObject([
      { startedAtMs: fromMs, beginsWithin: { fromMs, toMs: fromMs + 100 - UNSEEN_MS } },
    ])
    await assertClean(world)
  })

  test('begins half a second later at most, however long the period', async () => {
    await open({ rateLimit: { limit: 1, periodSeconds: 3_600 } })
    await stage?.push(1)
    const [job] = (await stage?.claim()) ?? []
    expect(Number(job?.beginsWithin?.toMs) - Number(job?.beginsWithin?.fromMs)).toBe(500 - UNSEEN_MS)
  })

  test('says nothing of it where only a breaker is, and both where both are', async () => {
    const { source } = await open({ circuitBreaker: BREAKER })
    await stage?.push(1)
    const [watched] = (await stage?.claim(64, source)) ?? []
    expect(watched).toMatchObject({ breaker: 'watches' })
    expect(watched).not.toHaveProperty('beginsWithin')
    await stage?.set({ circuitBreaker: BREAKER, rateLimit: { limit: 10, periodSeconds: 1 } })
    await stage?.push(1)
    const [both] = (await stage?.claim(64, source)) ?? []
    expect(both).toMatchObject({ breaker: 'watches', beginsWithin: { fromMs: both?.startedAtMs } })
  })

  test('counts from when its claim lets it begin, which is a second ahead at most', async () => {
    const { world } = await open({ rateLimit: { limit: 1, periodSeconds: 10 } })
    await stage?.push(1)
    const [job] = await withLead(5_000)
    const fromMs = world.clock.wallMs + 1_000
    expect(job).toMatchObject({ startedAtMs: fromMs, beginsWithin: { fromMs } })
    // A claim that comes before that looks at what is ahead of it.
    await stage?.push(2)
    expect(await stage?.claim()).toEqual([])
    await stage?.run(10_500, { stepMs: 50 })
    expect(stage?.begins).toEqual([])
    await stage?.run(1_000, { stepMs: 50 })
    expect(stage?.begins).toHaveLength(1)
    await assertClean(world)
  })

  test('that goes back has counted, and is the first of the next ones', async () => {
    const { world, source } = await open({ rateLimit: { limit: 1, periodSeconds: 10 } })
    await stage?.push(2)
    const works = (await stage?.claim()) ?? []
    await source.finish(works.map((work) => ({ type: 'released', work })))
    expect(await stage?.claim()).toEqual([])
    // As late as it might have begun, the next one has to keep the period to it.
    await stage?.pass(10_090)
    expect(await stage?.claim()).toEqual([])
    await stage?.pass(20)
    expect(await stage?.claim()).toMatchObject([{ jobId: works[0]?.jobId, attempt: 1 }])
    await assertClean(world)
  })

  test('that was lost with its executor counts from when the lead lets it begin', async () => {
    const { world } = await open({ rateLimit: { limit: 1, periodSeconds: 10 } })
    await stage?.push(1)
    await stage?.claim()
    const other = new RedisJobSource(world.engine, 0, 'e2')
    for (let seconds = 0; seconds < 30; seconds += 5) {
      await other.beat(true)
      await createShardMaintenance(world.engine, 0).reap()
      world.clock.advance(5_000)
    }
    const [lost] = await claimed(other, grantOf(64, { leadMs: 1_000 }))
    expect(lost).toMatchObject({ beginsWithin: { fromMs: world.clock.wallMs + 1_000 } })
    await stage?.push(1)
    await stage?.pass(10_500)
    await other.beat(true)
    expect(await stage?.claim(64, other)).toEqual([])
    await stage?.pass(1_000)
    expect(await stage?.claim(64, other)).toHaveLength(1)
    await assertClean(world)
  })

  test('is the probe no more when it goes back, but another one is', async () => {
    const settings = { circuitBreaker: BREAKER, rateLimit: { limit: 100, periodSeconds: 1 } }
    const { world, source } = await open({ ...settings, retriesEnabled: false })
    await stage?.push(8)
    await stage?.run(200, { stepMs: 10, answers: () => 'bad' })
    await stage?.pass(31_000)
    const [probe] = (await stage?.claim()) ?? []
    expect(probe).toMatchObject({ breaker: 'probes' })
    if (probe !== undefined) await source.finish([{ type: 'released', work: probe }])
    await stage?.pass(100)
    expect(await stage?.claim()).toMatchObject([{ breaker: 'probes' }])
    await assertClean(world)
  })

  test('keeps the limit at the target, whatever leads claims ask for and however late it may begin', async () => {
    const act = record({
      push: nat(30),
      ms: integer({ min: 1, max: 400 }),
      leadMs: constantFrom(0, 0, 20, 90, 400, 1_000),
      isHeldUp: nat(1),
    })
    await assert(
      asyncProperty(
        integer({ min: 1, max: 300 }),
        integer({ min: 1, max: 3 }),
        array(act, { maxLength: 25 }),
        async (limit, periodSeconds, acts) => {
          stage?.world.close()
          await open({ rateLimit: { limit, periodSeconds } })
          const begins: number[] = []
          for (const { push, ms, leadMs, isHeldUp } of acts) {
            await stage?.push(push)
            await stage?.pass(ms)
            const works = await withLead(leadMs)
            for (const { beginsWithin: within } of works) {
              begins.push(Number(isHeldUp ? Number(within?.toMs) + UNSEEN_MS : within?.fromMs))
            }
            await stage?.end(works)
          }
          const sorted = begins.toSorted((one, other) => one - other)
          const spans = sorted.slice(limit).map((lastMs, at) => lastMs - Number(sorted[at]))
          expect(spans.filter((spanMs) => spanMs < periodSeconds * 1_000)).toEqual([])
        },
      ),
      { numRuns: 40 },
    )
  })
})
