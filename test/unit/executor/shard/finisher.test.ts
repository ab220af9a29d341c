import { describe, expect, test } from 'vitest'
import { FINISH_BATCH_MAX } from '../../../../src/domain/limits.ts'
import { Finisher } from '../../../../src/executor/shard/finisher.ts'
import type { WorkEnd } from '../../../../src/ports/jobs.ts'
import { createFakeClock, quiescence } from '../../../support/fake-clock.ts'
import {
  claimedJob,
  createFakeSource,
  createRecordingLogger,
  REDIS_AWAY,
  succeeded,
} from '../executor-fixture.ts'

function ends(count: number, from = 0): WorkEnd[] {
  return Array.from({ length: count }, (_, i) => succeeded(claimedJob({ jobId: from + i })))
}

function setUp() {
  const clock = createFakeClock()
  const source = createFakeSource()
  source.finish.rule = null
  const logger = createRecordingLogger()
  const settled: string[] = []
  const faults: unknown[] = []
  const finisher = new Finisher<number>({
    source,
    clock,
    logger,
    onSettled: (batch, outcomes) => {
      batch.forEach(({ held }, i) => settled.push(`${held}:${outcomes[i]}`))
    },
    onFault: (error) => faults.push(error),
  })
  const add = async (more: readonly WorkEnd[]) => {
    for (const end of more) finisher.add(end, end.work.jobId)
    await quiescence()
  }
  return { clock, source, logger, settled, faults, finisher, add }
}

describe('batches', () => {
  test('ends of the same event-loop turn share one', async () => {
    const { source, settled, finisher, add } = setUp()
    expect(finisher.isIdle()).toBe(true)
    const all = ends(3)
    await add(all)
    expect(source.finish.calls.map((call) => call.args[0])).toEqual([all])
    expect(finisher.isIdle()).toBe(false)
    source.finish.next.answer(['done', 'stale', 'done'])
    await quiescence()
    expect(settled).toEqual(['0:done', '1:stale', '2:done'])
    expect(finisher.isIdle()).toBe(true)
  })

  test('one is in progress at a time, while the next one fills', async () => {
    const { source, add } = setUp()
    await add(ends(1))
    await add(ends(2, 10))
    await add(ends(2, 20))
    expect(source.finish.calls).toHaveLength(1)
    source.finish.next.answer(['done'])
    await quiescence()
    expect(source.finish.calls).toHaveLength(2)
    expect(source.finish.next.args[0].map((end) => end.work.jobId)).toEqual([10, 11, 20, 21])
  })

  test('hold at most 64 ends, in their order', async () => {
    const { source, settled, add } = setUp()
    source.finish.rule = (batch) => batch.map(() => 'done')
    await add(ends(150))
    expect(source.finish.calls.map((call) => call.args[0].length)).toEqual([
      FINISH_BATCH_MAX,
      FINISH_BATCH_MAX,
      150 - 2 * FINISH_BATCH_MAX,
    ])
    expect(settled).toEqual(Array.from({ length: 150 }, (_, i) => `${i}:done`))
  })
})

describe('while Redis is away', () => {
  test('the same batch is resent and nothing is settled', async () => {
    const { clock, source, settled, faults, add } = setUp()
    await add(ends(2))
    const [sent] = source.finish.next.args
    for (let times = 0; times < 5; times += 1) {
      source.finish.next.fail(REDIS_AWAY)
      await clock.advance(99)
      expect(source.finish.calls).toHaveLength(times + 1)
      await clock.advance(1)
      expect(source.finish.next.args[0]).toBe(sent)
    }
    await add(ends(1, 10))
    expect(settled).toEqual([])
    source.finish.next.answer(['done', 'done'])
    await quiescence()
    expect(settled).toEqual(['0:done', '1:done'])
    expect(source.finish.next.args[0].map((end) => end.work.jobId)).toEqual([10])
    expect(faults).toEqual([])
  })

  test('discard settles the waiting ends as stale after the send in progress', async () => {
    const { clock, source, settled, finisher, add } = setUp()
    await add(ends(70))
    finisher.discard()
    await quiescence()
    expect(settled).toEqual([])
    source.finish.next.fail(REDIS_AWAY)
    await clock.advance(100)
    expect(settled).toEqual(Array.from({ length: 70 }, (_, i) => `${i}:stale`))
    expect(source.finish.calls).toHaveLength(1)
    expect(finisher.isIdle()).toBe(true)
  })
})

test('an end after discard is settled as stale and not sent', async () => {
  const { source, settled, finisher, add } = setUp()
  finisher.discard()
  await add(ends(1))
  expect(settled).toEqual(['0:stale'])
  expect(source.finish.calls).toEqual([])
})

test('a fault that a retry does not fix is reported, and its batch is settled as stale', async () => {
  const { source, settled, faults, logger, add } = setUp()
  await add(ends(1))
  const fault = new Error('WRONGTYPE')
  source.finish.next.fail(fault)
  await quiescence()
  expect(faults).toEqual([fault])
  expect(settled).toEqual(['0:stale'])
  expect(logger.lines).toEqual([
    { level: 'error', message: 'Ended jobs could not be written', fields: { reason: 'WRONGTYPE' } },
  ])
})

test('an answer that is too short leaves the rest stale', async () => {
  const { source, settled, add } = setUp()
  await add(ends(2))
  source.finish.next.answer(['done'])
  await quiescence()
  expect(settled).toEqual(['0:done', '1:stale'])
})
