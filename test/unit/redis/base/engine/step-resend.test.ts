import { expect, test } from 'vitest'
import { StorageFullError, StoreUnavailableError } from '../../../../../src/domain/errors.ts'
import { StoreAwayError } from '../../../../../src/redis/base/client/circuit.ts'
import type { RedisConnection } from '../../../../../src/redis/base/client/connection.ts'
import { loadScripts } from '../../../../../src/redis/steps.ts'
import { createStepRunner } from '../../../../../src/redis/base/engine/step-runner.ts'
import { createFakeClock } from '../../../../support/fake-clock.ts'
import { quietMetrics } from '../../../../support/quiet.ts'

const DOWN = new Error('Connection is closed.')
const KEYS = ['punctual:{a}:seq']

/** Runs one step against a Redis that answers as it is told; says when it was sent, and when and how it ended. */
async function runStep(options: { resendForMs: number; answer: (nth: number) => Promise<unknown> }) {
  const clock = createFakeClock()
  const sentAtMs: number[] = []
  const connection = {
    evalsha: () => {
      sentAtMs.push(clock.monotonicMs())
      return options.answer(sentAtMs.length)
    },
  } as Pick<RedisConnection, 'evalsha'> as RedisConnection
  const runner = createStepRunner({ connection, scripts: loadScripts(), clock, metrics: quietMetrics })
  let end: { readonly atMs: number; readonly with: unknown } | null = null
  const note = (value: unknown): void => {
    end = { atMs: clock.monotonicMs(), with: value }
  }
  void runner.run({ name: 'reserve_ids', keys: KEYS, args: [-1] }, options.resendForMs).then(note, note)
  await clock.advance(10_000)
  return {
    sentAtMs,
    end: end as { readonly atMs: number; readonly with: unknown } | null,
    timers: clock.timers,
  }
}

test('a step is sent again after a passing fault, and not past its deadline', async () => {
  const { sentAtMs, end, timers } = await runStep({ resendForMs: 220, answer: () => Promise.reject(DOWN) })
  expect(sentAtMs).toEqual([0, 50, 100, 150, 200])
  expect(end).toEqual({ atMs: 200, with: expect.any(StoreUnavailableError) })
  expect(timers).toBe(0)
})

test('a deadline that falls on a resend is over', async () => {
  const { sentAtMs, end } = await runStep({ resendForMs: 100, answer: () => Promise.reject(DOWN) })
  expect(sentAtMs).toEqual([0, 50])
  expect(end?.atMs).toBe(50)
})

test('a step without an answer is waited for until its deadline, and not sent again then', async () => {
  const { sentAtMs, end } = await runStep({ resendForMs: 1_800, answer: () => new Promise(() => undefined) })
  expect(sentAtMs).toEqual([0])
  expect(end).toEqual({ atMs: 1_800, with: expect.any(StoreUnavailableError) })
})

test('the answer to a resend is the answer', async () => {
  const { sentAtMs, end } = await runStep({
    resendForMs: 1_800,
    answer: (nth) => (nth < 3 ? Promise.reject(DOWN) : Promise.resolve('7')),
  })
  expect([sentAtMs.length, end]).toEqual([3, { atMs: 100, with: '7' }])
})

test.each([
  ['is known to be away', new StoreAwayError(), StoreAwayError],
  ['is full', new Error('OOM command not allowed'), StorageFullError],
  ['says that the step is wrong', new Error('ERR user_script:1'), Error],
])('a step is not sent again to a Redis that %s', async (_case, fault, kind) => {
  const { sentAtMs, end } = await runStep({ resendForMs: 1_800, answer: () => Promise.reject(fault) })
  expect([sentAtMs, end?.atMs]).toEqual([[0], 0])
  expect(end?.with).toBeInstanceOf(kind)
})

test('without a time to resend in, a step is sent once', async () => {
  const { sentAtMs, end } = await runStep({ resendForMs: 0, answer: () => Promise.reject(DOWN) })
  expect([sentAtMs, end?.atMs]).toEqual([[0], 0])
})

test('without a time to resend in, an answer is waited for', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const clock = createFakeClock()
  const connection = { evalsha: () => promise } as unknown as RedisConnection
  const runner = createStepRunner({ connection, scripts: loadScripts(), clock, metrics: quietMetrics })
  const answered = runner.run({ name: 'reserve_ids', keys: KEYS, args: [-1] })
  await clock.advance(1_000)
  resolve('late')
  expect(await answered).toBe('late')
})

test.each([
  ['while there is time', 220, [0, 50, 100], 'found'],
  ['once where none is given', undefined, [0], 'failed'],
])('a read is made anew after a passing fault, %s', async (_case, forMs, expectedAtMs, expected) => {
  const clock = createFakeClock()
  const readAtMs: number[] = []
  const connection = {} as RedisConnection
  const runner = createStepRunner({ connection, scripts: loadScripts(), clock, metrics: quietMetrics })
  const read = (): Promise<string> => {
    readAtMs.push(clock.monotonicMs())
    return readAtMs.length < 3 ? Promise.reject(DOWN) : Promise.resolve('found')
  }
  const ended = runner.read(read, forMs).catch((fault: unknown) => {
    expect(fault).toBeInstanceOf(StoreUnavailableError)
    return 'failed'
  })
  await clock.advance(1_000)
  expect([await ended, readAtMs]).toEqual([expected, expectedAtMs])
})
