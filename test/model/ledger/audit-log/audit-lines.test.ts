import { afterAll, describe, expect } from 'vitest'
import type { AuditEntry } from '../../../../src/domain/access/audit-record.ts'
import { ASKED_AUDIT_MS } from '../../../../src/domain/limits.ts'
import { createAuditLog } from '../../../../src/redis/ledger/audit-log/audit-log.ts'
import type { RedisConnection } from '../../../../src/redis/base/client/connection.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { STEPS } from '../../../../src/redis/steps.ts'
import { newJob } from '../../../support/engine/engine.ts'
import { openConnection, openWorld, type World } from '../../../support/engine/model-world.ts'
import { AN_ACTOR } from '../../../support/principals.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'
import { SCENES } from '../../cluster/tear-scenes.ts'

const ANY = {
  actor: null,
  action: null,
  resourceKind: null,
  resource: null,
  afterMs: null,
  beforeMs: null,
}
const AUDITED = new Set(
  STEPS.filter(({ shape: { args, rows } }) =>
    [args, rows?.['audits']?.args].some((of) => of?.includes('auditEntry')),
  ).map(({ name }) => name),
)

let redis: TestRedis
let connection: RedisConnection

test.beforeAll(async ({ emptyRedis }) => {
  redis = emptyRedis
  connection = await openConnection(redis.url)
})
afterAll(() => connection.disconnect())

/** The lines that the engine of this world writes. */
function listen(world: World): string[] {
  const lines: string[] = []
  const note = (team: string, { action, resource }: AuditEntry, { outcome }: { outcome: string }) =>
    void lines.push(`${team}: ${outcome} ${action} ${resource.kind} ${resource.id}`)
  Object.assign(world.engine, { auditLines: { note } })
  return lines
}

async function recordsOf(world: World, team = 'default'): Promise<string[]> {
  const page = await createAuditLog(world.engine).list({ team, filter: ANY, limit: 1_000, cursor: null })
  if (page === 'bad_cursor') throw new Error('a page is expected')
  return page.records.map(
    ({ outcome, action, resource }) => `${team}: ${outcome} ${action} ${resource.kind} ${resource.id}`,
  )
}

describe('each record of a step that is audited is a line', () => {
  const scenes = SCENES.filter(([name]) => AUDITED.has(name))

  test('for all of them', () => {
    expect(AUDITED).toEqual(
      new Set([
        'ask_audit',
        'change_issue',
        'settle_audit',
        'move_part',
        'open_page',
        'delete_page',
        'purge_page',
        'remake_page',
        'change_alerts',
        'create_bulk',
        'set_bulk',
      ]),
    )
  })

  test.each(scenes)('%s: %s', async (_name, _title, scene) => {
    const world = await openWorld(redis, { connection, shards: 1 })
    const lines = listen(world)
    const act = await scene({ world, client: redis.client, intake: world.newIntake(), accepted: [] })
    await act()
    const records = await recordsOf(world)
    expect(new Set(lines)).toEqual(new Set(records))
  })
})

test('a duplicate is a line, a push is none', async () => {
  const world = await openWorld(redis, { connection, shards: 1 })
  const lines = listen(world)
  await world.newIntake().push(newJob())
  await world.newIntake().push(newJob({ duplicate: { of: 7, actor: AN_ACTOR, changed: [] } }))
  expect(lines).toEqual(['default: done duplicate job 7'])
  expect(await recordsOf(world)).toEqual(lines)
})

test('what changes nothing is no line', async () => {
  const world = await openWorld(redis, { connection, shards: 1 })
  const lines = listen(world)
  expect((await createJobStore(world.engine).remove('default', 64, AN_ACTOR, false)).status).toBe('not_found')
  expect((await createJobStore(world.engine).fire('default', 64, AN_ACTOR)).status).toBe('not_found')
  expect(lines).toEqual([])
})

test('a change whose process died is a line of whoever finds it, once', async () => {
  const world = await openWorld(redis, { connection, shards: 1 })
  const resource = { kind: 'queue', id: 12, name: 'orders' } as const
  await createAuditLog(world.engine).ask('default', {
    actor: AN_ACTOR,
    action: 'edit',
    resource,
    before: null,
    after: null,
  })
  world.clock.advance(ASKED_AUDIT_MS)
  const lines = listen(world)
  await recordsOf(world)
  await recordsOf(world)
  expect(lines).toEqual(['default: unknown edit queue 12'])
})
