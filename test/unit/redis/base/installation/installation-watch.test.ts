import { expect, test, vi } from 'vitest'
import { InstallationWatch } from '../../../../../src/redis/base/installation/installation-watch.ts'
import { createFakeClock } from '../../../../support/fake-clock.ts'

/** A watch on a Redis that answers what `answer` holds; an Error is thrown. */
async function openWatch(first: string | null) {
  const clock = createFakeClock()
  const onLost = vi.fn<() => void>()
  const redis = { answer: first as string | null | Error }
  const hget = async () => {
    if (redis.answer instanceof Error) throw redis.answer
    return redis.answer
  }
  const watch = new InstallationWatch({ connection: { hget }, clock, onLost })
  await watch.start()
  return { clock, onLost, redis, watch }
}

test.each([
  ['gone', null],
  ['another', 'fedcba987654'],
])('an installation that is %s is told once', async (_, answer) => {
  const { clock, onLost, redis } = await openWatch('0123456789ab')
  await clock.advance(5_000)
  expect(onLost).not.toHaveBeenCalled()
  redis.answer = answer
  await clock.advance(1_000)
  expect(onLost).toHaveBeenCalledTimes(1)
  await clock.advance(10_000)
  expect(onLost).toHaveBeenCalledTimes(1)
})

test('a Redis that is away, or loads, has lost nothing', async () => {
  const { clock, onLost, redis, watch } = await openWatch('0123456789ab')
  redis.answer = new Error('LOADING Redis is loading the dataset in memory')
  await clock.advance(30_000)
  redis.answer = '0123456789ab'
  await clock.advance(5_000)
  expect(onLost).not.toHaveBeenCalled()
  expect(clock.timers).toBe(1)
  watch.stop()
  expect(clock.timers).toBe(0)
})

test('an installation that went between two steps of the start is told', async () => {
  const { onLost } = await openWatch(null)
  expect(onLost).toHaveBeenCalledTimes(1)
})
