import assert from 'node:assert/strict'
import { beforeEach, describe } from 'vitest'
import type { Actor, AuditEntry, AuditRecord } from '../../../../src/domain/access/audit-record.ts'
import {
  AUDIT_ENTRIES_PER_SHARD_MAX,
  AUDIT_RETENTION_DAYS,
  AUDITED_SETTINGS_PER_TEAM_MAX,
} from '../../../../src/domain/limits.ts'
import type { AuditFilter } from '../../../../src/ports/access/audit-log.ts'
import { createAuditLog } from '../../../../src/redis/ledger/audit-log/audit-log.ts'
import { auditHomeOf } from '../../../../src/redis/ledger/audit-log/asked-audit.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { createAlertStore } from '../../../../src/redis/ledger/alerts/alert-store.ts'
import { assertClean, pushAll, pushOne } from '../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import { AN_ACTOR } from '../../../support/principals.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

const TEAM = 'default'
const DAY_MS = 86_400_000
const ANY: AuditFilter = {
  actor: null,
  action: null,
  resourceKind: null,
  resource: null,
  afterMs: null,
  beforeMs: null,
}
const ANN: Actor = { ...AN_ACTOR, name: 'ann' }
const BOT: Actor = { ...AN_ACTOR, name: 'bot' }

let redis: TestRedis
let world: World

test.beforeAll(({ emptyRedis }) => {
  redis = emptyRedis
})
beforeEach(async () => {
  world = await openWorld(redis, { shards: 1 })
  return () => world.close()
})

const log = () => createAuditLog(world.engine)
const jobs = () => createJobStore(world.engine)
const keys = () => auditHomeOf(world.engine, TEAM)

async function all(
  filter: Partial<AuditFilter> = {},
  { team = TEAM, limit = 1_000 } = {},
): Promise<AuditRecord[]> {
  const records: AuditRecord[] = []
  for (let [cursor, pages] = [null as string | null, 0]; pages === 0 || cursor !== null; pages += 1) {
    const page = await log().list({ team, filter: { ...ANY, ...filter }, limit, cursor })
    assert.ok(page !== 'bad_cursor' && page.records.length <= limit)
    records.push(...page.records)
    cursor = page.nextCursor
  }
  return records
}

function edit(change: Partial<AuditEntry> = {}): AuditEntry {
  const resource = { kind: 'queue', id: 12, name: 'orders' } as const
  return { actor: ANN, action: 'edit', resource, before: { a: 1 }, after: { a: 2 }, ...change }
}

async function note(entry: AuditEntry, team = TEAM): Promise<void> {
  const ticket = await log().ask(team, entry)
  await log().settle(team, ticket, { entry, outcome: 'done' })
}

async function deleteJobs(
  count: number,
  actor: Actor,
  { queue = 'orders', team = TEAM } = {},
): Promise<number[]> {
  const ids = await pushAll(world.newIntake(), count, { queue, team })
  for (const id of ids) await jobs().remove(team, id, actor, false)
  return ids
}

describe('like deeds of one actor on one queue', () => {
  test('within a minute are one record, with their count, times and the first ids', async () => {
    const startMs = world.clock.wallMs
    const first = await deleteJobs(30, BOT)
    world.clock.advance(59_000)
    const last = await deleteJobs(30, BOT)
    const [record, ...others] = await all()
    assert.deepEqual(others, [])
    assert.equal(record?.count, 60)
    assert.equal(record.atMs, startMs)
    assert.equal(record.lastAtMs, startMs + 59_000)
    assert.deepEqual(record.ids, [...first, ...last].slice(0, 50))
    assert.equal(record.resource.id, first[0])
    world.clock.advance(1_000)
    await deleteJobs(1, BOT)
    assert.deepEqual(
      (await all()).map(({ count }) => count),
      [1, 60],
    )
    await assertClean(world)
  })

  test('are told apart by actor, way, act, queue and team', async () => {
    await deleteJobs(2, BOT)
    await deleteJobs(2, ANN)
    await deleteJobs(2, { ...BOT, via: 'cli' })
    await deleteJobs(2, { ...BOT, address: '10.9.9.9' })
    await deleteJobs(2, BOT, { queue: 'mails' })
    await deleteJobs(3, BOT, { team: 'others' })
    const jobId = await pushOne(world.newIntake(), { queue: 'orders', start: { delaySeconds: 50 } })
    await jobs().fire(TEAM, jobId, BOT)
    assert.deepEqual(
      (await all()).map(({ count }) => count),
      [1, 2, 2, 2, 2, 2],
    )
    assert.deepEqual(
      (await all({}, { team: 'others' })).map(({ count }) => count),
      [3],
    )
  })

  test('are found by each id that the record has, and by the time of the last', async () => {
    const startMs = world.clock.wallMs
    const ids = await deleteJobs(2, BOT)
    world.clock.advance(30_000)
    ids.push(...(await deleteJobs(1, BOT)))
    for (const id of ids) assert.equal((await all({ resource: String(id) })).length, 1)
    assert.equal((await all({ afterMs: startMs + 30_000 })).length, 1)
    assert.equal((await all({ afterMs: startMs + 30_001 })).length, 0)
    assert.equal((await all({ beforeMs: startMs + 1 })).length, 1)
    assert.equal((await all({ beforeMs: startMs })).length, 0)
  })

  test('on alerts count too', async () => {
    const alerts = createAlertStore(world.engine)
    assert.equal(await alerts.remove(TEAM, 64, BOT), false)
    assert.deepEqual(await all(), [])
  })
})

describe('the order of what is done to one thing', () => {
  const paused = edit({ action: 'pause', before: { is_active: true }, after: { is_active: false } })
  const resumed = edit({ action: 'resume', before: { is_active: false }, after: { is_active: true } })

  test('stays: only the last record about it is counted into', async () => {
    await note(paused)
    await note(resumed)
    await note(paused)
    await note(paused)
    assert.deepEqual(
      (await all()).map(({ action, count }) => [action, count]),
      [
        ['pause', 2],
        ['resume', 1],
        ['pause', 1],
      ],
    )
    // Something else in between does not matter.
    await note(edit({ resource: { kind: 'queue', id: 13, name: 'mails' } }))
    await note(paused)
    assert.deepEqual(
      (await all({ action: 'pause' })).map(({ count }) => count),
      [3, 1],
    )
  })

  test('an edit to something else is a record of its own, and so is one that was refused', async () => {
    await note(edit())
    await note(edit({ after: { a: 3 } }))
    const ticket = await log().ask(TEAM, edit({ after: { a: 3 } }))
    await log().settle(TEAM, ticket, { entry: edit({ after: { a: 3 } }), outcome: 'refused' })
    assert.deepEqual(
      (await all()).map(({ outcome, count }) => [outcome, count]),
      [
        ['refused', 1],
        ['done', 1],
        ['done', 1],
      ],
    )
  })
})

/** Entries that are not alike; sent at once. */
async function fill(stream: string, count: number, actor: Actor): Promise<void> {
  const pipeline = redis.client.pipeline()
  for (let i = 0; i < count; i += 1) {
    const marks = `~${String(i).padStart(16, '0')}${String(i).padStart(12, 'x')}${'-'.repeat(12)}`
    const entry = ['token', actor.name, 'api', null, 'delete', 'job', i, `q${i}`, null, null, marks]
    pipeline.xadd(stream, `${world.clock.wallMs}-*`, 'e', `d${JSON.stringify(entry)}`)
  }
  await pipeline.exec()
}

describe('a log that is full', () => {
  test('of deeds takes nothing from that of settings, whose records are there after any number of deeds', async () => {
    await note(edit({ resource: { kind: 'token', id: 'ci', name: 'ci' }, action: 'create' }))
    await fill(keys().deedLog(TEAM), AUDIT_ENTRIES_PER_SHARD_MAX, BOT)
    await deleteJobs(3, BOT)
    assert.equal((await all({ resourceKind: 'token' })).length, 1)
    assert.ok((await redis.client.xlen(keys().deedLog(TEAM))) <= AUDIT_ENTRIES_PER_SHARD_MAX)
  })

  test('runs of crons and tests of channels are deeds; what is done to settings is not', async () => {
    const home = keys()
    await note(
      edit({ action: 'run', resource: { kind: 'cron', id: 5, name: 'nightly' }, after: { job_id: 1 } }),
    )
    await note(
      edit({ action: 'run', resource: { kind: 'cron', id: 5, name: 'nightly' }, after: { job_id: 2 } }),
    )
    await note(edit({ action: 'test', resource: { kind: 'channel', id: null, name: 'ops' } }))
    assert.equal(await redis.client.xlen(home.deedLog(TEAM)), 2)
    for (const kind of ['queue', 'cron', 'window', 'token', 'secret', 'team'] as const)
      await note(edit({ resource: { kind, id: null, name: 'x' } }))
    assert.equal(await redis.client.xlen(home.auditLog(TEAM)), 6)
    assert.equal((await all({ action: 'run' }))[0]?.count, 2)
  })

  test('makes room of those that have the most, and takes nothing of who has fewer', async () => {
    const stream = keys().deedLog(TEAM)
    await fill(stream, 500, ANN)
    await fill(stream, 700, { ...AN_ACTOR, name: 'bob' })
    await fill(stream, AUDIT_ENTRIES_PER_SHARD_MAX - 1_200, BOT)
    await deleteJobs(1, BOT)
    const names = new Map<string, number>()
    for (const { actor } of await all()) names.set(actor.name, (names.get(actor.name) ?? 0) + 1)
    assert.deepEqual(Object.fromEntries(names), {
      ann: 500,
      bob: 700,
      bot: 0.9 * AUDIT_ENTRIES_PER_SHARD_MAX - 1_200,
    })
    assert.equal((await all({ actor: 'bot' }))[0]?.action, 'delete')
    // Room is made once for many.
    assert.equal(await redis.client.xlen(stream), 0.9 * AUDIT_ENTRIES_PER_SHARD_MAX)
  })

  test('keeps what an actor did to tokens, however often it pauses a queue', async () => {
    await note(edit({ actor: BOT, action: 'create', resource: { kind: 'token', id: 'x', name: 'x' } }))
    await note(edit({ resource: { kind: 'token', id: 'y', name: 'y' } }))
    for (let i = 0; i <= AUDITED_SETTINGS_PER_TEAM_MAX; i += 1)
      await note(edit({ actor: BOT, action: i % 2 === 0 ? 'pause' : 'resume' }))
    const tokens = await all({ resourceKind: 'token' })
    assert.deepEqual(
      tokens.map(({ resource }) => resource.name),
      ['y', 'x'],
    )
    const left = await redis.client.xlen(keys().auditLog(TEAM))
    assert.ok(left <= 0.9 * AUDITED_SETTINGS_PER_TEAM_MAX + 2, `${left} are left`)
  })

  test('keeps the newest of many actors that have one each', async () => {
    const stream = keys().auditLog(TEAM)
    for (let i = 0; i < AUDITED_SETTINGS_PER_TEAM_MAX; i += 50)
      await Promise.all(
        Array.from({ length: 50 }, (_, at) => fill(stream, 1, { ...AN_ACTOR, name: `a${i + at}` })),
      )
    await note(edit())
    const records = await all()
    assert.equal(records.length, 0.9 * AUDITED_SETTINGS_PER_TEAM_MAX)
    assert.equal(records[0]?.actor.name, 'ann')
  })

  test('forgets what was counted into entries with these', async () => {
    const home = keys()
    await deleteJobs(2, BOT)
    assert.deepEqual((await redis.client.hkeys(home.deedCounts(TEAM))).length, 2)
    world.clock.advance((AUDIT_RETENTION_DAYS + 1) * DAY_MS)
    await deleteJobs(1, BOT)
    assert.deepEqual(await redis.client.hkeys(home.deedCounts(TEAM)), ['n'])
    assert.equal(await redis.client.xlen(home.deedLog(TEAM)), 1)
    assert.ok((await redis.client.pttl(home.deedCounts(TEAM))) > 0)
  })
})

test('pages of any size have every record once while like deeds are counted into them', async () => {
  for (let i = 0; i < 20; i += 1) await deleteJobs(2, BOT, { queue: `q${i}` })
  const first = await log().list({ team: TEAM, filter: ANY, limit: 8, cursor: null })
  assert.ok(first !== 'bad_cursor')
  for (let i = 0; i < 20; i += 1) await deleteJobs(1, BOT, { queue: `q${i}` })
  const rest = await log().list({ team: TEAM, filter: ANY, limit: 100, cursor: first.nextCursor })
  assert.ok(rest !== 'bad_cursor')
  assert.deepEqual(
    [...first.records, ...rest.records].map(({ resource, count }) => [resource.name, count]),
    Array.from({ length: 20 }, (_, i) => [`q${19 - i}`, i < 8 ? 2 : 3]),
  )
})
