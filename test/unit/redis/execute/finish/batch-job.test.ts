import { expect, test } from 'vitest'
import { jobRows, orderByClaim, type BatchJob } from '../../../../../src/redis/execute/finish/batch-job.ts'
import { blankBatchJob } from '../../../../../src/redis/execute/finish/work-end.ts'

const PLACE = { queue: '7', settingsHash: 'h', isLarge: false }

function jobOf(id: number, fields: Partial<BatchJob> = {}): BatchJob {
  return { ...blankBatchJob(id, '5', PLACE), kind: 's', ...fields }
}

test('what jobs beside each other share stands once', () => {
  const jobs = [
    jobOf(1),
    jobOf(2),
    jobOf(3, { queue: '8' }),
    jobOf(4, { token: '6' }),
    jobOf(5, { token: '6' }),
  ]
  const shared = { queue: '7', token: '5', kind: 's', settingsHash: 'h' }
  expect(jobRows(jobs).stretches).toEqual([
    { ...shared, count: 2 },
    { ...shared, queue: '8', count: 1 },
    { ...shared, token: '6', count: 2 },
  ])
})

test.each<Partial<BatchJob>>([{ kind: 'f' }, { settingsHash: 'other' }])('%j begins a stretch', (fields) => {
  expect(jobRows([jobOf(1), jobOf(2, fields)]).stretches).toHaveLength(2)
})

test('a job that is like most has its bytes alone as facts', () => {
  const rows = jobRows([jobOf(1, { bytes: 90, record: 'r' }), jobOf(2)])
  expect(rows.jobs).toEqual([
    { id: 1, record: 'r', facts: 90 },
    { id: 2, record: '', facts: '' },
  ])
})

test.each<[Partial<BatchJob>, string]>([
  [{ delayMs: 500 }, '|500|0||0|'],
  [{ isLarge: true, bytes: 9 }, '9|0|1||0|'],
  [{ failure: 'timeout' }, '|0|0|timeout|0|'],
  [{ call: 'a|ü' }, '|0|0||4|a|ü'],
  [{ call: '{}', callback: 'c|d' }, '|0|0||2|{}c|d'],
])('%j makes them %j', (fields, facts) => {
  expect(jobRows([jobOf(1, fields)]).jobs[0]?.facts).toBe(facts)
})

test('ends of a queue and a claim are put together, each kept in order', () => {
  const endOf = (queue: string, token: string) => ({ work: { token, location: { queue } } })
  const ends = [endOf('7', '1'), endOf('8', '1'), endOf('7', '2'), endOf('7', '1'), endOf('8', '1')]
  expect(orderByClaim(ends)).toEqual([0, 3, 1, 4, 2])
})
