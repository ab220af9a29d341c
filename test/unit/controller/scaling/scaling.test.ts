import { afterEach, expect, test } from 'vitest'
import { Scaling, type ScalingOptions } from '../../../../src/controller/scaling/scaling.ts'
import type { ScalingSettings } from '../../../../src/controller/scaling/scaling-plan.ts'
import { OLD_READY_MS } from '../../../../src/domain/limits.ts'
import { ResourceApiError, StoreUnavailableError } from '../../../../src/domain/errors.ts'
import type { Backlog, BacklogReader } from '../../../../src/ports/queues.ts'
import type { ResourceEvent, ExecutorFleet, FleetState } from '../../../../src/ports/kubernetes.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { latched } from '../../../support/latched.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { backlogOf, DEPLOYMENT, fleetOf, SCALING } from './scaling-fixture.ts'

let stop: () => Promise<void> = async () => undefined
afterEach(() => stop())

const DOWN_MS = SCALING.downMs

/** A leader that scales a fleet which is scaled at once. */
function start(options: { desired?: number; settings?: Partial<ScalingSettings> } = {}) {
  const clock = createFakeClock()
  const world = {
    fleet: fleetOf(options.desired ?? 0) as FleetState | null,
    work: backlogOf(),
    isLeader: true,
  }
  const backlog = latched<BacklogReader['read']>(() => world.work)
  const read = latched<ExecutorFleet['read']>(() => world.fleet)
  const scaleTo = latched<ExecutorFleet['scaleTo']>((replicas) => {
    world.fleet = fleetOf(replicas)
  })
  const setDeletionCosts = latched<ExecutorFleet['setDeletionCosts']>(() => undefined)
  const listeners = new Set<(shard: number) => void>()
  const events: ResourceEvent[] = []
  const gauges: Record<string, unknown> = {}
  const leading = new AbortController()
  const parts: ScalingOptions = {
    backlog: { read: backlog },
    callQuotaOf: (team) => (team === 'shop' ? 3 : null),
    fleet: { read, scaleTo, setDeletionCosts },
    hints: {
      onWake: (listener) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    },
    leadership: { isLeader: () => world.isLeader },
    events: { record: (event) => events.push(event) },
    metrics: {
      executorReplicas: (desired, current, ready) => Object.assign(gauges, { desired, current, ready }),
      scalingActive: (active) => Object.assign(gauges, { active }),
      scalingLimited: (limited) => Object.assign(gauges, { limited }),
      scalingEnded: () => Object.assign(gauges, { ended: true }),
    },
    clock,
    logger: quietLogger,
    settings: { ...SCALING, ...options.settings },
  }
  const atRest = new Scaling(parts, leading.signal).run()
  stop = async () => {
    leading.abort()
    await clock.advance(0)
    await atRest
  }
  return {
    clock,
    world,
    backlog,
    read,
    scaleTo,
    setDeletionCosts,
    listeners,
    events,
    gauges,
    hint: () => {
      for (const listener of listeners) listener(0)
    },
    written: () => scaleTo.calls.map(({ args: [replicas] }) => replicas),
  }
}

function work(usable: number, parts: Partial<Backlog> = {}): Backlog {
  return backlogOf({ ready: usable, usable, ...parts })
}

test('wakes from zero on a hint, without waiting for the next check', async () => {
  const { clock, world, hint, written, events, gauges } = start()
  await clock.advance(300)
  world.work = work(520)
  hint()
  await clock.advance(0)
  expect(written()).toEqual([3])
  expect(events).toEqual([
    {
      regarding: DEPLOYMENT,
      type: 'Normal',
      reason: 'ScaledUp',
      action: 'ScaleExecutors',
      note: 'From 0 to 3 executors: 520 calls could run, 200 per executor.',
    },
  ])
  expect(gauges).toEqual({ desired: 3, current: 0, ready: 0, active: true, limited: false })
})

test('wakes from zero within a second when no hint comes', async () => {
  const { clock, world, written } = start()
  await clock.advance(1)
  world.work = work(1)
  await clock.advance(1000)
  expect(written()).toEqual([1])
})

test('the backlog is read by the quotas of teams', async () => {
  const { clock, backlog, written } = start()
  backlog.rule = (_, callQuotaOf) => work(callQuotaOf?.('shop') ?? 1_000)
  await clock.advance(1_000)
  expect(written()).toEqual([1])
})

test('a hint during a check is not missed', async () => {
  const { clock, world, backlog, hint, written } = start()
  backlog.rule = null
  await clock.advance(1000)
  hint()
  backlog.rule = () => world.work
  backlog.next.answer(backlogOf())
  world.work = work(1)
  await clock.advance(200)
  expect(written()).toEqual([1])
})

test('hints that show nothing to do cost at most five checks a second', async () => {
  const { clock, backlog, hint } = start()
  await clock.advance(1)
  const before = backlog.calls.length
  for (let passedMs = 0; passedMs < 1000; passedMs += 10) {
    hint()
    await clock.advance(10)
  }
  expect(backlog.calls.length - before).toBeLessThanOrEqual(6)
})

test('checks no more often for hints while there are executors', async () => {
  const { clock, world, backlog, hint } = start({ desired: 1 })
  world.work = work(1)
  await clock.advance(300)
  const before = backlog.calls.length
  hint()
  await clock.advance(600)
  expect(backlog.calls.length).toBe(before)
})

test('writes once for a load that stays, and asks the API server no more than every 5 s', async () => {
  const { clock, world, written, read, events } = start()
  world.work = work(1000)
  await clock.advance(600_000)
  expect(written()).toEqual([5])
  expect(events.map(({ reason }) => reason)).toEqual(['ScaledUp'])
  expect(read.calls.length).toBeLessThanOrEqual(122)
})

test('has one write under way at most', async () => {
  const { clock, world, scaleTo } = start()
  scaleTo.rule = null
  world.work = work(1)
  await clock.advance(30_000)
  world.work = work(2000)
  await clock.advance(30_000)
  expect(scaleTo.calls).toHaveLength(1)
  scaleTo.next.answer()
})

test('reads the fleet again before it writes', async () => {
  const { clock, world, written } = start()
  await clock.advance(1)
  world.fleet = fleetOf(5)
  world.work = work(1000)
  await clock.advance(1000)
  expect(written()).toEqual([])
})

test('a plan on an old copy of the fleet leaves no trace', async () => {
  const { clock, world, written } = start()
  await clock.advance(1)
  world.fleet = fleetOf(5)
  world.work = work(1000, { oldestReadyMs: OLD_READY_MS + 1 })
  await clock.advance(1000)
  // Nothing was raised just now: jobs that are old ask for one more at once.
  expect(written()).toEqual([6])
})

test('sets deletion costs, and scales down at the next check', async () => {
  const { clock, world, scaleTo, setDeletionCosts, events } = start({ desired: 3 })
  const held = new Map([['executor-a', 7]])
  world.work = work(100, { held })
  await clock.advance(DOWN_MS)
  expect(setDeletionCosts.calls.map(({ args }) => args[0])).toEqual([held])
  expect(scaleTo.calls).toEqual([])
  await clock.advance(1000)
  expect(scaleTo.calls.map(({ args }) => args)).toEqual([[1]])
  expect(events.at(-1)).toMatchObject({
    reason: 'ScaledDown',
    note: 'From 3 to 1 executors: 100 calls could run, 200 per executor.',
  })
  await clock.advance(60_000)
  expect([setDeletionCosts.calls.length, scaleTo.calls.length]).toEqual([1, 1])
})

test('scales down even if deletion costs fail, and to zero without any', async () => {
  const { clock, world, written, setDeletionCosts } = start({ desired: 3 })
  setDeletionCosts.rule = () => {
    throw new ResourceApiError('forbidden', 'pods is forbidden')
  }
  world.work = work(1)
  await clock.advance(DOWN_MS + 1000)
  expect(written()).toEqual([1])
  world.work = backlogOf()
  await clock.advance(DOWN_MS + 1000)
  expect([written(), setDeletionCosts.calls.length]).toEqual([[1, 0], 1])
})

test('never waits for deletion costs to scale up, and only a while to scale down', async () => {
  const { clock, world, written, setDeletionCosts } = start({ desired: 3 })
  setDeletionCosts.rule = (_held, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
  world.work = work(1)
  await clock.advance(DOWN_MS)
  expect([written(), setDeletionCosts.calls.length]).toEqual([[], 1])
  world.work = work(800)
  await clock.advance(1000)
  expect(written()).toEqual([4])
  world.work = work(1)
  await clock.advance(DOWN_MS)
  expect([written(), setDeletionCosts.calls.length]).toEqual([[4], 2])
  await clock.advance(6000)
  expect([written(), setDeletionCosts.calls.length]).toEqual([[4, 1], 2])
})

test('is at rest only when a write of deletion costs has ended', async () => {
  const { clock, world, setDeletionCosts, gauges } = start({ desired: 3 })
  const written = Promise.withResolvers<void>()
  setDeletionCosts.rule = () => written.promise
  world.work = work(1)
  await clock.advance(DOWN_MS)
  const stopped = stop()
  await clock.advance(1000)
  expect(gauges).not.toHaveProperty('ended')
  written.resolve()
  await stopped
  expect(gauges).toHaveProperty('ended')
})

test('gives deletion costs up when the leadership ends', async () => {
  const { clock, world, setDeletionCosts } = start({ desired: 3 })
  setDeletionCosts.rule = (_held, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
  world.work = work(1)
  await clock.advance(DOWN_MS)
  await stop()
  expect(setDeletionCosts.calls.map(({ args }) => args[1].aborted)).toEqual([true])
})

test('holds the number while Redis is away, repeats the event every ten minutes, and goes on after', async () => {
  const { clock, world, backlog, written, events, gauges } = start({ desired: 4 })
  backlog.rule = () => {
    throw new StoreUnavailableError('connection refused')
  }
  await clock.advance(606_000)
  expect(written()).toEqual([])
  expect(events.map(({ type, reason }) => [type, reason])).toEqual([
    ['Warning', 'MetricUnavailable'],
    ['Warning', 'MetricUnavailable'],
  ])
  expect(gauges['active']).toBe(false)
  // One check every 5 s.
  expect(backlog.calls.length).toBeLessThanOrEqual(125)
  backlog.rule = () => world.work
  await clock.advance(DOWN_MS - 5000)
  expect([written(), gauges['active']]).toEqual([[], true])
  await clock.advance(6000)
  expect(written()).toEqual([0])
  backlog.rule = () => {
    throw new StoreUnavailableError('connection refused')
  }
  await clock.advance(1000)
  expect(events.filter(({ reason }) => reason === 'MetricUnavailable')).toHaveLength(3)
})

test('retries a refused write with backoff, and records why it failed', async () => {
  const { clock, world, scaleTo, events, written } = start()
  scaleTo.rule = () => {
    throw new ResourceApiError('forbidden', 'deployments.apps is forbidden')
  }
  world.work = work(1)
  await clock.advance(60_000)
  expect(scaleTo.calls.length).toBeGreaterThan(10)
  expect(scaleTo.calls.length).toBeLessThan(16)
  const failures = events.filter(({ reason }) => reason === 'FleetUnavailable')
  expect(failures.map(({ note }) => note)).toEqual([
    'The Deployment of executors cannot be read or scaled: Kubernetes API: deployments.apps is forbidden',
  ])
  scaleTo.rule = () => undefined
  await clock.advance(5000)
  expect(written().at(-1)).toBe(1)
})

test('backs off for as long as the API server asks, hints or not', async () => {
  const { clock, read, hint } = start()
  await clock.advance(1)
  read.rule = () => {
    throw new ResourceApiError('too_many', 'slow down', { retryAfterMs: 30_000 })
  }
  await clock.advance(5000)
  const before = read.calls.length
  for (let seconds = 0; seconds < 29; seconds += 1) {
    hint()
    await clock.advance(1000)
  }
  expect(read.calls.length).toBe(before)
  await clock.advance(2000)
  expect(read.calls.length).toBe(before + 1)
})

test('a need while the API server is away counts for the window', async () => {
  const { clock, world, read, written } = start({ desired: 5 })
  await clock.advance(1)
  read.rule = () => {
    throw new ResourceApiError('unavailable', 'connection refused')
  }
  world.work = work(1000)
  await clock.advance(60_000)
  world.work = backlogOf()
  read.rule = () => world.fleet
  await clock.advance(DOWN_MS - 10_000)
  expect(written()).toEqual([])
  await clock.advance(20_000)
  expect(written()).toEqual([0])
})

test('leaves a fleet to another scaler, with an event', async () => {
  const { clock, world, written, events } = start()
  world.fleet = fleetOf(1, { otherScaler: 'HorizontalPodAutoscaler mine' })
  world.work = work(2000)
  await clock.advance(60_000)
  expect(written()).toEqual([])
  expect(events.map(({ type, reason }) => [type, reason])).toEqual([['Warning', 'ScalerConflict']])
  world.fleet = fleetOf(1)
  await clock.advance(6000)
  expect(written()).toEqual([10])
})

test.each([
  ['external', fleetOf(2, { otherScaler: 'HorizontalPodAutoscaler mine' })],
  ['fixed', fleetOf(2)],
] as const)('leaves a fleet in mode %s without a word, and does not ask Redis', async (mode, fleet) => {
  const { clock, world, written, events, gauges, backlog } = start({ settings: { mode } })
  world.fleet = fleet
  world.work = work(2000)
  await clock.advance(60_000)
  expect([written(), events, backlog.calls]).toEqual([[], [], []])
  expect(gauges).toEqual({ desired: 2, current: 2, ready: 2, active: false, limited: false })
})

test('writes nothing once it leads no more', async () => {
  const { clock, world, written } = start()
  await clock.advance(1)
  world.isLeader = false
  world.work = work(1000)
  await clock.advance(10_000)
  expect(written()).toEqual([])
})

test('a check that the signal ends writes nothing', async () => {
  const { clock, backlog, written } = start()
  backlog.rule = null
  await clock.advance(1000)
  const stopped = stop()
  backlog.next.answer(work(1000))
  await stopped
  expect(written()).toEqual([])
})

test('is at rest after its signal: no check, no listener, no timer, no series', async () => {
  const { clock, backlog, listeners, gauges } = start()
  await clock.advance(1)
  await stop()
  const before = backlog.calls.length
  await clock.advance(60_000)
  expect(backlog.calls.length).toBe(before)
  expect([listeners.size, clock.timers, gauges['ended']]).toEqual([0, 0, true])
})
