import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { AuditEntry } from '../../../src/domain/access/audit-record.ts'
import type { LiveLook } from '../../../src/ports/live/live.ts'
import { createAuditLog } from '../../../src/redis/audit-log/audit-log.ts'
import { createJobStore } from '../../../src/redis/jobs/job-store.ts'
import { createLiveReader } from '../../../src/redis/live/live-reader.ts'
import { pushAll } from '../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../support/engine/model-world.ts'
import { AN_ACTOR } from '../../support/principals.ts'
import { startRedis, type TestRedis } from '../../support/servers/redis-server.ts'

let redis: TestRedis
let world: World

beforeAll(async () => {
  redis = await startRedis({ settings: ['--appendonly', 'no'] })
})
afterAll(() => redis.stop())
beforeEach(async () => {
  world = await openWorld(redis, { shards: 2 })
  return () => world.close()
})

async function look(before: LiveLook | null): Promise<LiveLook> {
  const [one] = await createLiveReader(world.engine).look([{ team: 'default', before }])
  return one ?? expect.fail()
}

async function note(entry: AuditEntry): Promise<void> {
  const log = createAuditLog(world.engine)
  await log.settle('default', await log.ask('default', entry), { entry, outcome: 'done' })
}

test('an open page hears of each deed, also of one that is counted into a record', async () => {
  const ids = await pushAll(world.newIntake(), 2, { queue: 'orders' })
  let seen = await look(null)
  for (const id of ids) {
    await createJobStore(world.engine).remove('default', id, AN_ACTOR, false)
    seen = await look(seen)
    expect(seen.changed).toContain('audit')
    seen = await look(seen)
    expect(seen.changed).toEqual(new Set())
  }
})

test('an open page hears of each change of settings, and of what', async () => {
  const resource = { kind: 'token', id: 'ci', name: 'ci' } as const
  const entry = { actor: AN_ACTOR, action: 'edit', resource, before: { a: 1 }, after: { a: 2 } } as const
  let seen = await look(null)
  await note(entry)
  seen = await look(seen)
  expect(seen.changed).toEqual(new Set(['settings', 'audit']))
  // One that is like it is counted.
  await note(entry)
  expect((await look(seen)).changed).toContain('audit')
})
