import assert from 'node:assert/strict'
import { beforeEach, describe } from 'vitest'
import {
  SESSION_IDLE_MS,
  SESSION_MAX_MS,
  SESSIONS_PER_SUBJECT_MAX,
  type SessionSubject,
} from '../../../../src/domain/access/session.ts'
import type { SessionStore } from '../../../../src/ports/access/session-store.ts'
import { createSessionStore } from '../../../../src/redis/control/sessions/session-store.ts'
import { assertClean } from '../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

const TOKEN = 'canary-token-0123456789'
const CREDENTIAL = { kind: 'token', token: TOKEN } as const
const CI: SessionSubject = { kind: 'token', team: 'default', name: 'ci' }
const ANN: SessionSubject = { kind: 'user', team: null, name: 'ann' }
const MINUTE_MS = 60_000
const LOGINS_OF_ONE = 200
const ORIGIN = { device: 'Firefox on Windows', address: '203.0.113.7' } as const

let redis: TestRedis
let world: World
let store: SessionStore

test.beforeAll(({ emptyRedis }) => {
  redis = emptyRedis
})
beforeEach(async () => {
  world = await openWorld(redis, { shards: 2 })
  store = createSessionStore(world.engine)
  return () => world.close()
})

const loginOf = (subject: SessionSubject) => ({ subject, credential: CREDENTIAL, openedFor: 'shop' })
const isOpen = async (id: string) => (await store.use(id)) !== null
const openOne = async (subject = CI) => (await store.open(loginOf(subject), ORIGIN)).id

/** Everything that Redis holds of sessions, as one text. */
async function stored(): Promise<string> {
  const keys = await redis.client.keys('*session*')
  return JSON.stringify(await Promise.all(keys.map(async (key) => [key, await redis.client.hgetall(key)])))
}

describe('a session', () => {
  test('stands for what it was opened with, whoever asks', async () => {
    const { id, session } = await store.open(loginOf(ANN), ORIGIN)
    assert.deepEqual(await createSessionStore(world.engine).use(id), session)
    assert.deepEqual([session.subject, session.credential, session.openedFor], [ANN, CREDENTIAL, 'shop'])
    assert.equal(session.endMs - session.createdAtMs, SESSION_MAX_MS)
    assert.equal(session.idleEndMs - session.createdAtMs, SESSION_IDLE_MS)
    await assertClean(world)
  })

  test('cannot be learnt from Redis, and neither can its token, its subject and its secret', async () => {
    const { id } = await store.open(loginOf(ANN), ORIGIN)
    const text = await stored()
    for (const secret of [TOKEN, id, id.split('.')[1] ?? '', '"ann"'])
      assert.ok(!text.includes(secret), secret)
    assert.ok(text.length > 100)
  })

  test('is opened by its own secret alone, also when somebody moves what is stored', async () => {
    const [one, other] = [await openOne(), await openOne()]
    const key = (await redis.client.keys('*session*'))[0] ?? ''
    const fields = await redis.client.hgetall(key)
    const [first = '', second = ''] = Object.keys(fields).filter((field) => !field.startsWith('+'))
    await redis.client.hset(key, { [first]: fields[second] ?? '', [second]: fields[first] ?? '' })
    assert.deepEqual([await store.use(one), await store.use(other)], [null, null])
    const [subject, secret = ''] = one.split('.')
    const last = secret.endsWith('A') ? 'B' : 'A'
    for (const wrong of [`${subject}.${secret.slice(0, -1)}${last}`, `.${secret}`, '', 'x.y', `${one}x`]) {
      assert.equal(await store.use(wrong), null, wrong)
    }
  })

  test('ends when it is unused for eight hours', async () => {
    const [used, unused] = [await openOne(), await openOne()]
    world.clock.advance(SESSION_IDLE_MS - 1)
    assert.ok(await isOpen(used))
    world.clock.advance(1)
    assert.deepEqual([await isOpen(used), await isOpen(unused)], [true, false])
    world.clock.advance(SESSION_IDLE_MS - 2)
    assert.ok(await isOpen(used))
  })

  test('is noted as used once a minute, not at every request', async () => {
    const id = await openOne()
    const idleEndAfter = async (ms: number) => {
      world.clock.advance(ms)
      return (await store.use(id))?.idleEndMs ?? 0
    }
    const first = await idleEndAfter(0)
    assert.equal(await idleEndAfter(MINUTE_MS - 1), first)
    assert.equal(await idleEndAfter(1), first + MINUTE_MS)
  })

  test('ends after a day, however much it is used', async () => {
    const id = await openOne()
    for (let hour = 0; hour < 23; hour += 1) {
      world.clock.advance(3_600_000)
      assert.ok(await isOpen(id))
    }
    world.clock.advance(3_600_000 - 1)
    assert.ok(await isOpen(id))
    world.clock.advance(1)
    assert.equal(await isOpen(id), false)
    assert.equal((await redis.client.keys('*session*')).length, 0)
  })

  test('leaves nothing in Redis when nobody comes back', async () => {
    await openOne()
    const [key = ''] = await redis.client.keys('*session*')
    const leftMs = await redis.client.pttl(key)
    assert.ok(leftMs > SESSION_MAX_MS - MINUTE_MS && leftMs <= SESSION_MAX_MS)
  })
})

describe('the sessions of a subject', () => {
  test('are twenty at most: one more ends the one that was unused for longest', async () => {
    const ids: string[] = []
    for (let i = 0; i < SESSIONS_PER_SUBJECT_MAX; i += 1) {
      ids.push(await openOne())
      world.clock.advance(MINUTE_MS)
    }
    const [first = '', second = '', third = ''] = ids
    assert.ok(await isOpen(first))
    const others = await openOne(ANN)
    await openOne()
    assert.deepEqual([await isOpen(first), await isOpen(second), await isOpen(third)], [true, false, true])
    assert.ok(await isOpen(others))
  })

  test('that have ended make room before one that is open', async () => {
    const old = await openOne()
    world.clock.advance(SESSION_IDLE_MS)
    const ids = []
    for (let i = 0; i < SESSIONS_PER_SUBJECT_MAX; i += 1) ids.push(await openOne())
    assert.equal(await isOpen(old), false)
    for (const id of ids) assert.ok(await isOpen(id))
  })

  test('end one by one, or all at once', async () => {
    const [one, two, three, others] = [await openOne(), await openOne(), await openOne(), await openOne(ANN)]
    await store.end(one)
    assert.deepEqual([await isOpen(one), await isOpen(two)], [false, true])
    await store.endAll(two)
    assert.deepEqual([await isOpen(two), await isOpen(three), await isOpen(others)], [false, false, true])
    await store.end(one)
    await store.end('nonsense')
  })
})

describe('the list of a subject', () => {
  const listed = (subject = CI) => store.list(subject)

  test('says where each was opened and when it was used, to the minute, the last used first', async () => {
    const first = await store.open(loginOf(CI), ORIGIN)
    world.clock.advance(1)
    const second = await store.open(loginOf(CI), { device: null, address: null })
    await openOne(ANN)
    world.clock.advance(2 * MINUTE_MS)
    await store.use(first.id)
    const used = first.session.createdAtMs + 1 + 2 * MINUTE_MS
    assert.deepEqual(await listed(), [
      {
        id: store.listedIdOf(first.id),
        ...ORIGIN,
        openedFor: 'shop',
        createdAtMs: first.session.createdAtMs,
        usedAtMs: used,
        idleEndMs: used + SESSION_IDLE_MS,
        endMs: first.session.endMs,
      },
      {
        id: store.listedIdOf(second.id),
        device: null,
        address: null,
        openedFor: 'shop',
        createdAtMs: second.session.createdAtMs,
        usedAtMs: second.session.createdAtMs,
        idleEndMs: second.session.idleEndMs,
        endMs: second.session.endMs,
      },
    ])
    await assertClean(world)
  })

  test('has ids that open nothing, and ends by them one of this subject alone', async () => {
    const [one, two, others] = [await openOne(), await openOne(), await openOne(ANN)]
    const [id, othersId] = [store.listedIdOf(one) ?? '', store.listedIdOf(others) ?? '']
    assert.match(id, /^[0-9a-f]{16}$/)
    assert.equal(await store.use(id), null)
    assert.equal(store.listedIdOf('nonsense'), null)
    await store.endListed(CI, othersId)
    await store.endListed(CI, '0'.repeat(16))
    assert.deepEqual([await isOpen(one), await isOpen(two), await isOpen(others)], [true, true, true])
    await store.endListed(CI, id)
    await store.endListed(CI, id)
    assert.deepEqual([await isOpen(one), await isOpen(two), await isOpen(others)], [false, true, true])
  })

  test('has at most twenty, however often one logs in, and those of another stay as they were', async () => {
    const others = [await openOne(ANN), await openOne(ANN)]
    const before = await listed(ANN)
    for (let i = 0; i < LOGINS_OF_ONE; i += 1) await openOne()
    assert.equal((await listed()).length, SESSIONS_PER_SUBJECT_MAX)
    assert.deepEqual(await listed(ANN), before)
    for (const id of others) assert.ok(await isOpen(id))
    await assertClean(world)
  })

  test('shows no session that has ended, and leaves nothing of it behind at the next login', async () => {
    const [old, ended, kept] = [await openOne(), await openOne(), await openOne()]
    await store.end(ended)
    world.clock.advance(SESSION_IDLE_MS - 1)
    await store.use(kept)
    world.clock.advance(1)
    assert.deepEqual(
      (await listed()).map(({ id }) => id),
      [store.listedIdOf(kept)],
    )
    const next = await openOne()
    assert.equal(await isOpen(old), false)
    const [key = ''] = await redis.client.keys('*session*')
    // A session and its origin, of the two that are open.
    assert.equal((await redis.client.hkeys(key)).length, 4)
    assert.deepEqual(
      new Set((await listed()).map(({ id }) => id)),
      new Set([store.listedIdOf(kept), store.listedIdOf(next)]),
    )
  })

  test('has as many origins as sessions, however many logins there were', async () => {
    for (let i = 0; i < 3 * SESSIONS_PER_SUBJECT_MAX; i += 1) {
      await openOne()
      world.clock.advance(MINUTE_MS)
    }
    const [key = ''] = await redis.client.keys('*session*')
    assert.equal(await redis.client.hlen(key), 2 * SESSIONS_PER_SUBJECT_MAX)
    assert.equal((await listed()).length, SESSIONS_PER_SUBJECT_MAX)
  })

  /** It writes sessions without an origin, and removes the origins that it meets at a login. */
  test('shows what an earlier version leaves, as far as it is known', async () => {
    const id = await openOne()
    const [key = ''] = await redis.client.keys('*session*')
    const origins = (await redis.client.hkeys(key)).filter((field) => field.startsWith('+'))
    assert.equal(origins.length, 1)
    await redis.client.hdel(key, ...origins)
    const [row, ...more] = await listed()
    assert.deepEqual([row?.device, row?.address, row?.openedFor, more.length], [null, null, null, 0])
    assert.ok(await isOpen(id))
    await redis.client.hset(key, origins[0] ?? '', 'damaged')
    assert.equal((await listed())[0]?.device, null)
    await store.endListed(CI, row?.id ?? '')
    assert.deepEqual([await isOpen(id), await redis.client.keys('*session*')], [false, []])
  })
})
