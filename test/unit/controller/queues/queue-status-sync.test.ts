import { expect, it } from 'vitest'
import type { HttpQueue } from '../../../../src/controller/kinds.ts'
import { FAILURE_SLACK_MS, QUEUE_FAILING_MS } from '../../../../src/controller/queues/queue-failure.ts'
import { createQueueStatusSync } from '../../../../src/controller/queues/queue-status-sync.ts'
import { SYNC_EVERY_MS, STATUS_WRITES_PER_SECOND } from '../../../../src/controller/reconcile/status-sync.ts'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import type { LastFailure, QueueStatsEntry, QueueRef } from '../../../../src/ports/queues.ts'
import { kubernetesTime } from '../../../../src/resources/conditions.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { createMemoryKind } from '../memory-kind.ts'
import { QUEUE_DEFAULTS, QUEUE_INDEXES } from './queue-world.ts'

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
    ...{ counts: COUNTS, isAway: false, syncs: 0, counted: 0 },
    oldestReadyMs: null as number | null,
    lastFailure: null as LastFailure | null,
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
          lastFailure: state.lastFailure,
        }))
      },
    },
    enqueue: (key) => void enqueued.push(key),
    clock,
    logger: quietLogger,
    metrics: { queuesCounted: () => void (state.syncs += 1) },
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
