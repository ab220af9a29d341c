/** A shard with one Redis, in which teams claim against each other. The bindings are set before each test. */
import assert from 'node:assert/strict'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { JobIntake, ClaimedWork, JobSource } from '../../../../src/ports/jobs.ts'
import { shardKeys } from '../../../../src/redis/base/engine/engine.ts'
import { type ShardKeys } from '../../../../src/redis/base/layout/keys.ts'
import { grantOf } from '../../../support/engine/claim-grant.ts'
import { ended, pushAll } from '../../../support/engine/model-executor.ts'
import { openWorld, type World } from '../../../support/engine/model-world.ts'
import { startRedis, type TestRedis } from '../../../support/servers/redis-server.ts'

export const BAND = 2 ** 37

/** Ready queues of a team, more than a test could push, as pushes would leave them; no inspection holds on them. */
const MAKE_QUEUES = `
for i = 1, tonumber(ARGV[1]) do
  local id = string.format('%.0f', 1000 + i)
  redis.call('ZADD', KEYS[1], ARGV[2] * ${BAND} + i, id)
  redis.call('HSET', ARGV[3] .. 'q:' .. id, 'n', 'many/' .. id, 'a', '1', 'u', ARGV[2])
  redis.call('RPUSH', ARGV[3] .. 'r:' .. id, id .. '0')
  redis.call('HSET', ARGV[3] .. 'b:' .. id, id .. '0', ARGV[4])
end`

export let redis: TestRedis
export let world: World
export let intake: JobIntake
export let keys: ShardKeys

/** To be called in a `describe`. */
export function useTeamClaims(): void {
  beforeAll(async () => {
    redis = await startRedis({ settings: ['--appendonly', 'no'] })
  })
  afterAll(() => redis.stop())
  beforeEach(async () => {
    world = await openWorld(redis, { shards: 1 })
    intake = world.newIntake()
    keys = shardKeys(world.engine, 0)
    return () => world.close()
  })
}

export const push = (team: string, count: number, queue = 'one') => pushAll(intake, count, { team, queue })
export const teamsOf = (works: readonly ClaimedWork[]) => {
  const counts: Record<string, number> = {}
  for (const { team } of works) counts[team] = (counts[team] ?? 0) + 1
  return counts
}
export const answerOf = async (source: JobSource, grant = grantOf(64)) => {
  const answer = await source.claim(grant)
  assert.ok(answer.status === 'claimed')
  return answer
}
export const finish = (source: JobSource, works: readonly ClaimedWork[]) =>
  source.finish(works.map((work) => ended(world, work)))

/** Commands that Redis ran meanwhile, those of scripts too. */
export async function commandsOf(act: () => Promise<unknown>): Promise<number> {
  await redis.client.config('RESETSTAT')
  await act()
  const stats = await redis.client.info('commandstats')
  const calls = [...stats.matchAll(/^cmdstat_(?!config|info)\S+:calls=(\d+)/gm)]
  return calls.reduce((sum, [, count]) => sum + Number(count), 0)
}

export async function makeManyQueues(count: number): Promise<void> {
  const [id] = await push('many', 1)
  const record = (await redis.client.hget(keys.queue('1').records, String(id))) ?? ''
  const prefix = keys.ring.slice(0, -'ring'.length)
  await redis.client.eval(MAKE_QUEUES, 1, keys.ring, count, 1, prefix, record)
}
