import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createClusterMetrics } from '../../../src/telemetry/cluster-metrics.ts'
import { createFakeClock, FAKE_EPOCH_MS } from '../../support/fake-clock.ts'

test('requests, ends of watches and the last sign of life land in their series', async () => {
  const registry = new Registry()
  const metrics = createClusterMetrics(registry, createFakeClock())
  metrics.requestEnded('PATCH', 409, 0.02)
  metrics.requestEnded('GET', null, 30)
  metrics.watchEnded('httpqueues', 'silent')
  metrics.watchHeard('httpqueues', null)
  const body = await registry.metrics()
  expect(body).toContain('punctual_kube_requests_total{verb="PATCH",code="409"} 1')
  expect(body).toContain('punctual_kube_requests_total{verb="GET",code="none"} 1')
  expect(body).toContain('punctual_kube_request_duration_seconds_bucket{le="0.025",verb="PATCH"} 1')
  expect(body).toContain('punctual_kube_watch_restarts_total{resource="httpqueues",reason="silent"} 1')
  expect(heardAt(body)).toBe(FAKE_EPOCH_MS / 1000)
})

test('a namespace that is silent does not hide behind the others', async () => {
  const registry = new Registry()
  const clock = createFakeClock()
  const metrics = createClusterMetrics(registry, clock)
  const hear = async (...namespaces: readonly string[]): Promise<number> => {
    await clock.advance(60_000)
    for (const namespace of namespaces) metrics.watchHeard('httpqueues', namespace)
    return heardAt(await registry.metrics()) - FAKE_EPOCH_MS / 1000
  }
  expect(await hear('shop', 'mail')).toBe(60)
  expect(await hear('shop')).toBe(60)
  expect(await hear('shop')).toBe(60)
  expect(await hear('mail')).toBe(180)
})

function heardAt(body: string): number {
  return Number(/last_event_timestamp_seconds\{resource="httpqueues"\} (\S+)/.exec(body)?.[1])
}
