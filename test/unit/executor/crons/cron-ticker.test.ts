import { describe, expect, test, vi } from 'vitest'
import { heldResources } from '../../../../src/domain/windows/held-resources.ts'
import { StorageFullError } from '../../../../src/domain/errors.ts'
import { quiescence } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { REDIS_AWAY } from '../executor-fixture.ts'
import { FIRST_TICK_MS, MINUTE_MS, PAGE_MAX, setUpTicker } from './ticker-fixture.ts'

describe('a tick', () => {
  test('that was prepared is sent the moment it is due', async () => {
    const { clock, shard, ticker, runnable } = setUpTicker()
    shard.set(1)
    ticker.start()
    await clock.advance(MINUTE_MS - 1)
    expect(shard.ticked).toEqual([])
    await clock.advance(1)
    expect(shard.ticked).toEqual([{ cronId: 1, atMs: FIRST_TICK_MS, run: [FIRST_TICK_MS], missed: 0 }])
    expect(shard.dueReads).toBe(0)
    expect(runnable()).toBe(1)
    await clock.advance(2 * MINUTE_MS)
    expect(shard.ticked.map(({ atMs }) => atMs)).toEqual([0, 1, 2].map((n) => FIRST_TICK_MS + n * MINUTE_MS))
  })

  test('of a cron that was created after others were prepared is in time too', async () => {
    const { clock, shard, ticker } = setUpTicker()
    shard.set(1)
    ticker.start()
    await clock.advance(MINUTE_MS - 1_000)
    shard.set(2)
    await clock.advance(1_000 + 5)
    expect(shard.ticked).toEqual([
      { cronId: 1, atMs: FIRST_TICK_MS, run: [FIRST_TICK_MS], missed: 0 },
      { cronId: 2, atMs: FIRST_TICK_MS, run: [FIRST_TICK_MS], missed: 0 },
    ])
  })

  test('that was prepared before an edit is outdated', async () => {
    const { clock, shard, ticker } = setUpTicker()
    shard.set(1)
    ticker.start()
    await clock.advance(MINUTE_MS - 1_000)
    shard.set(1, { url: 'http://other.test/' })
    await clock.advance(1_000 + 5)
    expect(shard.outdated).toBe(1)
    expect(shard.ticked).toEqual([{ cronId: 1, atMs: FIRST_TICK_MS, run: [FIRST_TICK_MS], missed: 0 }])
  })

  test('of a cron that was removed meanwhile does not run', async () => {
    const { clock, shard, ticker } = setUpTicker()
    shard.set(1)
    ticker.start()
    await clock.advance(MINUTE_MS - 1_000)
    shard.remove(1)
    await clock.advance(5_000)
    expect(shard.ticked).toEqual([])
  })

  test('runs after the spread of its cron, never early, and late by at most the span of a step', async () => {
    const { clock, shard, ticker } = setUpTicker()
    const spreads = Array.from({ length: 300 }, (_, i) => (i * 7_919) % 30_000)
    spreads.forEach((spreadMs, i) => shard.set(i, { cronExpression: '0 * * * *' }, FIRST_TICK_MS, spreadMs))
    ticker.start()
    await clock.advance(MINUTE_MS + 30_020)
    expect(shard.ticked).toHaveLength(300)
    for (const { cronId, atMs } of shard.ticked) {
      expect(atMs - FIRST_TICK_MS - (spreads[cronId] ?? 0)).toBeLessThanOrEqual(20)
    }
    expect(shard.outdated).toBe(0)
  })

  test('that was prepared and is sent too late counts as missed', async () => {
    const { clock, shard, ticker, jump } = setUpTicker()
    shard.set(1, { startingDeadlineSeconds: 10 })
    ticker.start()
    await clock.advance(MINUTE_MS - 1_000)
    jump(12_000)
    await clock.advance(300)
    expect(shard.ticked).toEqual([{ cronId: 1, atMs: FIRST_TICK_MS + 11_000 + 250, run: [], missed: 1 }])
  })

  test('is decided together with later ones that are due by then too', async () => {
    const { clock, shard, ticker, jump } = setUpTicker()
    shard.set(1)
    ticker.start()
    await clock.advance(MINUTE_MS - 1_000)
    jump(3 * MINUTE_MS)
    await clock.advance(300)
    expect(shard.ticked).toMatchObject([{ run: [FIRST_TICK_MS + 2 * MINUTE_MS], missed: 2 }])
  })

  test('is in time after the clock went back', async () => {
    const { clock, shard, ticker, jump } = setUpTicker()
    shard.set(1)
    ticker.start()
    await clock.advance(MINUTE_MS - 1_000)
    jump(-10 * MINUTE_MS)
    await clock.advance(10 * MINUTE_MS + 1_000 - 1)
    expect(shard.ticked).toEqual([])
    await clock.advance(1)
    expect(shard.ticked).toEqual([{ cronId: 1, atMs: FIRST_TICK_MS, run: [FIRST_TICK_MS], missed: 0 }])
    expect(shard.dueReads).toBe(0)
  })
})

describe('many ticks at one instant', () => {
  test('go in steps of 200', async () => {
    const { clock, shard, ticker, runnable } = setUpTicker()
    for (let i = 0; i < 1_000; i += 1) shard.set(i)
    ticker.start()
    await clock.advance(MINUTE_MS)
    expect(new Set(shard.ticked.map(({ cronId }) => cronId)).size).toBe(1_000)
    expect(shard.ticked).toHaveLength(1_000)
    // Claims would delay the other steps.
    expect([runnable(), shard.hints]).toEqual([1, 1])
    expect(shard.dueReads).toBe(0)
  })

  test('are ticked once by several executors that begin with different steps', async () => {
    const places = [0, 0.5]
    const { clock, shard, ticker, newTicker } = setUpTicker({ random: () => places.shift() ?? 0 })
    for (let i = 0; i < 1_000; i += 1) shard.set(i)
    const other = newTicker()
    ticker.start()
    other.start()
    await clock.advance(MINUTE_MS)
    expect(shard.ticked).toHaveLength(1_000)
    expect(new Set(shard.ticked.map(({ cronId }) => cronId)).size).toBe(1_000)
    // Both stop at the first step that the other has sent; each has two steps in progress then.
    expect(shard.outdated).toBeLessThanOrEqual(4 * PAGE_MAX)
  })

  test('continue after a step that could not be sent', async () => {
    const { clock, shard, ticker } = setUpTicker()
    for (let i = 0; i < 1_000; i += 1) shard.set(i)
    ticker.start()
    shard.fail(REDIS_AWAY)
    await clock.advance(MINUTE_MS + 1_000)
    expect(shard.ticked).toEqual([])
    shard.fail(null)
    await clock.advance(1_000)
    expect(shard.ticked).toHaveLength(1_000)
  })
})

describe('claims', () => {
  test('wait until many ticks at one instant are written', async () => {
    const { clock, shard, ticker, pauses } = setUpTicker()
    for (let i = 0; i < 401; i += 1) shard.set(i)
    ticker.start()
    await clock.advance(MINUTE_MS)
    expect(pauses).toEqual(['waits after 0', 'goes on after 401'])
  })

  test('do not wait for a few', async () => {
    const { clock, shard, ticker, pauses } = setUpTicker()
    for (let i = 0; i < 400; i += 1) shard.set(i)
    ticker.start()
    await clock.advance(MINUTE_MS)
    expect(shard.ticked).toHaveLength(400)
    expect(pauses).toEqual([])
  })

  test('go on when Redis does not take the ticks', async () => {
    const { clock, shard, ticker, pauses } = setUpTicker()
    for (let i = 0; i < 1_000; i += 1) shard.set(i)
    ticker.start()
    shard.fail(REDIS_AWAY)
    await clock.advance(MINUTE_MS)
    expect(pauses).toEqual(['waits after 0', 'goes on after 0'])
  })

  test('go on when the ticker stops among its steps', async () => {
    const { clock, shard, ticker, pauses } = setUpTicker()
    for (let i = 0; i < 1_000; i += 1) shard.set(i)
    ticker.start()
    const release = shard.hold()
    await clock.advance(MINUTE_MS)
    const stopped = ticker.stop()
    release()
    await stopped
    expect(pauses[1]).toMatch(/^goes on/)
    expect(shard.ticked.length).toBeLessThan(1_000)
  })
})

describe('a cron whose due time changes while upcoming ones are read', () => {
  const YEAR_MS = 366 * 24 * 60 * MINUTE_MS

  test.each([
    ['at the head of its step', 0, YEAR_MS],
    ['at its end', 199, YEAR_MS],
    ['in between, and still upcoming', 100, 2_500],
    ['in between, and due at once', 100, -30_000],
  ])('delays no other: %s', async (_where, cronId, byMs) => {
    const { clock, shard, ticker } = setUpTicker()
    for (let i = 0; i < 1_000; i += 1) shard.set(i)
    let reads = 0
    shard.whileListing(() => {
      reads += 1
      if (reads === 1) shard.set(cronId, {}, FIRST_TICK_MS + byMs)
    })
    ticker.start()
    await clock.advance(MINUTE_MS)
    const others = shard.ticked.filter((tick) => tick.cronId !== cronId)
    expect(others).toHaveLength(999)
    for (const { atMs } of others) expect(atMs).toBe(FIRST_TICK_MS)
    const readsBefore = shard.dueReads
    for (let minute = 1; minute <= 3; minute += 1) await clock.advance(MINUTE_MS)
    // All of them were prepared again.
    expect(
      shard.ticked.filter(({ atMs }) => (atMs - FIRST_TICK_MS) % MINUTE_MS > 0).length,
    ).toBeLessThanOrEqual(1)
    expect(shard.ticked.filter((tick) => tick.cronId !== cronId)).toHaveLength(4 * 999)
    expect(shard.dueReads - readsBefore).toBeLessThanOrEqual(1)
  })

  test('because another executor ticked it delays no other either, not even as one of many', async () => {
    const { clock, shard, ticker } = setUpTicker()
    for (let i = 0; i < 1_000; i += 1) shard.set(i)
    shard.whileListing(() => {
      for (let i = 0; i < 1_000; i += 2) shard.set(i, {}, FIRST_TICK_MS + YEAR_MS)
    })
    ticker.start()
    await clock.advance(3 * MINUTE_MS)
    expect(shard.ticked).toHaveLength(3 * 500)
    expect(shard.dueReads).toBe(0)
  })
})

describe('a step that cannot be sent', () => {
  test('because of a defect quarantines its cron, and no other', async () => {
    const { clock, shard, ticker } = setUpTicker()
    shard.set(1)
    ticker.start()
    shard.fail(new Error('ERR odd'))
    await clock.advance(MINUTE_MS)
    expect([...shard.quarantined]).toEqual([[1, 'ERR odd']])
    shard.fail(null)
    shard.set(2)
    await clock.advance(MINUTE_MS)
    expect(shard.ticked.length).toBeGreaterThan(0)
  })

  test('because Redis is away is sent again', async () => {
    const { clock, shard, ticker } = setUpTicker()
    shard.set(1)
    ticker.start()
    shard.fail(REDIS_AWAY)
    await clock.advance(MINUTE_MS)
    expect(shard.quarantined.size).toBe(0)
    shard.fail(null)
    await clock.advance(MINUTE_MS)
    expect(shard.ticked.length).toBeGreaterThan(0)
  })
})

test('a cron whose hold cannot be judged is quarantined, and the others tick', async () => {
  const { clock, shard, windows, ticker } = setUpTicker()
  for (let i = 0; i < 10; i += 1) shard.set(i)
  windows.hold('another', null)
  const index = Object.getPrototypeOf(heldResources([])) as ReturnType<typeof heldResources>
  const untilOf = vi.spyOn(index, 'untilOf').mockImplementation((_team, resource) => {
    if (resource?.name === 'cron-4') throw new Error('odd')
    return null
  })
  ticker.start()
  await clock.advance(2 * MINUTE_MS)
  untilOf.mockRestore()
  expect([...shard.quarantined]).toEqual([[4, 'odd']])
  expect(new Set(shard.ticked.map(({ cronId }) => cronId)).size).toBe(9)
})

test('a full Redis is logged once, and so is its end', async () => {
  const lines: unknown[] = []
  const logTo = (level: string) => (message: string, fields?: object) => lines.push([level, message, fields])
  const levels = { info: logTo('info'), warn: logTo('warn'), error: logTo('error') }
  const { clock, shard, ticker } = setUpTicker({ logger: { ...quietLogger, ...levels } })
  shard.set(1)
  ticker.start()
  const full = new StorageFullError()
  for (let i = 0; i < 2; i += 1) {
    shard.fail(full)
    // Several ticks, and many retries.
    await clock.advance(2 * MINUTE_MS)
    // Too short to count as the end.
    shard.fail(null)
    await clock.advance(1_000)
    shard.fail(full)
    await clock.advance(MINUTE_MS)
    shard.fail(null)
    await clock.advance(2 * MINUTE_MS)
  }
  const once = [
    ['warn', 'Crons are not ticked while Redis is full', { shard: 0, reason: full.message }],
    ['info', 'Crons are ticked again: Redis has memory', { shard: 0 }],
  ]
  expect(lines).toEqual([...once, ...once])
})

describe('stopping', () => {
  test('waits for the steps in progress and begins no other', async () => {
    const { clock, shard, ticker } = setUpTicker()
    for (let i = 0; i < 1_000; i += 1) shard.set(i)
    ticker.start()
    const release = shard.hold()
    await clock.advance(MINUTE_MS)
    let isStopped = false
    const stopped = ticker.stop().then(() => (isStopped = true))
    await quiescence()
    expect(isStopped).toBe(false)
    release()
    await stopped
    expect(shard.ticked).toHaveLength(2 * PAGE_MAX)
  })
})
