import { getHeapStatistics } from 'node:v8'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createRequestMetrics } from '../../../src/telemetry/requests/request-metrics.ts'

test('requests are counted by route and code, and how long they take by route', async () => {
  const registry = new Registry()
  const metrics = createRequestMetrics(registry)
  metrics.answered('POST', '/api/jobs', 201, 0.005)
  metrics.answered('POST', '/api/jobs', 201, 0.3)
  metrics.answered('POST', '/api/jobs', 503, 20)
  metrics.answered('GET', '/api/jobs/{job_id}', null, 0.01)
  metrics.answered('GET', '/api/events', 200, null)
  metrics.answered('BREW', 'other', 405, 0.01)
  const body = await registry.metrics()
  for (const line of [
    '# TYPE punctual_http_requests_total counter',
    'punctual_http_requests_total{method="POST",route="/api/jobs",code="201"} 2',
    'punctual_http_requests_total{method="POST",route="/api/jobs",code="503"} 1',
    'punctual_http_requests_total{method="GET",route="/api/jobs/{job_id}",code="none"} 1',
    'punctual_http_requests_total{method="GET",route="/api/events",code="200"} 1',
    'punctual_http_requests_total{method="other",route="other",code="405"} 1',
    '# TYPE punctual_http_request_duration_seconds histogram',
    'punctual_http_request_duration_seconds_bucket{le="0.005",method="POST",route="/api/jobs"} 1',
    'punctual_http_request_duration_seconds_bucket{le="0.25",method="POST",route="/api/jobs"} 1',
    'punctual_http_request_duration_seconds_bucket{le="0.5",method="POST",route="/api/jobs"} 2',
    'punctual_http_request_duration_seconds_bucket{le="10",method="POST",route="/api/jobs"} 2',
    'punctual_http_request_duration_seconds_bucket{le="+Inf",method="POST",route="/api/jobs"} 3',
    'punctual_http_request_duration_seconds_count{method="POST",route="/api/jobs"} 3',
    'punctual_http_request_duration_seconds_sum{method="POST",route="/api/jobs"} 20.305',
  ])
    expect(body.split('\n')).toContain(line)
  expect(body).not.toContain('duration_seconds_count{method="GET",route="/api/events"}')
})

test('a push that is counted allocates nothing', () => {
  const metrics = createRequestMetrics(new Registry())
  const count = (times: number): number => {
    const before = getHeapStatistics().total_allocated_bytes
    for (let i = 0; i < times; i += 1) metrics.answered('POST', '/api/jobs', 201, 0.002)
    return getHeapStatistics().total_allocated_bytes - before
  }
  count(200_000)
  // Of several rounds the least, as the first ones also allocate what the compiler needs.
  const least = Math.min(...Array.from({ length: 5 }, () => count(200_000)))
  // Less than a number takes that is no small integer.
  expect(least / 200_000).toBeLessThan(8)
})
