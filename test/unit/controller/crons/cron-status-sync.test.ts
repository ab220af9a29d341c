import { expect, test } from 'vitest'
import { createCronStatusSync } from '../../../../src/controller/crons/cron-status-sync.ts'
import type { HttpCron } from '../../../../src/controller/kinds.ts'
import { SYNC_EVERY_MS, STATUS_WRITES_PER_SECOND } from '../../../../src/controller/reconcile/status-sync.ts'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import type { CronStatsEntry } from '../../../../src/ports/crons.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'

const NEXT_MS = Date.parse('2026-11-22T03:00:00Z')
const IDLE: Omit<CronStatsEntry, 'cronId'> = {
  nextRunAtMs: NEXT_MS,
  lastRun: null,
  lastSuccessAtMs: null,
  consecutiveFailures: 0,
  failing: null,
  lastFailure: null,
}

/** @param count crons whose statuses match the engine */
function setUp(count: number) {
  const clock = createFakeClock()
  const crons = new Map(
    Array.from({ length: count }, (_, id) => {
      const metadata = { name: `c${id}`, namespace: 'shop' }
      const status = { id, nextRunTime: '2026-11-22T03:00:00Z', consecutiveFailures: 0 }
      return [`shop/c${id}`, { metadata, status } as unknown as HttpCron]
    }),
  )
  const states = new Map<string, CronStatsEntry>(
    [...crons.keys()].map((key, cronId) => [key, { ...IDLE, cronId }]),
  )
  const engine = { isAway: false }
  const enqueued: string[] = []
  const sync = createCronStatusSync({
    informer: { all: () => crons.values(), get: (key) => crons.get(key) },
    cronStats: {
      read: (places) => {
        if (engine.isAway) return Promise.reject(new StoreUnavailableError('away'))
        return Promise.resolve(places.map(({ team, name }) => states.get(`${team}/${name}`) ?? null))
      },
    },
    enqueue: (key) => void enqueued.push(key),
    clock,
    logger: quietLogger,
  })
  const leading = new AbortController()
  const ended = sync.run(leading.signal)
  const end = async (): Promise<void> => {
    leading.abort()
    await clock.advance(SYNC_EVERY_MS)
    await ended
  }
  return { clock, crons, states, engine, enqueued, sync, end }
}

test('a cron with a current status is not requeued; a changed one is, within one sync', async () => {
  const { clock, states, enqueued, sync, end } = setUp(3)
  await clock.advance(0)
  expect(enqueued).toEqual([])
  states.set('shop/c1', { ...IDLE, cronId: 1, consecutiveFailures: 1 })
  await clock.advance(SYNC_EVERY_MS)
  expect(enqueued).toEqual(['shop/c1'])
  expect(sync.of('shop/c1')).toMatchObject({ consecutiveFailures: 1 })
  expect(sync.of('shop/c9')).toBeNull()
  await end()
})

test.each([
  ['a next tick', { nextRunAtMs: NEXT_MS + 60_000 }],
  ['a pause', { nextRunAtMs: null }],
  ['a success', { lastSuccessAtMs: NEXT_MS }],
  ['a run', { lastRun: { scheduledAtMs: 0, result: 'running', jobId: 1, isManual: false, ticks: 1 } }],
] satisfies ReadonlyArray<[string, Partial<CronStatsEntry>]>)('%s is news', async (_what, change) => {
  const { clock, states, enqueued, end } = setUp(1)
  states.set('shop/c0', { ...IDLE, cronId: 0, ...change })
  await clock.advance(SYNC_EVERY_MS)
  expect(enqueued).toEqual(['shop/c0'])
  await end()
})

test('one that was removed from the engine, or is another one there, is not requeued', async () => {
  const { clock, states, enqueued, end } = setUp(2)
  states.delete('shop/c0')
  states.set('shop/c1', { ...IDLE, cronId: 99, consecutiveFailures: 3 })
  await clock.advance(SYNC_EVERY_MS * 3)
  expect(enqueued).toEqual([])
  await end()
})

test('many that have changed are requeued at a fixed rate', async () => {
  const { clock, states, enqueued, end } = setUp(3 * STATUS_WRITES_PER_SECOND)
  for (const [key, state] of states) states.set(key, { ...state, consecutiveFailures: 1 })
  await clock.advance(SYNC_EVERY_MS)
  expect(enqueued).toHaveLength(STATUS_WRITES_PER_SECOND)
  await clock.advance(1_000)
  expect(enqueued).toHaveLength(2 * STATUS_WRITES_PER_SECOND)
  await end()
})

test('when Redis stays away, each is requeued once to report it', async () => {
  const { clock, engine, enqueued, end } = setUp(2)
  engine.isAway = true
  await clock.advance(SYNC_EVERY_MS * 10)
  expect(enqueued).toEqual(['shop/c0', 'shop/c1'])
  await end()
})

test('a cron that begins to fail or has recovered is requeued, and one that goes on with a new failure', async () => {
  const { clock, crons, states, enqueued, end } = setUp(1)
  const run = { scheduledAtMs: Date.parse('2026-11-21T03:00:00Z'), jobId: 16, isManual: false, ticks: 1 }
  const show = (change: Partial<HttpCron['status']>) => {
    const cron = crons.get('shop/c0')
    if (cron === undefined) throw new Error('no such cron')
    crons.set('shop/c0', { ...cron, status: { ...cron.status, ...change } })
  }
  const condition = (status: 'True' | 'False') => [
    { type: 'Failing', status, reason: 'x', message: 'x', lastTransitionTime: '2026-11-21T03:00:00Z' },
  ]
  const requeued = async (state: Partial<CronStatsEntry>): Promise<number> => {
    const before = enqueued.length
    states.set('shop/c0', { ...IDLE, cronId: 0, ...state })
    await clock.advance(SYNC_EVERY_MS)
    return enqueued.length - before
  }
  await clock.advance(0)
  const lastFailure = { scheduledAtMs: run.scheduledAtMs, reason: 'timeout' as const }
  const failed = { lastRun: { ...run, result: 'failed' as const }, lastFailure }
  show({ lastRunTime: '2026-11-21T03:00:00Z', lastRunResult: 'Failed' })
  expect(await requeued(failed)).toBe(1)
  show({ lastFailure: { time: '2026-11-21T03:00:00Z', reason: 'timeout' } })
  expect(await requeued(failed)).toBe(0)
  expect(await requeued({ ...failed, failing: 'timeout' })).toBe(1)
  show({ conditions: condition('True') })
  expect(await requeued({ ...failed, failing: 'timeout' })).toBe(0)
  const other = { ...lastFailure, reason: 'dns_error' as const }
  expect(await requeued({ ...failed, failing: 'timeout', lastFailure: other })).toBe(1)
  expect(await requeued(failed)).toBe(1)
  show({ conditions: condition('False') })
  expect(await requeued(failed)).toBe(0)
  await end()
})
