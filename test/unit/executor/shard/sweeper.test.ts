import { describe, expect, test } from 'vitest'
import { StatisticsKeeper } from '../../../../src/executor/shard/statistics-keeper.ts'
import { Sweeper } from '../../../../src/executor/shard/sweeper.ts'
import { createFakeClock, quiescence } from '../../../support/fake-clock.ts'
import { loopsOf } from '../../../support/loops.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { createFakeMaintenance, REDIS_AWAY } from '../executor-fixture.ts'

function setUp(random = 0) {
  const clock = createFakeClock()
  const maintenance = createFakeMaintenance()
  const options = { maintenance, clock, loops: loopsOf({ clock, logger: quietLogger }), random: () => random }
  return { clock, maintenance, sweeper: new Sweeper(options), keeper: new StatisticsKeeper(options) }
}

describe('sweeps', () => {
  test('every 10 s', async () => {
    const { clock, maintenance, sweeper } = setUp(0.999)
    sweeper.start()
    await clock.advance(9_980)
    expect(maintenance.sweep.calls).toEqual([])
    await clock.advance(20)
    expect(maintenance.sweep.calls).toHaveLength(1)
    await clock.advance(9_000)
    expect(maintenance.sweep.calls).toHaveLength(1)
    await clock.advance(1_000)
    expect(maintenance.sweep.calls).toHaveLength(2)
  })

  test('after a pause of 50 ms while there is more', async () => {
    const { clock, maintenance, sweeper } = setUp()
    let pieces = 3
    maintenance.sweep.rule = () => {
      pieces -= 1
      return { isMore: pieces > 0 }
    }
    sweeper.start()
    await clock.advance(49)
    expect(maintenance.sweep.calls).toHaveLength(1)
    await clock.advance(1)
    expect(maintenance.sweep.calls).toHaveLength(2)
    await clock.advance(50)
    expect(maintenance.sweep.calls).toHaveLength(3)
    await clock.advance(1_000)
    expect(maintenance.sweep.calls).toHaveLength(3)
  })

  test('are retried after 10 s while Redis is away', async () => {
    const { clock, maintenance, sweeper } = setUp()
    maintenance.sweep.rule = () => Promise.reject(REDIS_AWAY)
    sweeper.start()
    await clock.advance(9_999)
    expect(maintenance.sweep.calls).toHaveLength(1)
    await clock.advance(1)
    expect(maintenance.sweep.calls).toHaveLength(2)
  })

  test('a stop waits for the one in progress', async () => {
    const { clock, maintenance, sweeper } = setUp()
    maintenance.sweep.rule = null
    sweeper.start()
    await clock.advance(0)
    let isStopped = false
    const stopping = sweeper.stop().then(() => (isStopped = true))
    await quiescence()
    expect(isStopped).toBe(false)
    maintenance.sweep.next.answer({ isMore: true })
    await stopping
    expect(maintenance.sweep.calls).toHaveLength(1)
  })
})

test('statistics are kept every 2 s, and a defect in them is retried', async () => {
  const { clock, maintenance, keeper } = setUp()
  keeper.start()
  await clock.advance(4_000)
  expect(maintenance.runMinuteRound.calls).toHaveLength(3)
  maintenance.runMinuteRound.rule = () => Promise.reject(new Error('a bad day'))
  await clock.advance(2_250)
  expect(maintenance.runMinuteRound.calls).toHaveLength(5)
  await keeper.stop()
  expect(clock.timers).toBe(0)
})
