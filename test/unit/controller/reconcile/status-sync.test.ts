import { expect, test } from 'vitest'
import {
  alternateNamespaces,
  STATUS_WRITES_PER_SECOND,
  StatusSync,
  SYNC_EVERY_MS,
} from '../../../../src/controller/reconcile/status-sync.ts'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'

const PER_SYNC = (SYNC_EVERY_MS / 1_000) * STATUS_WRITES_PER_SECOND

const keysOf = (team: string, count: number) => Array.from({ length: count }, (_, at) => `${team}/c${at}`)

/** Keys whose statuses are written as soon as they are enqueued. */
function setUp({ all, news = all }: { readonly all: readonly string[]; readonly news?: readonly string[] }) {
  const clock = createFakeClock()
  const changed = new Set<string>(news)
  const engine = { isAway: false, syncs: 0 }
  const readAtMs = new Map<string, number>()
  const enqueued: Array<{ readonly key: string; readonly atMs: number; readonly ageMs: number }> = []
  const leading = new AbortController()
  const sync = new StatusSync<string>({
    keys: () => all,
    read: (keys) => {
      if (engine.isAway) return Promise.reject(new StoreUnavailableError('away'))
      for (const key of keys) readAtMs.set(key, clock.monotonicMs())
      return Promise.resolve(keys)
    },
    isStale: (key) => changed.has(key),
    enqueue: (key) => {
      const atMs = clock.monotonicMs()
      enqueued.push({ key, atMs, ageMs: atMs - (readAtMs.get(key) ?? 0) })
      changed.delete(key)
    },
    onSynced: () => void (engine.syncs += 1),
    failure: 'away',
    clock,
    logger: quietLogger,
  })
  const running = sync.run(leading.signal)
  const end = async (): Promise<void> => {
    leading.abort()
    await running
    expect(clock.timers).toBe(0)
  }
  return { clock, changed, engine, enqueued, end }
}

test('of very many changes, the last is requeued in time, with what was read just then', async () => {
  const all = keysOf('shop', 4 * PER_SYNC)
  const { clock, enqueued, end } = setUp({ all })
  await clock.advance(4 * SYNC_EVERY_MS)
  expect(enqueued.map(({ key }) => key)).toEqual(all)
  expect(enqueued.map(({ ageMs }) => ageMs).filter((ageMs) => ageMs > 0)).toEqual([])
  await end()
})

test('no second has more than fifty, from one sync to the next too', async () => {
  const all = keysOf('shop', 3 * PER_SYNC)
  const { clock, enqueued, end } = setUp({ all })
  await clock.advance(3 * SYNC_EVERY_MS)
  const bySecond = Map.groupBy(enqueued, ({ atMs }) => Math.floor(atMs / 1_000))
  const most = Math.max(...[...bySecond.values()].map(({ length }) => length))
  expect([enqueued.length, most]).toEqual([all.length, STATUS_WRITES_PER_SECOND])
  await end()
})

test('a namespace with many changes does not hold up another', async () => {
  const many = keysOf('shop', 10 * PER_SYNC)
  const { clock, changed, enqueued, end } = setUp({ all: [...many, ...keysOf('office', 1)], news: many })
  await clock.advance(SYNC_EVERY_MS / 2)
  changed.add('office/c0')
  await clock.advance(SYNC_EVERY_MS)
  const office = enqueued.find(({ key }) => key === 'office/c0')
  expect(office?.atMs).toBe(SYNC_EVERY_MS)
  await end()
})

test('keys that have waited go before those that have changed again', async () => {
  const all = keysOf('shop', 2 * PER_SYNC)
  const { clock, changed, enqueued, end } = setUp({ all })
  await clock.advance(SYNC_EVERY_MS - 1)
  for (const key of all) changed.add(key)
  await clock.advance(SYNC_EVERY_MS)
  expect(enqueued.map(({ key }) => key)).toEqual(all)
  await end()
})

test('a status that is current again when its time comes is left out', async () => {
  const all = keysOf('shop', PER_SYNC)
  const { clock, changed, enqueued, end } = setUp({ all })
  await clock.advance(0)
  changed.clear()
  await clock.advance(SYNC_EVERY_MS)
  expect(enqueued).toHaveLength(STATUS_WRITES_PER_SECOND)
  await end()
})

test('when Redis is back, requeues to report the outage end', async () => {
  const all = keysOf('shop', 4 * PER_SYNC)
  const { clock, changed, engine, enqueued, end } = setUp({ all })
  engine.isAway = true
  await clock.advance(4 * SYNC_EVERY_MS - 1)
  engine.isAway = false
  changed.clear()
  await clock.advance(4 * SYNC_EVERY_MS)
  expect(enqueued).toHaveLength(PER_SYNC)
  expect(engine.syncs).toBe(4)
  await end()
})

test('namespaces alternate, and the keys of each keep their order', () => {
  expect(alternateNamespaces(['a/3', 'a/1', 'a/2', 'c/x/y', 'b/2', 'b/1'])).toEqual([
    'a/3',
    'c/x/y',
    'b/2',
    'a/1',
    'b/1',
    'a/2',
  ])
  expect(alternateNamespaces([])).toEqual([])
})

test('a key that cannot be compared is requeued, and the sync of all others goes on', async () => {
  const { clock, changed, enqueued, engine, end } = setUp({ all: ['shop/bad', 'mill/good'], news: [] })
  const has = changed.has.bind(changed)
  changed.has = (key) => {
    if (key === 'shop/bad') throw new TypeError('planted')
    return has(key)
  }
  changed.add('mill/good')
  await clock.advance(2 * SYNC_EVERY_MS)
  expect(new Set(enqueued.map(({ key }) => key))).toEqual(new Set(['shop/bad', 'mill/good']))
  expect(enqueued.filter(({ key }) => key === 'mill/good')).toHaveLength(1)
  expect(engine.syncs).toBeGreaterThan(1)
  await end()
})
