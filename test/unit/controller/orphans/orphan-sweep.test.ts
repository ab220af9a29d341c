import { describe, expect, it } from 'vitest'
import { BY_QUEUE, type HttpQueue } from '../../../../src/controller/kinds.ts'
import { OrphanSweep, ORPHANS_FEW } from '../../../../src/controller/orphans/orphan-sweep.ts'
import { ResourceApiError } from '../../../../src/domain/errors.ts'
import { queueKeyOf } from '../../../../src/resources/queue-owner.ts'
import type { QueueStats } from '../../../../src/ports/queues.ts'
import { createFakeClock, quiescence } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { createMemoryKind } from '../memory-kind.ts'
import { QUEUE_DEFAULTS, QUEUE_INDEXES } from '../queues/queue-world.ts'

const SOON_MS = 10_000

function setUp(queues: ReadonlyArray<{ team?: string; name: string; isPushed?: boolean }>) {
  const clock = createFakeClock()
  const kind = createMemoryKind<HttpQueue>({
    kind: 'HttpQueue',
    indexes: QUEUE_INDEXES,
    defaults: QUEUE_DEFAULTS,
  })
  const state = { isSynced: true, fault: null as Error | null, found: 0, notInInformer: '' }
  const queueStats: Pick<QueueStats, 'page'> = {
    // One queue a page: the orphans must follow the cursor to the end.
    page: async (cursor) => {
      if (state.fault !== null) throw state.fault
      const at = Number(cursor ?? 0)
      const queue = queues[at]
      const page = queue === undefined ? [] : [{ team: 'shop', isPushed: false, ...queue }]
      return { queues: page, cursor: at + 1 < queues.length ? String(at + 1) : null }
    },
  }
  const enqueued: string[] = []
  const errors: unknown[] = []
  const writer = { read: kind.writer.read, readAll: kind.writer.readAll }
  const orphans = new OrphanSweep({
    what: 'Queues',
    informer: { ...kind.informer, isSynced: () => state.isSynced },
    writer: { read: (namespace, name) => writer.read(namespace, name) },
    readKeys: async (namespace) => (await writer.readAll(namespace)).map(queueKeyOf),
    readApplied: async (at) => {
      const { queues: all, cursor } = await queueStats.page(at)
      return { refs: all.filter(({ isPushed }) => !isPushed), cursor }
    },
    hasResource: (key) => state.notInInformer !== key && kind.informer.byIndex(BY_QUEUE, key).length > 0,
    isWatched: (namespace) => namespace === 'shop',
    enqueue: (key) => void enqueued.push(key),
    clock,
    logger: { ...quietLogger, error: (message, fields) => void errors.push({ message, ...fields }) },
    count: (found) => void (state.found = found),
  })
  const leading = new AbortController()
  const over = orphans.run(leading.signal)
  const request = async (): Promise<void> => {
    orphans.request()
    await quiescence()
    await clock.advance(SOON_MS)
  }
  return {
    clock,
    kind,
    orphans,
    state,
    enqueued,
    errors,
    writer,
    request,
    end: () => (leading.abort(), over),
  }
}

const many = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, at) => ({ name: `${prefix}${at}` }))

it('confirms the queues that lost their resource, each once', async () => {
  const world = setUp([
    { name: 'kept' },
    { name: 'lost' },
    { name: 'pushed', isPushed: true },
    { team: 'other', name: 'x' },
  ])
  world.kind.put('shop/kept', {})
  await world.request()
  expect(world.enqueued).toEqual(['shop/lost'])
  expect(world.orphans.takeConfirmed('shop/kept')).toBe(false)
  expect(world.orphans.takeConfirmed('shop/lost')).toBe(true)
  expect(world.orphans.takeConfirmed('shop/lost')).toBe(false)
})

it('waits for the rest of a bulk deletion, and does nothing until it is requested', async () => {
  const world = setUp([{ name: 'kept' }, { name: 'lost' }])
  world.kind.put('shop/kept', {})
  await world.clock.advance(3_600_000)
  expect(world.enqueued).toEqual([])
  world.orphans.request()
  await quiescence()
  await world.clock.advance(SOON_MS - 1)
  expect(world.enqueued).toEqual([])
  await world.clock.advance(1)
  expect(world.enqueued).toEqual(['shop/lost'])
  await world.clock.advance(3_600_000)
  expect(world.enqueued).toEqual(['shop/lost'])
})

describe('removes nothing', () => {
  it('when there is no resource at all', async () => {
    const world = setUp([{ name: 'lost' }])
    await world.request()
    expect(world.enqueued).toEqual([])
    expect(world.state.found).toBe(1)
  })

  it('before the first list', async () => {
    const world = setUp([{ name: 'lost' }, { name: 'kept' }])
    world.kind.put('shop/kept', {})
    world.state.isSynced = false
    await world.request()
    expect(world.enqueued).toEqual([])
  })

  it.each([
    ['does not have what the informer has', async () => null],
    ['may not be asked', () => Promise.reject(new ResourceApiError('forbidden', 'no'))],
    ['does not answer', () => Promise.reject(new ResourceApiError('unavailable', 'no answer'))],
  ])('when the API server %s', async (_what, read) => {
    const world = setUp([{ name: 'lost' }, { name: 'kept' }])
    world.kind.put('shop/kept', {})
    world.writer.read = read
    await world.request()
    expect(world.enqueued).toEqual([])
  })

  it('that the API server has and the informer does not have yet', async () => {
    const world = setUp([{ name: 'new' }, { name: 'lost' }, { name: 'kept' }])
    world.kind.put('shop/kept', {})
    world.kind.put('shop/any', { queueName: 'new' })
    world.state.notInInformer = 'shop/new'
    await world.request()
    expect(world.enqueued).toEqual(['shop/lost'])
    expect(world.orphans.takeConfirmed('shop/new')).toBe(false)
    expect(world.state.found).toBe(1)
  })

  it('when the API server does not answer for their namespace', async () => {
    const world = setUp([{ name: 'lost' }, { name: 'kept' }])
    world.kind.put('shop/kept', {})
    world.writer.readAll = () => Promise.reject(new ResourceApiError('unavailable', 'no answer'))
    await world.request()
    expect(world.enqueued).toEqual([])
    world.writer.readAll = world.kind.writer.readAll
    await world.clock.advance(300_000 + SOON_MS)
    expect(world.enqueued).toEqual(['shop/lost'])
  })

  it('when there are too many at once, logs examples, and sweeps again later', async () => {
    const lost = many(ORPHANS_FEW + 1, 'lost')
    const world = setUp([{ name: 'kept' }, ...lost])
    world.kind.put('shop/kept', {})
    await world.request()
    expect(world.enqueued).toEqual([])
    expect(world.state.found).toBe(ORPHANS_FEW + 1)
    expect(world.errors).toEqual([
      {
        message: 'Queues without a resource are left alone',
        count: ORPHANS_FEW + 1,
        reason: `they are more than ${ORPHANS_FEW}`,
        examples: many(10, 'lost').map(({ name }) => `shop/${name}`),
      },
    ])
    world.kind.put('shop/lost0', {})
    await world.clock.advance(300_000 + SOON_MS)
    expect(world.enqueued).toHaveLength(ORPHANS_FEW)
  })
})

it('removes a few of many, though they are more than a few', async () => {
  const kept = many(300, 'kept')
  const world = setUp([...kept, ...many(25, 'lost')])
  for (const { name } of kept) world.kind.put(`shop/${name}`, {})
  await world.request()
  expect(world.enqueued).toHaveLength(25)
})

it('probes another resource if the first has just been deleted', async () => {
  const world = setUp([{ name: 'a' }, { name: 'b' }, { name: 'lost' }])
  world.kind.put('shop/a', {})
  world.kind.put('shop/b', {})
  const { read } = world.kind.writer
  world.writer.read = async (namespace, name) => (name === 'a' ? null : read(namespace, name))
  await world.request()
  expect(world.enqueued).toEqual(['shop/lost'])
})

it('tries again when Redis did not answer, and ends with the leadership', async () => {
  const world = setUp([{ name: 'lost' }, { name: 'kept' }])
  world.kind.put('shop/kept', {})
  world.state.fault = new Error('gone')
  await world.request()
  world.state.fault = null
  await world.clock.advance(300_000 + SOON_MS)
  expect(world.enqueued).toEqual(['shop/lost'])
  await world.end()
  expect(world.clock.timers).toBe(0)
})
