import { expect, test } from 'vitest'
import { ClaimPause } from '../../../../src/executor/crons/claim-pause.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'

function setUp() {
  const clock = createFakeClock()
  const changes: string[] = []
  const scheduler = { pause: () => void changes.push('paused'), resume: () => void changes.push('resumed') }
  return { clock, changes, pause: new ClaimPause(scheduler, clock) }
}

test('claims wait until the last of several bursts is written', () => {
  const { changes, pause } = setUp()
  const endFirst = pause.begin()
  const endSecond = pause.begin()
  endFirst()
  endFirst()
  expect(changes).toEqual(['paused'])
  endSecond()
  expect(changes).toEqual(['paused', 'resumed'])
})

test('claims wait a second at most, whether or not the burst ends', async () => {
  const { clock, changes, pause } = setUp()
  const end = pause.begin()
  await clock.advance(999)
  expect(changes).toEqual(['paused'])
  await clock.advance(1)
  expect(changes).toEqual(['paused', 'resumed'])
  end()
  expect(changes).toEqual(['paused', 'resumed'])
})

test('bursts that follow each other share one second', async () => {
  const { clock, changes, pause } = setUp()
  pause.begin()()
  await clock.advance(600)
  pause.begin()
  await clock.advance(399)
  expect(changes).toEqual(['paused', 'resumed', 'paused'])
  await clock.advance(1)
  expect(changes).toEqual(['paused', 'resumed', 'paused', 'resumed'])
})

test('claims wait for no other burst until ten seconds after the first', async () => {
  const { clock, changes, pause } = setUp()
  pause.begin()
  await clock.advance(9_999)
  pause.begin()()
  expect(changes).toEqual(['paused', 'resumed'])
  await clock.advance(1)
  pause.begin()
  expect(changes).toEqual(['paused', 'resumed', 'paused'])
})

test('the end of a burst that took too long does not end the next pause', async () => {
  const { clock, changes, pause } = setUp()
  const endLate = pause.begin()
  await clock.advance(10_000)
  pause.begin()
  endLate()
  expect(changes).toEqual(['paused', 'resumed', 'paused'])
})
