import { beforeEach, expect } from 'vitest'
import type { AuditEntry } from '../../../../src/domain/access/audit-record.ts'
import { LIVE_KINDS, type LiveReading } from '../../../../src/ports/live/live.ts'
import { createAuditLog } from '../../../../src/redis/ledger/audit-log/audit-log.ts'
import { createJobStore } from '../../../../src/redis/jobs/job-store.ts'
import { createLiveReader } from '../../../../src/redis/watch/live/live-reader.ts'
import { NEW_ENTRIES_MAX } from '../../../../src/redis/watch/live/live-shard-reading.ts'
import { pushAll } from '../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import { AN_ACTOR } from '../../../support/principals.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

let redis: TestRedis
let world: World

test.beforeAll(({ emptyRedis }) => {
  redis = emptyRedis
})
beforeEach(async () => {
  world = await openWorld(redis, { shards: 2 })
  return () => world.close()
})

async function readAgain(before: LiveReading | null): Promise<LiveReading> {
  const [one] = await createLiveReader(world.engine).read([{ team: 'default', before }])
  return one ?? expect.fail()
}

async function note(entry: AuditEntry): Promise<void> {
  const log = createAuditLog(world.engine)
  await log.settle('default', await log.ask('default', entry), { entry, outcome: 'done' })
}

test('an open page hears of each deed, also of one that is counted into a record', async () => {
  const ids = await pushAll(world.newIntake(), 2, { queue: 'orders' })
  let seen = await readAgain(null)
  for (const id of ids) {
    await createJobStore(world.engine).remove('default', id, AN_ACTOR, false)
    seen = await readAgain(seen)
    expect(seen.changed).toContain('audit')
    seen = await readAgain(seen)
    expect(seen.changed).toEqual(new Set())
  }
})

test('an open page hears of each change of settings, and of what', async () => {
  const resource = { kind: 'token', id: 'ci', name: 'ci' } as const
  const entry = { actor: AN_ACTOR, action: 'edit', resource, before: { a: 1 }, after: { a: 2 } } as const
  let seen = await readAgain(null)
  await note(entry)
  seen = await readAgain(seen)
  expect(seen.changed).toEqual(new Set(['settings', 'audit']))
  // One that is like it is counted.
  await note(entry)
  expect((await readAgain(seen)).changed).toContain('audit')
})

test.each([
  ['fewer entries than one reading tells apart', NEW_ENTRIES_MAX - 1, ['audit', 'settings']],
  ['as many entries as one reading reads', NEW_ENTRIES_MAX, LIVE_KINDS.toSorted()],
])('after %s an open page reads what they are about, or all', async (_, count, changed) => {
  const entry = { actor: AN_ACTOR, action: 'edit', before: { a: 1 }, after: { a: 2 } } as const
  const newToken = (name: string) => note({ ...entry, resource: { kind: 'token', id: name, name } })
  await newToken('first')
  const seen = await readAgain(await readAgain(null))
  for (let i = 0; i < count; i += 1) await newToken(`token-${i}`)
  expect([...(await readAgain(seen)).changed].toSorted()).toEqual(changed)
})
