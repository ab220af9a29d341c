import { describe, expect, test } from 'vitest'
import { HOLD_RECHECK_MS } from '../../../../src/domain/limits.ts'
import { FIRST_TICK_MS, MINUTE_MS, setUpTicker } from './ticker-fixture.ts'

const cron = (id: number) => ({ kind: 'cron', name: `cron-${id}` }) as const

describe('a cron that a window holds', () => {
  test('does not tick; when the window ends, one run makes up for all ticks', async () => {
    const { clock, shard, windows, ticker } = setUpTicker()
    shard.set(1)
    shard.set(2)
    const endMs = FIRST_TICK_MS + 3 * MINUTE_MS + 1_000
    windows.hold('a', cron(1), FIRST_TICK_MS - 30_000, endMs)
    ticker.start()
    await clock.advance(4 * MINUTE_MS)
    const of = (id: number) => shard.ticked.filter(({ cronId }) => cronId === id)
    expect(of(1)).toEqual([])
    expect(of(2).map(({ atMs }) => atMs)).toEqual([0, 1, 2, 3].map((n) => FIRST_TICK_MS + n * MINUTE_MS))
    await clock.advance(1_000)
    expect(of(1)).toEqual([{ cronId: 1, atMs: endMs, run: [FIRST_TICK_MS + 3 * MINUTE_MS], missed: 3 }])
    await clock.advance(MINUTE_MS)
    expect(of(1)).toHaveLength(2)
  })

  test.each([
    ['skip', [], 4],
    ['all', [0, 1, 2, 3], 0],
  ] as const)('with the policy %s follows it at the end', async (missedRunPolicy, run, missed) => {
    const { clock, shard, windows, ticker } = setUpTicker()
    shard.set(1, { missedRunPolicy, startingDeadlineSeconds: missedRunPolicy === 'skip' ? 1 : null })
    windows.hold('a', null, FIRST_TICK_MS, FIRST_TICK_MS + 3 * MINUTE_MS + 5_000)
    ticker.start()
    await clock.advance(4 * MINUTE_MS + 5_001)
    const ticks = run.map((n) => FIRST_TICK_MS + n * MINUTE_MS)
    expect(shard.ticked).toEqual([expect.objectContaining({ cronId: 1, run: ticks, missed })])
  })

  test('is held by a window that opens with its tick, and free with one that closes then', async () => {
    const { clock, shard, windows, ticker } = setUpTicker()
    shard.set(1)
    shard.set(2)
    windows.hold('a', cron(1), FIRST_TICK_MS, FIRST_TICK_MS + MINUTE_MS)
    windows.hold('a', cron(2), FIRST_TICK_MS - MINUTE_MS, FIRST_TICK_MS)
    ticker.start()
    await clock.advance(MINUTE_MS)
    expect(shard.ticked).toEqual([{ cronId: 2, atMs: FIRST_TICK_MS, run: [FIRST_TICK_MS], missed: 0 }])
  })

  test('does not run when the window was made after its tick was prepared; others of that step do', async () => {
    const { clock, shard, windows, ticker } = setUpTicker()
    shard.set(1)
    shard.set(2)
    ticker.start()
    await clock.advance(MINUTE_MS - 1_000)
    windows.hold('a', cron(1))
    await clock.advance(1_005)
    expect(shard.ticked).toEqual([{ cronId: 2, atMs: FIRST_TICK_MS, run: [FIRST_TICK_MS], missed: 0 }])
  })

  test('runs soon after the window is deleted, and again in time from then on', async () => {
    const { clock, shard, windows, ticker } = setUpTicker()
    shard.set(1)
    windows.hold('a', cron(1))
    ticker.start()
    await clock.advance(MINUTE_MS + 20_001)
    windows.clear()
    await clock.advance(HOLD_RECHECK_MS)
    expect(shard.ticked).toEqual([expect.objectContaining({ run: [FIRST_TICK_MS], missed: 0 })])
    await clock.advance(MINUTE_MS)
    expect(shard.ticked.at(-1)?.atMs).toBe(FIRST_TICK_MS + MINUTE_MS)
  })

  test('counts its tick as missed when the window is deleted late, whenever that is', async () => {
    for (const clearedMs of [3_000, 6_000]) {
      const { clock, shard, windows, ticker } = setUpTicker()
      shard.set(1, { cronExpression: '0 * * * *', missedRunPolicy: 'skip' })
      windows.hold('a', cron(1))
      ticker.start()
      // Put off every 10 s since its tick, for longer than a tick may be late.
      await clock.advance(MINUTE_MS + 80_000 + clearedMs)
      windows.clear()
      await clock.advance(HOLD_RECHECK_MS)
      expect(shard.ticked).toEqual([expect.objectContaining({ run: [], missed: 1 })])
      await ticker.stop()
    }
  })

  test('is looked at now and then, not all the time', async () => {
    const { clock, shard, windows, ticker } = setUpTicker()
    shard.set(1)
    windows.hold('a', cron(1))
    ticker.start()
    await clock.advance(2 * MINUTE_MS)
    expect(shard.dueReads).toBeLessThan(10)
  })
})
