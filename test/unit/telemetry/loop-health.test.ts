import { expect, test } from 'vitest'
import { StorageFullError, StoreUnavailableError } from '../../../src/domain/errors.ts'
import { createLoopHealth } from '../../../src/telemetry/loop-health.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { createRecordingLogger } from '../executor/executor-fixture.ts'

const DEFECT = new Error('CST is no time zone')

function setUp() {
  const clock = createFakeClock()
  const logger = createRecordingLogger()
  const { metrics, render } = createMetrics({ processMetrics: false })
  const { loops, check } = createLoopHealth({ clock, logger, metrics })
  const series = async (name: string): Promise<string[]> => {
    const { body } = await render()
    return body.split('\n').filter((line) => line.startsWith(`${name}{`) && !line.endsWith(' 0'))
  }
  const told = () =>
    logger.lines
      .filter(({ level }) => level !== 'debug')
      .map(({ level, message, fields }) => `${level} ${message} ${JSON.stringify(fields)}`)
  return { clock, loops, check, series, told }
}

test('from the third failure in a row on, a loop is named by the check, the metric and one log line', async () => {
  const { loops, check, series, told } = setUp()
  const turns = loops.of('claim', 3)
  expect([turns.failed(DEFECT), turns.failed(DEFECT)]).toEqual([250, 500])
  expect(check.failure()).toBeNull()
  expect(await series('punctual_loops_failing')).toEqual([])
  expect(turns.failed(DEFECT)).toBe(1_000)
  expect(check.failure()).toBe('failing turn after turn: claim (shard 3)')
  expect(await series('punctual_loops_failing')).toEqual(['punctual_loops_failing{loop="claim"} 1'])
  for (let i = 0; i < 10; i += 1) turns.failed(DEFECT)
  expect(await series('punctual_loop_failures_total')).toEqual([
    'punctual_loop_failures_total{loop="claim"} 13',
  ])
  const fields = '{"loop":"claim","shard":3,"reason":"CST is no time zone"}'
  expect(told()).toEqual([
    `error A turn of a loop failed because of a defect ${fields}`,
    `error A loop fails turn after turn because of a defect ${fields}`,
  ])
})

test('a job that cannot end is told by the metric and the log, and leaves the process ready', async () => {
  const { loops, check, series, told } = setUp()
  const turns = loops.of('finish', 0)
  for (let i = 0; i < 10; i += 1) turns.failed(DEFECT)
  expect(check.failure()).toBeNull()
  expect(await series('punctual_loops_failing')).toEqual(['punctual_loops_failing{loop="finish"} 1'])
  expect(told()).toHaveLength(2)
})

test('one success clears it, and only of that loop and shard', async () => {
  const { loops, check, series, told } = setUp()
  for (const shard of [0, 1]) for (let i = 0; i < 3; i += 1) loops.of('claim', shard).failed(DEFECT)
  for (let i = 0; i < 3; i += 1) loops.of('notify', null).failed(DEFECT)
  loops.of('claim', 0).succeeded()
  expect(check.failure()).toBe('failing turn after turn: claim (shard 1), notify')
  expect(await series('punctual_loops_failing')).toEqual([
    'punctual_loops_failing{loop="claim"} 1',
    'punctual_loops_failing{loop="notify"} 1',
  ])
  expect(told().at(-1)).toBe('info A loop works again {"loop":"claim","shard":0}')
  expect(loops.of('claim', 0).failed(DEFECT)).toBe(250)
  loops.of('claim', 1).succeeded()
  loops.of('notify', null).succeeded()
  expect(check.failure()).toBeNull()
})

test('a Redis that is away or full is no defect, and neither ends a row of defects nor belongs to it', async () => {
  const { loops, check, series, told } = setUp()
  const turns = loops.of('tick', 0)
  for (let i = 0; i < 5; i += 1) {
    expect(turns.failed(new StoreUnavailableError('Redis is away'))).toBeNull()
    expect(turns.failed(new StorageFullError())).toBeNull()
  }
  expect([check.failure(), await series('punctual_loop_failures_total'), told()]).toEqual([null, [], []])
  turns.failed(DEFECT)
  turns.failed(DEFECT)
  turns.failed(new StoreUnavailableError('Redis is away'))
  turns.failed(DEFECT)
  expect(check.failure()).not.toBeNull()
})

test('the waits double up to 30 s', () => {
  const turns = setUp().loops.of('reap', 0)
  const waits = Array.from({ length: 10 }, () => turns.failed(DEFECT))
  expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000])
  for (let i = 0; i < 2_000; i += 1) expect(turns.failed(DEFECT)).toBe(30_000)
})

test('a loop that fails every other turn is logged once a minute', async () => {
  const { clock, loops, told } = setUp()
  const turns = loops.of('bulk', 0)
  for (let i = 0; i < 120; i += 1) {
    turns.failed(DEFECT)
    turns.succeeded()
    await clock.advance(1_000)
  }
  expect(told()).toHaveLength(2)
})

test('five loops are named, and the others counted', () => {
  const { loops, check } = setUp()
  for (let shard = 0; shard < 16; shard += 1)
    for (let i = 0; i < 3; i += 1) loops.of('sweep', shard).failed(DEFECT)
  expect(check.failure()).toMatch(/: sweep \(shard 0\), .*sweep \(shard 4\) and 11 more$/)
})
