import { beforeEach, describe, expect } from 'vitest'
import { LEASE_MS } from '../../../../src/domain/limits.ts'
import type { StoreServer } from '../../../../src/ports/health.ts'
import { executorIdOf } from '../../../../src/redis/base/layout/executor-id.ts'
import { readServers } from '../../../../src/redis/base/installation/server-look.ts'
import { createBacklogReader } from '../../../../src/redis/jobs/queues/backlog-reader.ts'
import { createInstallationReader } from '../../../../src/redis/watch/status/installation-reader.ts'
import { claimed, openExecutor, pushAll } from '../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

describe('the state of the installation', () => {
  let redis: TestRedis
  let world: World

  test.beforeAll(({ emptyRedis }) => {
    redis = emptyRedis
  })
  beforeEach(async () => {
    world = await openWorld(redis, { shards: 2 })
    return () => world.close()
  })

  const read = (quotaOf: (team: string) => number | null = () => null) =>
    createInstallationReader(world.engine, {
      backlog: createBacklogReader(world.engine),
      callQuotaOf: quotaOf,
      readServers: () => readServers(world.connection),
    }).read()
  const begin = (name: string, shard: number, slots = 32) =>
    openExecutor(world, executorIdOf(name, { nonce: `n${shard}`, slots }), shard)

  test('is empty before anything has started', async () => {
    const { executors, backlog, leaderEpoch, shards } = await read()
    expect(executors).toEqual({ areEverywhere: false, alive: 0, slots: 0, expiredLeases: 0, executors: [] })
    expect(backlog).toMatchObject({ ready: 0, inFlight: 0, dueSoon: 0, oldestReadyMs: null })
    expect([leaderEpoch, shards]).toEqual([null, 2])
  })

  test('counts an executor once, whose slots serve all shards in which it has a lease', async () => {
    await begin('b', 0)
    await begin('b', 1)
    await begin('a', 1, 64)
    expect((await read()).executors).toEqual({
      areEverywhere: true,
      alive: 2,
      slots: 96,
      expiredLeases: 0,
      executors: [
        { name: 'a', slots: 64, shards: 1, leaseEndsInMs: LEASE_MS },
        { name: 'b', slots: 32, shards: 2, leaseEndsInMs: LEASE_MS },
      ],
    })
  })

  test('counts two executors of one machine, and adds their slots', async () => {
    await openExecutor(world, executorIdOf('host', { nonce: 'x', slots: 8 }))
    await openExecutor(world, executorIdOf('host', { nonce: 'y', slots: 16 }))
    const { executors } = await read()
    expect(executors).toMatchObject({ areEverywhere: false, alive: 2, slots: 24 })
    expect(executors?.executors).toMatchObject([{ name: 'host', slots: 24, shards: 1 }])
  })

  test('says no sum of slots while an executor of an earlier version does not say its own', async () => {
    await begin('new', 0)
    await openExecutor(world, 'old~nonce', 1)
    const { executors } = await read()
    expect(executors).toMatchObject({ areEverywhere: true, alive: 2, slots: null })
    expect(executors?.executors.map(({ slots }) => slots)).toEqual([32, null])
  })

  test('tells an ended lease from a valid one to the millisecond', async () => {
    await begin('a', 0)
    world.clock.advance(LEASE_MS - 1)
    expect((await read()).executors).toMatchObject({ alive: 1, expiredLeases: 0 })
    world.clock.advance(1)
    expect((await read()).executors).toMatchObject({ alive: 0, expiredLeases: 1, executors: [] })
  })

  test('shows 100 executors by name, and counts all', async () => {
    await Promise.all(Array.from({ length: 101 }, (_, at) => begin(`e${String(at).padStart(3, '0')}`, 0, 2)))
    const { executors } = await read()
    expect(executors).toMatchObject({ alive: 101, slots: 202 })
    expect(executors?.executors).toHaveLength(100)
    expect(executors?.executors.at(-1)?.name).toBe('e099')
  })

  test('tells what waits and what is in flight, by the names of executors and of no team', async () => {
    await pushAll(world.newIntake(), 6, { team: 'shop', queue: 'secret-queue' })
    expect((await read()).backlog?.ready).toBe(6)
    for (const shard of [0, 1]) await claimed(await begin('a', shard), 2)
    const found = await read()
    expect(found.backlog?.inFlight).toBe(2)
    expect(found.backlog?.held).toEqual(new Map([['a', 2]]))
    const told = JSON.stringify(found, (_, value: unknown) => (value instanceof Map ? [...value] : value))
    expect(told).not.toContain('secret-queue')
    expect(told).not.toContain('shop')
  })

  test('respects the quotas of calls, beyond which nothing waits for executors', async () => {
    await pushAll(world.newIntake(), 6, { team: 'shop' })
    expect((await read((team) => (team === 'shop' ? 0 : null))).backlog?.ready).toBe(0)
  })

  test('has the lowest epoch of all shards, and none until each has one', async () => {
    const [first, second] = world.engine.shards
    await redis.client.set(first?.leaderEpoch ?? '', '4')
    expect((await read()).leaderEpoch).toBeNull()
    await redis.client.set(second?.leaderEpoch ?? '', '3')
    expect((await read()).leaderEpoch).toBe(3)
  })

  test('looks at each primary', async () => {
    const { servers } = await read()
    const [server] = [...servers.values()] as [StoreServer]
    expect(server.version).toMatch(/^\d+\.\d+/)
    expect(server.usedBytes).toBeGreaterThan(0)
    expect(server.replicas).toEqual([])
  })

  test('leaves out what a Redis that is away does not answer, and throws for a fault of ours', async () => {
    const { engine } = world
    const parts = { backlog: createBacklogReader(engine), callQuotaOf: () => null }
    const away = new Map([['10.0.0.7:6379', null]])
    const reader = createInstallationReader(engine, { ...parts, readServers: () => Promise.resolve(away) })
    world.connection.disconnect()
    expect(await reader.read()).toEqual({
      shards: 2,
      leaderEpoch: null,
      executors: null,
      backlog: null,
      servers: away,
    })
    const broken = { read: () => Promise.reject(new TypeError('ours')) }
    const failing = createInstallationReader(engine, {
      ...parts,
      backlog: broken,
      readServers: () => Promise.resolve(away),
    })
    await expect(failing.read()).rejects.toThrow('ours')
  })
})
