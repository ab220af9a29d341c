import { describe, expect, test } from 'vitest'
import { FIGURE_KINDS, Measurements, ratioToBest } from '../../../../bench/report/figures.ts'

describe('the ratio to the best peer', () => {
  test('is over 1 when Punctual is better, in both directions', () => {
    expect(ratioToBest('higher', 300, [100, 50])).toBe(3)
    expect(ratioToBest('higher', 50, [100, 20])).toBe(0.5)
    expect(ratioToBest('lower', 10, [40, 20])).toBe(2)
    expect(ratioToBest('lower', 40, [20])).toBe(0.5)
  })

  test('is a draw between equals, zeros too, and null where it says nothing', () => {
    expect(ratioToBest('lower', 0, [0])).toBe(1)
    expect(ratioToBest('lower', 0, [5])).toBeNull()
    expect(ratioToBest('lower', 5, [0])).toBe(0)
    expect(ratioToBest('higher', 5, [])).toBeNull()
  })
})

describe('measurements', () => {
  test('become figures in the order of the table, whatever order they came in', () => {
    const measured = new Measurements()
    measured.add('lost_jobs', 'punctual', 0)
    for (const value of [30_000.4, 29_000, 31_000]) {
      measured.add('executed_jobs_per_second', 'punctual', value)
    }
    measured.add('executed_jobs_per_second', 'bullmq', 10_000)
    measured.add('executed_jobs_per_second', 'quirrel', 600)
    expect(measured.figures()).toEqual([
      {
        name: 'executed_jobs_per_second',
        unit: 'jobs/s',
        better: 'higher',
        punctual: { median: 30_000, min: 29_000, max: 31_000 },
        peers: {
          bullmq: { median: 10_000, min: 10_000, max: 10_000 },
          quirrel: { median: 600, min: 600, max: 600 },
        },
        ratio_to_best_peer: 3,
      },
      {
        name: 'lost_jobs',
        unit: 'jobs',
        better: 'lower',
        punctual: { median: 0, min: 0, max: 0 },
        peers: {},
        ratio_to_best_peer: null,
      },
    ])
  })

  test('leave out a figure that only peers have', () => {
    const measured = new Measurements()
    measured.add('recovery_seconds', 'bullmq', 31)
    expect(measured.figures()).toEqual([])
    expect(measured.valuesOf('recovery_seconds', 'bullmq')).toEqual([31])
    expect(measured.valuesOf('recovery_seconds', 'quirrel')).toEqual([])
  })

  test('refuse what is no number', () => {
    expect(() => new Measurements().add('lost_jobs', 'punctual', Number.NaN)).toThrow(RangeError)
  })
})

test('the names are those that others read', () => {
  expect(FIGURE_KINDS.map((kind) => kind.name)).toEqual([
    'executed_jobs_per_second',
    'accepted_jobs_per_second',
    'accepted_in_batches_jobs_per_second',
    'end_to_end_jobs_per_second',
    'limited_queues_jobs_per_second',
    'lateness_p50_ms',
    'lateness_p99_ms',
    'lateness_equal_p50_ms',
    'lateness_equal_p99_ms',
    'datastore_cpu_us_per_job',
    'client_cpu_us_per_job',
    'api_allocated_bytes_per_job',
    'executor_allocated_bytes_per_job',
    'bytes_per_waiting_job',
    'bytes_per_delayed_job',
    'bytes_per_finished_job',
    'idle_commands_per_second',
    'idle_bytes_per_queue',
    'recovery_seconds',
    'lost_jobs',
    'rss_mib_10000_calls',
  ])
})
