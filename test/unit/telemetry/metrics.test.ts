import { expect, test } from 'vitest'
import { createMetrics } from '../../../src/telemetry/metrics.ts'

async function sample(
  registry: ReturnType<typeof createMetrics>,
  series: string,
): Promise<number | undefined> {
  const { body } = await registry.render()
  const line = body.split('\n').find((candidate) => candidate.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

test('every count lands in its series', async () => {
  const registry = createMetrics({ processMetrics: false })
  const { metrics } = registry
  metrics.jobsPushed(3)
  metrics.jobFinished('dead_lettered', 2)
  metrics.callbackFinished('failed')
  let open = 4
  metrics.callSlots(8, () => open)
  open += 1
  metrics.leaseLost()
  metrics.clockJumped('backward')
  metrics.callRecordsDropped(11)
  expect(await sample(registry, 'punctual_jobs_pushed_total')).toBe(3)
  expect(await sample(registry, 'punctual_jobs_finished_total{outcome="dead_lettered"}')).toBe(2)
  expect(await sample(registry, 'punctual_callbacks_finished_total{outcome="failed"}')).toBe(1)
  expect(await sample(registry, 'punctual_calls_in_flight')).toBe(5)
  expect(await sample(registry, 'punctual_call_slots')).toBe(8)
  expect(await sample(registry, 'punctual_leases_lost_total')).toBe(1)
  expect(await sample(registry, 'punctual_clock_jumps_total{direction="backward"}')).toBe(1)
  expect(await sample(registry, 'punctual_call_records_dropped_total')).toBe(11)
})

test('lateness is a histogram from 1 ms to 10 s; a start is never early', async () => {
  const registry = createMetrics({ processMetrics: false })
  registry.metrics.jobStarted(0.5)
  registry.metrics.jobStarted(-1)
  registry.metrics.jobStarted(9_000)
  const bucket = (le: string) => sample(registry, `punctual_job_lateness_seconds_bucket{le="${le}"}`)
  expect(await bucket('0.001')).toBe(2)
  expect(await bucket('5')).toBe(2)
  expect(await bucket('10')).toBe(3)
  expect(await sample(registry, 'punctual_jobs_started_total')).toBe(3)
  expect(await sample(registry, 'punctual_job_lateness_seconds_sum')).toBe(9.0005)
})

test('a step counts its time always and an error when it failed', async () => {
  const registry = createMetrics({ processMetrics: false })
  registry.metrics.redisStep('claim', 0.002, true)
  registry.metrics.redisStep('claim', 0.3, false)
  expect(await sample(registry, 'punctual_redis_step_duration_seconds_count{step="claim"}')).toBe(2)
  expect(await sample(registry, 'punctual_redis_step_errors_total{step="claim"}')).toBe(1)
})

test('series of closed sets stand at zero before anything happened', async () => {
  const registry = createMetrics({ processMetrics: false })
  for (const outcome of ['success', 'retrying', 'failed_no_retries', 'dead_lettered', 'released', 'stale']) {
    expect(await sample(registry, `punctual_jobs_finished_total{outcome="${outcome}"}`)).toBe(0)
  }
  expect(await sample(registry, 'punctual_clock_jumps_total{direction="forward"}')).toBe(0)
})

test('process metrics come under their usual names, two registries do not meet', async () => {
  const first = createMetrics({ processMetrics: true })
  const second = createMetrics({ processMetrics: true })
  first.metrics.jobsPushed(1)
  expect(await sample(second, 'punctual_jobs_pushed_total')).toBe(0)
  const { body, contentType } = await first.render()
  expect(contentType).toMatch(/^text\/plain; version=0\.0\.4/)
  expect(body).toContain('process_cpu_seconds_total')
  expect(body).toContain('nodejs_eventloop_lag_seconds')
})
