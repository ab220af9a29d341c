import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createClusterMetrics } from '../../../src/telemetry/cluster-metrics.ts'

test('requests, ends of watches and the last sign of life land in their series', async () => {
  const registry = new Registry()
  const metrics = createClusterMetrics(registry)
  metrics.requestEnded('PATCH', 409, 0.02)
  metrics.requestEnded('GET', null, 30)
  metrics.watchEnded('httpqueues', 'silent')
  metrics.watchHeard('httpqueues')
  const body = await registry.metrics()
  expect(body).toContain('punctual_kube_requests_total{verb="PATCH",code="409"} 1')
  expect(body).toContain('punctual_kube_requests_total{verb="GET",code="none"} 1')
  expect(body).toContain('punctual_kube_request_duration_seconds_bucket{le="0.025",verb="PATCH"} 1')
  expect(body).toContain('punctual_kube_watch_restarts_total{resource="httpqueues",reason="silent"} 1')
  const [, heardAt] = /last_event_timestamp_seconds\{resource="httpqueues"\} (\S+)/.exec(body) ?? []
  expect(Math.abs(Number(heardAt) - Date.now() / 1000)).toBeLessThan(60)
})
