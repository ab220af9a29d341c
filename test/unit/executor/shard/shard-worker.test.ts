import { describe, expect, test } from 'vitest'
import { LEASE_BEAT_MS, LEASE_MARGIN_MS, LEASE_MS } from '../../../../src/domain/limits.ts'
import { quiescence } from '../../../support/fake-clock.ts'
import { answered, claimAnswer, claimedJob, cutCall, REDIS_AWAY } from '../executor-fixture.ts'
import { setUpExecutor } from '../executor-world.ts'

describe('a lease lost in one shard', () => {
  test('is replaced by one under another id, after its jobs were released under the first', async () => {
    const { clock, ids, executor, start, source } = setUpExecutor()
    await start()
    source(0).beat.rule = () => Promise.reject(REDIS_AWAY)
    source(0).leave.rule = () => Promise.reject(REDIS_AWAY)
    await clock.advance(LEASE_MS)
    expect(ids).toHaveLength(2)
    source(0).leave.rule = null
    await clock.advance(5_000)
    expect(ids).toHaveLength(2)
    source(0).leave.next.answer()
    await quiescence()
    expect(ids).toHaveLength(3)
    expect(source(0, 2).beat.calls).toHaveLength(1)
    expect(executor.isReady()).toBe(true)
  })

  test('aborts the calls of that shard and no other', async () => {
    const { clock, call, metrics, executor, start, source, hold } = setUpExecutor()
    await start()
    await hold(0)
    await hold(1)
    source(0).beat.rule = () => Promise.reject(REDIS_AWAY)
    await clock.advance(LEASE_MS)
    const [first, second] = call.calls.map(({ args }) => args[1].aborted)
    expect([first, second]).toEqual([true, false])
    call.next.answer(cutCall('aborted'))
    await quiescence()
    expect(source(0).finish.calls).toEqual([])
    expect(metrics.counts.filter((count) => count === 'leaseLost')).toHaveLength(1)
    call.next.answer(answered())
    await quiescence()
    expect(source(1).finish.calls.map(({ args }) => args[0][0]?.type)).toEqual(['ended'])
    expect(metrics.open()).toBe(0)
    expect(executor.isReady()).toBe(true)
  })

  test('is replaced even if its jobs could not be released because of a defect', async () => {
    const { clock, start, source } = setUpExecutor()
    await start()
    source(0).leave.rule = () => Promise.reject(new Error('WRONGTYPE'))
    source(0).beat.rule = () => ({ status: 'lease_lost' })
    await clock.advance(LEASE_BEAT_MS)
    expect(source(0, 2).beat.calls).toHaveLength(1)
  })

  test('early makes the executor confirm the others', async () => {
    const { clock, metrics, start, source, hint } = setUpExecutor()
    await start()
    await clock.advance(1_000)
    source(0).claim.rule = () => ({ status: 'lease_lost' })
    source(1).beat.rule = null
    const beats = source(1).beat.calls.length
    await hint(0)
    expect(source(1).beat.calls).toHaveLength(beats + 1)
    // The first has a new lease, the second is not confirmed yet.
    expect(metrics.shards()).toBe(1)
    source(1).beat.next.answer({ status: 'ok', listed: 0, redisMs: 0 })
    await quiescence()
    expect(metrics.shards()).toBe(2)
  })

  test('at its own deadline does not affect the others', async () => {
    const { clock, start, source } = setUpExecutor()
    await start()
    source(0).beat.rule = () => Promise.reject(REDIS_AWAY)
    await clock.advance(LEASE_MS - LEASE_MARGIN_MS)
    expect(source(0, 2).beat.calls).toHaveLength(1)
    expect(source(1).beat.calls).toHaveLength(1 + Math.floor((LEASE_MS - LEASE_MARGIN_MS) / LEASE_BEAT_MS))
  })
})

describe('a lease given up because of a defect', () => {
  /** Whatever is claimed in shard 0 cannot be worked off. */
  const setUpBroken = () => {
    const world = setUpExecutor()
    const openedAtMs: number[] = []
    world.prepared.change = (source) => {
      if (source.shard === 0) openedAtMs.push(world.clock.monotonicMs())
      source.claim.rule = () => claimAnswer(source.shard === 0 ? (null as unknown as []) : [])
    }
    return { ...world, openedAtMs }
  }

  test('is taken again after pauses that grow, while the other shards go on', async () => {
    const { clock, executor, source, start, openedAtMs, give, hint, call } = setUpBroken()
    await start()
    await clock.advance(70_000)
    const pauses = openedAtMs.slice(1).map((ms, i) => ms - (openedAtMs[i] ?? 0))
    expect(pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000])
    give(source(1), claimedJob({ shard: 1 }))
    await hint(1)
    expect(call.calls).toHaveLength(1)
    await executor.stop(0)
    expect(clock.timers).toBe(0)
  })

  test('makes the process unready from the third on, until a session has worked for 30 s', async () => {
    const { clock, start, prepared, loopsCheck } = setUpBroken()
    await start()
    await clock.advance(250)
    expect(loopsCheck.failure()).toBeNull()
    await clock.advance(500)
    expect(loopsCheck.failure()).toBe('failing turn after turn: session (shard 0)')
    prepared.change = () => undefined
    await clock.advance(1_000 + 29_999)
    expect(loopsCheck.failure()).not.toBeNull()
    await clock.advance(1)
    expect(loopsCheck.failure()).toBeNull()
  })

  test('counts as no defect when Redis had ended it', async () => {
    const { clock, ids, prepared, start, loopsCheck } = setUpExecutor(1)
    prepared.change = (source) => {
      if (ids.length < 5) source.claim.rule = () => ({ status: 'lease_lost' })
    }
    await start()
    await clock.advance(0)
    expect(ids).toHaveLength(6)
    expect(loopsCheck.failure()).toBeNull()
  })
})

test('a shard that cannot be joined because of a defect is tried ever less often', async () => {
  const { clock, prepared, ids, start, source, loopsCheck } = setUpExecutor(1)
  prepared.change = (source) => {
    source.beat.rule = () => Promise.reject(new Error('WRONGTYPE'))
  }
  await start()
  await clock.advance(10_000)
  expect([ids.length, source(0).beat.calls.length]).toEqual([1, 6])
  expect(loopsCheck.failure()).toBe('failing turn after turn: lease (shard 0)')
})

describe('stop', () => {
  test('ends the leases and leaves no timer', async () => {
    const { clock, executor, start, source } = setUpExecutor()
    await start()
    const stopping = executor.stop(10_000)
    expect(executor.isReady()).toBe(false)
    expect(executor.stop(10_000)).toBe(stopping)
    await clock.advance(10)
    await stopping
    expect(source(0).leave.calls).toHaveLength(1)
    expect(clock.timers).toBe(0)
  })

  test('lets calls end within the grace and claims nothing more', async () => {
    const { clock, call, executor, start, source, give, hint } = setUpExecutor()
    call.rule = null
    await start()
    give(source(0), claimedJob())
    await hint(0)
    const claims = source(0).claim.calls.length
    let isStopped = false
    const stopping = executor.stop(10_000).then(() => (isStopped = true))
    await hint(0)
    await clock.advance(3_000)
    expect(isStopped).toBe(false)
    call.next.answer(answered())
    await stopping
    expect(source(0).claim.calls).toHaveLength(claims)
    expect(source(0).finish.calls.map(({ args }) => args[0][0]?.type)).toEqual(['ended'])
  })

  test('between two retries makes no other', async () => {
    const { clock, prepared, executor, start, source } = setUpExecutor()
    prepared.change = (source) => {
      source.beat.rule = () => Promise.reject(REDIS_AWAY)
    }
    await start()
    await executor.stop(1_000)
    await clock.advance(5_000)
    expect(source(0).beat.calls).toHaveLength(1)
    expect(clock.timers).toBe(0)
  })

  test('during the start waits for the leases, claims nothing and ends them', async () => {
    const { clock, prepared, executor, start, source } = setUpExecutor()
    prepared.change = (source) => {
      source.beat.rule = null
    }
    await start()
    let isStopped = false
    const stopping = executor.stop(1_000).then(() => (isStopped = true))
    await quiescence()
    expect(isStopped).toBe(false)
    source(0).beat.next.answer({ status: 'ok', listed: 0, redisMs: 0 })
    source(1).beat.next.answer({ status: 'ok', listed: 0, redisMs: 0 })
    await clock.advance(10)
    await stopping
    expect(executor.isReady()).toBe(false)
    expect(source(0).claim.calls).toEqual([])
    expect(source(0).leave.calls).toHaveLength(1)
    await clock.advance(LEASE_BEAT_MS * 2)
    expect(source(0).beat.calls).toHaveLength(1)
    expect(clock.timers).toBe(0)
  })

  test('while a lost lease is replaced ends the new one too', async () => {
    const { clock, prepared, executor, start, source } = setUpExecutor()
    await start()
    prepared.change = (source) => {
      source.beat.rule = null
    }
    source(0).beat.rule = () => ({ status: 'lease_lost' })
    await clock.advance(LEASE_BEAT_MS)
    const stopping = executor.stop(1_000)
    await quiescence()
    source(0, 2).beat.next.answer({ status: 'ok', listed: 0, redisMs: 0 })
    await clock.advance(10)
    await stopping
    expect(source(0, 2).leave.calls).toHaveLength(1)
    expect(clock.timers).toBe(0)
  })

  test('aborts open calls after the grace and releases their jobs', async () => {
    const { clock, call, metrics, executor, start, source, hold } = setUpExecutor()
    await start()
    await hold(0)
    const stopping = executor.stop(10_000)
    await clock.advance(9_999)
    expect(call.calls[0]?.args[1].aborted).toBe(false)
    await clock.advance(1)
    expect(call.calls[0]?.args[1].aborted).toBe(true)
    call.next.answer(cutCall('aborted'))
    await stopping
    expect(source(0).finish.calls.map(({ args }) => args[0][0]?.type)).toEqual(['released'])
    expect(metrics.open()).toBe(0)
  })

  test('gives Redis 3 s more to take the ends, then ends without', async () => {
    const { clock, call, metrics, executor, start, source, hold } = setUpExecutor()
    await start()
    await hold(0)
    source(0).finish.rule = () => Promise.reject(REDIS_AWAY)
    let isStopped = false
    void executor.stop(1_000).then(() => (isStopped = true))
    await clock.advance(1_000)
    call.next.answer(cutCall('aborted'))
    await clock.advance(2_999)
    expect(isStopped).toBe(false)
    await clock.advance(101)
    expect(isStopped).toBe(true)
    expect(metrics.open()).toBe(0)
  })

  test('resolves even if a lease cannot be ended', async () => {
    const { executor, start, source, logger } = setUpExecutor()
    await start()
    source(0).leave.rule = () => Promise.reject(REDIS_AWAY)
    await executor.stop(1_000)
    expect(source(1).leave.calls).toHaveLength(1)
    expect(logger.lines.filter(({ level }) => level === 'warn')).toHaveLength(1)
  })
})
