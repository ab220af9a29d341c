import { describe, expect, test } from 'vitest'
import { describeSettings, loadExecutorSettings } from '../../../src/settings/role-settings.ts'
import { describeTracing, readTracing } from '../../../src/settings/tracing-settings.ts'

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }
const read = (env: Record<string, string>) => readTracing({ ...ENDPOINT, ...env })

describe('without an endpoint', () => {
  test.each([
    {},
    { OTEL_TRACES_SAMPLER: 'nonsense', OTEL_SERVICE_NAME: 'x' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' },
    { ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' },
    { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' },
  ])('nothing is recorded: %j', (env) => {
    expect(readTracing(env)).toEqual({ tracing: null, mistakes: [] })
  })
})

test('an endpoint alone is enough', () => {
  expect(read({})).toEqual({
    mistakes: [],
    tracing: {
      endpoint: 'http://collector:4318/v1/traces',
      headers: {},
      timeoutMs: 10_000,
      sampler: { ratio: 1, isParentBased: true },
      serviceName: null,
      resourceAttributes: {},
      queueMax: 2_048,
      batchMax: 512,
      delayMs: 5_000,
      certificates: { ca: null, cert: null, key: null },
    },
  })
})

test.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://a.example/otlp/' }, 'https://a.example/otlp/v1/traces'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://a.example/otlp' }, 'https://a.example/otlp/v1/traces'],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://b.example/take' }, 'https://b.example/take'],
])('%j leads to %s', (env, endpoint) => {
  expect(read(env).tracing?.endpoint).toBe(endpoint)
})

test.each([
  ['always_on', undefined, 1, false],
  ['always_off', '1', 0, false],
  ['traceidratio', '0.25', 0.25, false],
  ['parentbased_always_on', '0.25', 1, true],
  ['parentbased_always_off', undefined, 0, true],
  ['parentbased_traceidratio', '1e-05', 0.000_01, true],
  ['parentbased_traceidratio', undefined, 1, true],
])('the sampler %s of %s records %d', (name, arg, ratio, isParentBased) => {
  const env = { OTEL_TRACES_SAMPLER: name, ...(arg !== undefined && { OTEL_TRACES_SAMPLER_ARG: arg }) }
  expect(read(env).tracing?.sampler).toEqual({ ratio, isParentBased })
})

test('all that may be said is heard, and the variable for traces goes first', () => {
  const { tracing, mistakes } = read({
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=all',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'api-key=one%2Ctwo, x-tenant = shop',
    OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
    OTEL_SERVICE_NAME: 'jobs',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=prod,k8s/x=%C3%BC',
    OTEL_BSP_MAX_QUEUE_SIZE: '100',
    OTEL_BSP_SCHEDULE_DELAY: '20',
    OTEL_EXPORTER_OTLP_CERTIFICATE: '/ca.pem',
  })
  expect(mistakes).toEqual([])
  expect(tracing).toMatchObject({
    headers: { 'api-key': 'one,two', 'x-tenant': 'shop' },
    timeoutMs: 2_000,
    serviceName: 'jobs',
    resourceAttributes: { 'deployment.environment': 'prod', 'k8s/x': 'ü' },
    queueMax: 100,
    batchMax: 100,
    delayMs: 20,
    certificates: { ca: '/ca.pem' },
  })
})

test.each([
  [
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'collector:4318',
    /is "collector:4318", which is not allowed: it must be a URL/,
  ],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://user:pw@a/', /must be a URL/],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'grpc://a:4317', /^OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is/],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', /must be http\/protobuf/],
  ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'http/json', /must be http\/protobuf/],
  ['OTEL_EXPORTER_OTLP_COMPRESSION', 'zstd', /one of none, gzip/],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', '0', /from 1 to 60000/],
  ['OTEL_TRACES_SAMPLER', 'jaeger_remote', /one of always_on/],
  ['OTEL_TRACES_SAMPLER_ARG', '1.5', /a number from 0 to 1/],
  ['OTEL_TRACES_SAMPLER_ARG', '-1', /a number from 0 to 1/],
  ['OTEL_TRACES_EXPORTER', 'zipkin', /one of otlp, none/],
  ['OTEL_SDK_DISABLED', 'yes', /true or false/],
  ['OTEL_RESOURCE_ATTRIBUTES', 'a', /attributes such as/],
  ['OTEL_RESOURCE_ATTRIBUTES', 'a=%E0%A4%A', /attributes such as/],
  ['OTEL_BSP_MAX_QUEUE_SIZE', '100001', /from 1 to 100000/],
  ['OTEL_EXPORTER_OTLP_CLIENT_KEY', '/key.pem', /belong together: set both or neither/],
])('%s = %s is a mistake that says so', (name, value, said) => {
  const { tracing, mistakes } = read({ [name]: value })
  expect(tracing).toBeNull()
  expect(mistakes).toEqual([expect.stringMatching(said)])
})

test('headers are secret: neither a mistake nor the log tells their values', () => {
  const [mistake] = read({ OTEL_EXPORTER_OTLP_HEADERS: 'api-key=hush-hush\u0007' }).mistakes
  expect(mistake).toMatch(/^OTEL_EXPORTER_OTLP_HEADERS has a value that is not allowed/)
  expect(mistake).not.toContain('hush')
  const { tracing } = read({ OTEL_EXPORTER_OTLP_HEADERS: 'api-key=hush-hush' })
  const shown = JSON.stringify([tracing && describeTracing(tracing), describeSettings({ tracing })])
  expect(shown).toContain('api-key')
  expect(shown).not.toContain('hush')
})

test('a mistake stops the start, beside all others', () => {
  expect(() =>
    loadExecutorSettings({ ...ENDPOINT, OTEL_TRACES_SAMPLER: 'x', PUNCTUAL_OPS_PORT: 'y' }, {}),
  ).toThrow(/PUNCTUAL_OPS_PORT is "y"[\s\S]*OTEL_TRACES_SAMPLER is "x"/)
})
