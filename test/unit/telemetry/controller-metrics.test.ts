import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createControllerMetrics } from '../../../src/telemetry/controller-metrics.ts'

test('what a leader counts is gone once it leads no more', async () => {
  const registry = new Registry()
  const metrics = createControllerMetrics(registry)
  const counted = async () =>
    (await registry.metrics())
      .split('\n')
      .filter((line) =>
        /^punctual_(?:orphan|pushed_queues|queues_throttled|startable|stopped|oldest)\S* \d/.test(line),
      )
  expect(await counted()).toEqual([])
  metrics.orphanQueues(1)
  metrics.orphanCrons(2)
  metrics.pushedQueuesWaiting(3)
  metrics.queuesThrottled({ rate_limited: 4, target_asks_to_wait: 0, circuit_open: 5 })
  metrics.readyJobsCounted({
    startable: 6,
    stopped: { paused: 7, held: 8, throttled: 9, at_limit: 10 },
    oldestStartableMs: 1_500,
  })
  expect(await counted()).toEqual([
    'punctual_orphan_queues 1',
    'punctual_orphan_crons 2',
    'punctual_pushed_queues_waiting 3',
    'punctual_queues_throttled{reason="rate_limited"} 4',
    'punctual_queues_throttled{reason="target_asks_to_wait"} 0',
    'punctual_queues_throttled{reason="circuit_open"} 5',
    'punctual_startable_jobs 6',
    'punctual_stopped_jobs{reason="paused"} 7',
    'punctual_stopped_jobs{reason="held"} 8',
    'punctual_stopped_jobs{reason="throttled"} 9',
    'punctual_stopped_jobs{reason="at_limit"} 10',
    'punctual_oldest_startable_job_seconds 1.5',
  ])
  metrics.leadingEnded()
  expect(await counted()).toEqual([])
})
