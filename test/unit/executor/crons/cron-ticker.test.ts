import { describe, expect, test } from 'vitest'
import type { CronSettings } from '../../../../src/domain/crons/cron.ts'
import { StorageFullError } from '../../../../src/domain/errors.ts'
import { CronTicker } from '../../../../src/executor/crons/cron-ticker.ts'
import type { Clock, Logger } from '../../../../src/ports/runtime.ts'
import type { CronSource, DecidedCron, DueCron } from '../../../../src/ports/crons.ts'
import { cronSettings } from '../../../support/engine/cron-settings.ts'
import { createFakeClock, FAKE_EPOCH_MS, quiescence } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { REDIS_AWAY } from '../executor-fixture.ts'

const MINUTE_MS = 60_000
const FIRST_TICK_MS = FAKE_EPOCH_MS + MINUTE_MS
const PAGE_MAX = 200

interface Decided {
  readonly cronId: number
  readonly atMs: number
  readonly run: readonly number[]
  readonly missed: number
}

/** A shard whose decisions count once, and only while they are still right. */
function createFakeShard(nowMs: () => number) {
  const crons = new Map<number, DueCron>()
  const told: Decided[] = []
  let outdated = 0
  let dueReads = 0
  let hints = 0
  let fault: Error | null = null
  let gate = Promise.resolve()
  let whileListing = () => {}
  const dueOf = ({ expectedMs, spreadMs }: DueCron) => expectedMs + spreadMs
  const aside = new Map<number, string>()
  let asideMax = Infinity
  const listed = () =>
    [...crons.values()].filter(({ cronId }) => !aside.has(cronId)).toSorted((a, b) => dueOf(a) - dueOf(b))
  function decide({ cron, run, missed, nextMs }: DecidedCron): number {
    const now = crons.get(cron.cronId)
    if (now?.version !== cron.version || now.expectedMs !== cron.expectedMs) {
      outdated += 1
      return 1
    }
    for (const tick of run) expect(tick + cron.spreadMs).toBeLessThanOrEqual(nowMs())
    told.push({ cronId: cron.cronId, atMs: nowMs(), run, missed: missed?.count ?? 0 })
    if (nextMs === null) crons.delete(cron.cronId)
    else crons.set(cron.cronId, { ...now, expectedMs: nextMs })
    return 0
  }
  const source: CronSource = {
    shard: 0,
    redisNowMs: nowMs,
    hint: () => void (hints += 1),
    setAside: ({ cronId }, reason) => {
      if (aside.size >= asideMax) return false
      aside.set(cronId, reason)
      return true
    },
    nextDueMs: async () => listed().map(dueOf)[0] ?? null,
    due: async (skip) => {
      dueReads += 1
      return listed()
        .filter((cron) => dueOf(cron) <= nowMs())
        .slice(skip, skip + PAGE_MAX)
    },
    upcoming: async (afterMs, untilMs, limit) => {
      const ids = listed()
        .filter((cron) => dueOf(cron) > afterMs && dueOf(cron) <= untilMs)
        .slice(0, limit)
        .map(({ cronId }) => cronId)
      whileListing()
      // As in Redis, where the list is read before the crons.
      return ids.flatMap((id) => crons.get(id) ?? [])
    },
    prepare: async (decided) => [
      {
        crons: decided.length,
        send: async () => {
          await gate
          if (fault !== null) throw fault
          const before = outdated
          for (const each of decided) decide(each)
          return { started: decided.length - (outdated - before), outdated: outdated - before }
        },
      },
    ],
  }
  return {
    source,
    told,
    aside,
    limitAside: (max: number) => (asideMax = max),
    set: (cronId: number, change: Partial<CronSettings> = {}, expectedMs = FIRST_TICK_MS, spreadMs = 0) => {
      const version = (crons.get(cronId)?.version ?? 0) + 1
      const settings = cronSettings(change)
      const cron = { cronId, team: 'a', version, settings, bytes: 100, expectedMs, spreadMs, running: null }
      crons.set(cronId, cron)
    },
    get hints() {
      return hints
    },
    remove: (cronId: number) => crons.delete(cronId),
    /** Happens whenever crons are looked ahead for: after they were listed, before they are read. */
    whileListing: (happens: () => void) => (whileListing = happens),
    fail: (error: Error | null) => (fault = error),
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      gate = promise
      return resolve
    },
    get outdated() {
      return outdated
    },
    get dueReads() {
      return dueReads
    },
  }
}

function setUp({ random = () => 0, logger = quietLogger }: { random?: () => number; logger?: Logger } = {}) {
  const clock = createFakeClock()
  let aheadMs = 0
  const shard = createFakeShard(() => clock.wallMs() + aheadMs)
  let runnable = 0
  const newTicker = (change: Partial<Clock> = {}) =>
    new CronTicker({
      source: shard.source,
      clock: { ...clock, ...change },
      logger,
      random,
      onWork: () => (runnable += 1),
    })
  return {
    clock,
    shard,
    newTicker,
    ticker: newTicker(),
    /** Redis's clock jumps. */
    jump: (ms: number) => (aheadMs += ms),
    runnable: () => runnable,
  }
}

describe('a tick', () => {
  test('is decided about the moment it is due, by what was made ready before', async () => {
    const { clock, shard, ticker, runnable } = setUp()
    shard.set(1)
    ticker.start()
    await clock.advance(MINUTE_MS - 1)
    expect(shard.told).toEqual([])
    await clock.advance(1)
    expect(shard.told).toEqual([{ cronId: 1, atMs: FIRST_TICK_MS, run: [FIRST_TICK_MS], missed: 0 }])
    expect(shard.dueReads).toBe(0)
    expect(runnable()).toBe(1)
    await clock.advance(2 * MINUTE_MS)
    expect(shard.told.map(({ atMs }) => atMs)).toEqual([0, 1, 2].map((n) => FIRST_TICK_MS + n * MINUTE_MS))
  })

  test('of a cron that was made when others had been made ready comes in time too', async () => {
    const { clock, shard, ticker } = setUp()
    shard.set(1)
    ticker.start()
    await clock.advance(MINUTE_MS - 1_000)
    shard.set(2)
    await clock.advance(1_000 + 5)
    expect(shard.told).toEqual([
      { cronId: 1, atMs: FIRST_TICK_MS, run: [FIRST_TICK_MS], missed: 0 },
      { cronId: 2, atMs: FIRST_TICK_MS, run: [FIRST_TICK_MS], missed: 0 },
    ])
  })

  test('is not decided about by what was made ready before an edit', async () => {
    const { clock, shard, ticker } = setUp()
    shard.set(1)
    ticker.start()
    await clock.advance(MINUTE_MS - 1_000)
    shard.set(1, { url: 'http://other.test/' })
    await clock.advance(1_000 + 5)
    expect(shard.outdated).toBe(1)
    expect(shard.told).toEqual([{ cronId: 1, atMs: FIRST_TICK_MS, run: [FIRST_TICK_MS], missed: 0 }])
  })

  test('of a cron that was removed meanwhile is left alone', async () => {
    const { clock, shard, ticker } = setUp()
    shard.set(1)
    ticker.start()
    await clock.advance(MINUTE_MS - 1_000)
    shard.remove(1)
    await clock.advance(5_000)
    expect(shard.told).toEqual([])
  })

  test('comes after the spread of its cron, never early, and late by no more than a step’s span', async () => {
    const { clock, shard, ticker } = setUp()
    const spreads = Array.from({ length: 300 }, (_, i) => (i * 7_919) % 30_000)
    spreads.forEach((spreadMs, i) => shard.set(i, { cronExpression: '0 * * * *' }, FIRST_TICK_MS, spreadMs))
    ticker.start()
    await clock.advance(MINUTE_MS + 30_020)
    expect(shard.told).toHaveLength(300)
    for (const { cronId, atMs } of shard.told) {
      expect(atMs - FIRST_TICK_MS - (spreads[cronId] ?? 0)).toBeLessThanOrEqual(20)
    }
    expect(shard.outdated).toBe(0)
  })

  test('that was made ready and is found too late counts as missed', async () => {
    const { clock, shard, ticker, jump } = setUp()
    shard.set(1, { startingDeadlineSeconds: 10 })
    ticker.start()
    await clock.advance(MINUTE_MS - 1_000)
    jump(12_000)
    await clock.advance(300)
    expect(shard.told).toEqual([{ cronId: 1, atMs: FIRST_TICK_MS + 11_000 + 250, run: [], missed: 1 }])
  })

  test('is decided about together with those after it when they are due by then too', async () => {
    const { clock, shard, ticker, jump } = setUp()
    shard.set(1)
    ticker.start()
    await clock.advance(MINUTE_MS - 1_000)
    jump(3 * MINUTE_MS)
    await clock.advance(300)
    expect(shard.told).toMatchObject([{ run: [FIRST_TICK_MS + 2 * MINUTE_MS], missed: 2 }])
  })

  test('comes in time after the clock was put back', async () => {
    const { clock, shard, ticker, jump } = setUp()
    shard.set(1)
    ticker.start()
    await clock.advance(MINUTE_MS - 1_000)
    jump(-10 * MINUTE_MS)
    await clock.advance(10 * MINUTE_MS + 1_000 - 1)
    expect(shard.told).toEqual([])
    await clock.advance(1)
    expect(shard.told).toEqual([{ cronId: 1, atMs: FIRST_TICK_MS, run: [FIRST_TICK_MS], missed: 0 }])
    expect(shard.dueReads).toBe(0)
  })
})

describe('many ticks at one instant', () => {
  test('go in steps of 200', async () => {
    const { clock, shard, ticker, runnable } = setUp()
    for (let i = 0; i < 1_000; i += 1) shard.set(i)
    ticker.start()
    await clock.advance(MINUTE_MS)
    expect(new Set(shard.told.map(({ cronId }) => cronId)).size).toBe(1_000)
    expect(shard.told).toHaveLength(1_000)
    // Claims would hold up the others.
    expect([runnable(), shard.hints]).toEqual([1, 1])
    expect(shard.dueReads).toBe(0)
  })

  test('are begun by several executors at different places, and each is decided about once', async () => {
    const places = [0, 0.5]
    const { clock, shard, ticker, newTicker } = setUp({ random: () => places.shift() ?? 0 })
    for (let i = 0; i < 1_000; i += 1) shard.set(i)
    const other = newTicker()
    ticker.start()
    other.start()
    await clock.advance(MINUTE_MS)
    expect(shard.told).toHaveLength(1_000)
    expect(new Set(shard.told.map(({ cronId }) => cronId)).size).toBe(1_000)
    // Both stop at the first step that the other has done; two are under way then.
    expect(shard.outdated).toBeLessThanOrEqual(4 * PAGE_MAX)
  })

  test('go on where a step could not be sent', async () => {
    const { clock, shard, ticker } = setUp()
    for (let i = 0; i < 1_000; i += 1) shard.set(i)
    ticker.start()
    shard.fail(REDIS_AWAY)
    await clock.advance(MINUTE_MS + 1_000)
    expect(shard.told).toEqual([])
    shard.fail(null)
    await clock.advance(1_000)
    expect(shard.told).toHaveLength(1_000)
  })
})

describe('deciding about many', () => {
  test.each([
    ['that are due', 10 * MINUTE_MS],
    ['that are made ready', 0],
  ])('%s lets others run after every 10 ms of it', async (_which, lateMs) => {
    const { clock, shard, newTicker } = setUp()
    for (let i = 0; i < 1_000; i += 1) shard.set(i, {}, FIRST_TICK_MS - lateMs)
    // A look at the clock comes after each decision, and each takes a millisecond.
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
    expect(shard.told.length).toBeGreaterThanOrEqual(1_000)
    expect(turns).toBeGreaterThanOrEqual(shard.told.length / 12)
  })
})

describe('a cron that comes to be due another time while others are looked ahead for', () => {
  const YEAR_MS = 366 * 24 * 60 * MINUTE_MS

  test.each([
    ['at the head of its step', 0, YEAR_MS],
    ['at its end', 199, YEAR_MS],
    ['in between, within the time looked ahead', 100, 2_500],
    ['to be due at once', 100, -30_000],
  ])('holds up none: %s', async (_where, cronId, byMs) => {
    const { clock, shard, ticker } = setUp()
    for (let i = 0; i < 1_000; i += 1) shard.set(i)
    let looks = 0
    shard.whileListing(() => {
      looks += 1
      if (looks === 1) shard.set(cronId, {}, FIRST_TICK_MS + byMs)
    })
    ticker.start()
    await clock.advance(MINUTE_MS)
    const others = shard.told.filter((told) => told.cronId !== cronId)
    expect(others).toHaveLength(999)
    for (const { atMs } of others) expect(atMs).toBe(FIRST_TICK_MS)
    const readsBefore = shard.dueReads
    for (let minute = 1; minute <= 3; minute += 1) await clock.advance(MINUTE_MS)
    // Made ready again, all of them.
    expect(
      shard.told.filter(({ atMs }) => (atMs - FIRST_TICK_MS) % MINUTE_MS > 0).length,
    ).toBeLessThanOrEqual(1)
    expect(shard.told.filter((told) => told.cronId !== cronId)).toHaveLength(4 * 999)
    expect(shard.dueReads - readsBefore).toBeLessThanOrEqual(1)
  })

  test('and is ticked by others meanwhile, as half of all', async () => {
    const { clock, shard, ticker } = setUp()
    for (let i = 0; i < 1_000; i += 1) shard.set(i)
    shard.whileListing(() => {
      for (let i = 0; i < 1_000; i += 2) shard.set(i, {}, FIRST_TICK_MS + YEAR_MS)
    })
    ticker.start()
    await clock.advance(3 * MINUTE_MS)
    expect(shard.told).toHaveLength(3 * 500)
    expect(shard.dueReads).toBe(0)
  })
})

describe('crons that this version does not understand', () => {
  const ids = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

  test('are set aside with the reason, and hold up no others', async () => {
    const { clock, shard, ticker } = setUp()
    for (const id of ids(0, 450)) shard.set(id, { timeZone: 'Mars/Olympus' })
    for (const id of ids(450, 1_000)) shard.set(id)
    ticker.start()
    for (let minute = 0; minute < 3; minute += 1) {
      await clock.advance(MINUTE_MS)
      const told = shard.told.filter(({ atMs }) => atMs === FIRST_TICK_MS + minute * MINUTE_MS)
      expect(told.map(({ cronId }) => cronId).toSorted((a, b) => a - b)).toEqual(ids(450, 1_000))
    }
    expect([...shard.aside.keys()].toSorted((a, b) => a - b)).toEqual(ids(0, 450))
    expect(shard.aside.get(0)).toContain('timeZone')
    expect(shard.dueReads).toBe(0)
  })

  test('hold up no others that are due with them', async () => {
    const { clock, shard, ticker } = setUp()
    for (const id of ids(0, 1_000)) shard.set(id, { cronExpression: 'H * * * *' }, FAKE_EPOCH_MS - 2)
    for (const id of ids(1_000, 1_010)) shard.set(id, {}, FAKE_EPOCH_MS - 1)
    ticker.start()
    await clock.advance(100)
    expect(shard.told.map(({ cronId }) => cronId)).toEqual(ids(1_000, 1_010))
    expect(shard.aside.size).toBe(1_000)
  })

  test('that are too many to be set aside are passed over', async () => {
    const { clock, shard, ticker } = setUp()
    shard.limitAside(10)
    for (const id of ids(0, 450)) shard.set(id, { cronExpression: 'H * * * *' }, FAKE_EPOCH_MS - 2)
    for (const id of ids(450, 460)) shard.set(id, {}, FAKE_EPOCH_MS - 1)
    ticker.start()
    await clock.advance(2_000)
    expect(shard.told.map(({ cronId }) => cronId)).toEqual(ids(450, 460))
  })
})

describe('a step that cannot be sent', () => {
  test.each([
    ['for a defect is told of once, until another one can', new Error('ERR odd'), 2],
    ['for Redis is away is not told of here', REDIS_AWAY, 0],
  ])('%s', async (_what, fault, told) => {
    let errors = 0
    const { clock, shard, ticker } = setUp({ logger: { ...quietLogger, error: () => void (errors += 1) } })
    shard.set(1)
    ticker.start()
    for (let i = 0; i < 2; i += 1) {
      shard.fail(fault)
      await clock.advance(MINUTE_MS)
      shard.fail(null)
      await clock.advance(MINUTE_MS)
    }
    expect(errors).toBe(told)
    expect(shard.told.length).toBeGreaterThan(1)
  })
})

test('a full Redis is told of once, and that it has room again', async () => {
  const told: unknown[] = []
  const tellOf = (level: string) => (message: string, fields?: object) => told.push([level, message, fields])
  const levels = { info: tellOf('info'), warn: tellOf('warn'), error: tellOf('error') }
  const { clock, shard, ticker } = setUp({ logger: { ...quietLogger, ...levels } })
  shard.set(1)
  ticker.start()
  const full = new StorageFullError()
  for (let i = 0; i < 2; i += 1) {
    shard.fail(full)
    // More than one tick, and much more than one try.
    await clock.advance(2 * MINUTE_MS)
    // A little room is none.
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
  expect(told).toEqual([...once, ...once])
})

describe('stopping', () => {
  test('waits for the step under way, and begins no other', async () => {
    const { clock, shard, ticker } = setUp()
    for (let i = 0; i < 1_000; i += 1) shard.set(i)
    ticker.start()
    const release = shard.hold()
    await clock.advance(MINUTE_MS)
    let isAtRest = false
    const stopped = ticker.stop().then(() => (isAtRest = true))
    await quiescence()
    expect(isAtRest).toBe(false)
    release()
    await stopped
    expect(shard.told).toHaveLength(2 * PAGE_MAX)
  })
})
