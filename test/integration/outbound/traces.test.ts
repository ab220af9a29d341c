/** Traces of jobs, from the push over the wait to the call and its callback, in an installation of real processes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startInstallation, type Installation } from '../../support/engine/installation.ts'
import {
  startOtlpReceiver,
  type OtlpReceiver,
  type ReceivedSpan,
} from '../../support/targets/otlp-receiver.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const SAMPLED = `00-${TRACE}-${SPAN}-01`
const STATE = 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'
/** Nothing to wait for but the posts. */
const AT_ONCE = { OTEL_BSP_SCHEDULE_DELAY: '20' }

let receiver: OtlpReceiver
let here: Installation

beforeAll(async () => {
  receiver = await startOtlpReceiver()
  const env = {
    ...AT_ONCE,
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=one%20two',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
  }
  here = await startInstallation({ apiEnv: env, executorEnv: env })
}, 120_000)

afterAll(async () => {
  await here.close()
  await receiver.close()
}, 60_000)

const ofTrace = (traceId: string) => (span: ReceivedSpan) => span.traceId === traceId
const named = (spans: readonly ReceivedSpan[], name: string) => spans.filter((span) => span.name === name)
const only = (spans: readonly ReceivedSpan[], name: string): ReceivedSpan => {
  expect(named(spans, name)).toHaveLength(1)
  return named(spans, name)[0] as ReceivedSpan
}
const parentOf = (header: string | undefined) => header?.split('-')

describe('a trace', () => {
  test('leads from the caller over push, wait and call to the callback', async () => {
    const { client, target } = here
    const job = await client.push(
      {
        queue: 'mails',
        url: `${target.url}/users/7?token=hidden-in-query`,
        callback_url: `${target.url}/called-back`,
        payload: { secret: 'hidden-in-body' },
        headers: { 'X-Key': 'hidden-in-header' },
      },
      { traceparent: SAMPLED, tracestate: STATE },
    )
    const [callback] = await target.arrived('/called-back')
    const [call] = await target.arrived('/users/7')
    const spans = await receiver.received(5, ofTrace(TRACE))
    const request = only(spans, 'POST /api/jobs')
    const send = only(spans, 'send mails')
    const wait = only(spans, 'wait mails')
    const calls = named(spans, 'POST')
    const attempt = calls.find(({ attributes }) => attributes['punctual.call'] === 'job')
    const told = calls.find(({ attributes }) => attributes['punctual.call'] === 'callback')
    expect([request.parentId, send.parentId, wait.parentId, attempt?.parentId, told?.parentId]).toEqual([
      SPAN,
      request.spanId,
      send.spanId,
      send.spanId,
      attempt?.spanId,
    ])
    expect([request.kind, send.kind, wait.kind, attempt?.kind]).toEqual([
      'server',
      'producer',
      'consumer',
      'client',
    ])
    expect([request.service, attempt?.service]).toEqual(['punctual-api', 'punctual-executor'])
    expect(parentOf(call?.headers['traceparent'])).toEqual(['00', TRACE, attempt?.spanId, '01'])
    expect(call?.headers['tracestate']).toBe(STATE)
    expect(parentOf(callback?.headers['traceparent'])).toEqual(['00', TRACE, told?.spanId, '01'])
    expect(attempt?.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'url.full': `${target.url}/users/7`,
      'messaging.destination.name': 'mails',
      'messaging.message.id': String(job.job_id),
      'punctual.team': 'default',
      'punctual.attempt': 1,
    })
    expect(send.attributes['messaging.message.id']).toBe(String(job.job_id))
    expect(wait.endMs).toBeGreaterThanOrEqual(wait.startMs)
    expect(attempt?.endMs).toBeGreaterThanOrEqual(wait.endMs)
    expect(await client.job(job.job_id)).toMatchObject({ trace_id: TRACE })
  })

  test('tells nothing of queries, bodies and headers, and is posted as the variables say', () => {
    expect(receiver.text()).toContain('deployment.environment')
    expect(receiver.text()).not.toMatch(/hidden-in/)
    expect(receiver.headers[0]).toMatchObject({
      path: '/v1/traces',
      'content-type': 'application/x-protobuf',
      'api-key': 'one two',
    })
  })

  test('begins with the push where the caller gives none, or one that is malformed', async () => {
    const { client, target } = here
    for (const traceparent of [undefined, `${SAMPLED}-more`, `00-${'0'.repeat(32)}-${SPAN}-01`, 'nonsense']) {
      const headers: Record<string, string> =
        traceparent === undefined ? {} : { traceparent, tracestate: STATE }
      const { job_id: id } = await client.push({ queue: 'begun', url: `${target.url}/begun` }, headers)
      const { trace_id: traceId } = await client.ended(id)
      expect(traceId).not.toBe(TRACE)
      const spans = await receiver.received(4, ofTrace(String(traceId)))
      expect(only(spans, 'POST /api/jobs').parentId).toBe('')
      expect(spans.every(({ state }) => state === '')).toBe(true)
    }
  })

  test('goes on with retries, which fail in it, and with a replay', async () => {
    const { client, target } = here
    const answers = [500, 404, 200]
    target.route('/failing', () => ({ status: answers.shift() ?? 200 }))
    await client.makeQueue('retried', { retry_delays: [1] })
    const { job_id: id } = await client.push({ queue: 'retried', url: `${target.url}/failing` })
    const { trace_id: traceId } = await client.ended(id)
    const inTrace = ofTrace(String(traceId))
    const spans = await receiver.received(6, inTrace)
    const send = only(spans, 'send retried')
    const facts = named(spans, 'POST').map(({ attributes, parentId, isError }) => [
      attributes['punctual.attempt'],
      attributes['http.response.status_code'],
      attributes['error.type'],
      parentId === send.spanId,
      isError,
    ])
    expect(facts).toEqual([
      [1, 500, 'http_server_error', true, true],
      [2, 404, 'http_client_error', true, true],
    ])
    const waits = named(spans, 'wait retried')
    expect(waits.map(({ attributes }) => attributes['punctual.attempt'])).toEqual([1, 2])
    const asked = '0123456789abcdef0123456789abcdef'
    const made = await client.send<{ job_id: number }>('POST', `/api/jobs/${id}/replay`, undefined, {
      traceparent: `00-${asked}-${SPAN}-01`,
    })
    expect(await client.ended(made.body.job_id)).toMatchObject({ trace_id: traceId, final_status: 'success' })
    await receiver.received(8, inTrace)
    const [request] = await receiver.received(1, ofTrace(asked))
    expect([request?.name, request?.parentId, request?.links]).toEqual([
      'POST /api/jobs/{job_id}/replay',
      SPAN,
      [`${traceId}-${send.spanId}`],
    ])
  })

  test('of a batch leads to each of its jobs', async () => {
    const { client, target } = here
    const traceId = '1'.repeat(32)
    const jobs = ['first', 'second'].map((queue) => ({ queue, url: `${target.url}/batch` }))
    const { status } = await client.send(
      'POST',
      '/api/jobs/batch',
      { jobs: [...jobs, { queue: 'third' }] },
      { traceparent: `00-${traceId}-${SPAN}-01` },
    )
    expect(status).toBe(200)
    const spans = await receiver.received(7, ofTrace(traceId))
    const request = only(spans, 'POST /api/jobs/batch')
    for (const queue of ['first', 'second']) {
      const send = only(spans, `send ${queue}`)
      expect([send.parentId, only(spans, `wait ${queue}`).parentId]).toEqual([request.spanId, send.spanId])
    }
    expect(named(spans, 'send third')).toEqual([])
  })

  test('is not mixed with those of another team', async () => {
    const { client, target } = here
    const other = await here.clientOfTeam('other')
    const push = { queue: 'mails', url: `${target.url}/teams` }
    const ids = await Promise.all([client.push(push), other.push(push)])
    const traces = [(await client.ended(ids[0].job_id)).trace_id, (await other.ended(ids[1].job_id)).trace_id]
    expect(traces[0]).not.toBe(traces[1])
    for (const [i, team] of ['default', 'other'].entries()) {
      const spans = await receiver.received(4, ofTrace(String(traces[i])))
      expect(new Set(spans.map(({ attributes }) => attributes['punctual.team']))).toEqual(new Set([team]))
    }
  })

  test('that the caller does not record is not recorded, but passed on as it is', async () => {
    const { client, target } = here
    const given = `00-${'2'.repeat(32)}-${SPAN}-00`
    await client.push({ queue: 'q', url: `${target.url}/unsampled` }, { traceparent: given })
    const [call] = await target.arrived('/unsampled')
    expect(call?.headers['traceparent']).toBe(given)
    const recorded = { traceparent: `00-${'3'.repeat(32)}-${SPAN}-01` }
    await client.push({ queue: 'q', url: `${target.url}/sampled` }, recorded)
    await receiver.received(4, ofTrace('3'.repeat(32)))
    expect(receiver.spans().filter(ofTrace('2'.repeat(32)))).toEqual([])
  })

  test('leaves a header of the job as it is', async () => {
    const { client, target } = here
    const own = `00-${'4'.repeat(32)}-${SPAN}-00`
    await client.push({ queue: 'q', url: `${target.url}/own`, headers: { Traceparent: own } })
    const [call] = await target.arrived('/own')
    expect([call?.headers['traceparent'], call?.headers['tracestate']]).toEqual([own, undefined])
  })
})

test('the metrics lead to traces, for whoever asks for OpenMetrics', async () => {
  const { opsUrl } = await here.executors[0]!.logged('The executor runs')
  const scraped = async (accept: string) => {
    const answer = await fetch(`${String(opsUrl)}/metrics`, { headers: { accept } })
    return { type: answer.headers.get('content-type'), text: await answer.text() }
  }
  const open = await scraped('application/openmetrics-text;version=1.0.0,text/plain;q=0.5')
  expect(open.type).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8')
  expect(open.text).toMatch(
    /^punctual_job_lateness_seconds_bucket\{le="[\d.]+"\} \d+ # \{trace_id="[0-9a-f]{32}",span_id="[0-9a-f]{16}"\} [\d.]+ \d{10}[\d.]*$/m,
  )
  const plain = await scraped('*/*')
  expect(plain.type).toMatch(/^text\/plain/)
  expect(plain.text).not.toContain('trace_id')
  expect(plain.text).toMatch(/^punctual_spans_exported_total [1-9]/m)
})
