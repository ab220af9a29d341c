import { expect, test } from 'vitest'
import type { Engine } from '../../../../../src/redis/base/engine/engine.ts'
import { createShardKeys } from '../../../../../src/redis/base/layout/keys.ts'
import { QueueNames } from '../../../../../src/redis/base/names/queue-names.ts'

test('looks each of 100,000 queues up once, however often jobs go to one after the other', async () => {
  let lookups = 0
  const run = () => Promise.resolve(String((lookups += 1)))
  const names = new QueueNames({ runner: { run } } as unknown as Engine)
  const keys = createShardKeys(0)
  for (let round = 0; round < 3; round += 1) {
    for (let i = 0; i < 100_000; i += 1) {
      await names.resolve(keys, `default/q${i}`, 0)
    }
  }
  expect(lookups).toBe(100_000)
})
