import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { cpuPerJob, CONCURRENCY } from '../../../../src/cli/plan/capacity-plan.ts'
import { type Cost, CONNECTIONS, COSTS, MEASURED_BATCH } from '../../../../src/cli/plan/costs.ts'
import { CAPACITY_SETTINGS } from '../../../../src/settings/tables/capacity-table.ts'

const RESULTS = join(import.meta.dirname, '../../../../bench/results')

interface Place {
  readonly apis: number
  readonly executors: number
  readonly primaries: number
  readonly queues: number
  readonly jobsPerRequest: number
  readonly api_cpu_us_per_job: number
  readonly executor_cpu_us_per_job: number
  readonly redis_cpu_us_per_job: number
  readonly redis_connections: number
}

const { places } = resultsOf('capacity.json') as { places: Place[] }
const { figures } = resultsOf('latest.json') as {
  figures: Array<{ name: string; punctual: { median: number } }>
}

function resultsOf(file: string): unknown {
  return JSON.parse(readFileSync(join(RESULTS, file), 'utf8')) as unknown
}

function measured({ source }: Cost): unknown {
  const [file, ...rest] = source.split(' ')
  if (file === 'latest') return figures.find(({ name }) => name === rest[0])?.punctual.median
  return places[Number(rest[0])]?.[rest[1] as keyof Place]
}

describe('the costs of a plan', () => {
  test.each(Object.entries<Cost>(COSTS))('%s is what was measured', (_name, cost) => {
    expect(cost.value).toBe(measured(cost))
  })

  test('are of the places that they name', () => {
    const one = { apis: 1, executors: 1, primaries: 1 }
    expect(places.slice(0, 3)).toMatchObject([
      { ...one, queues: 1, jobsPerRequest: 1 },
      { ...one, queues: 1000, jobsPerRequest: 1 },
      { ...one, queues: 1000, jobsPerRequest: MEASURED_BATCH },
    ])
  })

  test('hold no fewer connections than there were', () => {
    for (const { apis, executors, redis_connections: seen } of places) {
      expect(apis * CONNECTIONS.api + executors * CONNECTIONS.executor).toBeGreaterThanOrEqual(seen)
    }
  })

  test('assume the concurrency that an executor has by default', () => {
    expect(CONCURRENCY).toBe(CAPACITY_SETTINGS.executorConcurrency.initial)
  })
})

describe('the model of a plan', () => {
  // docs/capacity.md says what is left out.
  test.each(places)(
    'is right within a part for $apis APIs, $executors executors, $primaries primaries, $queues queues, requests of $jobsPerRequest',
    (place) => {
      const cpu = cpuPerJob({ queues: place.queues, batch: place.jobsPerRequest })
      const all = cpu.api + cpu.executor + cpu.redis
      const seen = place.api_cpu_us_per_job + place.executor_cpu_us_per_job + place.redis_cpu_us_per_job
      expect(all / seen).toBeGreaterThan(0.5)
      expect(all / seen).toBeLessThan(1.5)
    },
  )
})
