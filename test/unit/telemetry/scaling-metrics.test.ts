import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createScalingMetrics } from '../../../src/telemetry/scaling-metrics.ts'

async function values(registry: Registry): Promise<string[]> {
  const text = await registry.metrics()
  return text.split('\n').filter((line) => line.startsWith('punctual_'))
}

test('tells of scaling while this process scales, and nothing before and after', async () => {
  const registry = new Registry()
  const metrics = createScalingMetrics(registry)
  expect(await values(registry)).toEqual([])
  metrics.executorReplicas(3, 2, 1)
  metrics.scalingActive(true)
  metrics.scalingLimited(false)
  expect(await values(registry)).toEqual([
    'punctual_executor_replicas_desired 3',
    'punctual_executor_replicas_current 2',
    'punctual_executor_replicas_ready 1',
    'punctual_scaling_active 1',
    'punctual_scaling_limited 0',
  ])
  metrics.scalingEnded()
  expect(await values(registry)).toEqual([])
})
