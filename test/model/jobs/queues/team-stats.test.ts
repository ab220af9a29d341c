import assert from 'node:assert/strict'
import { beforeEach } from 'vitest'
import type { TeamUsage } from '../../../../src/ports/quotas.ts'
import { createTeamStats, createTeamUsageReader } from '../../../../src/redis/ledger/quotas/team-usage.ts'
import { commandsDuring } from '../../../support/servers/command-counts.ts'
import { newJob } from '../../../support/engine/engine.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import type { TestRedis } from '../../../support/servers/redis-server.ts'
import { test } from '../../../support/servers/shared-redis.ts'

const SHARDS = 4
const QUEUES = Array.from({ length: 16 }, (_, i) => `q${i}`)

let redis: TestRedis
let world: World

test.beforeAll(({ emptyRedis }) => {
  redis = emptyRedis
})
beforeEach(async () => {
  world = await openWorld(redis, { shards: SHARDS })
  return () => world.close()
})

const held = (team: string) => createTeamUsageReader(world.engine).read(team)
const push = (team: string, queue: string) =>
  world.newIntake().push(newJob({ team, queue, start: { delaySeconds: 3_600 } }))

test('the stats say of many teams what each holds, in one step a shard', async () => {
  for (const queue of QUEUES) await push('a', queue)
  await push('b', 'q0')
  const wanted = [await held('b'), await held('nobody'), await held('a')]
  const counts = wanted.map(({ queues, pendingJobs, jobsPerMonth }) => [queues, pendingJobs, jobsPerMonth])
  assert.deepEqual(counts, [
    [1, 1, 1],
    [0, 0, 0],
    [16, 16, 16],
  ])
  let usages: readonly TeamUsage[] = []
  const commands = await commandsDuring(redis.client, async () => {
    usages = await createTeamStats(world.engine).read(['b', 'nobody', 'a'])
  })
  assert.deepEqual(usages, wanted)
  assert.equal(commands['evalsha'], SHARDS)
})

test('the stats of more teams than one step takes is in the order asked', async () => {
  await push('a', 'q0')
  await push('b', 'q1')
  await push('b', 'q2')
  const teams = Array.from({ length: 600 }, (_, i) => (i === 0 ? 'b' : i === 599 ? 'a' : `team ${i}`))
  const usages = await createTeamStats(world.engine).read(teams)
  const queues = usages.map((usage) => usage.queues)
  assert.deepEqual([queues[0], ...queues.slice(598), queues.length], [2, 0, 1, 600])
})

test('a counter below nothing counts as nothing, so that no status is refused for it', async () => {
  await redis.client.hset(world.engine.shards[0]?.teamUsage ?? '', 'a:f', '-2')
  assert.equal((await held('a')).callsInFlight, 0)
})
