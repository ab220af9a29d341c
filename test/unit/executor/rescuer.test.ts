import { describe, expect, test } from 'vitest'
import { StorageFullError } from '../../../src/domain/errors.ts'
import { createRescuer } from '../../../src/executor/rescuer.ts'
import type { Logger } from '../../../src/ports/logger.ts'
import { createFakeClock, quiescence } from '../../support/fake-clock.ts'
import { quietLogger } from '../../support/quiet.ts'
import { createFakeUpkeep, REDIS_AWAY } from './executor-fixture.ts'

function setUp(options: { random?: number; shards?: number; logger?: Logger } = {}) {
  const clock = createFakeClock()
  const upkeeps = Array.from({ length: options.shards ?? 2 }, (_, shard) => createFakeUpkeep(shard))
  const reaped: number[] = []
  const rescuer = createRescuer({
    upkeeps,
    clock,
    logger: options.logger ?? quietLogger,
    random: () => options.random ?? 0,
    onReaped: (shard) => reaped.push(shard),
  })
  const [first, second] = upkeeps
  if (first === undefined || second === undefined) throw new Error('two shards at least')
  return { clock, upkeeps, first, second, reaped, rescuer }
}

describe('reaps', () => {
  test('every shard, every 2 s', async () => {
    const { clock, first, second, rescuer } = setUp()
    rescuer.start()
    await clock.advance(0)
    expect(first.reap.calls).toHaveLength(1)
    await clock.advance(1_999)
    expect(first.reap.calls).toHaveLength(1)
    await clock.advance(1)
    expect(first.reap.calls).toHaveLength(2)
    expect(second.reap.calls).toHaveLength(2)
  })

  test('one shard after another', async () => {
    const { clock, first, second, rescuer } = setUp()
    first.reap.rule = null
    rescuer.start()
    await clock.advance(0)
    expect(second.reap.calls).toEqual([])
    first.reap.next.answer({ jobs: 0, executors: 0 })
    await quiescence()
    expect(second.reap.calls).toHaveLength(1)
  })

  test('begin after a time drawn for this executor', async () => {
    const { clock, first, rescuer } = setUp({ random: 0.5 })
    rescuer.start()
    await clock.advance(999)
    expect(first.reap.calls).toEqual([])
    await clock.advance(1)
    expect(first.reap.calls).toHaveLength(1)
  })

  test('tell of the shards that got jobs back', async () => {
    const { clock, second, reaped, rescuer } = setUp({ shards: 3 })
    second.reap.rule = () => ({ jobs: 2, executors: 1 })
    rescuer.start()
    await clock.advance(0)
    expect(reaped).toEqual([1])
  })

  test('go on with the next shard when one fails, and try it again in the next round', async () => {
    const { clock, first, second, rescuer } = setUp()
    first.reap.rule = () => Promise.reject(REDIS_AWAY)
    rescuer.start()
    await clock.advance(2_000)
    expect(first.reap.calls).toHaveLength(2)
    expect(second.reap.calls).toHaveLength(2)
  })
})

describe('sweeps', () => {
  test('every 10 s', async () => {
    const { clock, first, second, rescuer } = setUp({ random: 0.999 })
    rescuer.start()
    await clock.advance(9_980)
    expect(first.sweep.calls).toEqual([])
    await clock.advance(20)
    expect(first.sweep.calls).toHaveLength(1)
    await clock.advance(9_000)
    expect(first.sweep.calls).toHaveLength(1)
    await clock.advance(1_000)
    expect(first.sweep.calls).toHaveLength(2)
    expect(second.sweep.calls).toHaveLength(2)
  })

  test('after a pause of 50 ms while a shard has more', async () => {
    const { clock, first, second, rescuer } = setUp()
    let pieces = 3
    second.sweep.rule = () => {
      pieces -= 1
      return { isMore: pieces > 0 }
    }
    rescuer.start()
    await clock.advance(49)
    expect(second.sweep.calls).toHaveLength(1)
    await clock.advance(1)
    expect(second.sweep.calls).toHaveLength(2)
    await clock.advance(50)
    expect(second.sweep.calls).toHaveLength(3)
    await clock.advance(1_000)
    expect(first.sweep.calls).toHaveLength(3)
  })

  test('go on with the next shard when one fails', async () => {
    const { clock, first, second, rescuer } = setUp()
    first.sweep.rule = () => Promise.reject(REDIS_AWAY)
    rescuer.start()
    await clock.advance(0)
    expect(second.sweep.calls).toHaveLength(1)
  })
})

test('a defect is told once as long as it lasts, an outage is not', async () => {
  const errors: unknown[] = []
  const logger = { ...quietLogger, error: (_: string, fields?: object) => void errors.push(fields) }
  const { clock, first, rescuer } = setUp({ logger })
  const defect = new Error('ERR wrong number of arguments')
  const faults: Array<Error | null> = [REDIS_AWAY, new StorageFullError(), defect, defect, null, defect]
  first.reap.rule = () => {
    const fault = faults.shift() ?? null
    return fault === null ? { jobs: 0, executors: 0 } : Promise.reject(fault)
  }
  rescuer.start()
  await clock.advance(12_000)
  expect(faults).toEqual([])
  const told = { what: 'reap', shard: 0, reason: defect.message }
  expect(errors).toEqual([told, told])
})

describe('stop', () => {
  test('ends a rest at once and leaves no timer', async () => {
    const { clock, rescuer } = setUp()
    rescuer.start()
    await clock.advance(100)
    await rescuer.stop()
    expect(clock.timers).toBe(0)
  })

  test('waits for the shard that is being reaped and begins no other', async () => {
    const { clock, first, second, rescuer } = setUp()
    first.reap.rule = null
    rescuer.start()
    await clock.advance(0)
    let isStopped = false
    const stopping = rescuer.stop().then(() => (isStopped = true))
    await quiescence()
    expect(isStopped).toBe(false)
    first.reap.next.answer({ jobs: 0, executors: 0 })
    await stopping
    expect(second.reap.calls).toEqual([])
    expect(first.sweep.calls).toEqual([])
  })

  test('waits for the shard that is being swept and begins no other', async () => {
    const { clock, first, second, rescuer } = setUp()
    first.sweep.rule = null
    rescuer.start()
    await clock.advance(0)
    const stopping = rescuer.stop()
    first.sweep.next.answer({ isMore: true })
    await stopping
    expect(second.sweep.calls).toEqual([])
  })

  test('before start is at rest at once', async () => {
    const { clock, rescuer } = setUp()
    await rescuer.stop()
    expect(clock.timers).toBe(0)
  })
})
