import { describe, expect, test } from 'vitest'
import { Reaper } from '../../../../src/executor/shard/reaper.ts'
import { createFakeClock, quiescence } from '../../../support/fake-clock.ts'
import { loopsOf } from '../../../support/loops.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { createFakeMaintenance, REDIS_AWAY } from '../executor-fixture.ts'

function setUp(options: { random?: number } = {}) {
  const clock = createFakeClock()
  const maintenance = createFakeMaintenance()
  let woken = 0
  const reaper = new Reaper({
    maintenance,
    clock,
    loops: loopsOf({ clock, logger: quietLogger }),
    random: () => options.random ?? 0,
    onWork: () => (woken += 1),
  })
  return { clock, maintenance, woken: () => woken, reaper }
}

describe('reaps', () => {
  test('every 2 s', async () => {
    const { clock, maintenance, reaper } = setUp()
    reaper.start()
    await clock.advance(0)
    expect(maintenance.reap.calls).toHaveLength(1)
    await clock.advance(1_999)
    expect(maintenance.reap.calls).toHaveLength(1)
    await clock.advance(1)
    expect(maintenance.reap.calls).toHaveLength(2)
  })

  test('begin after a time drawn for this executor', async () => {
    const { clock, maintenance, reaper } = setUp({ random: 0.5 })
    reaper.start()
    await clock.advance(999)
    expect(maintenance.reap.calls).toEqual([])
    await clock.advance(1)
    expect(maintenance.reap.calls).toHaveLength(1)
  })

  test('tell when jobs came back', async () => {
    const { clock, maintenance, woken, reaper } = setUp()
    reaper.start()
    await clock.advance(0)
    expect(woken()).toBe(0)
    maintenance.reap.rule = () => ({ jobs: 2, executors: 1 })
    await clock.advance(2_000)
    expect(woken()).toBe(1)
  })

  test('are retried after a failure', async () => {
    const { clock, maintenance, reaper } = setUp()
    maintenance.reap.rule = () => Promise.reject(REDIS_AWAY)
    reaper.start()
    await clock.advance(2_000)
    expect(maintenance.reap.calls).toHaveLength(2)
  })

  test('are retried sooner after a defect, because jobs wait for them', async () => {
    const { clock, maintenance, reaper } = setUp()
    maintenance.reap.rule = () => Promise.reject(new Error('ERR wrong number of arguments'))
    reaper.start()
    await clock.advance(1_000)
    expect(maintenance.reap.calls).toHaveLength(3)
  })
})

describe('stop', () => {
  test('ends a sleep at once and leaves no timer', async () => {
    const { clock, reaper } = setUp()
    reaper.start()
    await clock.advance(100)
    await reaper.stop()
    expect(clock.timers).toBe(0)
  })

  test('waits for the reap in progress and begins no other', async () => {
    const { clock, maintenance, reaper } = setUp()
    maintenance.reap.rule = null
    reaper.start()
    await clock.advance(0)
    let isStopped = false
    const stopping = reaper.stop().then(() => (isStopped = true))
    await quiescence()
    expect(isStopped).toBe(false)
    maintenance.reap.next.answer({ jobs: 0, executors: 0 })
    await stopping
    expect(maintenance.reap.calls).toHaveLength(1)
  })

  test('before start resolves at once', async () => {
    const { clock, reaper } = setUp()
    await reaper.stop()
    expect(clock.timers).toBe(0)
  })
})
