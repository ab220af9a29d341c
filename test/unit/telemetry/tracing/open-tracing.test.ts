import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Logger } from '../../../../src/ports/runtime.ts'
import type { TracedCall } from '../../../../src/ports/tracing/tracing.ts'
import { FLUSH_MS, openTracing, type TracingOptions } from '../../../../src/telemetry/tracing/open-tracing.ts'
import { systemClock } from '../../../../src/telemetry/system-clock.ts'
import { startOtlpReceiver, type OtlpReceiver } from '../../../support/targets/otlp-receiver.ts'
import { until } from '../../../support/until.ts'

const CONTEXT = { parent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }
const CALL: TracedCall = {
  context: CONTEXT,
  team: 'default',
  queue: 'mails',
  job: { jobId: 7, attempt: 3 },
  cronId: 9,
  method: 'PUT',
  url: 'https://hooks.slack.com/services/T0/B0/hushhush?token=hush#hush',
  waitMs: 1_000,
  heldMs: 10,
}

let receiver: OtlpReceiver
beforeEach(async () => {
  receiver = await startOtlpReceiver()
})
afterEach(() => receiver.close())

function open(change: Partial<TracingOptions> = {}) {
  const logged: unknown[][] = []
  const note = (...entry: unknown[]): void => void logged.push(entry)
  const logger: Logger = { debug: note, info: note, warn: note, error: note, child: () => logger }
  const registry = new Registry()
  const opened = openTracing({
    endpoint: `${receiver.url}/v1/traces`,
    headers: {},
    timeoutMs: 1_000,
    sampler: { ratio: 1, isParentBased: true },
    serviceName: 'test',
    version: '1.2.3',
    resourceAttributes: {},
    queueMax: 100,
    batchMax: 10,
    delayMs: 10,
    certificates: { ca: null, cert: null, key: null },
    clock: systemClock,
    logger,
    registry,
    ...change,
  })
  const dropped = async (reason: string): Promise<number> => {
    const text = await registry.metrics()
    return Number(new RegExp(`dropped_total\\{reason="${reason}"\\} (\\d+)`).exec(text)?.[1])
  }
  const exported = async (): Promise<number> =>
    Number(/^punctual_spans_exported_total (\d+)/m.exec(await registry.metrics())?.[1])
  return { ...opened, logged, dropped, exported }
}

test('a call is a span below its context, and its wait another; its URL tells no secret', async () => {
  const { tracing, stop } = open()
  const span = tracing.beginCall(CALL)
  span?.end({ status: 503, failure: 'http_server_error' })
  await stop()
  const [wait, call] = receiver.spans().toSorted((left, right) => left.startMs - right.startMs)
  expect(span?.context.parent).toBe(`00-${'a'.repeat(32)}-${call?.spanId}-01`)
  expect([wait?.parentId, call?.parentId]).toEqual(['b'.repeat(16), 'b'.repeat(16)])
  expect([wait?.name, wait?.kind, call?.name, call?.kind]).toEqual([
    'wait mails',
    'consumer',
    'PUT',
    'client',
  ])
  expect(Math.round((wait?.endMs ?? 0) - (wait?.startMs ?? 0))).toBe(1_000)
  expect(Math.round((call?.startMs ?? 0) - (wait?.endMs ?? 0))).toBe(10)
  expect(call?.attributes).toMatchObject({
    'url.full': 'https://hooks.slack.com/REDACTED',
    'server.address': 'hooks.slack.com',
    'server.port': 443,
    'punctual.attempt': 3,
    'punctual.cron.id': 9,
    'http.request.resend_count': 2,
    'http.response.status_code': 503,
    'error.type': 'http_server_error',
  })
  expect([call?.isError, wait?.isError]).toEqual([true, false])
  expect(receiver.text()).not.toContain('hush')
})

test('a tick begins a trace when it is due, and one that made no job leaves nothing', async () => {
  const { tracing, stop } = open()
  const tick = { team: 'default', cronId: 9, queue: null, dueInMs: -500 }
  tracing.beginTick(tick)?.end(7)
  tracing.beginTick(tick)
  await stop()
  expect(receiver.spans()).toEqual([
    expect.objectContaining({ name: 'send', kind: 'producer', parentId: '' }),
  ])
  expect(receiver.spans()[0]?.attributes).toMatchObject({
    'punctual.cron.id': 9,
    'messaging.message.id': '7',
  })
})

describe('sampling', () => {
  const request = (given: { parent: string } | null) => ({
    given,
    method: 'POST',
    route: '/api/jobs',
    team: 'default',
  })
  const unsampled = { parent: CONTEXT.parent.replace(/01$/, '00') }

  test.each([
    [{ ratio: 0, isParentBased: true }, [false, true, false]],
    [{ ratio: 1, isParentBased: true }, [true, true, false]],
    [{ ratio: 0, isParentBased: false }, [false, false, false]],
    [{ ratio: 1, isParentBased: false }, [true, true, true]],
  ])(
    '%j records a trace of ours, one of a caller who records it, and one of another: %j',
    (sampler, recorded) => {
      const { tracing } = open({ sampler })
      const given = [null, CONTEXT, unsampled]
      expect(given.map((each) => tracing.beginRequest(request(each)) !== null)).toEqual(recorded)
    },
  )

  test('a share is that of traces', () => {
    const { tracing } = open({ sampler: { ratio: 0.1, isParentBased: true } })
    const recorded = Array.from({ length: 5_000 }, () => tracing.beginRequest(request(null))).filter(
      (span) => span !== null,
    )
    expect(recorded.length).toBeGreaterThan(300)
    expect(recorded.length).toBeLessThan(700)
  })
})

describe('a tracing system that', () => {
  const record = ({ tracing }: ReturnType<typeof open>, calls: number): void => {
    for (let i = 0; i < calls; i += 1) {
      tracing.beginCall({ ...CALL, waitMs: null, job: null })?.end({ status: 200, failure: null })
    }
  }

  test('takes what comes is given more than may wait at once', async () => {
    const traced = open()
    for (let round = 1; round <= 3; round += 1) {
      record(traced, 100)
      await receiver.received(round * 100)
      await until('the answers are in', async () => (await traced.exported()) === round * 100)
    }
    expect(await traced.dropped('queue_full')).toBe(0)
    await traced.stop()
  })

  test('refuses costs spans, which are counted and logged once', async () => {
    receiver.answer(400)
    const traced = open()
    record(traced, 30)
    await until('all are dropped', async () => (await traced.dropped('not_taken')) === 30)
    expect(traced.logged).toEqual([
      ['Spans are dropped: the tracing system does not take them', { spans: 10, reason: expect.any(String) }],
    ])
    receiver.answer(200)
    record(traced, 1)
    await receiver.received(1)
    await traced.stop()
  })

  test('hangs costs a bounded queue, and a stop no more than its bound', async () => {
    receiver.answer('hang')
    const traced = open({ timeoutMs: 60_000 })
    record(traced, 250)
    expect(await traced.dropped('queue_full')).toBe(150)
    const begun = performance.now()
    await Promise.all([traced.stop(), traced.stop()])
    expect(performance.now() - begun).toBeLessThan(FLUSH_MS + 2_000)
    expect(traced.logged.map(([message]) => message)).toEqual([
      'Spans are dropped: the tracing system does not take them',
      'The last spans were not exported in time',
    ])
  })

  test('is away costs nothing else', async () => {
    const traced = open({ endpoint: 'http://127.0.0.1:9/v1/traces', timeoutMs: 100 })
    record(traced, 1)
    await until('it is dropped', async () => (await traced.dropped('not_taken')) === 1)
    await traced.stop()
    expect(receiver.spans()).toEqual([])
  })
})

test('a defect costs a span and nothing else', () => {
  const { tracing, logged } = open()
  const throwing = { ...CALL, context: { parent: null as unknown as string } }
  expect(tracing.beginCall(throwing)).toBeNull()
  expect(logged).toEqual([['A span is missing because of a defect', expect.objectContaining({ times: 1 })]])
})

test('a certificate that cannot be read stops the start, by its name', () => {
  const certificates = { ca: '/nowhere/ca.pem', cert: null, key: null }
  expect(() => open({ endpoint: 'https://127.0.0.1:9/', certificates })).toThrow(
    /\/nowhere\/ca\.pem, which a variable OTEL_EXPORTER_OTLP_\* names, cannot be read/,
  )
})
