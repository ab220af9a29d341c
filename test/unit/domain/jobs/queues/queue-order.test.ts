import { expect, test } from 'vitest'
import {
  compareKeys,
  orderKey,
  type OrderFacts,
  type QueueSort,
} from '../../../../../src/domain/jobs/queues/queue-order.ts'

const IDLE = { startable: 0, stopped: null, oldestStartableMs: null }

function of(name: string, change: Partial<OrderFacts> = {}): OrderFacts {
  return { name, dead: 0, throttled: null, split: IDLE, hour: { ended: 100, failed: 0 }, ...change }
}

const waits = (oldestStartableMs: number) => ({ split: { ...IDLE, startable: 1, oldestStartableMs } })
const stopped = (reason: 'paused' | 'held' | 'at_limit', jobs: number) => ({
  split: { ...IDLE, stopped: { reason, jobs } },
})

const QUEUES = [
  of('a quiet'),
  of('b dead', { dead: 330 }),
  of('c dead', { dead: 3 }),
  of('d full', stopped('at_limit', 9)),
  of('e held', stopped('held', 15)),
  of('f paused', stopped('paused', 72)),
  of('g late', waits(11_000)),
  of('h fails a little', { hour: { ended: 100, failed: 5 } }),
  of('i fails', { hour: { ended: 100, failed: 6 } }),
  of('j very late', waits(61_000)),
  of('k fails wholly', { hour: { ended: 2, failed: 2 } }),
  of('l open', { throttled: 'circuit_open' }),
  of('m no jobs', { hour: { ended: 0, failed: 0 } }),
]

function sorted(sort: Exclude<QueueSort, 'name'>): string[] {
  return QUEUES.map((queue) => orderKey(sort, queue))
    .toSorted(compareKeys)
    .map(([, , name]) => name.slice(0, 1))
}

test('by trouble, what fails or is late comes first, then what is stopped', () => {
  expect(sorted('trouble').join('')).toBe('kijlhgfebdcam')
})

test('by age, the oldest startable job comes first, then the most stopped jobs', () => {
  expect(sorted('oldest').join('').slice(0, 5)).toBe('jgfed')
})

test('by failures, the largest part of those that ended comes first', () => {
  expect(sorted('failed').join('').slice(0, 4)).toBe('kiha')
})
