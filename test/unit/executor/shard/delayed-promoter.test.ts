import { describe, expect, test } from 'vitest'
import { createDelayedPromoter } from '../../../../src/executor/shard/delayed-promoter.ts'
import { createFakeClock, FAKE_EPOCH_MS, quiescence } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { createFakeUpkeep, REDIS_AWAY } from '../executor-fixture.ts'

function setUp() {
  const clock = createFakeClock()
  const upkeep = createFakeUpkeep()
  let [woken, nudged] = [0, 0]
  const watcher = createDelayedPromoter({
    upkeep,
    clock,
    logger: quietLogger,
    redisNowMs: () => clock.wallMs(),
    news: { wake: () => (woken += 1), nudge: () => (nudged += 1) },
  })
  return {
    clock,
    upkeep,
    watcher,
    start: async () => {
      watcher.start()
      await quiescence()
    },
    woken: () => woken,
    nudged: () => nudged,
  }
}

describe('looks', () => {
  test('at once, then every 500 ms', async () => {
    const { clock, upkeep, start } = setUp()
    await start()
    expect(upkeep.peek.calls).toHaveLength(1)
    await clock.advance(499)
    expect(upkeep.peek.calls).toHaveLength(1)
    await clock.advance(1)
    expect(upkeep.peek.calls).toHaveLength(2)
    await clock.advance(5_000)
    expect(upkeep.peek.calls).toHaveLength(12)
    expect(upkeep.promote.calls).toEqual([])
  })

  test('tell of what can be claimed, new or not', async () => {
    const { clock, upkeep, start, woken, nudged } = setUp()
    await start()
    expect(nudged()).toBe(0)
    upkeep.peek.rule = () => ({ runnable: true, nextDueMs: null })
    await clock.advance(500)
    expect(nudged()).toBe(1)
    expect(woken()).toBe(0)
  })

  test('go on after one that failed', async () => {
    const { clock, upkeep, start } = setUp()
    upkeep.peek.rule = () => Promise.reject(REDIS_AWAY)
    await start()
    await clock.advance(200 + 500)
    expect(upkeep.peek.calls).toHaveLength(2)
    upkeep.peek.rule = () => ({ runnable: false, nextDueMs: null })
    await clock.advance(700)
    expect(upkeep.peek.calls).toHaveLength(3)
  })
})

describe('promotes', () => {
  test('the moment a look’s due time comes', async () => {
    const { clock, upkeep, start, woken } = setUp()
    upkeep.peek.rule = () => ({ runnable: false, nextDueMs: FAKE_EPOCH_MS + 120 })
    upkeep.promote.rule = () => ({ promoted: 1, nextDueMs: null })
    await start()
    await clock.advance(119)
    expect(upkeep.promote.calls).toEqual([])
    await clock.advance(1)
    expect(upkeep.promote.calls).toHaveLength(1)
    expect(woken()).toBe(1)
  })

  test('the moment a due time comes that a claim saw', async () => {
    const { clock, upkeep, watcher, start } = setUp()
    await start()
    upkeep.peek.rule = () => ({ runnable: false, nextDueMs: FAKE_EPOCH_MS + 300 })
    watcher.noteNextDue(FAKE_EPOCH_MS + 300)
    await clock.advance(299)
    expect(upkeep.promote.calls).toEqual([])
    await clock.advance(1)
    expect(upkeep.promote.calls).toHaveLength(1)
  })

  test('again at once while more is due', async () => {
    const { clock, upkeep, start } = setUp()
    let left = 3
    upkeep.peek.rule = () => ({ runnable: false, nextDueMs: FAKE_EPOCH_MS })
    upkeep.promote.rule = () => {
      left -= 1
      return { promoted: 500, nextDueMs: left > 0 ? FAKE_EPOCH_MS : null }
    }
    await start()
    await clock.advance(0)
    expect(upkeep.promote.calls).toHaveLength(3)
    expect(upkeep.peek.calls).toHaveLength(1)
  })

  test('wakes nobody when another executor was quicker', async () => {
    const { clock, upkeep, watcher, start, woken } = setUp()
    await start()
    upkeep.peek.rule = () => ({ runnable: false, nextDueMs: FAKE_EPOCH_MS + 10 })
    watcher.noteNextDue(FAKE_EPOCH_MS + 10)
    await clock.advance(10)
    expect(upkeep.promote.calls).toHaveLength(1)
    expect(woken()).toBe(0)
  })
})

test('a later due time, or none, neither replaces an earlier one nor wakes the loop', async () => {
  const { clock, upkeep, watcher, start } = setUp()
  upkeep.peek.rule = () => ({ runnable: false, nextDueMs: FAKE_EPOCH_MS + 100 })
  await start()
  watcher.noteNextDue(FAKE_EPOCH_MS + 400)
  watcher.noteNextDue(FAKE_EPOCH_MS + 100)
  watcher.noteNextDue(null)
  await clock.advance(99)
  expect(upkeep.peek.calls).toHaveLength(1)
  await clock.advance(1)
  expect(upkeep.promote.calls).toHaveLength(1)
})

describe('stop', () => {
  test('waits for the look that is under way', async () => {
    const { upkeep, watcher, start } = setUp()
    upkeep.peek.rule = null
    await start()
    let isStopped = false
    const stopping = watcher.stop().then(() => (isStopped = true))
    await quiescence()
    expect(isStopped).toBe(false)
    upkeep.peek.next.answer({ runnable: false, nextDueMs: null })
    await stopping
  })

  test('ends a rest at once and leaves no timer', async () => {
    const { clock, watcher, start } = setUp()
    await start()
    await watcher.stop()
    expect(clock.timers).toBe(0)
  })

  test('ends the rest after a failure too', async () => {
    const { clock, upkeep, watcher, start } = setUp()
    upkeep.peek.rule = () => Promise.reject(REDIS_AWAY)
    await start()
    await watcher.stop()
    expect(clock.timers).toBe(0)
    expect(upkeep.peek.calls).toHaveLength(1)
  })
})
