import { expect, test } from 'vitest'
import { cronScheduleOf } from '../../../../src/domain/crons/cron.ts'
import { decideCron } from '../../../../src/executor/crons/cron-decision.ts'
import type { DueCron } from '../../../../src/ports/crons.ts'
import { cronSettings } from '../../../support/engine/cron-settings.ts'

const MINUTE_MS = 60_000
const NOON_MS = Date.UTC(2032, 1, 28, 12)

function decide(bytes: number, nowMs: number, spreadMs = 0) {
  const settings = cronSettings({ missedRunPolicy: 'all' })
  const schedule = cronScheduleOf(settings)
  if ('problem' in schedule) throw new Error(schedule.problem)
  const known = { cronId: 1, team: 't', name: 'c', version: 1, expectedMs: NOON_MS, running: null }
  const cron: DueCron = { ...known, settings, bytes, spreadMs }
  const { run, nextMs } = decideCron(schedule, cron, nowMs)
  return { run, nextMs }
}

const minutes = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => NOON_MS + (from + i) * MINUTE_MS)

test.each([
  ['small ones go together', 1_000, 10],
  ['large ones so far as a step may be large', 400_000, 2],
  ['one that is larger goes alone', 5_000_000, 1],
])('of ticks that are made up for %s, and the rest is due then', (_what, bytes, runs) => {
  expect(decide(bytes, NOON_MS + 9.5 * MINUTE_MS)).toEqual({
    run: minutes(0, runs),
    nextMs: NOON_MS + runs * MINUTE_MS,
  })
})

test('a tick that is listed too early only gets its due time corrected', () => {
  expect(decide(100, NOON_MS + 999, 1_000)).toEqual({ run: [], nextMs: NOON_MS })
  expect(decide(100, NOON_MS + 1_000, 1_000)).toEqual({ run: [NOON_MS], nextMs: NOON_MS + MINUTE_MS })
})
