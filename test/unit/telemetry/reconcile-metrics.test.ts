import { expect, test } from 'vitest'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { createReconcileMetrics } from '../../../src/telemetry/reconcile-metrics.ts'

function setUp() {
  const { registry, render } = createMetrics({ processMetrics: false })
  const sample = async (series: string) => {
    const line = (await render()).body.split('\n').find((candidate) => candidate.startsWith(`${series} `))
    return line === undefined ? undefined : Number(line.slice(series.length + 1))
  }
  return { metrics: createReconcileMetrics(registry), sample }
}

test('every count lands in its series, under the names of controller-runtime', async () => {
  const { metrics, sample } = setUp()
  metrics.queueDepth('httpqueue', 'low', 7)
  metrics.keyAdded('httpqueue')
  metrics.keyRetried('httpqueue')
  metrics.keyWaited('httpqueue', 0.05)
  metrics.workersActive('httpqueue', 3)
  metrics.leading(true)
  metrics.eventsDropped(4)
  expect(await sample('punctual_workqueue_depth{controller="httpqueue",priority="low"}')).toBe(7)
  expect(await sample('punctual_workqueue_adds_total{controller="httpqueue"}')).toBe(1)
  expect(await sample('punctual_workqueue_retries_total{controller="httpqueue"}')).toBe(1)
  expect(await sample('punctual_workqueue_queue_duration_seconds_sum{controller="httpqueue"}')).toBe(0.05)
  expect(await sample('punctual_active_workers{controller="httpqueue"}')).toBe(3)
  expect(await sample('punctual_leader')).toBe(1)
  expect(await sample('punctual_events_dropped_total')).toBe(4)
  metrics.leading(false)
  expect(await sample('punctual_leader')).toBe(0)
})

test('only a turn that failed is an error; a conflict is not', async () => {
  const { metrics, sample } = setUp()
  for (const result of ['success', 'requeued', 'conflict'] as const)
    metrics.reconciled('apitoken', result, 0.1)
  expect(await sample('punctual_reconcile_errors_total{controller="apitoken"}')).toBe(0)
  metrics.reconciled('apitoken', 'error', 0.2)
  expect(await sample('punctual_reconcile_errors_total{controller="apitoken"}')).toBe(1)
  expect(await sample('punctual_reconcile_total{controller="apitoken",result="conflict"}')).toBe(1)
  expect(await sample('punctual_reconcile_time_seconds_count{controller="apitoken"}')).toBe(4)
})
