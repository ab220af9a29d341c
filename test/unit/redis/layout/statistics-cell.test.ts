import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { emptyTally, endedJobs, type Tally } from '../../../../src/domain/statistics/tally.ts'
import {
  CELL_CHARACTERS_MAX,
  decodeCell,
  decodeOpen,
  encodeCell,
  encodeOpen,
} from '../../../../src/redis/layout/statistics-cell.ts'
import { decodeEntry, encodeBuckets } from '../../../../src/redis/layout/statistics-log.ts'

const count = fc.oneof(fc.nat(3), fc.nat(100), fc.nat(10_000_000))
const histogram = fc.array(count, { maxLength: 32 })
const tallies: fc.Arbitrary<Tally> = fc.record({
  ...{ done: count, failed: count, retried: count, dead: count, depth: count, oldestReadySeconds: count },
  ...{ latency: histogram, lateness: histogram },
})

const trimmed = (counts: readonly number[]) => counts.slice(0, counts.findLastIndex((one) => one > 0) + 1)

test('an open tally is exact', () => {
  fc.assert(
    fc.property(tallies, (tally) => {
      const read = decodeOpen(encodeOpen(tally))
      expect(read).toEqual({
        ...tally,
        latency: trimmed(tally.latency),
        lateness: trimmed(tally.lateness),
      })
    }),
    { numRuns: 100 },
  )
})

test('a cell is short, its numbers are exact, and its histograms keep the largest counts', () => {
  fc.assert(
    fc.property(tallies, fc.nat(36 ** 5 - 1), (tally, minute) => {
      const text = encodeCell(minute, tally)
      expect(text.length).toBeLessThanOrEqual(CELL_CHARACTERS_MAX)
      // A reader is sent cells with spaces between them.
      expect(text).toMatch(/^[!-~]+$/)
      const cell = decodeCell(text)
      expect(cell?.minute).toBe(minute)
      const read = cell?.tally ?? emptyTally()
      const { latency, lateness: _lateness, ...numbers } = tally
      expect(read).toMatchObject(numbers)
      if (endedJobs(read) === 0) return
      const most = Math.max(0, ...latency)
      // At worst, the largest counts are left.
      if (most > 0) expect(Math.max(...read.latency)).toBeGreaterThanOrEqual(most * 0.9 - 1)
    }),
    { numRuns: 300 },
  )
})

test('a usual cell of many jobs is exact to 10 %, with its rare durations', () => {
  const latency = [0, 0, 40, 2_000, 7_000, 900, 60, 1]
  const tally = { ...emptyTally(), done: 9_900, retried: 100, latency, lateness: [9_000, 900, 100] }
  const text = encodeCell(29_000_000, tally)
  expect(text.length).toBeLessThanOrEqual(28)
  const read = decodeCell(text)?.tally.latency ?? []
  expect(read.length).toBe(latency.length)
  read.forEach((count, i) => expect(Math.abs(count - (latency[i] ?? 0))).toBeLessThanOrEqual(count * 0.1))
})

test('of a cell that gets too long, the outermost counts join their neighbours', () => {
  const many = Array.from({ length: 32 }, (_, i) => (i === 9 ? 1_000_000 : 5))
  const tally = { ...emptyTally(), done: 10_000_000, depth: 10_000_000, latency: many, lateness: many }
  const read = decodeCell(encodeCell(200, tally))?.tally.latency ?? []
  expect(read.filter((count) => count > 0).length).toBeLessThan(32)
  const total = read.reduce((sum, count) => sum + count, 0)
  expect(Math.abs(total - 1_000_155)).toBeLessThanOrEqual(100_000)
})

test('a damaged cell is not read', () => {
  const good = encodeCell(3, { ...emptyTally(), done: 1, latency: [1], lateness: [1] })
  expect(decodeCell(good)?.minute).toBe(3)
  for (const bad of [
    '',
    good.slice(0, -1),
    `${good}!`,
    `${good}\u00e9`,
    `\u00e9${good.slice(1)}`,
    good.slice(1),
  ]) {
    expect(decodeCell(bad)).toBeNull()
  }
  expect(decodeOpen('1,2,3|4:5|')).toBeNull()
})

test('an entry of the log counts for its queues and teams', () => {
  const entry = decodeEntry('29000000 /shop 12:sa0r-- :fb1 /other 13:xc2d--')
  expect(entry?.minute).toBe(29_000_000)
  expect(
    Object.fromEntries(
      [...(entry?.tallies ?? [])].map(([owner, { latency, lateness, ...rest }]) => [
        owner,
        [rest.done, rest.failed, rest.retried, rest.dead, latency.length, lateness.length],
      ]),
    ),
  ).toEqual({
    q12: [1, 0, 1, 0, 11, 1],
    tshop: [1, 1, 1, 0, 12, 2],
    q13: [0, 0, 0, 2, 13, 3],
    tother: [0, 0, 0, 2, 13, 3],
  })
  for (const bad of ['', 'x /a 1:s00', '1 1:s00', '1 /a 1:s0', '1 /a 1:z00', '1 /a 1:']) {
    expect(decodeEntry(bad)).toBeNull()
  }
})

test('a lost call has neither latency nor lateness', () => {
  const attempt = {
    ...{ createdAtMs: 0, scheduledAtMs: 1_000, startedAtMs: 1_004, completedAtMs: 2_000 },
    ...{ failureReason: null, errorMessage: null, responseStatus: 200, durationMs: 20.5 },
  }
  expect(encodeBuckets(attempt)).toBe('53')
  expect(encodeBuckets({ ...attempt, failureReason: 'executor_lost' })).toBe('--')
})
