import assert from 'node:assert/strict'
import { afterAll, beforeEach, describe } from 'vitest'
import type { Alert } from '../../../../src/domain/alerts/alert.ts'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import type { AlertFilter, AlertStore } from '../../../../src/ports/alerts.ts'
import { createAlertStore } from '../../../../src/redis/ledger/alerts/alert-store.ts'
import { EXAMINED_ALERTS_MAX } from '../../../../src/redis/ledger/alerts/alert-pages.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { shardKeys, shardOfQueue } from '../../../../src/redis/base/engine/engine.ts'
import { formatCursor } from '../../../../src/redis/base/names/list-cursor.ts'
import { commandsDuring } from '../../../support/servers/command-counts.ts'
import { claimed, openExecutor, pushOne } from '../../../support/engine/model-executor.ts'
import { openConnection, openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { alerting } from './alert-stage.ts'
import { ANY, storeAlerts, type StoredAlert, unreadRecords } from './stored-alerts.ts'
import { AN_ACTOR } from '../../../support/principals.ts'

const TEAM = 'default'
const SHARDS = 3

let redis: TestRedis
let connection: RedisConnection
let world: World
let store: AlertStore

test.beforeAll(async ({ emptyRedis }) => {
  redis = emptyRedis
  connection = await openConnection(redis.url)
})
afterAll(() => connection.disconnect())
beforeEach(async () => {
  world = await openWorld(redis, { connection, shards: SHARDS })
  store = createAlertStore(world.engine)
})

const put = (alerts: readonly StoredAlert[]) => storeAlerts(world.engine, redis.client, alerts)
const many = (count: number, of: (i: number) => Omit<StoredAlert, 'number'>) =>
  put(Array.from({ length: count }, (_, i) => ({ number: i, ...of(i) })))
const idsOf = (alerts: readonly Alert[]) => alerts.map(({ id }) => id)
const newestFirst = (ids: readonly number[]) => ids.toSorted((a, b) => b - a)

async function page(query: { filter?: AlertFilter; limit: number; cursor?: string | null; team?: string }) {
  const found = await store.list({ team: TEAM, filter: ANY, cursor: null, ...query })
  assert.ok(found !== 'bad_cursor')
  assert.ok(found.alerts.length <= query.limit)
  return found
}

/** All alerts that pages of this size lead to. */
async function walk(
  query: { filter?: AlertFilter; limit: number },
  between: () => Promise<unknown> = () => Promise.resolve(),
): Promise<Alert[]> {
  const alerts: Alert[] = []
  let cursor: string | null = null
  for (let pages = 0; pages === 0 || cursor !== null; pages += 1) {
    assert.ok(pages < 1_000, 'the cursors lead nowhere')
    const found: Awaited<ReturnType<typeof page>> = await page({ ...query, cursor })
    alerts.push(...found.alerts)
    cursor = found.nextCursor
    await between()
  }
  return alerts
}

describe('a list of alerts', () => {
  test('is newest first over all shards, in pages of any size, however they are spread', async () => {
    // Shard 0 has the 100 newest in a row, then the shards alternate.
    const ids = await many(250, (i) => ({ shard: i >= 150 ? 0 : i % SHARDS }))
    for (const limit of [1, 7, 100, 249, 250, 1_000]) {
      assert.deepEqual(idsOf(await walk({ limit })), newestFirst(ids), `limit ${limit}`)
    }
    assert.equal((await page({ limit: 250 })).nextCursor, null)
    assert.notEqual((await page({ limit: 249 })).nextCursor, null)
  })

  test('shows each alert once while others are raised', async () => {
    const ids = await many(60, (i) => ({ shard: i % SHARDS }))
    let raised = 1_000
    const found = await walk({ limit: 7 }, () => put([{ number: (raised += 1), shard: raised % SHARDS }]))
    assert.deepEqual(idsOf(found), newestFirst(ids))
  })

  test('holds what every filter asks for and nothing else', async () => {
    const types = ['warning', 'failure', 'recovery', 'limit_warning'] as const
    const reasons = ['timeout', 'dns_error', 'queue_saturated'] as const
    const kinds = ['queue', 'cron', 'team'] as const
    await many(120, (i) => ({
      shard: i % SHARDS,
      type: types[i % 4] ?? 'failure',
      reason: reasons[i % 3] ?? 'timeout',
      kind: kinds[i % 3] ?? 'queue',
      resourceId: i % 3 === 2 ? null : i % 5,
      isRead: i % 2 === 0,
    }))
    const all = await walk({ limit: 1_000 })
    assert.equal(all.length, 120)
    const middle = all[60]?.lastAtMs ?? 0
    const cases: Array<[Partial<AlertFilter>, (alert: Alert) => boolean]> = [
      [{ type: 'recovery' }, ({ type }) => type === 'recovery'],
      [{ reason: 'dns_error' }, ({ reason }) => reason === 'dns_error'],
      [{ resourceKind: 'cron' }, ({ resource }) => resource.kind === 'cron'],
      [{ resourceId: 0 }, ({ resource }) => resource.id === 0],
      [{ isRead: true }, ({ isRead }) => isRead],
      [{ isRead: false }, ({ isRead }) => !isRead],
      [{ afterMs: middle }, ({ lastAtMs }) => lastAtMs >= middle],
      [{ beforeMs: middle }, ({ lastAtMs }) => lastAtMs < middle],
      [
        { type: 'failure', resourceKind: 'queue' },
        ({ type, resource }) => type === 'failure' && resource.kind === 'queue',
      ],
    ]
    for (const [wanted, holds] of cases) {
      const found = await walk({ filter: { ...ANY, ...wanted }, limit: 9 })
      assert.ok(found.length > 0 && found.length < 120)
      assert.deepEqual(idsOf(found), idsOf(all.filter(holds)), JSON.stringify(wanted))
    }
  })

  test('looks at a bounded number of alerts, then answers a cursor', async () => {
    await many(EXAMINED_ALERTS_MAX + 50, (i) => ({
      shard: i % SHARDS,
      type: i === 0 ? 'recovery' : 'failure',
    }))
    const filter = { ...ANY, type: 'recovery' as const }
    const first = await page({ filter, limit: 10 })
    assert.deepEqual(first.alerts, [])
    const second = await page({ filter, limit: 10, cursor: first.nextCursor })
    assert.deepEqual([second.alerts.length, second.nextCursor], [1, null])
  })

  test('takes few commands for a page, and one a shard for a team without alerts', async () => {
    await many(300, (i) => ({ shard: i % SHARDS }))
    const { zrange, hmget } = await commandsDuring(redis.client, () => page({ limit: 100 }))
    assert.deepEqual([zrange, hmget], [SHARDS, SHARDS])
    assert.deepEqual(await commandsDuring(redis.client, () => page({ limit: 100, team: 'none' })), {
      zrange: SHARDS,
    })
  })

  test('knows the cursors of other lists', async () => {
    await many(20, () => ({}))
    const { nextCursor } = await page({ limit: 5 })
    assert.ok(nextCursor !== null)
    const asked = (query: { filter?: AlertFilter; team?: string; cursor: string }) =>
      store.list({ team: TEAM, filter: ANY, limit: 5, ...query })
    assert.equal(await asked({ filter: { ...ANY, isRead: false }, cursor: nextCursor }), 'bad_cursor')
    assert.equal(await asked({ team: 'other', cursor: nextCursor }), 'bad_cursor')
    assert.equal(await asked({ cursor: formatCursor(['queues', TEAM], '1') }), 'bad_cursor')
    const scope = ['alerts', TEAM, null, null, null, null, null, null, null] as const
    assert.equal(await asked({ cursor: formatCursor(scope, 'x') }), 'bad_cursor')
    assert.equal(await asked({ cursor: 'x' }), 'bad_cursor')
  })
})

describe('one alert', () => {
  test('is found, marked once and removed, with what is counted of it', async () => {
    const [id = 0] = await put([{ number: 1, shard: 2, count: 3 }])
    const alert = await store.get(TEAM, id)
    assert.deepEqual([alert?.id, alert?.count, alert?.isRead], [id, 3, false])
    assert.equal((await store.counts(TEAM)).unread, 1)
    for (let times = 0; times < 2; times += 1) {
      assert.deepEqual(await store.markRead(TEAM, id, AN_ACTOR), { ...alert, isRead: true })
      assert.equal((await store.counts(TEAM)).unread, 0)
    }
    assert.equal(await store.remove(TEAM, id, AN_ACTOR), true)
    assert.equal(await store.remove(TEAM, id, AN_ACTOR), false)
    assert.equal(await store.get(TEAM, id), null)
    assert.deepEqual((await page({ limit: 5 })).alerts, [])
  })

  test('removed unread counts no more', async () => {
    const [id = 0] = await put([
      { number: 1, type: 'warning' },
      { number: 2, type: 'warning' },
    ])
    await store.remove(TEAM, id, AN_ACTOR)
    assert.deepEqual(await store.counts(TEAM), {
      unread: 1,
      byType: { warning: 1, failure: 0, recovery: 0, limit_warning: 0 },
    })
  })

  test('of another team or of a shard that is not there is none', async () => {
    const [id = 0] = await put([{ number: 1 }])
    for (const [team, wrong] of [
      ['other', id],
      [TEAM, id + 1],
      [TEAM, id + SHARDS],
      [TEAM, Number.MAX_SAFE_INTEGER],
    ] as const) {
      assert.equal(await store.get(team, wrong), null)
      assert.equal(await store.markRead(team, wrong, AN_ACTOR), null)
      assert.equal(await store.remove(team, wrong, AN_ACTOR), false)
    }
    assert.equal((await store.counts(TEAM)).unread, 1)
  })

  test('raised by a job is read as it was written, and begins anew once it was deleted', async () => {
    const intake = world.newIntake()
    const { shard } = shardOfQueue(world.engine, TEAM, 'emails')
    const failOnce = async (executor: string): Promise<void> => {
      await pushOne(intake)
      const source = await openExecutor(world, executor, shard)
      const [work] = await claimed(source, 1)
      await source.finish([alerting(world, work, { retryDelays: [] })])
    }
    const failures = async () =>
      (await page({ filter: { ...ANY, type: 'failure' }, limit: 5 })).alerts.map(
        ({ id, resource, count, isRead }) => ({ id, name: resource.name, count, isRead }),
      )
    await failOnce('e1')
    const [first] = await failures()
    assert.deepEqual(first, { id: first?.id, name: 'emails', count: 1, isRead: false })
    assert.equal(await store.remove(TEAM, first?.id ?? 0, AN_ACTOR), true)
    await failOnce('e2')
    const again = await failures()
    assert.deepEqual(again, [{ ...first, id: again[0]?.id }])
    assert.notEqual(again[0]?.id, first?.id)
    assert.deepEqual((await store.counts(TEAM)).byType, await unreadRecords(world.engine, redis.client))
  })
})

describe('all alerts of a filter', () => {
  const COUNT = 450

  test.each(['read', 'remove'] as const)(
    '%s: a crash between pages leaves right counts, and the request can be sent again',
    async (change) => {
      await many(COUNT, (i) => ({ shard: i < 400 ? 0 : 1, type: i % 2 === 0 ? 'failure' : 'warning' }))
      await put([{ number: 1_000, team: 'other' }])
      const act = () => (change === 'read' ? store.markAllRead(TEAM, ANY) : store.removeAll(TEAM, ANY))
      let steps = 0
      world.faults.before = () => {
        steps += 1
        if (steps === 2) throw new StoreUnavailableError('crashed')
      }
      await assert.rejects(act(), StoreUnavailableError)
      const { unread, byType } = await store.counts(TEAM)
      assert.deepEqual([unread, byType], [COUNT - 200, await unreadRecords(world.engine, redis.client)])
      assert.equal(await act(), COUNT - 200)
      assert.equal(await act(), 0)
      assert.equal((await store.counts(TEAM)).unread, 0)
      assert.equal((await walk({ limit: 1_000 })).length, change === 'read' ? COUNT : 0)
      assert.equal((await store.counts('other')).unread, 1)
    },
  )

  test('a step whose answer is lost takes effect once', async () => {
    await many(10, () => ({}))
    world.faults.resent.add('change_alerts')
    await store.markAllRead(TEAM, ANY)
    assert.equal((await store.counts(TEAM)).unread, 0)
    await put([{ number: 20 }, { number: 21 }])
    world.faults.resent.add('change_alerts')
    await store.removeAll(TEAM, { ...ANY, isRead: true })
    assert.deepEqual(await store.counts(TEAM), {
      unread: 2,
      byType: { warning: 0, failure: 2, recovery: 0, limit_warning: 0 },
    })
  })

  test('others stay, also those that are raised meanwhile', async () => {
    await many(250, (i) => ({ type: i < 240 ? 'failure' : 'recovery', shard: i < 120 ? 1 : 0 }))
    let raised = 10_000
    // In a shard whose turn has not come, too.
    world.faults.before = async () => {
      await put([0, 1].map((shard) => ({ shard, number: (raised += 1) })))
    }
    assert.equal(await store.removeAll(TEAM, { ...ANY, type: 'failure' }), 240)
    world.faults.before = () => undefined
    const left = (await walk({ limit: 1_000 })).map(({ type }) => type)
    assert.deepEqual(left, [...Array(raised - 10_000).fill('failure'), ...Array(10).fill('recovery')])
  })

  test('marks and counts only what was unread', async () => {
    await many(20, (i) => ({ shard: i % SHARDS, isRead: i % 4 === 0 }))
    assert.equal(await store.markAllRead(TEAM, { ...ANY, resourceId: 8 }), 0)
    assert.equal(await store.markAllRead(TEAM, ANY), 15)
    assert.equal(await store.removeAll(TEAM, { ...ANY, isRead: false }), 0)
    assert.equal(await store.removeAll(TEAM, { ...ANY, isRead: true }), 20)
  })

  test('a record that is damaged is listed nowhere and goes with the rest', async () => {
    const [id = 0] = await many(3, () => ({}))
    const key = shardKeys(world.engine, 0).alertRecords(TEAM)
    await redis.client.hset(key, String(id), '1|broken')
    assert.equal((await walk({ limit: 1 })).length, 2)
    assert.equal(await store.get(TEAM, id), null)
    assert.equal(await store.removeAll(TEAM, { ...ANY, type: 'failure' }), 2)
    assert.equal(await store.removeAll(TEAM, ANY), 1)
    assert.equal(await redis.client.exists(key), 0)
  })
})
