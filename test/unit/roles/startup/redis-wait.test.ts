import { beforeEach, describe, expect, test } from 'vitest'
import { reasonOf, StartupError, StoreUnreachableError } from '../../../../src/domain/errors.ts'
import { REDIS_WAIT_MS, waitForRedis } from '../../../../src/roles/startup/redis-wait.ts'
import { createFakeClock, quiescence, type FakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'

let clock: FakeClock
let stopping: AbortController
let told: string[]
let tries: number

beforeEach(() => {
  clock = createFakeClock()
  stopping = new AbortController()
  told = []
  tries = 0
})

/** Waits for a Redis that answers at this moment; its end as a word. */
function waiting({
  answersAtMs = Infinity,
  error = new StoreUnreachableError('away'),
}: { answersAtMs?: number; error?: StartupError } = {}) {
  const tell = (message: string): void => void told.push(message)
  const open = async (): Promise<string> => {
    tries += 1
    if (clock.monotonicMs() < answersAtMs) throw error
    return 'open'
  }
  const logger = { ...quietLogger, info: tell, warn: tell }
  let end = 'none yet'
  waitForRedis(open, { clock, logger, signal: stopping.signal }).then(
    (opened) => (end = opened),
    (thrown: unknown) => (end = reasonOf(thrown)),
  )
  return () => end
}

describe('a Redis that is not there at the start', () => {
  test('is waited for, which is told once', async () => {
    const end = waiting({ answersAtMs: 20_000 })
    await clock.advance(20_000)
    expect([end(), told]).toEqual(['open', ['Waiting for Redis', 'Redis answers']])
  })

  test('is waited for no longer than the bound', async () => {
    const end = waiting()
    await clock.advance(REDIS_WAIT_MS - 1)
    expect(end()).toBe('none yet')
    await clock.advance(1)
    expect([end(), clock.timers]).toEqual(['away', 0])
  })

  test('is waited for no longer than the role lives', async () => {
    const end = waiting()
    await clock.advance(3_000)
    stopping.abort()
    await quiescence()
    expect([end(), clock.timers]).toEqual(['away', 0])
  })
})

test.each([
  ['that turns us away', new StoreUnreachableError('WRONGPASS', { isRefusal: true })],
  ['that is not one to work with', new StartupError('it evicts keys')],
])('one %s is not waited for', async (_what, error) => {
  const end = waiting({ error })
  await quiescence()
  expect([end(), tries, told]).toEqual([error.message, 1, []])
})
