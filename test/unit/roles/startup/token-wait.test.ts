import { beforeEach, expect, test } from 'vitest'
import { TOKEN_WAIT_MS, waitForToken } from '../../../../src/roles/startup/token-wait.ts'
import { createFakeClock, quiescence, type FakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'

let clock: FakeClock
let stopping: AbortController
let warnings: number
let hasTokens: boolean

beforeEach(() => {
  clock = createFakeClock()
  stopping = new AbortController()
  warnings = 0
  hasTokens = false
})

function waiting(): () => boolean {
  const logger = { ...quietLogger, warn: () => void (warnings += 1) }
  let isOver = false
  const context = { clock, logger, signal: stopping.signal }
  void waitForToken({ hasTokens: () => hasTokens }, context).then(() => (isOver = true))
  return () => isOver
}

test('a token that is in force is not waited for', async () => {
  hasTokens = true
  const isOver = waiting()
  await quiescence()
  expect([isOver(), warnings]).toEqual([true, 0])
})

test('a token that comes in time ends the wait', async () => {
  const isOver = waiting()
  await clock.advance(1_000)
  expect(isOver()).toBe(false)
  hasTokens = true
  await clock.advance(100)
  expect([isOver(), warnings]).toEqual([true, 0])
})

test('an installation without tokens opens all the same, and says what is missing', async () => {
  const isOver = waiting()
  await clock.advance(TOKEN_WAIT_MS - 1)
  expect([isOver(), warnings]).toEqual([false, 0])
  await clock.advance(1)
  expect([isOver(), warnings]).toEqual([true, 1])
})

test('a role that is told to end waits no longer, and complains of nothing', async () => {
  const isOver = waiting()
  stopping.abort()
  await quiescence()
  expect([isOver(), warnings]).toEqual([true, 0])
})
