import { loopsOf } from '../../../support/loops.ts'
import { expect, test } from 'vitest'
import { BulkPlaces } from '../../../../src/executor/bulk/bulk-places.ts'
import { BulkWorker } from '../../../../src/executor/bulk/bulk-worker.ts'
import { BulkWorkers } from '../../../../src/executor/bulk/bulk-workers.ts'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import type { BulkShard, BulkWork } from '../../../../src/ports/bulk/bulk.ts'
import { createFakeClock, quiescence } from '../../../support/fake-clock.ts'
import { createRecordingLogger } from '../executor-fixture.ts'
import { quietLogger } from '../../../support/quiet.ts'

/** Bulks of these names with so many pieces to do, `a1` being the first bulk of team a. */
function setUp(bulks: Record<string, number>, pieceMs = 0) {
  const clock = createFakeClock()
  const left = new Map(Object.entries(bulks))
  const done: string[] = []
  let looks = 0
  let hasLock: () => boolean = () => true
  let isBroken: (name: string) => boolean = () => false
  const shard: BulkShard = {
    shard: 0,
    due: () => {
      looks += 1
      const work = [...left].flatMap(([name, count]): BulkWork[] =>
        count === 0 || !hasLock()
          ? []
          : [{ team: name.slice(0, 1), id: Number(name.slice(1)), kind: 'part' }],
      )
      return Promise.resolve({ work, nextDueMs: null })
    },
    takeLock: () => Promise.resolve(hasLock()),
    tend: async ({ team, id }) => {
      const name = `${team}${id}`
      if (isBroken(name)) throw new Error('its record is damaged')
      if (pieceMs > 0) await new Promise<void>((resolve) => clock.after(pieceMs, resolve))
      done.push(name)
      left.set(name, (left.get(name) ?? 0) - 1)
    },
    redisNowMs: () => clock.wallMs(),
  }
  const logger = createRecordingLogger()
  const loops = loopsOf({ clock, logger })
  const options = { clock, loops, logger, bulks: shard, places: new BulkPlaces() }
  const breaks = (broken: typeof isBroken) => void (isBroken = broken)
  const keepsLock = (keeps: typeof hasLock) => void (hasLock = keeps)
  return {
    clock,
    logger,
    done,
    shard,
    left,
    keepsLock,
    worker: new BulkWorker(options),
    looks: () => looks,
    breaks,
  }
}

test('a team with many bulks holds up no other', async () => {
  const { clock, done, worker } = setUp({ a1: 3, a2: 3, a3: 3, b1: 2 })
  worker.start()
  await clock.advance(100)
  expect(done.slice(0, 4)).toEqual(['a1', 'b1', 'a1', 'b1'])
  expect(done).toHaveLength(11)
  await worker.stop()
})

test('a round ends when another executor has taken the lock meanwhile', async () => {
  const { clock, done, worker, keepsLock } = setUp({ a1: 1, b1: 1, c1: 1 })
  keepsLock(() => done.length === 0)
  worker.start()
  await clock.advance(100)
  expect(done).toEqual(['a1'])
  keepsLock(() => true)
  await clock.advance(1_000)
  expect(done).toEqual(['a1', 'b1', 'c1'])
  await worker.stop()
})

test('a piece that took long is followed by a rest', async () => {
  const { clock, done, worker } = setUp({ a1: 3 }, 400)
  worker.start()
  await clock.advance(400)
  expect(done).toHaveLength(1)
  await clock.advance(499)
  expect(done).toHaveLength(1)
  await clock.advance(1)
  expect(done).toHaveLength(2)
  await worker.stop()
})

test('a piece that fails is left alone for a while, and holds up no other', async () => {
  const { clock, done, worker, breaks } = setUp({ a1: 2, a2: 2 })
  breaks((name) => name === 'a1')
  worker.start()
  await clock.advance(100)
  expect(done).toEqual(['a2', 'a2'])
  breaks(() => false)
  await clock.advance(3_000)
  expect(done).toEqual(['a2', 'a2', 'a1', 'a1'])
  await worker.stop()
})

test('a piece that fails again and again is tried ever less often, and logged once', async () => {
  const { clock, worker, breaks, logger } = setUp({ a1: 1 })
  const tries: number[] = []
  breaks(() => tries.push(clock.monotonicMs()) > 0)
  worker.start()
  await clock.advance(300_000)
  const pauses = tries.slice(1).map((ms, i) => ms - (tries[i] ?? 0))
  expect(pauses).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
  expect(logger.lines.filter(({ level }) => level === 'warn')).toHaveLength(1)
  await worker.stop()
})

test('an idle shard is looked at twice a second, and one that is away every two seconds', async () => {
  const { clock, worker, looks, shard } = setUp({})
  worker.start()
  await clock.advance(5_000)
  expect(looks()).toBe(11)
  const { due } = shard
  Object.assign(shard, { due: () => due().then(() => Promise.reject(new StoreUnavailableError('away'))) })
  await clock.advance(10_000)
  expect(looks()).toBe(11 + 5)
  await worker.stop()
})

test('a stop waits for the piece in progress, and begins no other', async () => {
  const { clock, done, shard } = setUp({ a1: 3, b1: 3 }, 400)
  const workers = new BulkWorkers({
    shards: [shard],
    loops: loopsOf({ clock, logger: quietLogger }),
    clock,
    logger: quietLogger,
    random: () => 0,
  })
  workers.start()
  await clock.advance(100)
  let isStopped = false
  const stopped = workers.stop().then(() => (isStopped = true))
  await quiescence()
  expect(isStopped).toBe(false)
  await clock.advance(300)
  await stopped
  expect(done).toEqual(['a1'])
  expect(clock.timers).toBe(0)
})

test('at most four pieces are done at once, first come, first served', async () => {
  const places = new BulkPlaces()
  const releases = await Promise.all([places.take(), places.take(), places.take(), places.take()])
  const order: number[] = []
  const waiting = [1, 2].map((n) => places.take().then((release) => (order.push(n), release)))
  await quiescence()
  expect(order).toEqual([])
  releases[0]?.()
  await quiescence()
  expect(order).toEqual([1])
  releases[1]?.()
  await Promise.all(waiting)
  expect(order).toEqual([1, 2])
})
