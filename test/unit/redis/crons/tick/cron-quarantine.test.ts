import { expect, test } from 'vitest'
import { CronQuarantine } from '../../../../../src/redis/crons/tick/cron-quarantine.ts'
import { quietLogger, quietMetrics } from '../../../../support/quiet.ts'

const DUE_MS = 5_000
const MINUTE_MS = 60_000

function setUp() {
  let nowMs = 1_000_000
  const told: unknown[] = []
  const logger = { ...quietLogger, error: (_: string, fields?: object) => void told.push(fields) }
  return {
    told,
    quarantine: new CronQuarantine({ logger, metrics: quietMetrics }, () => nowMs),
    pass: (ms: number) => (nowMs += ms),
  }
}

test('a cron is left out for a minute, and told of once for each reason', () => {
  const { told, quarantine, pass } = setUp()
  for (let i = 0; i < 3; i += 1) {
    expect(quarantine.add({ cronId: 7 }, DUE_MS, 'odd')).toBe(true)
    pass(MINUTE_MS - 1)
    expect(quarantine.has(7, DUE_MS)).toBe(true)
    pass(1)
    expect(quarantine.has(7, DUE_MS)).toBe(false)
  }
  expect(quarantine.has(8, DUE_MS)).toBe(false)
  quarantine.add({ cronId: 7 }, DUE_MS, 'odder')
  expect(told).toEqual([
    { cronId: 7, reason: 'odd' },
    { cronId: 7, reason: 'odder' },
  ])
})

test('one that is listed for another time is looked at again at once', () => {
  const { quarantine } = setUp()
  quarantine.add({ cronId: 7 }, DUE_MS, 'odd')
  expect(quarantine.has(7, DUE_MS + 1)).toBe(false)
})

test('a clock that is put back leaves none out for longer', () => {
  const { quarantine, pass } = setUp()
  quarantine.add({ cronId: 7 }, DUE_MS, 'odd')
  pass(-MINUTE_MS)
  expect(quarantine.has(7, DUE_MS)).toBe(false)
})

test('no more are remembered than 10,000, and those that were not found again make room', () => {
  const { told, quarantine, pass } = setUp()
  for (let id = 0; id < 10_000; id += 1) expect(quarantine.add({ cronId: id }, DUE_MS, 'odd')).toBe(true)
  for (let id = 0; id < 3; id += 1) expect(quarantine.add({ cronId: 10_000 + id }, DUE_MS, 'odd')).toBe(false)
  expect(told.slice(10_000)).toEqual([{ crons: 10_000 }])
  expect(quarantine.size).toBe(10_000)
  // Known ones may be set quarantine again.
  pass(MINUTE_MS)
  expect(quarantine.add({ cronId: 0 }, DUE_MS, 'odd')).toBe(true)
  pass(MINUTE_MS)
  expect(quarantine.add({ cronId: 10_000 }, DUE_MS, 'odd')).toBe(true)
  expect(quarantine.size).toBe(2)
})
