import { afterAll, beforeEach, describe, expect, vi } from 'vitest'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { subscribeToWakeHints } from '../../../../src/redis/base/client/wake-hints.ts'
import { assertClean } from '../../../support/engine/model-executor.ts'
import { openConnection, openWorld } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { BulkStage, TEAM } from './bulk-stage.ts'

describe('a bulk', () => {
  let redis: TestRedis
  let connection: RedisConnection
  let stage: BulkStage

  test.beforeAll(async ({ emptyRedis }) => {
    redis = emptyRedis
    connection = await openConnection(redis.url)
  })
  afterAll(() => connection.disconnect())
  beforeEach(async () => {
    stage = new BulkStage(await openWorld(redis, { connection }))
    return () => stage.world.close()
  })

  const counts = async (id: number) => {
    const bulk = (await stage.store.get(TEAM, id)) ?? expect.fail('the bulk is gone')
    const { state, matched, done, skipped, failed } = bulk
    return { state, matched, done, skipped, failed }
  }

  test('is worked off by one executor, which loses its turn only to time', async () => {
    const [one, two] = [stage.openShards()[0], stage.openShards()[0]]
    expect(await one?.takeLock()).toBe(true)
    expect(await two?.takeLock()).toBe(false)
    expect(await one?.takeLock()).toBe(true)
  })

  test.each(['cancel', 'fire', 'delete', 'purge', 'replay', 'retry'] as const)(
    'does each job once when an executor freezes before a page, loses its turn, and wakes: %s',
    async (action) => {
      const delayed = action === 'cancel' || action === 'fire' || action === 'delete'
      const ids = delayed
        ? await stage.push(150, { start: { delaySeconds: 600 } })
        : await stage.deadLetters(150)
      const pageMax = action === 'delete' ? 25 : 100
      const bulk = await stage.create(action, ids)
      const [frozen, others] = [stage.openShards(), stage.openShards()]
      await stage.begin(frozen)
      const wake = Promise.withResolvers<void>()
      let sent = 0
      const isSent = Promise.withResolvers<void>()
      stage.world.faults.before = async ({ name }) => {
        if (!name.endsWith('_page')) return
        sent += 1
        if (sent > 1) return
        isSent.resolve()
        await wake.promise
      }
      const sleeping = stage.round(frozen)
      await isSent.promise
      stage.world.clock.advance(6_000)
      await stage.round(others)
      expect(await counts(bulk.id)).toMatchObject({ state: 'running', done: pageMax, failed: 0 })
      const answers: unknown[] = []
      stage.world.faults.after = ({ name, reply }) => void (name.endsWith('_page') && answers.push(reply))
      wake.resolve()
      await sleeping
      expect(answers).toEqual(['stale'])
      await stage.drive(others)
      const end = { state: 'done', matched: 150, done: 150, skipped: 0, failed: 0 }
      expect(await counts(bulk.id)).toEqual(end)
      await assertClean(stage.world)
      const made = action === 'replay' || action === 'retry' || action === 'fire' ? 150 : 0
      expect(await stage.failAll()).toBe(made)
    },
  )

  test('tells sleeping executors what a page has made ready, although its answer was lost', async () => {
    const [id = 0] = await stage.push(1, { start: { delaySeconds: 600 } })
    const listener = await openConnection(redis.url)
    const woken: number[] = []
    const hints = await subscribeToWakeHints(listener)
    hints.onWake((shard) => woken.push(shard))
    stage.world.faults.resent.add('open_page')
    const bulk = await stage.create('fire', [id])
    await stage.drive()
    expect(await counts(bulk.id)).toMatchObject({ state: 'done', done: 1 })
    await vi.waitFor(() => expect(woken).toEqual([stage.world.engine.jobIds.shardOf(id)]))
    listener.disconnect()
  })

  test('leaves a page alone when the turn is lost before it is looked for', async () => {
    const ids = await stage.deadLetters(150)
    const bulk = await stage.create('purge', ids)
    const [frozen, others] = [stage.openShards(), stage.openShards()]
    await stage.begin(frozen)
    const works = await Promise.all(frozen.map((shard) => shard.due()))
    stage.world.clock.advance(6_000)
    await stage.round(others)
    const before = await counts(bulk.id)
    expect(before.done).toBeGreaterThan(0)
    for (const [i, shard] of frozen.entries()) {
      for (const piece of works[i]?.work ?? []) if (piece.kind === 'part') await shard.tend(piece)
    }
    expect(await counts(bulk.id)).toEqual(before)
    await stage.drive(others)
    expect(await counts(bulk.id)).toMatchObject({ state: 'done', done: 150 })
  })

  test('keeps its turn while the search for a page takes long', async () => {
    await Promise.all(Array.from({ length: 12 }, (_, i) => stage.push(2, { queue: `queue ${i}` })))
    stage.world.clock.advance(1)
    const bulk = await stage.create('cancel', { text: 'nowhere' })
    const { world } = stage
    const { runner } = world.engine
    const read: typeof runner.read = (ask) => {
      world.clock.advance(600)
      return runner.read(ask)
    }
    const slow = stage.openShards({ ...world.engine, runner: { ...runner, read } })
    const [rival] = stage.openShards()
    await stage.begin()
    world.clock.advance(6_000)
    const { work } = (await slow[0]?.due()) ?? expect.fail()
    const startedAtMs = world.clock.wallMs
    const held: boolean[] = []
    world.faults.before = async ({ name }) => {
      if (name === 'take_lock') return
      if (rival !== undefined && name === 'move_part') held.push(!(await rival.takeLock()))
    }
    for (const piece of work) if (piece.kind === 'part') await slow[0]?.tend(piece)
    expect(world.clock.wallMs - startedAtMs).toBeGreaterThan(6_000)
    expect(held).toEqual([true])
    await stage.drive()
    expect(await counts(bulk.id)).toMatchObject({ state: 'done', done: 0 })
  })
})
