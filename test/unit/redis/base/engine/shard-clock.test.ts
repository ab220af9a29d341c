import { expect, test } from 'vitest'
import type { Engine } from '../../../../../src/redis/base/engine/engine.ts'
import { learnShardTime } from '../../../../../src/redis/base/engine/shard-clock.ts'
import { createShardKeys } from '../../../../../src/redis/base/layout/keys.ts'

test("takes Redis's time of the shard over", async () => {
  const noted: Array<[shard: number, nowMs: number]> = []
  const runner = {
    run: async () => ['1800000000', '123999', '', '', ''],
    noteRedisTime: (shard: number, nowMs: number) => noted.push([shard, nowMs]),
  }
  await learnShardTime({ runner } as unknown as Engine, createShardKeys(3))
  expect(noted).toEqual([[3, 1_800_000_000_123]])
})
