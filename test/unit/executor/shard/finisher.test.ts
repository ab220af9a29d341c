import { describe, expect, test } from 'vitest'
import { reasonOf, StorageFullError } from '../../../../src/domain/errors.ts'
import { FINISH_BATCH_MAX } from '../../../../src/domain/limits.ts'
import { Finisher } from '../../../../src/executor/shard/finisher.ts'
import type { WorkEnd } from '../../../../src/ports/jobs.ts'
import { createLoopHealth } from '../../../../src/telemetry/loop-health.ts'
import { createFakeClock, quiescence } from '../../../support/fake-clock.ts'
import { quietLogger, quietMetrics } from '../../../support/quiet.ts'
import { claimedJob, createFakeSource, REDIS_AWAY, succeeded } from '../executor-fixture.ts'

function ends(count: number, from = 0): WorkEnd[] {
  return Array.from({ length: count }, (_, i) => succeeded(claimedJob({ jobId: from + i })))
}

function setUp() {
  const clock = createFakeClock()
  const source = createFakeSource()
  source.finish.rule = null
  const settled: string[] = []
  /** What was told of defects and of tries that failed. */
  const told: string[] = []
  const wish = { onSettled: (): void => undefined }
  const iterations = createLoopHealth({ clock, logger: quietLogger, metrics: quietMetrics }).loops.of(
    'finish',
    0,
  )
  const finisher = new Finisher<number>({
    source,
    clock,
    noteDefect: (part, error, { jobId }) => told.push(`${part} of ${jobId}: ${reasonOf(error)}`),
    iterations: {
      succeeded: () => {
        told.push('held back no more')
        iterations.succeeded()
      },
      failed: (error) => {
        const pauseMs = iterations.failed(error)
        told.push(`held back for ${pauseMs}: ${reasonOf(error)}`)
        return pauseMs
      },
    },
    onSettled: (batch, codes) => {
      batch.forEach(({ end, entry }, i) => {
        settled.push(`${entry}:${end.type === 'quarantined' ? 'quarantined ' : ''}${codes[i]}`)
      })
      wish.onSettled()
    },
  })
  const add = async (more: readonly WorkEnd[]) => {
    for (const end of more) finisher.add(end, end.work.jobId)
    await quiescence()
  }
  return { clock, source, settled, told, wish, finisher, add }
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
    const { clock, source, settled, told, add } = setUp()
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
    expect(told).toEqual([])
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

describe('an end that throws', () => {
  const BAD = 5
  /** A shard that cannot write these ends, whatever stands beside them. */
  const throwFor =
    (isBad: (end: WorkEnd) => boolean) =>
    (batch: readonly WorkEnd[]): Promise<'done'[]> | Array<'done'> =>
      batch.some(isBad) ? Promise.reject(new Error('no JSON')) : batch.map(() => 'done' as const)
  const isBad = ({ type, work }: WorkEnd) => work.jobId === BAD && type !== 'quarantined'

  test.each([1, 2, 3, 7, 16, 63, FINISH_BATCH_MAX])(
    'is quarantined, and of %i in its batch the others are written once',
    async (count) => {
      const { source, settled, told, finisher, add } = setUp()
      const written: number[] = []
      source.finish.rule = (batch) => {
        const answer = throwFor(isBad)(batch)
        if (Array.isArray(answer)) written.push(...batch.map(({ work }) => work.jobId))
        return answer
      }
      await add(ends(count, BAD - Math.floor((count - 1) / 2)))
      expect(written.toSorted((a, b) => a - b)).toEqual(
        ends(count, BAD - Math.floor((count - 1) / 2)).map(({ work }) => work.jobId),
      )
      expect(settled).toHaveLength(count)
      expect(settled.filter((line) => line.includes('quarantined'))).toEqual([`${BAD}:quarantined done`])
      expect(told).toEqual([`end of ${BAD}: no JSON`])
      // Halves down to one, both sides of each, and the quarantine.
      expect(source.finish.calls.length).toBeLessThanOrEqual(2 + 2 * Math.ceil(Math.log2(count)))
      expect(finisher.isIdle()).toBe(true)
    },
  )

  test('is quarantined together with all others that throw alone', async () => {
    const { source, settled, add } = setUp()
    source.finish.rule = throwFor(({ type }) => type !== 'quarantined')
    await add(ends(16))
    expect(settled).toEqual(Array.from({ length: 16 }, (_, i) => `${i}:quarantined done`))
    expect(source.finish.calls.at(-1)?.args[0]).toHaveLength(16)
  })

  test('is written alone before it is quarantined, if the step could not end it beside others', async () => {
    const { source, settled, told, add } = setUp()
    source.finish.rule = (batch) =>
      batch.map(({ type, work }) => {
        if (type === 'quarantined') return 'done'
        // Of one damaged queue, in which one kind of end still works.
        return work.jobId === 2 || (work.jobId === 1 && batch.length > 1) ? 'failed' : 'done'
      })
    await add(ends(4))
    expect(settled).toEqual(['0:done', '3:done', '1:done', '2:quarantined done'])
    expect(told).toEqual([
      'end of 2: Redis could not write what belongs to this job; the log of the step says why',
    ])
  })

  test('and cannot be quarantined either is held back; it is tried again after pauses that grow to 30 s', async () => {
    const { clock, source, settled, told, finisher, add } = setUp()
    const isStuck = ({ work }: WorkEnd) => work.jobId === BAD
    source.finish.rule = throwFor(isStuck)
    await add(ends(3, BAD))
    expect(settled).toEqual(['7:done', '6:done'].toSorted())
    expect(finisher.isIdle()).toBe(true)
    for (const pauseMs of [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      const before = source.finish.calls.length
      await clock.advance(pauseMs - 1)
      expect(source.finish.calls).toHaveLength(before)
      await clock.advance(1)
      expect(source.finish.calls).toHaveLength(before + 1)
    }
    // Others are written meanwhile, and do not shorten the pause.
    await add(ends(2, 20))
    expect(settled.slice(2)).toEqual(['20:done', '21:done'])
    source.finish.rule = (batch) => batch.map(() => 'done')
    await clock.advance(30_000)
    expect(settled.slice(4)).toEqual([`${BAD}:quarantined done`])
    expect(told.at(-1)).toBe('held back no more')
    expect(clock.timers).toBe(0)
  })

  test('one that is held back later waits with the first', async () => {
    const { clock, source, told, add } = setUp()
    source.finish.rule = throwFor(() => true)
    await add(ends(1))
    await clock.advance(200)
    await add(ends(1, 10))
    expect(told.filter((line) => line.startsWith('held'))).toHaveLength(1)
    await clock.advance(50)
    expect(source.finish.calls.at(-3)?.args[0].map(({ work }) => work.jobId)).toEqual([0, 10])
    expect(told.filter((line) => line.startsWith('held'))).toHaveLength(2)
  })

  test('and is held back is settled as stale by discard', async () => {
    const { clock, source, settled, finisher, add } = setUp()
    source.finish.rule = throwFor(() => true)
    await add(ends(2))
    const sent = source.finish.calls.length
    finisher.discard()
    await quiescence()
    expect(settled).toEqual(['0:quarantined stale', '1:quarantined stale'])
    expect(source.finish.calls).toHaveLength(sent)
    expect(clock.timers).toBe(0)
    expect(finisher.isIdle()).toBe(true)
  })
})

test.each([REDIS_AWAY, new StorageFullError()])(
  '%s is no fault of an end: nothing is halved',
  async (fault) => {
    const { clock, source, settled, told, add } = setUp()
    await add(ends(2))
    source.finish.next.fail(fault)
    await clock.advance(100)
    expect(source.finish.next.args[0]).toHaveLength(2)
    source.finish.next.answer(['done', 'done'])
    await quiescence()
    expect(settled).toEqual(['0:done', '1:done'])
    expect(told).toEqual([])
  },
)

test('what throws once ends are settled does not keep the next ones from being written', async () => {
  const { source, settled, told, wish, add } = setUp()
  source.finish.rule = (batch) => batch.map(() => 'done')
  wish.onSettled = () => {
    throw new Error('a slot is lost')
  }
  await add(ends(1))
  await add(ends(1, 10))
  expect(settled).toEqual(['0:done', '10:done'])
  expect(told).toEqual(['aside of 0: a slot is lost', 'aside of 10: a slot is lost'])
})

test('an answer that is too short leaves the rest stale', async () => {
  const { source, settled, add } = setUp()
  await add(ends(2))
  source.finish.next.answer(['done'])
  await quiescence()
  expect(settled).toEqual(['0:done', '1:stale'])
})
