import { describe, expect, test } from 'vitest'
import { StorageFullError } from '../../../../src/domain/errors.ts'
import { Reaper } from '../../../../src/executor/shard/reaper.ts'
import type { Logger } from '../../../../src/ports/runtime.ts'
import { createFakeClock, quiescence } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { createFakeMaintenance, REDIS_AWAY } from '../executor-fixture.ts'

function setUp(options: { random?: number; logger?: Logger } = {}) {
  const clock = createFakeClock()
  const maintenance = createFakeMaintenance()
  let woken = 0
  const reaper = new Reaper({
    maintenance,
    clock,
    logger: options.logger ?? quietLogger,
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
})

describe('sweeps', () => {
  test('every 10 s', async () => {
    const { clock, maintenance, reaper } = setUp({ random: 0.999 })
    reaper.start()
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
    const { clock, maintenance, reaper } = setUp()
    let pieces = 3
    maintenance.sweep.rule = () => {
      pieces -= 1
      return { isMore: pieces > 0 }
    }
    reaper.start()
    await clock.advance(49)
    expect(maintenance.sweep.calls).toHaveLength(1)
    await clock.advance(1)
    expect(maintenance.sweep.calls).toHaveLength(2)
    await clock.advance(50)
    expect(maintenance.sweep.calls).toHaveLength(3)
    await clock.advance(1_000)
    expect(maintenance.sweep.calls).toHaveLength(3)
  })

  test('follow a reap that failed', async () => {
    const { clock, maintenance, reaper } = setUp()
    maintenance.reap.rule = () => Promise.reject(REDIS_AWAY)
    reaper.start()
    await clock.advance(0)
    expect(maintenance.sweep.calls).toHaveLength(1)
  })
})

test('a defect is logged once until it ends, an outage is not', async () => {
  const errors: unknown[] = []
  const logger = { ...quietLogger, error: (_: string, fields?: object) => void errors.push(fields) }
  const { clock, maintenance, reaper } = setUp({ logger })
  const defect = new Error('ERR wrong number of arguments')
  const faults: Array<Error | null> = [REDIS_AWAY, new StorageFullError(), defect, defect, null, defect]
  maintenance.reap.rule = () => {
    const fault = faults.shift() ?? null
    return fault === null ? { jobs: 0, executors: 0 } : Promise.reject(fault)
  }
  reaper.start()
  await clock.advance(12_000)
  expect(faults).toEqual([])
  const logged = { what: 'reap', shard: 0, reason: defect.message }
  expect(errors).toEqual([logged, logged])
})

describe('stop', () => {
  test('ends a sleep at once and leaves no timer', async () => {
    const { clock, reaper } = setUp()
    reaper.start()
    await clock.advance(100)
    await reaper.stop()
    expect(clock.timers).toBe(0)
  })

  test('waits for the reap in progress and does not sweep', async () => {
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
    expect(maintenance.sweep.calls).toEqual([])
  })

  test('waits for the sweep in progress', async () => {
    const { clock, maintenance, reaper } = setUp()
    maintenance.sweep.rule = null
    reaper.start()
    await clock.advance(0)
    let isStopped = false
    const stopping = reaper.stop().then(() => (isStopped = true))
    await quiescence()
    expect(isStopped).toBe(false)
    maintenance.sweep.next.answer({ isMore: true })
    await stopping
    expect(maintenance.sweep.calls).toHaveLength(1)
  })

  test('before start resolves at once', async () => {
    const { clock, reaper } = setUp()
    await reaper.stop()
    expect(clock.timers).toBe(0)
  })
})
