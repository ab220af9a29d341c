import { describe, expect, test } from 'vitest'
import {
  jobRows,
  orderByClaim,
  queuesOf,
  type BatchJob,
} from '../../../../../../src/redis/jobs/execute/finish/batch-job.ts'
import { blankBatchJob } from '../../../../../../src/redis/jobs/execute/finish/work-end.ts'

const PLACE = { queue: '7', settingsHash: 'h', isLarge: false }

function jobOf(id: number, fields: Partial<BatchJob> = {}): BatchJob {
  return { ...blankBatchJob(id, '5', PLACE), kind: 's', ...fields }
}

test('what jobs beside each other share stands once, whatever their queues', () => {
  const jobs = [
    jobOf(1),
    jobOf(2),
    jobOf(3, { queue: '8' }),
    jobOf(4, { token: '6' }),
    jobOf(5, { token: '6' }),
  ]
  const rows = jobRows(jobs, { queues: ['8', '7'], shards: 1 })
  const shared = { token: '5', kind: 's', settingsHash: 'h' }
  expect(rows.stretches).toEqual([
    { ...shared, count: 3 },
    { ...shared, token: '6', count: 2 },
  ])
  expect(rows.places).toBe('2 2 ;1 1 ;2 2 ;')
})

test.each<Partial<BatchJob>>([{ kind: 'f' }, { settingsHash: 'other' }])('%j begins a stretch', (fields) => {
  expect(jobRows([jobOf(1), jobOf(2, fields)], { queues: ['7'], shards: 1 }).stretches).toHaveLength(2)
})

describe('a place is plain, and its jobs have two words each', () => {
  /** First attempts. */
  const plainJobs = (fields: Partial<BatchJob> = {}) =>
    [32, 48, 64].map((id) => jobOf(id, { bytes: 90, record: 'ü', ...(id === 48 ? fields : {}) }))
  const rowsOf = (jobs: readonly BatchJob[], shards: number | null = 1) =>
    jobRows(jobs, { queues: ['7', '8'], shards })

  test('if first attempts have succeeded and leave nothing but their summaries', () => {
    const rows = rowsOf(plainJobs())
    expect(rows.places).toBe('1 3 -264;')
    expect(rows.jobs).toEqual([32, 'ü', 48, 'ü', 64, 'ü'])
  })

  test('within one stretch and one queue', () => {
    expect(rowsOf(plainJobs({ token: '6' })).places).toBe('1 1 -88;1 1 -88;1 1 -88;')
    expect(rowsOf(plainJobs({ queue: '8' })).places).toBe('1 1 -88;2 1 -88;1 1 -88;')
  })

  test.each<Partial<BatchJob>>([
    { kind: 'f', failure: 'timeout' },
    { kind: 'r', delayMs: 1000 },
    { kind: 'd' },
    { kind: 'c' },
    { kind: 'g' },
    { kind: 'x' },
    { isLarge: true },
    { bytes: '' },
    { call: '{}' },
    { callback: 'c' },
    { id: 49 },
    {
      alerts: { team: 't', queueName: 'q', types: [], reason: 'timeout', facts: { attempt: 1 } as never },
    },
  ])('but not of a job with %j', (fields) => {
    expect(rowsOf(plainJobs(fields)).places).toBe('1 1 -88;1 1 ;1 1 -88;')
  })

  test('but not in a batch with a job twice, or where the step decides how jobs end', () => {
    expect(rowsOf(plainJobs({ id: 32 })).places).toBe('1 3 ;')
    expect(rowsOf(plainJobs(), null).places).toBe('1 3 ;')
  })
})

test('a job that is like most has its bytes alone as facts', () => {
  const rows = jobRows([jobOf(1, { bytes: 90, record: 'r' }), jobOf(2)], { queues: ['7'], shards: 1 })
  expect(rows.jobs).toEqual([1, 'r', 90, 2, '', ''])
})

describe('a queue is lean', () => {
  test('whose jobs leave nothing but their summaries', () => {
    const jobs = [jobOf(1), jobOf(2, { queue: '8', kind: 'f', failure: 'timeout' }), jobOf(3)]
    expect(queuesOf(jobs, false)).toEqual({ lean: ['7', '8'], full: [] })
  })

  test.each<Partial<BatchJob>>([
    { kind: 'r' },
    { kind: 'd' },
    { kind: 'x' },
    { kind: 'g' },
    { kind: 'c' },
    { isLarge: true },
    { call: '{}' },
    { callback: 'c' },
  ])('but not with a job of %j among them', (fields) => {
    const jobs = [jobOf(1), jobOf(2, fields), jobOf(3), jobOf(4, { queue: '8' })]
    expect(queuesOf(jobs, false)).toEqual({ lean: ['8'], full: [{ localId: '7', callbackTeam: '' }] })
  })

  test('but not where the step decides how jobs end', () => {
    expect(queuesOf([jobOf(1)], true).lean).toEqual([])
  })
})

test('a queue has the team of the first job that makes a callback', () => {
  const jobs = [jobOf(1), jobOf(2, { callback: 'c', callbackTeam: 'shop' }), jobOf(3)]
  expect(queuesOf(jobs, false).full).toEqual([{ localId: '7', callbackTeam: 'shop' }])
})

test.each<[Partial<BatchJob>, string]>([
  [{ delayMs: 500 }, '|500|0|||0|'],
  [{ isLarge: true, bytes: 9 }, '9|0|1|||0|'],
  [{ failure: 'timeout' }, '|0|0|timeout||0|'],
  [{ target: { works: false, askedMs: null } }, '|0|0||b|0|'],
  [{ target: { works: true, askedMs: 90_000 } }, '|0|0||g90000|0|'],
  [{ call: 'a|ü' }, '|0|0|||4|a|ü'],
  [{ call: '{}', callback: 'c|d' }, '|0|0|||2|{}c|d'],
])('%j makes them %j', (fields, facts) => {
  expect(jobRows([jobOf(1, fields)], { queues: ['7'], shards: 1 }).jobs[2]).toBe(facts)
})

test('ends of a queue and a claim are put together, each kept in order', () => {
  const endOf = (queue: string, token: string) => ({ work: { token, location: { queue } } })
  const ends = [endOf('7', '1'), endOf('8', '1'), endOf('7', '2'), endOf('7', '1'), endOf('8', '1')]
  expect(orderByClaim(ends)).toEqual([0, 3, 1, 4, 2])
})
