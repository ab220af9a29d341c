import { describe, expect, test } from 'vitest'
import { Exemplars } from '../../../../src/telemetry/open-metrics/exemplars.ts'
import { wantsOpenMetrics } from '../../../../src/telemetry/open-metrics/open-metrics-text.ts'
import { createMetrics } from '../../../../src/telemetry/metrics.ts'
import { createRequestMetrics } from '../../../../src/telemetry/requests/request-metrics.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const SAMPLED = { parent: `00-${TRACE}-${SPAN}-01` }
const OPEN = 'application/openmetrics-text'

test.each([
  [undefined, false],
  ['*/*', false],
  ['text/plain', false],
  [OPEN, true],
  [`${OPEN};version=1.0.0`, true],
  [`${OPEN};version=1.0.0;q=0.5,${OPEN};version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2`, true],
  [`text/plain;version=0.0.4;q=0.5, ${OPEN};q=0.4`, false],
  [`${OPEN.toUpperCase()}; Q=0.4, text/plain; q=0.4`, true],
  [`${OPEN};q=0`, false],
  [`${OPEN};q=nonsense`, false],
])('Accept: %s wants OpenMetrics: %s', (accept, wanted) => {
  expect(wantsOpenMetrics(accept)).toBe(wanted)
})

describe('the same metrics', () => {
  const registry = createMetrics({ processMetrics: true })
  const requests = createRequestMetrics(registry.registry, registry.exemplars)
  registry.metrics.jobStarted(3, SAMPLED)
  registry.metrics.jobStarted(3, { parent: `00-${'1'.repeat(32)}-${SPAN}-00` })
  registry.metrics.jobStarted(99_000, SAMPLED)
  requests.answered('POST', '/api/jobs', 201, 0.007, SAMPLED)
  requests.answered('POST', '/api/jobs', 201, 0.007)
  requests.answered('GET', '/api/events', 200, null, SAMPLED)

  test('as text stay as they were, after they were asked for as OpenMetrics too', async () => {
    const counters = (text: string) => text.split('\n').filter((line) => line.startsWith('punctual_'))
    const before = await registry.render()
    await registry.render(OPEN)
    const after = await registry.render('*/*')
    expect(after.contentType).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(counters(after.body)).toEqual(counters(before.body))
    expect(after.body).toContain('# TYPE punctual_jobs_started_total counter')
    expect(after.body).not.toMatch(/trace_id|# EOF/)
  })

  test('as OpenMetrics have exemplars, families without _total, and an end', async () => {
    const { contentType, body } = await registry.render(OPEN)
    expect(contentType).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8')
    const exemplar = `# {trace_id="${TRACE}",span_id="${SPAN}"}`
    const lines = body.split('\n')
    const of = (start: string) => lines.filter((line) => line.startsWith(start))
    expect(of('punctual_job_lateness_seconds_bucket').filter((line) => line.includes(exemplar))).toEqual([
      expect.stringMatching(
        /^punctual_job_lateness_seconds_bucket\{le="0.005"\} 2 # \{.*\} 0.003 \d+(\.\d+)?$/,
      ),
      expect.stringMatching(/^punctual_job_lateness_seconds_bucket\{le="\+Inf"\} 3 # \{.*\} 99 \d+(\.\d+)?$/),
    ])
    expect(lines.filter((line) => line.startsWith('punctual_http_') && line.includes('trace_id'))).toEqual([
      expect.stringMatching(
        /^punctual_http_request_duration_seconds_bucket\{le="0.01",method="POST",route="\/api\/jobs"\} 2 # \{/,
      ),
    ])
    expect(body).toContain('# TYPE punctual_jobs_started counter\npunctual_jobs_started_total 3\n')
    expect(body).toMatch(/\n# EOF\n$/)
    expect(body).not.toContain('\n\n')
    const families = lines.flatMap((line) => /^# TYPE (\S+) (\S+)$/.exec(line)?.slice(1).join(' ') ?? [])
    expect(new Set(families).size).toBe(families.length)
    expect(families.filter((family) => family.endsWith('_total counter'))).toEqual([])
  })

  test('end each counter with _total, as OpenMetrics wants it', async () => {
    const { body } = await registry.render()
    const counters = [...body.matchAll(/^# TYPE (\S+) counter$/gm)].map(([, name]) => name ?? '')
    expect(counters.length).toBeGreaterThan(10)
    expect(counters.filter((name) => !name.endsWith('_total'))).toEqual([])
  })
})

test('of two traces a bucket has the newer, and one that is not recorded is no exemplar', () => {
  const exemplars = new Exemplars(() => 1_700_000_000_500)
  exemplars.note('b{le="1"}', 0.7, SAMPLED)
  exemplars.note('b{le="1"}', 0.8, { parent: `00-${'2'.repeat(32)}-${SPAN}-01` })
  exemplars.note('b{le="1"}', 0.9, { parent: `00-${'3'.repeat(32)}-${SPAN}-00` })
  expect(exemplars.after('b{le="1"}')).toBe(
    ` # {trace_id="${'2'.repeat(32)}",span_id="${SPAN}"} 0.8 1700000000.5`,
  )
  expect(exemplars.after('b{le="2"}')).toBe('')
})
