import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { spreadOf } from '../../../../src/domain/crons/cron.ts'

const JITTER_SECONDS_MAX = 3_600

describe('jitter spreads', () => {
  /** As ids are given: those of one home shard lie as far apart as there are shards. */
  const idsOf = (shards: number, shard: number, count: number) =>
    Array.from({ length: count }, (_, at) => (at + 1) * shards + shard)

  test.each([1, 2, 4, 16, 64])('many crons evenly over the whole of it, in each of %i shards', (shards) => {
    const crons = 2_000
    const parts = 20
    for (const shard of new Set([0, Math.floor(shards / 2), shards - 1])) {
      const counts = Array.from({ length: parts }, () => 0)
      const spreads = idsOf(shards, shard, crons).map((id) => spreadOf(id, 600))
      for (const spread of spreads) counts[Math.floor((spread / 600_000) * parts)]! += 1
      for (const count of counts) {
        expect(count).toBeGreaterThan((crons / parts) * 0.8)
        expect(count).toBeLessThan((crons / parts) * 1.2)
      }
      expect(new Set(spreads).size).toBeGreaterThan(crons * 0.95)
    }
  })

  test('a few crons too: none far from its neighbours, none beside them', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(1, 4, 64),
        fc.nat(1_000_000),
        fc.integer({ min: 2, max: 60 }),
        (shards, first, crons) => {
          const spreads = idsOf(shards, 0, crons)
            .map((id) => spreadOf(first * shards + id, JITTER_SECONDS_MAX))
            .toSorted((a, b) => a - b)
          const gaps = spreads.slice(1).map((spread, at) => spread - (spreads[at] ?? 0))
          const even = (JITTER_SECONDS_MAX * 1000) / crons
          expect(Math.min(...gaps)).toBeGreaterThan(even / 100)
          expect(Math.max(...gaps)).toBeLessThan(even * 6)
        },
      ),
    )
  })

  test('each cron by the same time always, within its jitter and in proportion to it', () => {
    const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
    fc.assert(
      fc.property(id, fc.integer({ min: 0, max: JITTER_SECONDS_MAX }), (cronId, jitterSeconds) => {
        const spread = spreadOf(cronId, jitterSeconds)
        expect(Number.isInteger(spread)).toBe(true)
        expect(spread).toBeGreaterThanOrEqual(0)
        expect(spread).toBeLessThan(Math.max(1, jitterSeconds * 1000))
        expect(spreadOf(cronId, jitterSeconds)).toBe(spread)
        expect(Math.abs(spreadOf(cronId, 2 * jitterSeconds) - 2 * spread)).toBeLessThanOrEqual(1)
      }),
    )
  })

  test.each([
    { cronId: 1, jitterSeconds: 600, spreadMs: 370_820 },
    { cronId: 2, jitterSeconds: 600, spreadMs: 141_640 },
    { cronId: 3, jitterSeconds: 600, spreadMs: 512_461 },
    { cronId: 7, jitterSeconds: 1, spreadMs: 326 },
    { cronId: 100, jitterSeconds: 3_600, spreadMs: 2_892_235 },
    { cronId: 2 ** 32 + 1, jitterSeconds: 3_600, spreadMs: 2_224_922 },
    { cronId: Number.MAX_SAFE_INTEGER, jitterSeconds: 3_600, spreadMs: 1_375_077 },
    { cronId: 12, jitterSeconds: 0, spreadMs: 0 },
  ])('cron $cronId by $spreadMs ms of $jitterSeconds s, in every release', (cron) => {
    expect(spreadOf(cron.cronId, cron.jitterSeconds)).toBe(cron.spreadMs)
  })

  test('nothing where none is asked for', () => {
    expect(idsOf(4, 1, 100).map((id) => spreadOf(id, 0))).toEqual(Array.from({ length: 100 }, () => 0))
  })
})
