import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SuccessAssertion } from '../../../../../src/domain/jobs/assertion.ts'
import {
  FAILURE_REASONS,
  BODY_ENCODINGS,
  METHODS,
  type AttemptSummary,
  type JobRequest,
} from '../../../../../src/domain/jobs/job.ts'
import { DLQ_RETENTION_DAYS, INLINE_REQUEST_BYTES_MAX } from '../../../../../src/domain/limits.ts'
import { DEFAULT_QUEUE_SETTINGS, type ChainSettings } from '../../../../../src/domain/jobs/queue-settings.ts'
import { decodeFinished, encodeFinished } from '../../../../../src/redis/base/layout/finished-record.ts'
import {
  decodeRecord,
  decodeRequest,
  encodeAttempts,
  encodeRequest,
} from '../../../../../src/redis/base/layout/job-record.ts'
import {
  decodeSystemRequest,
  encodeSystemRecord,
  encodeSystemRequest,
  SYSTEM_SETTINGS_HASH,
} from '../../../../../src/redis/base/layout/system-record.ts'
import { decodeSettings, encodeSettings } from '../../../../../src/redis/base/layout/queue-record.ts'
import { jobRequest } from '../../../../support/engine/engine.ts'
import { anyText, anyUrl } from '../../../../support/any-text.ts'

const T0 = 1_800_000_000_000

const text = (maxLength: number) => anyText({ maxLength })
const strings = (maxLength: number) =>
  fc.dictionary(fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 12 }), text(maxLength), {
    maxKeys: 5,
    noNullPrototype: true,
  })

const lag = fc.nat({ max: 100_000 })
const attempt: fc.Arbitrary<AttemptSummary> = fc
  .record({
    scheduledAtMs: fc.integer({ min: T0, max: T0 + 1e9 }),
    created: lag,
    started: lag,
    took: lag,
    durationMs: lag,
    responseStatus: fc.option(fc.integer({ min: 100, max: 599 })),
    failure: fc.option(
      fc.record({ reason: fc.constantFrom(...FAILURE_REASONS), message: fc.option(text(300)) }),
    ),
  })
  .map(({ scheduledAtMs, created, started, took, durationMs, responseStatus, failure }) => ({
    createdAtMs: scheduledAtMs - created,
    scheduledAtMs,
    startedAtMs: scheduledAtMs + started,
    completedAtMs: scheduledAtMs + started + took,
    durationMs,
    responseStatus,
    failureReason: failure?.reason ?? null,
    errorMessage: failure?.message ?? null,
  }))

const assertion: fc.Arbitrary<SuccessAssertion> = fc.oneof(
  fc.record({ type: fc.constant('status_code_equals' as const), value: fc.integer({ min: 200, max: 299 }) }),
  fc.record({ type: fc.constant('body_contains' as const), value: text(50) }),
  fc.record({
    type: fc.constant('response_time_under_ms' as const),
    value: fc.integer({ min: 1, max: 300_000 }),
  }),
)

const callDepth = fc.integer({ min: 1, max: 5 })

const hex = (length: number) => fc.stringMatching(new RegExp(`^[1-9a-f][0-9a-f]{${length - 1}}$`))
const trace = fc
  .tuple(hex(32), hex(16), fc.constantFrom('00', '01'), fc.option(fc.constant('a=1,b=2')))
  .map(([traceId, spanId, flags, state]) => ({
    parent: `00-${traceId}-${spanId}-${flags}`,
    ...(state !== null && { state }),
  }))

const request: fc.Arbitrary<JobRequest> = fc.record(
  {
    url: anyUrl(),
    method: fc.constantFrom(...METHODS),
    headers: strings(40),
    payload: fc.option(fc.json()),
    callbackUrl: fc.option(anyUrl()),
    callbackEvents: fc.option(fc.constantFrom('terminal', 'every_attempt')),
    tags: strings(20),
    timeoutSeconds: fc.option(fc.integer({ min: 1, max: 300 })),
    retryDelays: fc.option(fc.array(fc.integer({ min: 1, max: 86_400 }), { minLength: 1, maxLength: 10 })),
    retriesEnabled: fc.option(fc.boolean()),
    successAssertions: fc.option(fc.array(assertion, { maxLength: 3 })),
    cron: fc.option(
      fc.record({ cronId: fc.nat(), tickMs: fc.integer({ min: T0, max: T0 + 1e9 }), isManual: fc.boolean() }),
    ),
    callDepth,
    trace,
    bodyEncoding: fc.constantFrom(...BODY_ENCODINGS),
    recordResponses: fc.constant('none' as const),
  },
  {
    requiredKeys: [
      'url',
      'method',
      'headers',
      'payload',
      'callbackUrl',
      'callbackEvents',
      'tags',
      'timeoutSeconds',
      'retryDelays',
      'retriesEnabled',
      'successAssertions',
      'cron',
    ],
  },
)

const settings: fc.Arbitrary<ChainSettings> = fc.record({
  timeoutSeconds: fc.integer({ min: 1, max: 300 }),
  retriesEnabled: fc.boolean(),
  retryDelays: fc.array(fc.integer({ min: 1, max: 86_400 }), { minLength: 1, maxLength: 10 }),
  noRetryStatuses: fc.array(fc.integer({ min: 400, max: 599 }), { maxLength: 3 }),
  retryJitterPercent: fc.constantFrom(0, 0, 30, 100),
  successAssertions: fc.array(assertion, { maxLength: 10 }),
  alertsEnabled: fc.boolean(),
  dlqRetentionDays: fc.constantFrom(...DLQ_RETENTION_DAYS),
  callbackEvents: fc.constantFrom('terminal', 'every_attempt'),
  recordResponses: fc.constantFrom('all', 'all', 'none'),
})

/** The record as the scripts write it around a request. */
function recordOf(options: {
  request: JobRequest
  attempt?: number
  losses?: number
  createdLagMs?: number
  timeoutSeconds?: number
  earlier?: readonly AttemptSummary[]
}) {
  const { inline, large } = encodeRequest(options.request)
  const { hash } = encodeSettings(DEFAULT_QUEUE_SETTINGS)
  const { attempt = 1, losses = 0, createdLagMs, timeoutSeconds = 30, earlier = [] } = options
  const head = [
    T0,
    attempt.toString(36),
    losses,
    large === '' ? 0 : 1,
    String(timeoutSeconds).padStart(3, '0'),
    hash,
    createdLagMs ?? '',
  ].join('')
  const chain = earlier.length === 0 ? '' : encodeAttempts(earlier)
  return { record: `${head}|${chain}${inline}`, large: large === '' ? null : large, hash }
}

function roundTrip(original: JobRequest): JobRequest {
  const { record, large } = recordOf({ request: original })
  return decodeRequest(decodeRecord(record, large).requestPart ?? 'unread')
}

describe('a request', () => {
  test('comes back as it was', () => {
    fc.assert(
      fc.property(request, (original) => {
        expect(roundTrip(original)).toEqual(original)
      }),
    )
  })

  test('comes back with its payload’s very text', () => {
    fc.assert(
      fc.property(text(200), (payload) => {
        expect(roundTrip(jobRequest({ payload })).payload).toBe(payload)
      }),
    )
  })

  test.each([
    ['line breaks in the payload', jobRequest({ payload: '{\n  "a":\n1\n}\n' })],
    ['an empty payload', jobRequest({ payload: '' })],
    ['a bar and line breaks in a header', jobRequest({ headers: { 'X-A': '|\n|' } })],
    [
      'a header called __proto__',
      jobRequest({ headers: JSON.parse('{"__proto__":"x"}') as Record<string, string> }),
    ],
    ['headers in their order', jobRequest({ headers: { Zeta: '1', alpha: '2' } })],
  ])('comes back with %s', (_, original) => {
    const back = roundTrip(original)
    expect(back).toEqual(original)
    expect(Object.entries(back.headers)).toEqual(Object.entries(original.headers))
  })

  test('takes no room for what it leaves to its queue', () => {
    expect(encodeRequest(jobRequest())).toEqual({ inline: '\n["http://target.test/"]', large: '' })
    expect(encodeRequest(jobRequest({ payload: '1' })).inline).toBe('\n["http://target.test/"]\n1')
  })
})

describe('a large request', () => {
  const bulk = 'x'.repeat(INLINE_REQUEST_BYTES_MAX)

  test('leaves its head in the record when the payload is what is large', () => {
    const original = jobRequest({ headers: { a: 'b' }, payload: JSON.stringify(bulk) })
    const { inline, large } = encodeRequest(original)
    expect(inline).toContain('target.test')
    expect(large).toBe(`\n${original.payload}`)
    expect(roundTrip(original)).toEqual(original)
  })

  test.each([
    ['with a payload', '{"a":1}'],
    ['without one', null],
  ])('with huge headers leaves in the record what lists show, %s', (_, payload) => {
    const tags = { customer: '42' }
    const successAssertions = [{ type: 'body_contains' as const, value: bulk }]
    const original = jobRequest({ headers: { a: bulk, b: bulk }, payload, tags, successAssertions })
    const { inline } = encodeRequest(original)
    expect(inline.length).toBeLessThan(100)
    expect(roundTrip(original)).toEqual(original)
    const left = { headers: {}, payload: null, successAssertions: null }
    expect(decodeRequest(inline)).toEqual({ ...original, ...left })
  })

  test('is one over 4 KiB, counted in bytes', () => {
    const room = INLINE_REQUEST_BYTES_MAX - encodeRequest(jobRequest({ payload: '' })).inline.length + 1
    expect(encodeRequest(jobRequest({ payload: 'x'.repeat(room) })).large).toBe('')
    expect(encodeRequest(jobRequest({ payload: 'x'.repeat(room + 1) })).large).not.toBe('')
    expect(encodeRequest(jobRequest({ payload: 'é'.repeat(room / 2 - 1) })).large).toBe('')
    expect(encodeRequest(jobRequest({ payload: 'é'.repeat(room / 2 + 1) })).large).not.toBe('')
    expect(encodeRequest(jobRequest({ payload: '€'.repeat(room / 3 + 1) })).large).not.toBe('')
  })

  test('comes back as it was, whatever is large', () => {
    const filling = fc.constantFrom('', bulk)
    fc.assert(
      fc.property(request, filling, filling, fc.option(filling), (base, header, tag, payload) => {
        const original = {
          ...base,
          headers: { ...base.headers, 'X-Bulk': header },
          tags: { ...base.tags, bulk: tag },
          payload: payload === null ? null : JSON.stringify(payload),
        }
        expect(roundTrip(original)).toEqual(original)
      }),
    )
  })

  test('whose tail was not read says so, and still shows what stands in the record', () => {
    const { record } = recordOf({ request: jobRequest({ payload: JSON.stringify(bulk) }) })
    const decoded = decodeRecord(record, null)
    expect(decoded.requestPart).toBeNull()
    expect(decodeRequest(decoded.inlinePart).url).toBe('http://target.test/')
  })
})

describe('a record', () => {
  test('tells what stands in its head', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 11 }),
        fc.integer({ min: 0, max: 9 }),
        fc.integer({ min: 1, max: 300 }),
        fc.nat({ max: 366 * 86_400_000 }),
        (attemptNumber, losses, timeoutSeconds, createdLagMs) => {
          const { record, hash } = recordOf({
            request: jobRequest(),
            attempt: attemptNumber,
            losses,
            timeoutSeconds,
            createdLagMs,
          })
          expect(decodeRecord(record, null)).toMatchObject({
            dueMs: T0,
            createdAtMs: T0 - createdLagMs,
            attempt: attemptNumber,
            losses,
            isLarge: false,
            timeoutSeconds,
            settingsHash: hash,
            earlier: [],
          })
        },
      ),
    )
  })

  test('without a lag was created when it was due', () => {
    expect(decodeRecord(recordOf({ request: jobRequest() }).record, null).createdAtMs).toBe(T0)
  })

  test('tells the chain’s earlier attempts, whatever their messages hold', () => {
    fc.assert(
      fc.property(fc.array(attempt, { minLength: 1, maxLength: 10 }), request, (earlier, original) => {
        const { record, large } = recordOf({ request: original, earlier, attempt: earlier.length + 1 })
        const decoded = decodeRecord(record, large)
        expect(decoded.earlier).toEqual(earlier)
        expect(decodeRequest(decoded.requestPart ?? 'unread')).toEqual(original)
      }),
    )
  })
})

describe('the trace of a request', () => {
  const plain: JobRequest = {
    url: 'http://a.test/',
    method: 'POST',
    headers: {},
    payload: null,
    callbackUrl: null,
    callbackEvents: null,
    tags: {},
    timeoutSeconds: null,
    retryDelays: null,
    retriesEnabled: null,
    successAssertions: null,
    cron: null,
  }
  const parent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`

  test('stands behind all that the version before knows, and takes nothing where there is none', () => {
    expect(encodeRequest(plain).inline).toBe('\n["http://a.test/"]')
    const meta: unknown = JSON.parse(encodeRequest({ ...plain, trace: { parent, state: 'a=1' } }).inline)
    expect(meta).toEqual(['http://a.test/', 1, ...Array<number>(13).fill(0), parent, 'a=1'])
  })

  test('that is damaged is left out: the call needs none', () => {
    const written = encodeRequest({ ...plain, trace: { parent } }).inline
    expect(decodeRequest(written.replace('-01"', '-zz"'))).toEqual(plain)
  })
})

describe('a finished chain', () => {
  test('comes back with all that is kept of it', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('success', 'failed_no_retries', 'dead_lettered'),
        fc.array(attempt, { minLength: 1, maxLength: 11 }),
        request,
        fc.option(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })),
        (end, attempts, original, replayedAs) => {
          const { headers, payload, callDepth: _, trace: whole, ...kept } = original
          const hadNoPayload = payload === null
          const record = { end, attempts, request: original, replayedAs, hadNoPayload }
          expect(decodeFinished(encodeFinished(record))).toEqual({
            end,
            attempts,
            request: {
              ...kept,
              headers: JSON.stringify(headers).length <= 1_024 ? headers : null,
              ...(whole !== undefined && { trace: { parent: whole.parent } }),
            },
            replayedAs,
            hadNoPayload,
          })
        },
      ),
    )
  })

  test('holds no payload, and headers only while they are short', () => {
    const keptOf = (headers: Record<string, string>) => {
      const original = jobRequest({ headers, payload: '"secret"' })
      const record = encodeFinished({
        end: 'success',
        attempts: [],
        request: original,
        replayedAs: null,
        hadNoPayload: false,
      })
      expect(record).not.toContain('secret')
      return decodeFinished(record).request.headers
    }
    expect(keptOf({ 'X-A': 'b' })).toEqual({ 'X-A': 'b' })
    expect(keptOf({ 'X-A': 'x'.repeat(2_000) })).toBeNull()
  })

  test('keeps what it did not keep of itself, when a replay writes it again', () => {
    const original = jobRequest({ headers: { 'X-A': 'x'.repeat(2_000) } })
    const first = decodeFinished(
      encodeFinished({
        end: 'dead_lettered',
        attempts: [],
        request: original,
        replayedAs: null,
        hadNoPayload: false,
      }),
    )
    expect(decodeFinished(encodeFinished(first))).toEqual(first)
  })

  test('takes no room for what is usual', () => {
    const record = encodeFinished({
      end: 'success',
      attempts: [],
      request: jobRequest(),
      replayedAs: null,
      hadNoPayload: false,
    })
    expect(record).toBe('["s",[],"http://target.test/"]')
  })
})

describe('settings', () => {
  test('come back as they were', () => {
    fc.assert(
      fc.property(settings, (original) => {
        expect(decodeSettings(encodeSettings(original).json)).toEqual(original)
      }),
    )
  })

  test('have one name per content, whatever else a queue holds and in whatever order', () => {
    fc.assert(
      fc.property(settings, (original) => {
        const reordered = Object.fromEntries(Object.entries(original).reverse()) as unknown as ChainSettings
        const live = { ...reordered, isActive: false, maxParallelism: 3, strictParallelism: true }
        expect(encodeSettings(live)).toEqual(encodeSettings(original))
      }),
    )
  })

  test('have another name for another content', () => {
    fc.assert(
      fc.property(settings, settings, (one, other) => {
        const [a, b] = [encodeSettings(one), encodeSettings(other)]
        expect(a.hash === b.hash).toBe(a.json === b.json)
      }),
    )
  })

  test('keep their name for ever: it stands in every stored job', () => {
    const { hash, json } = encodeSettings(DEFAULT_QUEUE_SETTINGS)
    expect(json).toBe('[30,true,[60,1800,10800],[],false,14,"terminal"]')
    expect(hash).toBe('7wS3I9UTHCU')
  })

  test('have names that are never the system’s', () => {
    expect(encodeSettings(DEFAULT_QUEUE_SETTINGS).hash).toHaveLength(SYSTEM_SETTINGS_HASH.length)
  })
})

describe('a callback', () => {
  const system = fc.record(
    {
      url: anyUrl(),
      team: fc.constant('default'),
      webhookId: text(40),
      body: text(200),
      callDepth,
      trace,
    },
    { requiredKeys: ['url', 'team', 'webhookId', 'body'] },
  )

  test('is read by the version before, which knows four of its parts', () => {
    const whole = { url: 'http://a.test/', team: 'default', webhookId: 'x_cb', body: '{}' }
    const parent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`
    expect(encodeSystemRequest(whole)).toBe('\n["http://a.test/","default","x_cb"]\n{}')
    expect(encodeSystemRequest({ ...whole, trace: { parent } })).toBe(
      `\n["http://a.test/","default","x_cb",0,"${parent}"]\n{}`,
    )
  })

  test('comes back as it was', () => {
    fc.assert(
      fc.property(system, (original) => {
        expect(decodeSystemRequest(encodeSystemRequest(original))).toEqual(original)
      }),
    )
  })

  test('comes back from its record once the script has put the due time before it', () => {
    fc.assert(
      fc.property(system, fc.integer({ min: 1, max: 300 }), (original, timeoutSeconds) => {
        const record = decodeRecord(`${T0}${encodeSystemRecord(original, timeoutSeconds)}`, null)
        expect(record).toMatchObject({
          dueMs: T0,
          attempt: 1,
          losses: 0,
          isLarge: false,
          timeoutSeconds,
          settingsHash: SYSTEM_SETTINGS_HASH,
          earlier: [],
        })
        expect(decodeSystemRequest(record.requestPart ?? 'unread')).toEqual(original)
      }),
    )
  })
})
