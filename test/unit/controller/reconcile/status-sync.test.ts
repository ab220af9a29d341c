import { expect, test } from 'vitest'
import {
  createStatusSync,
  ROUND_EVERY_MS,
  STATUS_WRITES_PER_SECOND,
} from '../../../../src/controller/reconcile/status-sync.ts'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'

const PER_ROUND = (ROUND_EVERY_MS / 1_000) * STATUS_WRITES_PER_SECOND

const keysOf = (team: string, count: number) => Array.from({ length: count }, (_, at) => `${team}/c${at}`)

/** Keys whose statuses are written as soon as they are put in line. */
function setUp({ all, news = all }: { readonly all: readonly string[]; readonly news?: readonly string[] }) {
  const clock = createFakeClock()
  const changed = new Set<string>(news)
  const engine = { isAway: false, rounds: 0 }
  const readAtMs = new Map<string, number>()
  const enqueued: Array<{ readonly key: string; readonly atMs: number; readonly ageMs: number }> = []
  const term = new AbortController()
  const rounds = createStatusSync({
    keys: () => all,
    news: (keys) => {
      if (engine.isAway) return Promise.reject(new StoreUnavailableError('away'))
      for (const key of keys) readAtMs.set(key, clock.monotonicMs())
      return Promise.resolve(keys.filter((key) => changed.has(key)))
    },
    enqueue: (key) => {
      const atMs = clock.monotonicMs()
      enqueued.push({ key, atMs, ageMs: atMs - (readAtMs.get(key) ?? 0) })
      changed.delete(key)
    },
    onRound: () => void (engine.rounds += 1),
    failure: 'away',
    clock,
    logger: quietLogger,
  })
  const running = rounds.run(term.signal)
  const end = async (): Promise<void> => {
    term.abort()
    await running
    expect(clock.timers).toBe(0)
  }
  return { clock, changed, engine, enqueued, end }
}

test('of very many that have changed, the last is in line in its time, with what was read just then', async () => {
  const all = keysOf('shop', 4 * PER_ROUND)
  const { clock, enqueued, end } = setUp({ all })
  await clock.advance(4 * ROUND_EVERY_MS)
  expect(enqueued.map(({ key }) => key)).toEqual(all)
  expect(enqueued.map(({ ageMs }) => ageMs).filter((ageMs) => ageMs > 0)).toEqual([])
  await end()
})

test('no second has more than fifty, from one round to the next too', async () => {
  const all = keysOf('shop', 3 * PER_ROUND)
  const { clock, enqueued, end } = setUp({ all })
  await clock.advance(3 * ROUND_EVERY_MS)
  const bySecond = Map.groupBy(enqueued, ({ atMs }) => Math.floor(atMs / 1_000))
  const most = Math.max(...[...bySecond.values()].map(({ length }) => length))
  expect([enqueued.length, most]).toEqual([all.length, STATUS_WRITES_PER_SECOND])
  await end()
})

test('one namespace of which much has changed does not hold up another', async () => {
  const many = keysOf('shop', 10 * PER_ROUND)
  const { clock, changed, enqueued, end } = setUp({ all: [...many, ...keysOf('office', 1)], news: many })
  await clock.advance(ROUND_EVERY_MS / 2)
  changed.add('office/c0')
  await clock.advance(ROUND_EVERY_MS)
  const office = enqueued.find(({ key }) => key === 'office/c0')
  expect(office?.atMs).toBe(ROUND_EVERY_MS)
  await end()
})

test('what has waited goes before what has changed again', async () => {
  const all = keysOf('shop', 2 * PER_ROUND)
  const { clock, changed, enqueued, end } = setUp({ all })
  await clock.advance(ROUND_EVERY_MS - 1)
  for (const key of all) changed.add(key)
  await clock.advance(ROUND_EVERY_MS)
  expect(enqueued.map(({ key }) => key)).toEqual(all)
  await end()
})

test('what is no news any more when its time comes is left out', async () => {
  const all = keysOf('shop', PER_ROUND)
  const { clock, changed, enqueued, end } = setUp({ all })
  await clock.advance(0)
  changed.clear()
  await clock.advance(ROUND_EVERY_MS)
  expect(enqueued).toHaveLength(STATUS_WRITES_PER_SECOND)
  await end()
})

test('when Redis is back, turns to say that it was away end', async () => {
  const all = keysOf('shop', 4 * PER_ROUND)
  const { clock, changed, engine, enqueued, end } = setUp({ all })
  engine.isAway = true
  await clock.advance(4 * ROUND_EVERY_MS - 1)
  engine.isAway = false
  changed.clear()
  await clock.advance(4 * ROUND_EVERY_MS)
  expect(enqueued).toHaveLength(PER_ROUND)
  expect(engine.rounds).toBe(4)
  await end()
})
