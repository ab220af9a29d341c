import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createControllerMetrics } from '../../../src/telemetry/controller-metrics.ts'

test('what a leader counts is gone once it leads no more', async () => {
  const registry = new Registry()
  const metrics = createControllerMetrics(registry)
  const counted = async () =>
    (await registry.metrics())
      .split('\n')
      .filter((line) => /^punctual_(?:orphan|pushed_queues)_?\w* \d/.test(line))
  expect(await counted()).toEqual([])
  metrics.orphanQueues(1)
  metrics.orphanCrons(2)
  metrics.pushedQueuesWaiting(3)
  expect(await counted()).toEqual([
    'punctual_orphan_queues 1',
    'punctual_orphan_crons 2',
    'punctual_pushed_queues_waiting 3',
  ])
  metrics.leadingEnded()
  expect(await counted()).toEqual([])
})
