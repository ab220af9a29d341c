import { expect, it } from 'vitest'
import type { HttpQueue } from '../../../../src/controller/kinds.ts'
import { FAILURE_SLACK_MS, QUEUE_FAILING_MS } from '../../../../src/controller/queues/queue-failure.ts'
import { jobsLost } from '../../../../src/controller/queues/queue-loss.ts'
import { createQueueStatusSync } from '../../../../src/controller/queues/queue-status-sync.ts'
import { SYNC_EVERY_MS, STATUS_WRITES_PER_SECOND } from '../../../../src/controller/reconcile/status-sync.ts'
import {
  RATE_SHOWN_FROM_MS,
  shownThrottle,
  throttled,
} from '../../../../src/controller/queues/queue-throttle.ts'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import type { Throttle, ThrottleReason } from '../../../../src/domain/jobs/flow.ts'
import type { LastFailure, NotedLoss, QueueStatsEntry, QueueRef } from '../../../../src/ports/queues.ts'
import { kubernetesTime } from '../../../../src/resources/conditions.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { createMemoryKind } from '../memory-kind.ts'
import { QUEUE_DEFAULTS, QUEUE_INDEXES } from './queue-world.ts'
import type { ReadySplit } from '../../../../src/domain/jobs/queues/ready-split.ts'
import type { ReadyCounts } from '../../../../src/ports/metrics.ts'

const COUNTS = { pending: 0, delayed: 0, processing: 0, dead: 0 }

function setUp(names: readonly string[], spec: Partial<HttpQueue['spec']> = {}) {
  const clock = createFakeClock()
  const kind = createMemoryKind<HttpQueue>({
    kind: 'HttpQueue',
    indexes: QUEUE_INDEXES,
    defaults: QUEUE_DEFAULTS,
  })
  for (const name of names) kind.put(`shop/${name}`, spec)
  /** As the reconciler writes it. */
  const writeStatus = async (name: string, status: HttpQueue['status']) => {
    const queue = kind.get(`shop/${name}`)
    if (queue !== undefined) await kind.writer.applyStatus({ ...queue, ...queue.metadata }, status ?? {})
  }
  const state = {
    counts: COUNTS,
    isAway: false,
    syncs: 0,
    throttled: null as Readonly<Record<ThrottleReason, number>> | null,
    counted: 0,
    oldestReadyMs: null as number | null,
    lastFailure: null as LastFailure | null,
    lostJobs: null as NotedLoss | null,
    throttle: null as Throttle | null,
    split: { startable: 0, stopped: null, oldestStartableMs: null } as ReadySplit,
    ready: null as ReadyCounts | null,
  }
  const enqueued: string[] = []
  const sync = createQueueStatusSync({
    informer: kind.informer,
    queueStats: {
      count: async (places: readonly QueueRef[]) => {
        if (state.isAway) throw new StoreUnavailableError('away')
        state.counted += places.length
        return places.map((place): QueueStatsEntry => ({
          ...place,
          queueId: 1,
          counts: state.counts,
          oldestReadyMs: state.oldestReadyMs,
          split: state.split,
          lastFailure: state.lastFailure,
          lostJobs: state.lostJobs,
          throttle: state.throttle,
        }))
      },
    },
    enqueue: (key) => void enqueued.push(key),
    clock,
    logger: quietLogger,
    metrics: {
      queuesCounted: () => void (state.syncs += 1),
      queuesThrottled: (counts) => void (state.throttled = counts),
      readyJobsCounted: (counts) => void (state.ready = counts),
    },
  })
  const leading = new AbortController()
  return {
    clock,
    kind,
    sync,
    state,
    enqueued,
    writeStatus,
    start: () => sync.run(leading.signal),
    end: () => leading.abort(),
  }
}

it('requeues queues whose counts differ from their status, and no others', async () => {
  const world = setUp(['same', 'other', 'fresh'])
  await world.writeStatus('same', { queueId: 1, counts: COUNTS })
  await world.writeStatus('other', { queueId: 1, counts: { ...COUNTS, pending: 3 } })
  void world.start()
  await world.clock.advance(0)
  expect(world.enqueued).toEqual(['shop/other'])
  expect(world.sync.of('shop/other')).toMatchObject({ counts: COUNTS })
  expect(world.sync.of('shop/unknown')).toBeNull()
})

it('tells startable and stopped jobs of all queues apart', async () => {
  const world = setUp(['one', 'other'])
  const { state } = world
  state.split = { startable: 3, stopped: { reason: 'at_limit', jobs: 5 }, oldestStartableMs: 1_200 }
  void world.start()
  await world.clock.advance(0)
  expect(state.ready).toEqual({
    startable: 6,
    stopped: { paused: 0, held: 0, throttled: 0, at_limit: 10 },
    oldestStartableMs: 1_200,
  })
})

it('requeues a queue without the jobs that were lost, until it says so', async () => {
  const world = setUp(['emails'])
  const counted = { queueId: 1, counts: COUNTS }
  await world.writeStatus('emails', counted)
  world.state.lostJobs = { count: 218, fromMs: 0, toMs: 1_500, ageMs: 0 }
  void world.start()
  await world.clock.advance(0)
  expect(world.enqueued).toEqual(['shop/emails'])
  const [said] = jobsLost(world.state.lostJobs, null)
  const at = { observedGeneration: 1, lastTransitionTime: kubernetesTime(0) }
  if (said !== undefined) await world.writeStatus('emails', { ...counted, conditions: [{ ...said, ...at }] })
  await world.clock.advance(SYNC_EVERY_MS)
  expect(world.enqueued).toEqual(['shop/emails'])
  world.state.lostJobs = null
  await world.clock.advance(SYNC_EVERY_MS)
  expect(world.enqueued).toEqual(['shop/emails', 'shop/emails'])
})

it('counts each queue once per sync, however many resources it has', async () => {
  const world = setUp(['a', 'b'])
  world.kind.put('shop/rival', { queueName: 'a' })
  void world.start()
  await world.clock.advance(SYNC_EVERY_MS)
  expect(world.state).toMatchObject({ syncs: 2, counted: 4 })
})

it('writes of an oldest job only what is news', async () => {
  const world = setUp(['a'])
  world.state.oldestReadyMs = 60_000
  const since = (ageMs: number) => new Date(world.clock.wallMs() - ageMs).toISOString()
  await world.writeStatus('a', { queueId: 1, counts: COUNTS, oldestReadyTime: since(58_000) })
  void world.start()
  await world.clock.advance(0)
  expect(world.enqueued).toEqual([])
  world.state.oldestReadyMs = null
  await world.clock.advance(SYNC_EVERY_MS)
  expect(world.enqueued).toEqual(['shop/a'])
})

it('requeues a queue that begins to fail and one that ends, and each minute one that goes on', async () => {
  const world = setUp(['a'], { alertsEnabled: true })
  const requeued = async () => {
    const before = world.enqueued.length
    await world.clock.advance(SYNC_EVERY_MS)
    return world.enqueued.length - before
  }
  const shown = (status: 'True' | 'False', atMs: number): Promise<void> =>
    world.writeStatus('a', {
      queueId: 1,
      counts: COUNTS,
      lastFailure: { time: kubernetesTime(atMs), reason: 'timeout' },
      conditions: [
        { type: 'Failing', status, reason: 'x', message: 'x', lastTransitionTime: kubernetesTime(atMs) },
      ],
    })
  await world.writeStatus('a', { queueId: 1, counts: COUNTS })
  void world.start()
  await world.clock.advance(0)
  expect(world.enqueued).toEqual([])
  const atMs = Date.parse('2026-11-22T03:00:00.400Z')
  world.state.lastFailure = { atMs, ageMs: 400, reason: 'timeout' }
  expect(await requeued()).toBe(1)
  await shown('True', atMs)
  expect(await requeued()).toBe(0)
  world.state.lastFailure = { atMs: atMs + FAILURE_SLACK_MS - 1_000, ageMs: 0, reason: 'timeout' }
  expect(await requeued()).toBe(0)
  world.state.lastFailure = { atMs: atMs + FAILURE_SLACK_MS, ageMs: 0, reason: 'timeout' }
  expect(await requeued()).toBe(1)
  world.state.lastFailure = { atMs, ageMs: 0, reason: 'dns_error' }
  expect(await requeued()).toBe(1)
  world.state.lastFailure = { atMs, ageMs: QUEUE_FAILING_MS - 1, reason: 'timeout' }
  expect(await requeued()).toBe(0)
  world.state.lastFailure = { atMs, ageMs: QUEUE_FAILING_MS, reason: 'timeout' }
  expect(await requeued()).toBe(1)
  await shown('False', atMs)
  expect(await requeued()).toBe(0)
})

it('requeues a queue whose throttle is another one, and none for the moments of a rate', async () => {
  const circuitBreaker = { failurePercent: 50, minCalls: 10, windowSeconds: 60, openSeconds: 30 }
  const spec = { rateLimit: { limit: 10, periodSeconds: 1 }, circuitBreaker }
  const world = setUp(['a'], spec)
  /** Writes the status as it should be by now, and tells whether a sync asks for another. */
  const isRequeued = async (throttle: Throttle | null): Promise<boolean> => {
    const before = world.enqueued.length
    world.state.throttle = throttle
    await world.clock.advance(SYNC_EVERY_MS)
    return world.enqueued.length > before
  }
  const write = (throttle: Throttle | null): Promise<void> => {
    const given = { ...QUEUE_DEFAULTS, ...spec } as HttpQueue['spec']
    const nowMs = world.clock.wallMs()
    const shown = shownThrottle(given, throttle, nowMs)
    const at = { observedGeneration: 1, lastTransitionTime: kubernetesTime(nowMs) }
    return world.writeStatus('a', {
      queueId: 1,
      counts: COUNTS,
      conditions: throttled(given, throttle, nowMs).map((one) => ({ ...one, ...at })),
      ...(shown === undefined ? {} : { throttled: shown }),
    })
  }
  const at = (ms: number) => world.clock.wallMs() + ms
  await world.writeStatus('a', { queueId: 1, counts: COUNTS })
  void world.start()
  await world.clock.advance(0)
  // It does not say yet that jobs may begin.
  expect(world.enqueued).toEqual(['shop/a'])
  await write(null)
  expect(await isRequeued(null)).toBe(false)
  expect(await isRequeued({ reason: 'rate_limited', untilMs: at(SYNC_EVERY_MS + 40) })).toBe(false)
  const open: Throttle = { reason: 'circuit_open', untilMs: at(60_000) }
  expect(await isRequeued(open)).toBe(true)
  await write(open)
  expect(await isRequeued(open)).toBe(false)
  expect(await isRequeued({ ...open, untilMs: null })).toBe(true)
  expect(await isRequeued(null)).toBe(true)
  await write(null)
  const slow: Throttle = { reason: 'rate_limited', untilMs: at(SYNC_EVERY_MS + RATE_SHOWN_FROM_MS) }
  expect(await isRequeued(slow)).toBe(true)
  await write(slow)
  expect(await isRequeued(slow)).toBe(true)
})

it('counts the queues that are throttled, by reason', async () => {
  const world = setUp(['a', 'b'])
  world.state.throttle = { reason: 'circuit_open', untilMs: null }
  void world.start()
  await world.clock.advance(0)
  const none = { rate_limited: 0, target_asks_to_wait: 0, circuit_open: 0 }
  expect(world.state.throttled).toEqual({ ...none, circuit_open: 2 })
  world.state.throttle = null
  await world.clock.advance(SYNC_EVERY_MS)
  expect(world.state.throttled).toEqual(none)
})

it('reads one queue when it is asked, and a Redis that is away is no fault of that', async () => {
  const { sync, state } = setUp(['a'])
  state.isAway = true
  await sync.refresh('shop/a')
  expect(sync.of('shop/a')).toBeNull()
  state.isAway = false
  await sync.refresh('shop/a')
  expect(sync.of('shop/a')).toMatchObject({ queueId: 1, counts: COUNTS })
})

it('requeues at most fifty a second', async () => {
  const names = Array.from({ length: 120 }, (_, at) => `q${at}`)
  const world = setUp(names)
  for (const name of names) await world.writeStatus(name, { queueId: 1 })
  void world.start()
  await world.clock.advance(0)
  expect(world.enqueued).toHaveLength(STATUS_WRITES_PER_SECOND)
  await world.clock.advance(2_000)
  expect(world.enqueued).toHaveLength(120)
})

it('forgets the counts of a queue without a resource', async () => {
  const world = setUp(['a'])
  void world.start()
  await world.clock.advance(0)
  world.kind.force('shop/a')
  await world.clock.advance(SYNC_EVERY_MS)
  expect(world.sync.of('shop/a')).toBeNull()
})

it('requeues every queue once when Redis stays away, to report it', async () => {
  const world = setUp(['a', 'b'])
  world.state.isAway = true
  void world.start()
  await world.clock.advance(2 * SYNC_EVERY_MS)
  expect(world.enqueued).toEqual([])
  await world.clock.advance(10 * SYNC_EVERY_MS)
  expect(world.enqueued).toEqual(['shop/a', 'shop/b'])
  expect(world.state.syncs).toBe(0)
})

it('ends with the leadership', async () => {
  const world = setUp(['a'])
  const over = world.start()
  await world.clock.advance(0)
  world.end()
  await over
  expect(world.clock.timers).toBe(0)
})
