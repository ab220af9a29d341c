import { describe, expect, test } from 'vitest'
import { FAKE_EPOCH_MS, quiescence } from '../../../support/fake-clock.ts'
import { FIRST_TICK_MS, MINUTE_MS, setUpTicker } from './ticker-fixture.ts'

describe('many decisions', () => {
  test.each([
    ['about due crons', 10 * MINUTE_MS],
    ['about upcoming crons', 0],
  ])('%s leave the event loop to others every 10 ms', async (_which, lateMs) => {
    const { clock, shard, newTicker } = setUpTicker()
    for (let i = 0; i < 1_000; i += 1) shard.set(i, {}, FIRST_TICK_MS - lateMs)
    // The clock is read after each decision; here a decision takes a millisecond.
    let spentMs = 0
    let turns = 0
    const ticker = newTicker({
      monotonicMs: () => (spentMs += 1),
      nextTurn: (run) => {
        turns += 1
        clock.nextTurn(run)
      },
    })
    ticker.start()
    for (let seconds = 0; seconds <= 60; seconds += 1) {
      await clock.advance(1_000)
      for (let i = 0; i < 20; i += 1) await quiescence()
    }
    expect(shard.ticked.length).toBeGreaterThanOrEqual(1_000)
    expect(turns).toBeGreaterThanOrEqual(shard.ticked.length / 12)
  })
})

describe('crons that this version does not understand', () => {
  const ids = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

  test('are quarantined with the reason, and delay no others', async () => {
    const { clock, shard, ticker } = setUpTicker()
    for (const id of ids(0, 450)) shard.set(id, { timeZone: 'Mars/Olympus' })
    for (const id of ids(450, 1_000)) shard.set(id)
    ticker.start()
    for (let minute = 0; minute < 3; minute += 1) {
      await clock.advance(MINUTE_MS)
      const ticks = shard.ticked.filter(({ atMs }) => atMs === FIRST_TICK_MS + minute * MINUTE_MS)
      expect(ticks.map(({ cronId }) => cronId).toSorted((a, b) => a - b)).toEqual(ids(450, 1_000))
    }
    expect([...shard.quarantined.keys()].toSorted((a, b) => a - b)).toEqual(ids(0, 450))
    expect(shard.quarantined.get(0)).toContain('timeZone')
    expect(shard.dueReads).toBe(0)
  })

  test('delay no others that are due with them', async () => {
    const { clock, shard, ticker } = setUpTicker()
    for (const id of ids(0, 1_000)) shard.set(id, { cronExpression: 'H * * * *' }, FAKE_EPOCH_MS - 2)
    for (const id of ids(1_000, 1_010)) shard.set(id, {}, FAKE_EPOCH_MS - 1)
    ticker.start()
    await clock.advance(100)
    expect(shard.ticked.map(({ cronId }) => cronId)).toEqual(ids(1_000, 1_010))
    expect(shard.quarantined.size).toBe(1_000)
  })

  test('are skipped when there are too many to quarantine', async () => {
    const { clock, shard, ticker } = setUpTicker()
    shard.limitQuarantine(10)
    for (const id of ids(0, 450)) shard.set(id, { cronExpression: 'H * * * *' }, FAKE_EPOCH_MS - 2)
    for (const id of ids(450, 460)) shard.set(id, {}, FAKE_EPOCH_MS - 1)
    ticker.start()
    await clock.advance(2_000)
    expect(shard.ticked.map(({ cronId }) => cronId)).toEqual(ids(450, 460))
  })
})
