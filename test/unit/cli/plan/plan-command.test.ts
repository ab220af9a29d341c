import { describe, expect, test } from 'vitest'
import { type CapacityPlan, type Load, planCapacity } from '../../../../src/cli/plan/capacity-plan.ts'
import { useApi } from '../cli-fixture.ts'

const api = useApi()
const GIVEN = ['--jobs-per-second', '1000', '--queues', '50', '--call-ms', '200']
const LOAD: Load = {
  jobsPerSecond: 1000,
  queues: 50,
  callMs: 200,
  batch: 1,
  jobBytes: 152,
  waitingJobs: 600_000,
  rateLimit: null,
}

function planOf(change: Partial<Load> = {}): CapacityPlan {
  return planCapacity({ ...LOAD, ...change })
}

describe('plan', () => {
  test('prints a page, and asks no API', async () => {
    const { out, err, code } = await api.run(['plan', ...GIVEN])
    expect({ err, code }).toEqual({ err: '', code: 0 })
    expect(out).toContain('1,000 jobs/s over 50 queues, calls of 200 ms: 200 calls in flight\n')
    expect(out).toMatch(/^api +2 +0\.\d+ +\d+ MiB +[\d.]+ µs$/m)
    expect(out).toMatch(/^redis +1 +0\.\d+ +\d+ MiB maxmemory +[\d.]+ µs$/m)
    expect(api.received).toEqual([])
  })

  test.each([['--json'], ['-o', 'json']])('prints the plan as JSON with %s %s', async (...format) => {
    const { out } = await api.run(['plan', ...GIVEN, ...format])
    expect(JSON.parse(out)).toEqual(planOf())
  })

  test('takes the rest of a load', async () => {
    const rest = ['--jobs-per-request', '100', '--job-bytes', '2000', '--waiting-jobs', '5']
    const { out } = await api.run(['plan', ...GIVEN, ...rest, '--json'])
    expect(JSON.parse(out)).toEqual(planOf({ batch: 100, jobBytes: 2000, waitingJobs: 5 }))
  })

  test('tells what a rate limit keeps waiting', async () => {
    const { out } = await api.run(['plan', ...GIVEN, '--rate-limit', '600/1m'])
    expect(out).toContain(
      '1,000 jobs/s over 50 queues of at most 600/m, calls of 200 ms: 97 calls in flight\n',
    )
    expect(out).toContain(
      'warning: The rate limit lets 485 of 1000 jobs/s begin, so 515 more wait each second: raise it, or push fewer.\n',
    )
    const { out: json } = await api.run(['plan', ...GIVEN, '--rate-limit', '600/1m', '--json'])
    expect(JSON.parse(json)).toEqual(planOf({ rateLimit: { limit: 600, period_seconds: 60 } }))
  })

  test.each([
    [
      [...GIVEN, '--rate-limit', 'fast'],
      '--rate-limit "fast" is not a rate: give one such as 10/s or 600/1m, or none',
    ],
    [['--queues', '50', '--call-ms', '200'], '--jobs-per-second is needed'],
    [['--jobs-per-second', '5', '--call-ms', '200'], '--queues is needed'],
    [['--jobs-per-second', '5', '--queues', '1'], '--call-ms is needed'],
    [[...GIVEN, '--jobs-per-second', '0'], '--jobs-per-second 0 is not a number from 1 to 10000000'],
    [[...GIVEN, '--jobs-per-second', 'many'], '--jobs-per-second many is not a whole number'],
    [[...GIVEN, '--queues', '-3'], '--queues -3 is not a whole number'],
    [[...GIVEN, '--call-ms', '1.5'], '--call-ms 1.5 is not a whole number'],
    [[...GIVEN, '--call-ms', '300001'], '--call-ms 300001 is not a number from 1 to 300000'],
    [[...GIVEN, '--jobs-per-request', '1001'], '--jobs-per-request 1001 is not a number from 1 to 1000'],
    [[...GIVEN, '--job-bytes', '0'], '--job-bytes 0 is not a number from 1 to 1048576'],
    [[...GIVEN, '--waiting-jobs', ''], '--waiting-jobs  is not a whole number'],
  ])('refuses %j', async (args, message) => {
    expect(await api.run(['plan', ...args])).toEqual({ out: '', err: `punctual: ${message}\n`, code: 2 })
  })
})

describe('a plan', () => {
  test('has as many open calls as begin while one takes', () => {
    expect(planOf({ jobsPerSecond: 300, callMs: 2500 })).toMatchObject({
      calls_in_flight: 750,
      connections_to_targets: 750,
      executors: { pods: 2, calls_per_pod: 375 },
    })
    // Half of the concurrency of each.
    expect(planOf({ jobsPerSecond: 300, callMs: 20_000 }).executors.pods).toBe(12)
  })

  test('has no more calls than the rate limits of its queues let begin', () => {
    const slow = planOf({
      jobsPerSecond: 1000,
      queues: 2,
      callMs: 1000,
      rateLimit: { limit: 5, period_seconds: 1 },
    })
    expect(slow).toMatchObject({ calls_per_second: 9.7, calls_in_flight: 10, connections_to_targets: 10 })
    expect(slow.executors.cores).toBeLessThan(planOf({ queues: 2 }).executors.cores / 50)
    // What is pushed is stored all the same.
    expect(slow.api).toEqual(planOf({ queues: 2 }).api)
    const fast = planOf({ rateLimit: { limit: 30, period_seconds: 1 } })
    expect(fast).toMatchObject({ calls_per_second: 1000, calls_in_flight: 200, warnings: [] })
  })

  test('uses three fifths of a core', () => {
    for (const jobsPerSecond of [1, 5_000, 50_000, 400_000]) {
      const { api: apis, executors, redis, cpu_us_per_job: cpu } = planOf({ jobsPerSecond, callMs: 1 })
      const podsOf = (micros: number): number => (jobsPerSecond * micros) / 1e6 / 0.6
      expect(apis.pods - Math.max(2, podsOf(cpu.api))).toBeLessThan(2)
      expect(apis.pods).toBeGreaterThanOrEqual(Math.floor(podsOf(cpu.api)))
      expect(executors.pods).toBeGreaterThanOrEqual(Math.floor(podsOf(cpu.executor)))
      expect(redis.primaries).toBeGreaterThanOrEqual(Math.floor(podsOf(cpu.redis)))
    }
  })

  test('costs less in requests of many jobs, more over many queues, and no more over more than a step handles', () => {
    const redis = (change: Partial<Load>): number => planOf(change).cpu_us_per_job.redis
    expect(redis({ queues: 10 })).toBeGreaterThan(redis({ queues: 1 }))
    expect(redis({ queues: 5000 })).toBe(redis({ queues: 32 }))
    const ofApi = [1, 2, 10, 100, 1000].map((batch) => planOf({ batch }).cpu_us_per_job.api)
    expect(ofApi).toEqual(ofApi.toSorted((a, b) => b - a))
    expect(ofApi[4]).toBe(ofApi[3])
    expect(ofApi[3]).toBeLessThan((ofApi[0] ?? 0) / 2)
  })

  test('needs the memory of what waits, of what is kept, and of a larger JSON', () => {
    const memory = (change: Partial<Load>): number => planOf(change).redis.maxmemory_mib_per_primary
    const more = memory({ waitingJobs: 1_600_000 }) - memory({})
    expect(more).toBeCloseTo((1_000_000 * 240) / 0.65 / 1024 ** 2, -1)
    const larger = memory({ jobBytes: 1152 }) - memory({})
    expect(larger).toBeCloseTo((600_000 * 1000) / 0.65 / 1024 ** 2, -1)
    // Seven days of one job a second are fewer than 10,000 of each queue.
    const few = planOf({ jobsPerSecond: 1, queues: 1000, waitingJobs: 0 }).redis.maxmemory_mib_per_primary
    expect(few).toBeLessThan(memory({ queues: 1000, waitingJobs: 0 }) / 2)
  })

  test('for several primaries asks for all shards, and warns of too few queues or too much', () => {
    expect(planOf().redis).toMatchObject({ primaries: 1, shards: 4 })
    const spread = planOf({ jobsPerSecond: 30_000, queues: 1000 })
    expect(spread.redis).toMatchObject({ shards: 64 })
    expect(spread.redis.primaries).toBeGreaterThan(1)
    expect(spread.warnings).toEqual([])
    expect(planOf({ jobsPerSecond: 100_000, queues: 3 }).warnings).toEqual([
      expect.stringMatching(/^A queue lives on one primary, so 3 queues do not fill \d+ evenly/),
    ])
    expect(planOf({ jobsPerSecond: 10_000_000, queues: 100_000 }).warnings).toEqual([
      'An installation uses at most 64 primaries: split the load over several.',
    ])
  })
})
