import { describe, expect, test } from 'vitest'
import { AcceptedSteps } from '../../../../../src/redis/jobs/losses/accepted-steps.ts'

/** An intake that was answered steps of these queues, one each, from step 1 on; step n at n seconds. */
function answered(queues: readonly string[], rowsMax = 100) {
  const steps = new AcceptedSteps(1, rowsMax)
  const answer = (localId: string, step: number) =>
    steps.note(0, {
      step,
      atMs: step * 1_000,
      accepted: [{ field: `team/${localId}`, localId, count: step }],
      lost: null,
    })
  for (const [at, localId] of queues.entries()) answer(localId, at + 1)
  const lost = (from: number, to: number) => {
    const { queues: found, isAll } = steps.jobsOf(0, { from, to })
    return { isAll, jobs: Object.fromEntries(found.map(({ localId, count }) => [localId, count])) }
  }
  return { steps, answer, lost }
}

describe('what was accepted', () => {
  test('is known by queue, for the steps that are asked for', () => {
    const { steps } = answered(['a', 'b', 'a', 'a'])
    expect(steps.jobsOf(0, { from: 1, to: 3 })).toEqual({
      isAll: true,
      queues: [
        { field: 'team/b', localId: 'b', count: 2, fromMs: 2_000, toMs: 2_000 },
        { field: 'team/a', localId: 'a', count: 3, fromMs: 3_000, toMs: 3_000 },
      ],
    })
    expect(steps.jobsOf(0, { from: 0, to: 4 }).queues[0]).toMatchObject({
      count: 8,
      fromMs: 1_000,
      toMs: 4_000,
    })
  })

  test('is forgotten from the oldest on when there is no more room, and that is said', () => {
    const { lost } = answered(['a', 'a', 'a', 'a', 'a'], 3)
    expect(lost(0, 5)).toEqual({ isAll: false, jobs: { a: 12 } })
    expect(lost(1, 5)).toEqual({ isAll: false, jobs: { a: 12 } })
    expect(lost(2, 5)).toEqual({ isAll: true, jobs: { a: 12 } })
  })

  test('is known no more once it was told, and does not count as forgotten then', () => {
    const { steps, answer, lost } = answered(['a', 'a', 'a'], 3)
    steps.told(0, { from: 1, to: 3 })
    expect(lost(0, 3)).toEqual({ isAll: true, jobs: { a: 1 } })
    for (const step of [4, 5, 6]) answer('b', step)
    expect(lost(1, 6)).toEqual({ isAll: true, jobs: { b: 15 } })
    expect(lost(0, 6)).toEqual({ isAll: false, jobs: { b: 15 } })
  })

  test('is one entry a queue, though more queues have pushed than names are kept', () => {
    const many = Array.from({ length: 5_000 }, (_, n) => `q${n}`)
    const { steps } = answered(['a', ...many, 'a'], 10_000)
    const { queues } = steps.jobsOf(0, { from: 0, to: 10_000 })
    expect(queues).toHaveLength(5_001)
    expect(queues[0]).toMatchObject({ localId: 'a', count: 1 + 5_002 })
  })

  test('is kept of the last steps alone, however many there were', () => {
    const { lost } = answered(
      Array.from({ length: 50_000 }, (_, n) => `q${n % 3}`),
      1_000,
    )
    expect(Object.keys(lost(0, 50_000).jobs)).toHaveLength(3)
    expect(lost(49_000, 50_000).isAll).toBe(true)
    expect(lost(48_999, 50_000).isAll).toBe(false)
  })
})
