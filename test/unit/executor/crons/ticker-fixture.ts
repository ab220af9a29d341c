import { loopsOf } from '../../../support/loops.ts'
import { expect } from 'vitest'
import type { CronSettings } from '../../../../src/domain/crons/cron.ts'
import { CronTicker } from '../../../../src/executor/crons/cron-ticker.ts'
import type { CronSource, DecidedCron, DueCron } from '../../../../src/ports/crons.ts'
import type { Clock, Logger } from '../../../../src/ports/runtime.ts'
import { cronSettings } from '../../../support/engine/cron-settings.ts'
import { createFakeWindows } from '../../../support/engine/fake-windows.ts'
import { createFakeClock, FAKE_EPOCH_MS } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'

export const MINUTE_MS = 60_000
export const FIRST_TICK_MS = FAKE_EPOCH_MS + MINUTE_MS
/** Crons of a page of due ones, and of a step. */
export const PAGE_MAX = 200

interface Decided {
  readonly cronId: number
  readonly atMs: number
  readonly run: readonly number[]
  readonly missed: number
}

/** A shard in memory. As in Redis, a decision counts once, and only if its cron has not changed. */
function createFakeShard(nowMs: () => number) {
  const crons = new Map<number, DueCron>()
  const ticked: Decided[] = []
  let outdated = 0
  let dueReads = 0
  let hints = 0
  let fault: Error | null = null
  let gate = Promise.resolve()
  let whileListing = () => {}
  const deferred = new Map<number, number>()
  const dueOf = ({ cronId, expectedMs, spreadMs }: DueCron) => deferred.get(cronId) ?? expectedMs + spreadMs
  const quarantined = new Map<number, string>()
  let quarantinedMax = Infinity
  const listed = () =>
    [...crons.values()]
      .filter(({ cronId }) => !quarantined.has(cronId))
      .toSorted((a, b) => dueOf(a) - dueOf(b))
  function decide({ cron, run, missed, nextMs, deferredToMs }: DecidedCron): number {
    const now = crons.get(cron.cronId)
    if (now?.version !== cron.version || now.expectedMs !== cron.expectedMs) {
      outdated += 1
      return 1
    }
    deferred.delete(cron.cronId)
    if (deferredToMs !== undefined) deferred.set(cron.cronId, deferredToMs)
    for (const tick of run) expect(tick + cron.spreadMs).toBeLessThanOrEqual(nowMs())
    if (deferredToMs === undefined)
      ticked.push({ cronId: cron.cronId, atMs: nowMs(), run, missed: missed?.count ?? 0 })
    if (nextMs === null) crons.delete(cron.cronId)
    else crons.set(cron.cronId, { ...now, expectedMs: nextMs })
    return 0
  }
  const source: CronSource = {
    shard: 0,
    redisNowMs: nowMs,
    hint: () => void (hints += 1),
    quarantine: ({ cronId }, reason) => {
      if (quarantined.size >= quarantinedMax) return false
      quarantined.set(cronId, reason)
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
      // Redis too reads the list before the crons.
      return ids.flatMap((id) => crons.get(id) ?? [])
    },
    prepare: async (decided) => [
      {
        crons: decided.length,
        decided,
        send: async () => {
          await gate
          if (fault !== null) throw fault
          const before = outdated
          for (const each of decided) decide(each)
          const started = decided.filter(({ deferredToMs }) => deferredToMs === undefined).length
          return { started: started - (outdated - before), outdated: outdated - before }
        },
      },
    ],
  }
  return {
    source,
    ticked,
    quarantined,
    limitQuarantine: (max: number) => (quarantinedMax = max),
    set: (cronId: number, change: Partial<CronSettings> = {}, expectedMs = FIRST_TICK_MS, spreadMs = 0) => {
      const version = (crons.get(cronId)?.version ?? 0) + 1
      const settings = cronSettings(change)
      const cron = {
        cronId,
        team: 'a',
        name: `cron-${cronId}`,
        version,
        settings,
        bytes: 100,
        expectedMs,
        spreadMs,
        running: null,
      }
      crons.set(cronId, cron)
      deferred.delete(cronId)
    },
    get hints() {
      return hints
    },
    remove: (cronId: number) => crons.delete(cronId),
    /** Runs whenever upcoming crons are read: after they were listed, before they are read. */
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

export function setUpTicker({
  random = () => 0,
  logger = quietLogger,
}: { random?: () => number; logger?: Logger } = {}) {
  const clock = createFakeClock()
  let aheadMs = 0
  const shard = createFakeShard(() => clock.wallMs() + aheadMs)
  let runnable = 0
  /** How many ticks had been written when claims were made to wait, and when they went on. */
  const pauses: string[] = []
  const windows = createFakeWindows()
  const newTicker = (change: Partial<Clock> = {}) =>
    new CronTicker({
      source: shard.source,
      loops: loopsOf({ clock, logger }),
      windows,
      clock: { ...clock, ...change },
      logger,
      random,
      onWork: () => (runnable += 1),
      pauseClaims: () => {
        pauses.push(`waits after ${shard.ticked.length}`)
        return () => void pauses.push(`goes on after ${shard.ticked.length}`)
      },
    })
  return {
    clock,
    shard,
    windows,
    newTicker,
    ticker: newTicker(),
    /** Makes the clock of Redis jump. */
    jump: (ms: number) => (aheadMs += ms),
    runnable: () => runnable,
    pauses,
  }
}
