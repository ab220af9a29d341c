import { loopsOf } from '../../../support/loops.ts'
import { describe, expect, test } from 'vitest'
import { DelayedPromoter } from '../../../../src/executor/shard/delayed-promoter.ts'
import { createFakeClock, FAKE_EPOCH_MS, quiescence } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { createFakeMaintenance, REDIS_AWAY } from '../executor-fixture.ts'

function setUp() {
  const clock = createFakeClock()
  const maintenance = createFakeMaintenance()
  let [woken, nudged] = [0, 0]
  const promoter = new DelayedPromoter({
    maintenance,
    loops: loopsOf({ clock, logger: quietLogger }),
    clock,
    logger: quietLogger,
    redisNowMs: () => clock.wallMs(),
    onWork: () => (woken += 1),
    onRunnable: () => (nudged += 1),
  })
  return {
    clock,
    maintenance,
    promoter,
    start: async () => {
      promoter.start()
      await quiescence()
    },
    woken: () => woken,
    nudged: () => nudged,
  }
}

describe('peeks', () => {
  test('at once, then every 500 ms', async () => {
    const { clock, maintenance, start } = setUp()
    await start()
    expect(maintenance.peek.calls).toHaveLength(1)
    await clock.advance(499)
    expect(maintenance.peek.calls).toHaveLength(1)
    await clock.advance(1)
    expect(maintenance.peek.calls).toHaveLength(2)
    await clock.advance(5_000)
    expect(maintenance.peek.calls).toHaveLength(12)
    expect(maintenance.promote.calls).toEqual([])
  })

  test('report what can be claimed, new or not', async () => {
    const { clock, maintenance, start, woken, nudged } = setUp()
    await start()
    expect(nudged()).toBe(0)
    maintenance.peek.rule = () => ({ runnable: true, nextDueMs: null })
    await clock.advance(500)
    expect(nudged()).toBe(1)
    expect(woken()).toBe(0)
  })

  test('continue after one that failed', async () => {
    const { clock, maintenance, start } = setUp()
    maintenance.peek.rule = () => Promise.reject(REDIS_AWAY)
    await start()
    await clock.advance(200)
    expect(maintenance.peek.calls).toHaveLength(2)
    maintenance.peek.rule = () => ({ runnable: false, nextDueMs: null })
    await clock.advance(200)
    expect(maintenance.peek.calls).toHaveLength(3)
  })
})

describe('promotes', () => {
  test('at the due time that a peek saw', async () => {
    const { clock, maintenance, start, woken } = setUp()
    maintenance.peek.rule = () => ({ runnable: false, nextDueMs: FAKE_EPOCH_MS + 120 })
    maintenance.promote.rule = () => ({ promoted: 1, nextDueMs: null })
    await start()
    await clock.advance(119)
    expect(maintenance.promote.calls).toEqual([])
    await clock.advance(1)
    expect(maintenance.promote.calls).toHaveLength(1)
    expect(woken()).toBe(1)
  })

  test('at the due time that a claim saw', async () => {
    const { clock, maintenance, promoter, start } = setUp()
    await start()
    maintenance.peek.rule = () => ({ runnable: false, nextDueMs: FAKE_EPOCH_MS + 300 })
    promoter.noteNextDue(FAKE_EPOCH_MS + 300)
    await clock.advance(299)
    expect(maintenance.promote.calls).toEqual([])
    await clock.advance(1)
    expect(maintenance.promote.calls).toHaveLength(1)
  })

  test('again at once while more is due', async () => {
    const { clock, maintenance, start } = setUp()
    let left = 3
    maintenance.peek.rule = () => ({ runnable: false, nextDueMs: FAKE_EPOCH_MS })
    maintenance.promote.rule = () => {
      left -= 1
      return { promoted: 500, nextDueMs: left > 0 ? FAKE_EPOCH_MS : null }
    }
    await start()
    await clock.advance(0)
    expect(maintenance.promote.calls).toHaveLength(3)
    expect(maintenance.peek.calls).toHaveLength(1)
  })

  test('after a failure again only after 200 ms', async () => {
    const { clock, maintenance, start } = setUp()
    maintenance.peek.rule = () => ({ runnable: false, nextDueMs: FAKE_EPOCH_MS })
    maintenance.promote.rule = () => Promise.reject(REDIS_AWAY)
    await start()
    await clock.advance(199)
    expect(maintenance.promote.calls).toHaveLength(1)
    await clock.advance(1)
    expect(maintenance.promote.calls).toHaveLength(2)
  })

  test('wakes nobody when another executor was faster', async () => {
    const { clock, maintenance, promoter, start, woken } = setUp()
    await start()
    maintenance.peek.rule = () => ({ runnable: false, nextDueMs: FAKE_EPOCH_MS + 10 })
    promoter.noteNextDue(FAKE_EPOCH_MS + 10)
    await clock.advance(10)
    expect(maintenance.promote.calls).toHaveLength(1)
    expect(woken()).toBe(0)
  })
})

test('a later due time, or none, neither replaces an earlier one nor wakes the loop', async () => {
  const { clock, maintenance, promoter, start } = setUp()
  maintenance.peek.rule = () => ({ runnable: false, nextDueMs: FAKE_EPOCH_MS + 100 })
  await start()
  promoter.noteNextDue(FAKE_EPOCH_MS + 400)
  promoter.noteNextDue(FAKE_EPOCH_MS + 100)
  promoter.noteNextDue(null)
  await clock.advance(99)
  expect(maintenance.peek.calls).toHaveLength(1)
  await clock.advance(1)
  expect(maintenance.promote.calls).toHaveLength(1)
})

describe('stop', () => {
  test('waits for the peek in progress', async () => {
    const { maintenance, promoter, start } = setUp()
    maintenance.peek.rule = null
    await start()
    let isStopped = false
    const stopping = promoter.stop().then(() => (isStopped = true))
    await quiescence()
    expect(isStopped).toBe(false)
    maintenance.peek.next.answer({ runnable: false, nextDueMs: null })
    await stopping
  })

  test('ends a sleep at once and leaves no timer', async () => {
    const { clock, promoter, start } = setUp()
    await start()
    await promoter.stop()
    expect(clock.timers).toBe(0)
  })

  test('ends the sleep after a failure too', async () => {
    const { clock, maintenance, promoter, start } = setUp()
    maintenance.peek.rule = () => Promise.reject(REDIS_AWAY)
    await start()
    await promoter.stop()
    expect(clock.timers).toBe(0)
    expect(maintenance.peek.calls).toHaveLength(1)
  })
})
