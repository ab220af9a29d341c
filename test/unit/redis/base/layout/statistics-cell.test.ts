import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { lastMiddle } from '../../../../../src/domain/statistics/histogram.ts'
import { emptyTally, endedJobs, type Tally } from '../../../../../src/domain/statistics/tally.ts'
import {
  CELL_CHARACTERS_MAX,
  decodeCells,
  decodeOpen,
  encodeCell,
  encodeOpen,
} from '../../../../../src/redis/base/layout/statistics/statistics-cell.ts'
import {
  decodeEntry,
  encodeBuckets,
  encodeLongest,
} from '../../../../../src/redis/base/layout/statistics/statistics-log.ts'

const count = fc.oneof(fc.nat(3), fc.nat(100), fc.nat(10_000_000))
const histogram = fc.array(count, { maxLength: 32 })
const tallies: fc.Arbitrary<Tally> = fc
  .record({
    done: count,
    failed: count,
    retried: count,
    dead: count,
    depth: count,
    stopped: count,
    oldestReadySeconds: count,
    oldestStartableSeconds: count,
    oldestQueue: count,
    latency: histogram,
    lateness: histogram,
    /** Parts of the middle of the last bucket: above it, nothing is noted. */
    longest: fc.tuple(fc.double({ min: 0.01, max: 1, noNaN: true }), fc.constantFrom(0, 1)),
  })
  .map(({ longest: [part, isKnown], ...tally }) => {
    const stopped = Math.min(tally.depth, tally.stopped)
    const longestMs = (counts: readonly number[]) =>
      lastMiddle(counts) <= 1 ? 0 : isKnown * Math.max(1, Math.floor(lastMiddle(counts) * part))
    return {
      ...tally,
      stopped,
      startable: tally.depth - stopped,
      oldestStartableSeconds: tally.depth === 0 ? tally.oldestReadySeconds : tally.oldestStartableSeconds,
      longestLatencyMs: longestMs(tally.latency),
      longestLatenessMs: longestMs(tally.lateness),
    }
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
      const [counts = '', notes = '+', ...others] = text.split(' ')
      expect(counts.length).toBeLessThanOrEqual(CELL_CHARACTERS_MAX)
      // A reader is sent cells with spaces between them.
      expect(counts).toMatch(/^[0-9a-z]{5}[!-~]+$/)
      // A version before takes no such text for a cell.
      expect(notes).toMatch(/^\+[!-~]*$/)
      expect(others).toEqual([])
      const [cell] = decodeCells(`${text} ${encodeCell(minute, emptyTally())}`)
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

test('a version before reads a tally with notes as one without', () => {
  const oldest = { oldestReadySeconds: 70, oldestStartableSeconds: 70 }
  const bare = { ...emptyTally(), ...oldest, done: 3, depth: 9, startable: 9, latency: [0, 0, 3] }
  const noted = {
    ...bare,
    startable: 4,
    stopped: 5,
    oldestStartableSeconds: 2,
    oldestQueue: 7,
    longestLatencyMs: 2,
  }
  expect(encodeOpen(bare)).toBe('3,0,0,0,9,70|2:3|')
  // It adds 0 to its last bucket.
  expect(encodeOpen(noted)).toMatch(/^3,0,0,0,9,70\|2:3(?:,\d+:0){4}\|$/)
  expect(encodeCell(29_000_000, noted).split(' ')[0]).toBe(encodeCell(29_000_000, bare))
  expect(decodeOpen('3,0,0,0,9,70|2:3|')).toMatchObject({
    startable: 9,
    stopped: 0,
    oldestStartableSeconds: 70,
  })
  expect(decodeCells(encodeCell(29_000_000, noted))[0]?.tally).toEqual(noted)
})

test('an entry names the longest durations of each queue where they say more than the buckets', () => {
  const of = (team: string, queue: string, latencyMs: number, latenessMs = 0) => ({
    team,
    queue,
    latencyMs,
    latenessMs,
  })
  const words = encodeLongest([
    of('shop', '12', 280_013.2, 1_030),
    of('shop', '12', 5),
    of('shop', '', 530),
    of('other', '13', 1_000, 4_000),
  ])
  expect(words).toBe('/=shop/12:280014,1030 /=shop/:530,0')
  expect(encodeLongest([of('shop', '12', 1_000)])).toBe('')
  const entry = decodeEntry(`29000000 /shop 12:sjb :fa0 /other 13:sac ${words} /=shop/99:7,7 /=x`)
  const longest = (owner: string) => {
    const tally = entry?.tallies.get(owner)
    return [tally?.longestLatencyMs, tally?.longestLatenessMs]
  }
  expect(longest('q12')).toEqual([280_014, 1_030])
  expect(longest('tshop')).toEqual([280_014, 1_030])
  expect(longest('q13').map((ms) => Math.round(ms ?? 0))).toEqual([724, 2_896])
})

test('a usual cell of many jobs is exact to 10 %, with its rare durations', () => {
  const latency = [0, 0, 40, 2_000, 7_000, 900, 60, 1]
  const tally = { ...emptyTally(), done: 9_900, retried: 100, latency, lateness: [9_000, 900, 100] }
  const text = encodeCell(29_000_000, tally)
  expect(text.length).toBeLessThanOrEqual(28)
  const read = decodeCells(text)[0]?.tally.latency ?? []
  expect(read.length).toBe(latency.length)
  read.forEach((count, i) => expect(Math.abs(count - (latency[i] ?? 0))).toBeLessThanOrEqual(count * 0.1))
})

test('of a cell that gets too long, the outermost counts join their neighbours', () => {
  const many = Array.from({ length: 32 }, (_, i) => (i === 9 ? 1_000_000 : 5))
  const tally = { ...emptyTally(), done: 10_000_000, depth: 10_000_000, latency: many, lateness: many }
  const read = decodeCells(encodeCell(200, tally))[0]?.tally.latency ?? []
  expect(read.filter((count) => count > 0).length).toBeLessThan(32)
  const total = read.reduce((sum, count) => sum + count, 0)
  expect(Math.abs(total - 1_000_155)).toBeLessThanOrEqual(100_000)
})

test('a damaged cell is not read', () => {
  const good = encodeCell(3, { ...emptyTally(), done: 1, latency: [1], lateness: [1] })
  expect(decodeCells(good)[0]?.minute).toBe(3)
  for (const bad of [
    '',
    good.slice(0, -1),
    `${good}!`,
    `${good}\u00e9`,
    `\u00e9${good.slice(1)}`,
    good.slice(1),
  ]) {
    expect(decodeCells(bad)).toEqual([])
  }
  expect(decodeOpen('1,2,3|4:5|')).toBeNull()
  // There are 2 to the 60th ways to cut these digits into pairs.
  expect(decodeOpen(`0,0,0,0,0,0|1:${'111:'.repeat(60)}x`)).toBeNull()
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
    createdAtMs: 0,
    scheduledAtMs: 1_000,
    startedAtMs: 1_004,
    completedAtMs: 2_000,
    failureReason: null,
    errorMessage: null,
    responseStatus: 200,
    durationMs: 20.5,
  }
  expect(encodeBuckets(attempt)).toBe('53')
  expect(encodeBuckets({ ...attempt, failureReason: 'executor_lost' })).toBe('--')
})
