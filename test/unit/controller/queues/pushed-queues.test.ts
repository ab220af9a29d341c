import { describe, expect, it } from 'vitest'
import type { HttpQueue } from '../../../../src/controller/kinds.ts'
import {
  PushedQueues,
  IMPORT_EVERY_MS,
  PUSHED_PER_NAMESPACE_MAX,
} from '../../../../src/controller/queues/pushed-queues.ts'
import {
  ResourceApiError,
  type ResourceApiFault,
  StoreUnavailableError,
} from '../../../../src/domain/errors.ts'
import type { ResourceEvent } from '../../../../src/ports/kubernetes.ts'
import type { QueueRef } from '../../../../src/ports/queues.ts'
import { ORIGIN_LABEL, PUSH_ORIGIN } from '../../../../src/resources/queue-owner.ts'
import { nameOfPushedQueue } from '../../../../src/resources/manifests/queue-manifest.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { createMemoryKind } from '../memory-kind.ts'
import { QUEUE_DEFAULTS, QUEUE_INDEXES } from './queue-world.ts'

const NO_COUNTS = { pending: 0, delayed: 0, processing: 0, dead: 0 }

function setUp(...pushed: readonly QueueRef[]) {
  const clock = createFakeClock()
  const kind = createMemoryKind<HttpQueue>({
    kind: 'HttpQueue',
    indexes: QUEUE_INDEXES,
    defaults: QUEUE_DEFAULTS,
  })
  const events: ResourceEvent[] = []
  const reported: string[] = []
  const state = {
    pushed,
    isMore: false,
    isAway: false,
    faults: [] as ResourceApiFault[],
    creates: 0,
    deleted: [] as string[],
  }
  const importer = new PushedQueues({
    informer: kind.informer,
    admit: async (namespace) => namespace !== 'anew',
    writer: {
      create: (object) => {
        state.creates += 1
        const fault = state.faults.shift()
        return fault === undefined
          ? kind.writer.create(object)
          : Promise.reject(new ResourceApiError(fault, 'no'))
      },
    },
    queueStats: {
      pushed: async () => {
        if (state.isAway) throw new StoreUnavailableError('away')
        return { queues: state.pushed, isMore: state.isMore }
      },
      count: async (places) =>
        places.map(({ team, name }) =>
          state.deleted.includes(name)
            ? null
            : {
                team,
                name,
                queueId: 1,
                counts: NO_COUNTS,
                oldestReadyMs: null,
                lastFailure: null,
                lostJobs: null,
                throttle: null,
                split: { startable: 0, stopped: null, oldestStartableMs: null },
              },
        ),
    },
    isWatched: (namespace) => namespace !== 'unwatched',
    onWaiting: (namespace) => void reported.push(namespace),
    events: { record: (event) => void events.push(event) },
    clock,
    logger: quietLogger,
    metrics: { pushedQueuesWaiting: () => undefined },
  })
  const leading = new AbortController()
  const over = importer.run(leading.signal)
  const importNow = () => clock.advance(IMPORT_EVERY_MS)
  return { clock, kind, importer, events, reported, state, importNow, end: () => (leading.abort(), over) }
}

const EMAILS = { team: 'shop', name: 'Emails' }

it('makes one resource for each, whose name follows from the queue', async () => {
  const { kind, importNow, state } = setUp(EMAILS)
  await importNow()
  await importNow()
  expect(kind.get(`shop/${nameOfPushedQueue('Emails')}`)).toMatchObject({
    metadata: { labels: { [ORIGIN_LABEL]: PUSH_ORIGIN } },
    spec: { queueName: 'Emails' },
  })
  expect(state.creates).toBe(1)
})

it('creates none for a queue that was deleted while others were created', async () => {
  const { importNow, state } = setUp(EMAILS, { team: 'shop', name: 'Reports' })
  state.deleted.push('Emails')
  await importNow()
  expect(state.creates).toBe(1)
})

it('creates none where a resource has the name, nor in namespaces that are not watched', async () => {
  const world = setUp()
  world.kind.put('shop/mine', { queueName: 'Emails' })
  world.state.pushed = [EMAILS, { team: 'unwatched', name: 'x' }]
  await world.importNow()
  expect(world.state.creates).toBe(0)
})

it('creates none in a namespace that was made anew, for what the former one has left', async () => {
  const { importNow, state } = setUp({ team: 'anew', name: 'Emails' }, EMAILS)
  await importNow()
  expect(state.creates).toBe(1)
})

describe('a namespace that takes none', () => {
  it.each(['forbidden', 'not_found'] as const)(
    '(%s) is left alone for a minute, others are not',
    async (fault) => {
      const world = setUp(EMAILS, { team: 'shop', name: 'other' }, { team: 'mail', name: 'news' })
      world.state.faults = [fault]
      await world.importNow()
      expect([...world.kind.informer.all()].map(({ metadata }) => metadata.namespace)).toEqual(['mail'])
      await world.clock.advance(60_000)
      expect([...world.kind.informer.all()]).toHaveLength(3)
    },
  )

  it.each(['conflict', 'invalid'] as const)('for one name (%s) takes others', async (fault) => {
    const world = setUp(EMAILS, { team: 'shop', name: 'other' })
    world.state.faults = [fault]
    await world.importNow()
    expect(world.kind.get(`shop/${nameOfPushedQueue('other')}`)).toBeDefined()
    expect(world.state.creates).toBe(2)
    await world.importNow()
    expect(world.state.creates).toBe(2)
  })
})

it('goes on after an outage of Redis or the API server', async () => {
  const world = setUp(EMAILS)
  world.state.isAway = true
  await world.importNow()
  world.state.isAway = false
  world.state.faults = ['unavailable']
  await world.importNow()
  await world.importNow()
  expect([...world.kind.informer.all()]).toHaveLength(1)
})

describe('a namespace with too many', () => {
  async function full() {
    const world = setUp()
    for (let at = 0; at < PUSHED_PER_NAMESPACE_MAX; at += 1) {
      world.kind.put(`shop/q${at}`, {}, { labels: { [ORIGIN_LABEL]: PUSH_ORIGIN } })
    }
    world.state.pushed = [EMAILS, { team: 'mail', name: 'news' }]
    await world.importNow()
    return world
  }

  it('gets no more, with one event, while others do', async () => {
    const world = await full()
    await world.importNow()
    expect(world.kind.get(`shop/${nameOfPushedQueue('Emails')}`)).toBeUndefined()
    expect(world.kind.get(`mail/${nameOfPushedQueue('news')}`)).toBeDefined()
    expect(world.importer.waitingOf('shop')).toBe(1)
    expect(world.reported).toEqual(['shop'])
    expect(world.events).toMatchObject([{ type: 'Warning', reason: 'TooManyPushedQueues' }])
  })

  it('is counted once, and not forgotten when its queues are not in the batch', async () => {
    const world = await full()
    world.state.isMore = true
    await world.importNow()
    await world.importNow()
    expect(world.importer.waitingOf('shop')).toBe(1)
    world.state.pushed = []
    await world.importNow()
    expect(world.importer.waitingOf('shop')).toBe(1)
    world.state.isMore = false
    await world.importNow()
    expect(world.importer.waitingOf('shop')).toBe(0)
    expect(world.reported).toEqual(['shop', 'shop'])
  })
})

it('makes at most fifty a second, and ends with the leadership', async () => {
  const pushed = Array.from({ length: 120 }, (_, at) => ({ team: 'shop', name: `q${at}` }))
  const world = setUp(...pushed)
  await world.clock.advance(0)
  expect(world.state.creates).toBeLessThanOrEqual(50)
  await world.clock.advance(1_000)
  expect(world.state.creates).toBeLessThanOrEqual(100)
  await world.clock.advance(1_000)
  expect(world.state.creates).toBe(120)
  await world.end()
  expect(world.clock.timers).toBe(0)
})
