import { expect, test } from 'vitest'
import { CLAIM_BATCH_MAX } from '../../../../../src/domain/limits.ts'
import { WokenQueues } from '../../../../../src/redis/base/engine/woken-queues.ts'

test('queues are given once, each team once, to claims of their shard alone', () => {
  const woken = new WokenQueues()
  woken.note(1, ['3', '17', '5', '18', '3', '19'], 1_000)
  expect(woken.take(0, 1_000)).toEqual([])
  expect(woken.take(1, 1_020)).toEqual(['3', 2, '17', '19', '5', 1, '18'])
  expect(woken.take(1, 1_020)).toEqual([])
})

test('those of a while ago are forgotten', () => {
  const woken = new WokenQueues()
  woken.note(1, ['3', '17'], 1_000)
  expect(woken.take(1, 1_021)).toEqual([])
  expect(woken.take(1, 1_000)).toEqual([])
})

test('newer ones take the place of older ones, and no more are kept than a claim asks', () => {
  const woken = new WokenQueues()
  woken.note(1, ['3', '17'], 1_000)
  woken.note(1, Array.from({ length: CLAIM_BATCH_MAX + 1 }, (_, i) => ['4', String(i)]).flat(), 1_000)
  const [team, count, ...queues] = woken.take(1, 1_000)
  expect([team, count, queues.length]).toEqual(['4', CLAIM_BATCH_MAX, CLAIM_BATCH_MAX])
})
