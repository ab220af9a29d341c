import { expect, test } from 'vitest'
import { hourOf } from '../../../../../src/domain/jobs/queues/queue-hour.ts'
import { emptyTally, type Tally } from '../../../../../src/domain/statistics/tally.ts'

test('an hour has its sums, and a step for each five of its minutes', () => {
  const some = (change: Partial<Tally>): Tally => ({ ...emptyTally(), ...change })
  const minutes = new Map([
    [99, some({ done: 1_000 })],
    [100, some({ done: 1, failed: 1 })],
    [104, some({ retried: 2, lateness: [0, 0, 0, 1], longestLatenessMs: 5 })],
    [105, some({ dead: 3 })],
    [159, some({ done: 4 })],
    [160, some({ done: 1_000 })],
  ])
  expect(hourOf(minutes, 100)).toEqual({
    ended: 11,
    failed: 6,
    latenessMsP99: 5,
    trend: {
      ended: [4, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4],
      failed: [3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    },
  })
  expect(hourOf(new Map(), 100).latenessMsP99).toBeNull()
})
