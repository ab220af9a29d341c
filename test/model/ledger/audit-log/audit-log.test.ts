import assert from 'node:assert/strict'
import { crc32 } from 'node:zlib'
import { beforeEach, describe } from 'vitest'
import type { AuditEntry, AuditRecord } from '../../../../src/domain/access/audit-record.ts'
import {
  ASKED_AUDIT_MS,
  AUDIT_RETENTION_DAYS,
  AUDITED_LOGINS_PER_TEAM_MAX,
} from '../../../../src/domain/limits.ts'
import type { AuditFilter, AuditLog } from '../../../../src/ports/access/audit-log.ts'
import { createAlertStore } from '../../../../src/redis/ledger/alerts/alert-store.ts'
import { AUDIT_ARGS, audited } from '../../../../src/redis/ledger/audit-log/audit-entry.ts'
import { auditHomeOf } from '../../../../src/redis/ledger/audit-log/asked-audit.ts'
import {
  createAuditLog,
  EXAMINED_AUDIT_ENTRIES_MAX,
} from '../../../../src/redis/ledger/audit-log/audit-log.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { assertClean, pushOne } from '../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import { AN_ACTOR } from '../../../support/principals.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

const TEAM = 'default'
const SHARDS = 3
const ANY: AuditFilter = {
  actor: null,
  action: null,
  resourceKind: null,
  resource: null,
  afterMs: null,
  beforeMs: null,
}

let redis: TestRedis
let world: World
let log: AuditLog

test.beforeAll(({ emptyRedis }) => {
  redis = emptyRedis
})
beforeEach(async () => {
  world = await openWorld(redis, { shards: SHARDS })
  log = createAuditLog(world.engine)
  return () => world.close()
})

function anEntry(change: Partial<AuditEntry> = {}): AuditEntry {
  const resource = { kind: 'queue', id: 12, name: 'orders' } as const
  return { actor: AN_ACTOR, action: 'edit', resource, before: { a: 1 }, after: { a: 2 }, ...change }
}

function aDeed(change: Partial<AuditEntry> = {}): AuditEntry {
  const resource = { kind: 'job', id: 64, name: 'orders' } as const
  return { actor: AN_ACTOR, action: 'delete', resource, before: null, after: null, ...change }
}

async function all(filter: Partial<AuditFilter> = {}, limit = 1_000): Promise<AuditRecord[]> {
  const records: AuditRecord[] = []
  for (let [cursor, pages] = [null as string | null, 0]; pages === 0 || cursor !== null; pages += 1) {
    const page = await log.list({ team: TEAM, filter: { ...ANY, ...filter }, limit, cursor })
    assert.ok(page !== 'bad_cursor' && page.records.length <= limit)
    records.push(...page.records)
    cursor = page.nextCursor
  }
  return records
}

/** Entries as steps write them, over the lanes of all shards. */
async function write(count: number, of: (i: number) => Partial<AuditEntry> = () => ({})): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    const keys = shardKeys(world.engine, i % SHARDS)
    const { auditEntry } = audited(world.engine, keys, { team: TEAM, entry: anEntry(of(i)) })
    await redis.client.xadd(keys.deedLog(TEAM), `${world.clock.wallMs}-*`, 'e', `d${auditEntry}`)
  }
}

describe('a step that somebody asks for', () => {
  test('writes its entry with its change, once when its answer is lost', async () => {
    const jobId = await pushOne(world.newIntake(), { queue: 'orders' })
    world.faults.resent.add('open_page')
    await createJobStore(world.engine).remove(TEAM, jobId, AN_ACTOR, false)
    const [record, ...others] = await all()
    assert.deepEqual(others, [])
    assert.deepEqual(record?.resource, { kind: 'job', id: jobId, name: 'orders' })
    assert.deepEqual([record?.action, record?.outcome, record?.actor], ['delete', 'done', AN_ACTOR])
    await assertClean(world)
  })

  test('writes none when it changes nothing', async () => {
    const jobId = await pushOne(world.newIntake(), { queue: 'orders' })
    const jobs = createJobStore(world.engine)
    await jobs.remove(TEAM, jobId, AN_ACTOR, false)
    assert.equal((await jobs.remove(TEAM, jobId, AN_ACTOR, false)).status, 'not_found')
    assert.equal(await createAlertStore(world.engine).remove(TEAM, 64, AN_ACTOR), false)
    assert.equal((await all()).length, 1)
  })
})

describe('a change outside of Redis', () => {
  test('has one entry, by its outcome, once it has ended', async () => {
    const ticket = await log.ask(TEAM, anEntry({ after: null }))
    assert.deepEqual(await all(), [])
    world.faults.resent.add('settle_audit')
    await log.settle(TEAM, ticket, { entry: anEntry(), outcome: 'refused' })
    const records = await all()
    assert.deepEqual(
      records.map(({ outcome, after }) => [outcome, after]),
      [['refused', { a: 2 }]],
    )
    await assertClean(world)
  })

  test('is the newest entry, although the clock was set back before it', async () => {
    for (const action of ['pause', 'resume'] as const) {
      const entry = anEntry({ action })
      await log.settle(TEAM, await log.ask(TEAM, entry), { entry, outcome: 'done' })
      world.clock.jump(-3_600_000)
    }
    assert.deepEqual(
      (await all()).map(({ action }) => action),
      ['resume', 'pause'],
    )
  })

  test('that changed nothing has none', async () => {
    await log.settle(TEAM, await log.ask(TEAM, anEntry()), null)
    world.clock.advance(ASKED_AUDIT_MS + 1)
    assert.deepEqual(await all(), [])
  })

  test('whose process died has an unknown outcome, and the time at which it was asked for', async () => {
    const askedAt = world.clock.wallMs
    const ticket = await log.ask(TEAM, anEntry())
    world.clock.advance(ASKED_AUDIT_MS - 1)
    assert.deepEqual(await all(), [])
    world.clock.advance(1)
    const [record] = await all()
    assert.equal(record?.outcome, 'unknown')
    assert.equal(record?.atMs, askedAt)
    // Its process was only slow.
    await log.settle(TEAM, ticket, { entry: anEntry(), outcome: 'done' })
    assert.equal((await all()).length, 1)
    await assertClean(world)
  })
})

describe('logins and logouts', () => {
  const aLogin = (name: string) =>
    anEntry({
      actor: { ...AN_ACTOR, name },
      action: 'login',
      before: null,
      after: null,
      resource: { kind: 'session', id: null, name: null },
    })

  test('push out each other alone, however many there are', async () => {
    const edited = await log.ask(TEAM, anEntry())
    await log.settle(TEAM, edited, { entry: anEntry(), outcome: 'done' })
    await write(SHARDS)
    const first = await log.ask(TEAM, aLogin('first'))
    await log.settle(TEAM, first, { entry: aLogin('first'), outcome: 'done' })
    // As steps write them; sent one by one they would take half a minute.
    const { sessionLog, auditLog } = auditHomeOf(world.engine, TEAM)
    const [[, [, text = '']] = ['', []]] = await redis.client.xrange(sessionLog(TEAM), '-', '+')
    const pipeline = redis.client.pipeline()
    for (let i = 0; i < AUDITED_LOGINS_PER_TEAM_MAX; i += 1)
      pipeline.xadd(sessionLog(TEAM), `${world.clock.wallMs}-*`, 'e', text)
    await pipeline.exec()
    const last = await log.ask(TEAM, aLogin('last'))
    await log.settle(TEAM, last, { entry: aLogin('last'), outcome: 'done' })

    assert.equal((await all({ action: 'edit' })).length, 1 + SHARDS)
    assert.equal((await all({ action: 'login' })).length, 0.9 * AUDITED_LOGINS_PER_TEAM_MAX)
    assert.equal((await all({ action: 'login', actor: 'last' })).length, 1)
    assert.ok((await redis.client.xlen(auditLog(TEAM))) <= 2)
    await assertClean(world)
  })

  test('are in the list among the changes, whole also when their process died', async () => {
    await write(2 * SHARDS)
    await log.ask(TEAM, aLogin('lost'))
    world.clock.advance(ASKED_AUDIT_MS)
    const ticket = await log.ask(TEAM, aLogin('ann'))
    await log.settle(TEAM, ticket, { entry: aLogin('ann'), outcome: 'done' })
    await write(SHARDS)
    for (const limit of [1, 2, 100]) {
      const found = await all({}, limit)
      assert.equal(new Set(found.map(({ id }) => id)).size, 3 * SHARDS + 2)
      assert.deepEqual(
        found.filter(({ action }) => action === 'login').map(({ actor, outcome }) => [actor.name, outcome]),
        [
          ['ann', 'done'],
          ['lost', 'unknown'],
        ],
      )
    }
  })
})

describe('the list', () => {
  test('has the entries of all shards, newest first, without gap or repeat in pages of any size', async () => {
    await write(100, (i) => ({ after: { i } }))
    for (const limit of [1, 7, 100, 1_000]) {
      const found = await all({}, limit)
      assert.equal(new Set(found.map(({ id }) => id)).size, 100)
      // Entries of one millisecond have no order between shards.
      assert.equal(new Set(found.map(({ after }) => after?.['i'])).size, 100)
      assert.deepEqual(
        found.map(({ atMs }) => atMs),
        found.map(({ atMs }) => atMs).toSorted((a, b) => b - a),
      )
    }
  })

  test('goes on behind its cursor while entries are added', async () => {
    await write(10)
    const first = await log.list({ team: TEAM, filter: ANY, limit: 4, cursor: null })
    assert.ok(first !== 'bad_cursor' && first.nextCursor !== null)
    await write(5)
    const rest = await log.list({ team: TEAM, filter: ANY, limit: 100, cursor: first.nextCursor })
    assert.ok(rest !== 'bad_cursor')
    assert.equal(rest.records.length, 6)
  })

  test.each<[Partial<AuditFilter>, number]>([
    [{ actor: 'bob' }, 2],
    [{ action: 'pause' }, 1],
    [{ resourceKind: 'cron' }, 1],
    [{ resource: '12' }, 4],
    [{ resource: 'nightly' }, 1],
    [{ actor: 'bob', resourceKind: 'cron' }, 0],
    [{ beforeMs: 1 }, 0],
    [{ afterMs: 1 }, 5],
  ])('filters by %j', async (filter, count) => {
    const bob = { ...AN_ACTOR, name: 'bob' }
    const cron = { kind: 'cron', id: 3, name: 'nightly' } as const
    const changes: Partial<AuditEntry>[] = [
      { actor: bob },
      { actor: bob },
      { action: 'pause' },
      { resource: cron },
      {},
    ]
    await write(5, (i) => changes[i] ?? {})
    assert.equal((await all(filter)).length, count)
  })

  test('looks at a bounded number of entries, and knows only its own cursors', async () => {
    const { client } = redis
    const keys = auditHomeOf(world.engine, TEAM)
    const { auditEntry, auditLog } = audited(world.engine, keys, { team: TEAM, entry: anEntry() })
    const pipeline = client.pipeline()
    for (let i = 0; i <= EXAMINED_AUDIT_ENTRIES_MAX; i += 1)
      pipeline.xadd(auditLog, `${world.clock.wallMs}-*`, 'e', `d${auditEntry}`)
    await pipeline.exec()
    const filter = { ...ANY, action: 'never' }
    const page = await log.list({ team: TEAM, filter, limit: 10, cursor: null })
    assert.ok(page !== 'bad_cursor' && page.nextCursor !== null)
    assert.deepEqual(page.records, [])
    assert.deepEqual(await log.list({ team: TEAM, filter, limit: 10, cursor: page.nextCursor }), {
      records: [],
      nextCursor: null,
    })
    for (const query of [
      { team: 'other', filter },
      { team: TEAM, filter: ANY },
    ]) {
      assert.equal(await log.list({ ...query, limit: 10, cursor: page.nextCursor }), 'bad_cursor')
    }
  })

  test('skips what is damaged', async () => {
    await write(2)
    for (const text of ['', 'x[]', 'd[', 'd{}']) {
      await redis.client.xadd(shardKeys(world.engine, 1).deedLog(TEAM), `${world.clock.wallMs}-*`, 'e', text)
    }
    assert.equal((await all()).length, 2)
  })
})

test('entries go after their retention, the oldest first when there are too many, and at last the key', async () => {
  const keys = shardKeys(world.engine, 0)
  const call = audited(world.engine, keys, { team: TEAM, entry: aDeed() })
  assert.deepEqual(Object.keys(call).toSorted(), ['auditLog', 'auditCounts', ...AUDIT_ARGS].toSorted())
  const pipeline = redis.client.pipeline()
  for (let i = 0; i < call.auditMax + 5; i += 1)
    pipeline.xadd(call.auditLog, `${world.clock.wallMs}-*`, 'e', `d${call.auditEntry}`)
  await pipeline.exec()
  // The home of the team may be another shard; a job of this one is not.
  for (;;) {
    const queue = `q${Math.random()}`
    const jobId = await pushOne(world.newIntake(), { queue })
    if (world.engine.jobIds.shardOf(jobId) !== 0) continue
    await createJobStore(world.engine).remove(TEAM, jobId, AN_ACTOR, false)
    break
  }
  assert.equal(await redis.client.xlen(call.auditLog), Math.floor(0.9 * call.auditMax))
  const ttl = await redis.client.pttl(call.auditLog)
  assert.ok(ttl > call.auditMs - 60_000 && ttl <= call.auditMs, String(ttl))

  world.clock.advance(AUDIT_RETENTION_DAYS * 86_400_000 + 60_000)
  assert.deepEqual(await all(), [])
  // The next entry takes with it what is past its retention.
  const home = crc32(TEAM) % SHARDS
  const key = shardKeys(world.engine, home).auditLog(TEAM)
  await redis.client.xadd(key, '5-1', 'e', `d${call.auditEntry}`)
  const ticket = await log.ask(TEAM, anEntry())
  await log.settle(TEAM, ticket, { entry: anEntry(), outcome: 'done' })
  assert.equal((await redis.client.xrange(key, '5-1', '5-1')).length, 0)
  assert.equal((await all()).length, 1)
})

test('a list ends with the record that is enough, and can go on behind it', async () => {
  await write(20, (i) => ({ action: i === 10 ? 'pause' : 'edit' }))
  const query = { team: TEAM, filter: ANY, limit: 1_000 }
  const isEnough = (found: readonly AuditRecord[]): boolean => found.at(-1)?.action === 'pause'
  const page = await log.list({ ...query, cursor: null, isEnough })
  assert.ok(page !== 'bad_cursor' && page.records.at(-1)?.action === 'pause')
  const rest = await log.list({ ...query, cursor: page.nextCursor })
  assert.ok(rest !== 'bad_cursor' && rest.records.length > 0)
  assert.deepEqual([...page.records, ...rest.records], await all())
})

describe('who has logged in', () => {
  const login = (name: string, kind: 'token' | 'user' = 'user', change: Partial<AuditEntry> = {}) =>
    anEntry({
      actor: { ...AN_ACTOR, kind, name },
      action: 'login',
      resource: { kind: 'session', id: null, name: null },
      before: null,
      after: null,
      ...change,
    })
  const note = async (entry: AuditEntry, team = TEAM) =>
    log.settle(team, await log.ask(team, entry), { entry, outcome: 'done' })

  test('is each once, the newest login first, of the team and since the time alone', async () => {
    await note(login('old'))
    world.clock.advance(60_001)
    const sinceMs = world.clock.wallMs
    for (const name of ['ann', 'ben', 'ann']) {
      await note(login(name))
      world.clock.advance(60_001)
    }
    await note(login('ann', 'token'))
    await note(login('other'), 'billing')
    await note(login('left', 'user', { action: 'logout' }))
    await note(anEntry())
    assert.deepEqual(await log.loggedIn(TEAM, sinceMs), [
      { kind: 'token', name: 'ann' },
      { kind: 'user', name: 'ann' },
      { kind: 'user', name: 'ben' },
    ])
  })

  test('is found behind more than one read, and by nothing but the logins', async () => {
    for (let i = 0; i < 600; i += 1) await note(login(`u${i}`))
    const found = await log.loggedIn(TEAM, 0)
    assert.deepEqual([found.length, found[0]?.name, found.at(-1)?.name], [600, 'u599', 'u0'])
  })
})
