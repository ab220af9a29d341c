import { expect, test } from 'vitest'
import { ID_BLOCK } from '../../../../../src/domain/limits.ts'
import type { Engine } from '../../../../../src/redis/base/engine/engine.ts'
import { createShardKeys } from '../../../../../src/redis/base/layout/keys.ts'
import { createSequence } from '../../../../../src/redis/jobs/enqueue/sequence.ts'

/** An engine whose `reserve_ids` gives the next four blocks each time. */
function engineOfBlocks(): Engine {
  let block = -4
  const run = () => {
    block += 4
    return Promise.resolve(String(block))
  }
  return { runner: { run } } as unknown as Engine
}

test('numbers are given once, whoever asks at the same time, and never 0', async () => {
  const sequence = createSequence(engineOfBlocks(), createShardKeys(0))
  const numbers: number[] = []
  for (let round = 0; round < 20; round += 1) {
    numbers.push(...(await Promise.all(Array.from({ length: 50 }, () => sequence.next(0)))))
  }
  expect(new Set(numbers).size).toBe(1000)
  expect(Math.min(...numbers)).toBe(1)
})

test('numbers taken together go on over the end of a block, and are given to nobody else', async () => {
  const sequence = createSequence(engineOfBlocks(), createShardKeys(0))
  const takes = [sequence.take(0, 0), sequence.take(ID_BLOCK * 6, 0), sequence.take(ID_BLOCK * 6, 0)]
  const [none, ...taken] = await Promise.all(takes)
  expect(none).toEqual([])
  expect(taken.map((numbers) => numbers.length)).toEqual([ID_BLOCK * 6, ID_BLOCK * 6])
  expect(new Set(taken.flat()).size).toBe(ID_BLOCK * 12)
})

test('dropped blocks give no number any more', async () => {
  const sequence = createSequence(engineOfBlocks(), createShardKeys(0))
  const first = await sequence.next(0)
  sequence.dropBlocks()
  const next = await sequence.next(0)
  expect([first, next]).toEqual([1, ID_BLOCK * 4])
})
