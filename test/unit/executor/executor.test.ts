import { describe, expect, test } from 'vitest'
import { LEASE_BEAT_MS, LEASE_MS } from '../../../src/domain/limits.ts'
import { cronSettings } from '../../support/engine/cron-settings.ts'
import { FAKE_EPOCH_MS, quiescence } from '../../support/fake-clock.ts'
import { claimAnswer, claimedJob, createFakeCrons, cutCall, REDIS_AWAY } from './executor-fixture.ts'
import { CONCURRENCY, setUpExecutor } from './executor-world.ts'

describe('begins', () => {
  test('with a lease in every shard, each under its own id', async () => {
    const { ids, metrics, executor, start, source, logger } = setUpExecutor()
    expect(executor.isReady()).toBe(false)
    await start()
    expect(executor.isReady()).toBe(true)
    expect(source(0).beat.calls).toHaveLength(1)
    expect(source(1).beat.calls).toHaveLength(1)
    expect(ids).toEqual(['executor-1', 'executor-2'])
    expect(metrics.shards()).toBe(2)
    const held = logger.lines.filter(({ message }) => message === 'The executor holds its leases')
    expect(held).toHaveLength(1)
  })

  test('with the shards that answer, and is ready with one of them', async () => {
    const { clock, call, metrics, prepared, executor, start, source, give, hint } = setUpExecutor()
    prepared.change = (source) => {
      if (source.shard === 1) source.beat.rule = () => Promise.reject(REDIS_AWAY)
    }
    await start()
    expect(executor.isReady()).toBe(true)
    expect(metrics.shards()).toBe(1)
    give(source(0), claimedJob())
    await hint(0)
    expect(call.calls).toHaveLength(1)
    source(1).beat.rule = () => ({ status: 'ok', listed: 0, redisMs: 0 })
    await clock.advance(500)
    expect(metrics.shards()).toBe(2)
  })

  test('retries a shard that is away after 0.5, 1, 2, 4 and then every 5 s', async () => {
    const { clock, prepared, executor, start, source } = setUpExecutor()
    prepared.change = (source) => {
      source.beat.rule = () => Promise.reject(REDIS_AWAY)
    }
    await start()
    for (const pauseMs of [500, 1_000, 2_000, 4_000, 5_000, 5_000]) {
      const tries = source(0).beat.calls.length
      await clock.advance(pauseMs - 1)
      expect(source(0).beat.calls).toHaveLength(tries)
      await clock.advance(1)
      expect(source(0).beat.calls).toHaveLength(tries + 1)
    }
    expect(executor.isReady()).toBe(false)
  })
})

test('many ticks that are being written in one shard keep claims waiting in all, a second at most', async () => {
  const dueMs = FAKE_EPOCH_MS + 60_000
  const crons = Array.from({ length: 1_000 }, (_, cronId) => ({
    cronId,
    team: 'a',
    name: `cron-${cronId}`,
    version: 1,
    settings: cronSettings(),
    bytes: 100,
    expectedMs: dueMs,
    spreadMs: 0,
    running: null,
  }))
  const world = setUpExecutor(2, (shard) => ({
    ...createFakeCrons(shard),
    redisNowMs: () => world.clock.wallMs(),
    nextDueMs: () => Promise.resolve(shard === 0 ? dueMs : null),
    upcoming: () => Promise.resolve(crons),
    // Redis takes them and does not answer.
    prepare: (decided) =>
      Promise.resolve([{ crons: decided.length, decided, send: () => new Promise(() => undefined) }]),
  }))
  const { clock, start, source, hint } = world
  await start()
  await clock.advance(60_000)
  const claims = source(1).claim.calls.length
  await hint(1)
  await clock.advance(999)
  expect(source(1).claim.calls).toHaveLength(claims)
  await clock.advance(1)
  expect(source(1).claim.calls.length).toBeGreaterThan(claims)
})

describe('a freeze of this process', () => {
  test('of 9 s costs nothing, whenever it comes', async () => {
    for (const afterMs of [1, 1_500, LEASE_BEAT_MS - 1, LEASE_BEAT_MS]) {
      const { clock, metrics, start, hold, all } = setUpExecutor(4)
      await start()
      await hold(0)
      await clock.advance(afterMs)
      await clock.sleep(9_000)
      await clock.advance(LEASE_MS)
      expect(metrics.counts).not.toContain('leaseLost')
      expect(all()).toHaveLength(4)
      expect(metrics.open()).toBe(1)
    }
  })

  test('of 14 s ends the work on all shards, which then starts again', async () => {
    const { clock, call, metrics, executor, start, hold, all } = setUpExecutor(4)
    await start()
    await hold(0)
    await hold(3)
    await clock.sleep(14_000)
    expect(metrics.counts.filter((count) => count === 'leaseLost')).toHaveLength(4)
    expect(call.calls.map(({ args }) => args[1].aborted)).toEqual([true, true])
    call.next.answer(cutCall('aborted'))
    call.next.answer(cutCall('aborted'))
    await quiescence()
    expect(all()).toHaveLength(8)
    expect(executor.isReady()).toBe(true)
    expect(metrics.open()).toBe(0)
  })

  test('that the monotonic clock does not show makes it confirm all leases', async () => {
    const { clock, executor, start, source } = setUpExecutor()
    await start()
    source(0).beat.rule = null
    source(1).beat.rule = null
    clock.suspend(20_000)
    await clock.advance(1_000)
    expect(executor.isReady()).toBe(false)
    source(0).beat.next.answer({ status: 'ok', listed: 0, redisMs: 0 })
    await quiescence()
    expect(executor.isReady()).toBe(true)
  })
})

describe('runs jobs', () => {
  test('that a hint announced', async () => {
    const { call, metrics, start, source, give, hint } = setUpExecutor()
    await start()
    give(source(1), claimedJob({ shard: 1 }))
    await hint(1)
    expect(call.calls).toHaveLength(1)
    expect(metrics.counts).toContain('jobFinished:success:1')
    expect(metrics.open()).toBe(0)
  })

  test('and counts them while they are open, also when they take every slot', async () => {
    const { call, metrics, start, source, give, hint } = setUpExecutor()
    await start()
    call.rule = null
    give(source(0), ...Array.from({ length: CONCURRENCY }, (_, i) => claimedJob({ jobId: i * 32 })))
    await hint(0)
    expect(call.calls).toHaveLength(CONCURRENCY)
    expect(metrics.open()).toBe(CONCURRENCY)
  })

  test('that a peek found', async () => {
    const { clock, call, maintenances, start, source, give } = setUpExecutor()
    await start()
    give(source(0), claimedJob())
    const [maintenance] = maintenances
    if (maintenance !== undefined) maintenance.peek.rule = () => ({ runnable: true, nextDueMs: null })
    await clock.advance(500)
    expect(call.calls).toHaveLength(1)
  })

  test('that it released from a dead executor', async () => {
    const { clock, call, maintenances, start, source, give } = setUpExecutor()
    await start()
    give(source(0), claimedJob())
    const [maintenance] = maintenances
    if (maintenance !== undefined) maintenance.reap.rule = () => ({ jobs: 1, executors: 1 })
    await clock.advance(2_000)
    expect(call.calls).toHaveLength(1)
  })

  test('and promotes at the due time that a claim saw', async () => {
    const { clock, maintenances, start, source, hint } = setUpExecutor()
    await start()
    const [maintenance] = maintenances
    const nextDueMs = FAKE_EPOCH_MS + 70
    if (maintenance !== undefined) maintenance.peek.rule = () => ({ runnable: false, nextDueMs })
    source(0).claim.rule = () => claimAnswer([], { nextDueMs })
    await hint(0)
    await clock.advance(70)
    expect(maintenance?.promote.calls).toHaveLength(1)
  })

  test('not for a second after a fault of this machine', async () => {
    const { clock, call, start, source, give, hint } = setUpExecutor()
    call.rule = () => cutCall('local_fault')
    await start()
    give(source(0), claimedJob())
    await hint(0)
    const claims = source(0).claim.calls.length
    await hint(0)
    await clock.advance(999)
    expect(source(0).claim.calls).toHaveLength(claims)
    await clock.advance(1_000)
    expect(source(0).claim.calls).toHaveLength(claims + 1)
  })
})
