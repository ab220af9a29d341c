import { expect, test } from 'vitest'
import { SUCCESSFUL_CALL_RECORDS_PER_SECOND } from '../../../../src/domain/limits.ts'
import { createCallSampler } from '../../../../src/executor/calls/call-sampler.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'

function keptOf(keepsSuccess: (queue: string) => boolean, queue: string, calls: number): number {
  return Array.from({ length: calls }, () => keepsSuccess(queue)).filter(Boolean).length
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
  expect(sampler('a')).toBe(false)
  await clock.advance(1)
  expect(keptOf(sampler, 'a', 100)).toBe(SUCCESSFUL_CALL_RECORDS_PER_SECOND)
})
