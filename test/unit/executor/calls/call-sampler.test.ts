import { expect, test } from 'vitest'
import {
  SUCCESSFUL_CALL_RECORDS_OF_ALL_PER_SECOND as OF_ALL,
  SUCCESSFUL_CALL_RECORDS_PER_SECOND,
} from '../../../../src/domain/limits.ts'
import { createCallSampler } from '../../../../src/executor/calls/call-sampler.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'

type Sampler = ReturnType<typeof createCallSampler>

function keptOf(keepsSuccess: Sampler, queue: string, calls: number, team = 'a'): number {
  return Array.from({ length: calls }, () => keepsSuccess(team, queue)).filter(Boolean).length
}

test('keeps the first calls of a second, of each queue by itself', () => {
  const sampler = createCallSampler(createFakeClock())
  expect(keptOf(sampler, 'a', 100)).toBe(SUCCESSFUL_CALL_RECORDS_PER_SECOND)
  expect(keptOf(sampler, 'b', 100)).toBe(SUCCESSFUL_CALL_RECORDS_PER_SECOND)
  expect(keptOf(sampler, 'a', 100)).toBe(0)
})

test('begins again with every second', async () => {
  const clock = createFakeClock()
  const sampler = createCallSampler(clock)
  keptOf(sampler, 'a', 100)
  await clock.advance(999)
  expect(sampler('a', 'a')).toBe(false)
  await clock.advance(1)
  expect(keptOf(sampler, 'a', 100)).toBe(SUCCESSFUL_CALL_RECORDS_PER_SECOND)
})

test('keeps so many of all queues in a second', async () => {
  const clock = createFakeClock()
  const sampler = createCallSampler(clock)
  const first = Array.from({ length: 2 * OF_ALL }, (_, i) => keptOf(sampler, `q${i}`, 1))
  expect(first.filter((kept) => kept === 1)).toHaveLength(OF_ALL)
  await clock.advance(1_000)
  expect(keptOf(sampler, 'late', 1)).toBe(1)
})

test('leaves half of them to queues that have none yet', () => {
  const sampler = createCallSampler(createFakeClock())
  let repeated = 0
  for (let i = 0; i < OF_ALL; i += 1) repeated += keptOf(sampler, `busy${i}`, 20)
  expect(repeated).toBe(OF_ALL)
  const few = createCallSampler(createFakeClock())
  const busy = Array.from({ length: 6 }, (_, i) => keptOf(few, `busy${i}`, 100))
  // Five take twenty each; the sixth and those after it take one.
  expect(busy).toEqual([20, 20, 20, 20, 20, 1])
  expect(keptOf(few, 'quiet', 5)).toBe(1)
})

test('keeps the first of each team, whatever the queues of others have used up', async () => {
  const clock = createFakeClock()
  const sampler = createCallSampler(clock)
  for (let i = 0; i < 2 * OF_ALL; i += 1) keptOf(sampler, `q${i}`, 1, 'greedy')
  expect(keptOf(sampler, 'calm', 5, 'calm')).toBe(1)
  expect(keptOf(sampler, 'other', 5, 'calm')).toBe(0)
  await clock.advance(1_000)
  for (let i = 0; i < 2 * OF_ALL; i += 1) keptOf(sampler, `q${i}`, 1, 'greedy')
  expect(keptOf(sampler, 'calm', 5, 'calm')).toBe(1)
})
