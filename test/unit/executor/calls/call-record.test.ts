import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CALL_RECORD_BODY_BYTES_MAX, CALL_RECORD_HEADER_BYTES_MAX } from '../../../../src/domain/limits.ts'
import { judgeCall } from '../../../../src/executor/calls/call-judgement.ts'
import { recordCall } from '../../../../src/executor/calls/call-record.ts'
import { anyText } from '../../../support/any-text.ts'
import { answered, claimedJob, failedCall } from '../executor-fixture.ts'

function record(
  payload: string | null,
  result: Parameters<typeof recordCall>[1] = answered(),
  masked: ReadonlySet<string> = new Set(),
) {
  const work = claimedJob({ jobId: 48, attempt: 3, request: { payload } })
  return recordCall(work, result, { judgement: judgeCall(result, work.settings), masked })
}

test('keeps the exchange as it was sent and received', () => {
  const result = answered({
    status: 503,
    headers: [['Retry-After', '3']],
    body: 'later',
    durationMs: 12.6,
    requestHeaders: [['Accept', '*/*']],
    timings: { dnsMs: 1, connectMs: 2, tlsMs: null, firstByteMs: 3, bodyMs: 4 },
  })
  expect(record('{"a":1}', result)).toEqual({
    jobId: 48,
    attempt: 3,
    startedAtMs: claimedJob().startedAtMs,
    durationMs: 13,
    request: {
      method: 'POST',
      url: 'http://target.test/',
      headers: [['Accept', '*/*']],
      body: '{"a":1}',
      bodyTruncated: false,
    },
    response: { status: 503, headers: [['Retry-After', '3']], body: 'later', bodyTruncated: false },
    failureReason: 'http_server_error',
    errorMessage: 'The target answered 503.',
    timings: { queueWaitMs: 1_000, dnsMs: 1, connectMs: 2, tlsMs: null, firstByteMs: 3, bodyMs: 4 },
  })
})

test('no payload is null, an empty response an empty text', () => {
  expect(record(null).request).toMatchObject({ body: null, bodyTruncated: false })
  expect(record(null).response).toMatchObject({ body: '', bodyTruncated: false })
})

test('a call without an answer has no response', () => {
  expect(record('1', failedCall())).toMatchObject({ response: null, failureReason: 'connection_error' })
})

test('of a response that is not to be recorded only the status is kept', () => {
  const result = answered({
    status: 500,
    headers: [['X-Canary', 'canary']],
    body: 'canary',
    bodyTruncated: true,
    protocolNotes: ['Header line 2, canary, is none.'],
  })
  for (const recordResponses of ['none', 'of a version to come' as 'none'] as const) {
    const work = claimedJob({ request: { payload: 'sent' }, settings: { recordResponses } })
    const kept = recordCall(work, result, {
      judgement: judgeCall(result, work.settings),
      masked: new Set(),
    })
    expect(kept.response).toEqual({
      status: 500,
      headers: [],
      body: '',
      bodyTruncated: false,
      isLeftOut: true,
    })
    expect(kept).toMatchObject({ request: { body: 'sent' }, failureReason: 'http_server_error' })
    expect(JSON.stringify(kept)).not.toContain('canary')
  }
})

test('notes that the caller did not read the whole body', () => {
  expect(record(null, answered({ body: 'x', bodyTruncated: true })).response).toEqual({
    status: 200,
    headers: [],
    body: 'x',
    bodyTruncated: true,
  })
})

test('says what HTTP/1.1 does not allow in the response', () => {
  const protocolNotes = ['Content-Length is not a number.', 'The body did not end in time.']
  expect(record(null, answered({ protocolNotes })).response).toMatchObject({ protocolNotes })
  expect(record(null, answered()).response).not.toHaveProperty('protocolNotes')
})

test('keeps 16 KiB of headers, whole lines, and says so', () => {
  const OVERHEAD = 8
  const line = (bytes: number) => ['X', 'é'.repeat((bytes - OVERHEAD - 2) / 2) + 'a'] as const
  const half = line(CALL_RECORD_HEADER_BYTES_MAX / 2)
  const whole = record(null, answered({ headers: [half, half] })).response
  expect(whole?.headers).toHaveLength(2)
  expect(whole).not.toHaveProperty('headersTruncated')
  const [larger, small] = [line(CALL_RECORD_HEADER_BYTES_MAX / 2 + 2), line(20)]
  expect(record(null, answered({ headers: [half, larger, small] })).response).toMatchObject({
    headers: [half, small],
    headersTruncated: true,
  })
})

test('hides headers of the names that the team masks, and what they hold where the target repeats it', () => {
  const result = answered({
    headers: [
      ['x-customer', 'reply'],
      ['Server', 'customer-4711'],
    ],
    body: 'hello customer-4711',
    requestHeaders: [['X-Customer', 'customer-4711']],
  })
  const { request, response } = record(null, result, new Set(['x-customer']))
  expect(request.headers).toEqual([['X-Customer', '(hidden)']])
  expect(response).toMatchObject({
    headers: [
      ['x-customer', '(hidden)'],
      ['Server', '(hidden)'],
    ],
    body: 'hello (hidden)',
  })
  expect(record(null, result).request.headers).toEqual([['X-Customer', 'customer-4711']])
})

test('hides a secret that the end of a body cuts in two', () => {
  const requestHeaders = [['Authorization', 'Bearer s3cret-token']] as const
  const cut = answered({ requestHeaders, body: '{"auth":"Bearer s3cret-tok', isBodyCutShort: true })
  expect(record(null, cut).response?.body).not.toContain('s3cret')
})

describe('the cut at 16 KiB', () => {
  test('keeps a body of exactly that whole', () => {
    const body = 'x'.repeat(CALL_RECORD_BODY_BYTES_MAX)
    expect(record(body).request).toMatchObject({ body, bodyTruncated: false })
    expect(record(null, answered({ body })).response).toMatchObject({ body, bodyTruncated: false })
  })

  test('one byte more is cut off', () => {
    const body = 'x'.repeat(CALL_RECORD_BODY_BYTES_MAX + 1)
    const kept = body.slice(1)
    expect(record(body).request).toMatchObject({ body: kept, bodyTruncated: true })
    expect(record(null, answered({ body })).response).toMatchObject({ body: kept, bodyTruncated: true })
  })

  test('ends before a character that the caller cut in two', () => {
    const answer = answered({ bodyTruncated: true })
    const body = Buffer.from('x€').subarray(0, 3)
    expect(record(null, { ...answer, body }).response).toMatchObject({ body: 'x', bodyTruncated: true })
    expect(record(null, { ...answer, body, bodyTruncated: false }).response).toMatchObject({
      body: 'x\u{FFFD}',
    })
  })

  test.each(['é', '€', '😀'])('lies on a border of %s wherever the bound falls in it', (character) => {
    for (let lead = 0; lead < 4; lead += 1) {
      const body = 'x'.repeat(lead) + character.repeat(CALL_RECORD_BODY_BYTES_MAX)
      const { body: kept, bodyTruncated } = record(body).request
      expect(bodyTruncated).toBe(true)
      expect(body.startsWith(kept ?? '')).toBe(true)
      const bytes = Buffer.byteLength(kept ?? '')
      expect(bytes).toBeLessThanOrEqual(CALL_RECORD_BODY_BYTES_MAX)
      expect(bytes).toBeGreaterThan(CALL_RECORD_BODY_BYTES_MAX - Buffer.byteLength(character))
    }
  })

  test('any text is kept as a prefix of itself', () => {
    fc.assert(
      fc.property(anyText({ minLength: 1, maxLength: 20 }), (part) => {
        const body = part.repeat(Math.ceil((CALL_RECORD_BODY_BYTES_MAX + 4) / Buffer.byteLength(part)))
        expect(body.startsWith(record(body).request.body ?? 'not kept')).toBe(true)
      }),
      { numRuns: 20, examples: [['\uFEFFx']] },
    )
  })
})

test('a secret that the target repeats across the cut stays in no part', () => {
  const secret = 'Bearer 8f14e45fceea167a'
  for (let shown = 1; shown <= secret.length; shown += 1) {
    const lead = 'x'.repeat(CALL_RECORD_BODY_BYTES_MAX - shown)
    const body = `${lead}${secret}`
    const answer = { ...answered({ requestHeaders: [['Authorization', secret]] }), body: Buffer.from(body) }
    const cutByCaller = { ...answer, body: answer.body.subarray(0, CALL_RECORD_BODY_BYTES_MAX) }
    for (const result of [answer, { ...cutByCaller, bodyTruncated: true }]) {
      const { response } = record(null, result)
      expect(response?.body).toBe(shown === secret.length ? `${lead}(hidden)` : lead)
    }
  }
})

test('an answer that repeats a secret in another form is left out as a whole, and so is its header', () => {
  const secret = 'sk_live_8f14e45fceea167a'
  const encoded = Buffer.from(secret).toString('base64')
  const answer = answered({
    requestHeaders: [['Authorization', `Bearer ${secret}`]],
    headers: [
      ['X-Echo', `t=${encoded}`],
      ['X-Other', 'fine'],
    ],
  })
  const { response } = record(null, { ...answer, body: Buffer.from(`{"token":"${encoded}","ok":true}`) })
  expect(response?.body).toBe('(hidden)')
  expect(response?.headers).toEqual([
    ['X-Echo', '(hidden)'],
    ['X-Other', 'fine'],
  ])
})

test('an answer that repeats the password of Basic is shown without it', () => {
  const pair = Buffer.from('shop:correct-horse').toString('base64')
  const answer = answered({ requestHeaders: [['Authorization', `Basic ${pair}`]] })
  const { response } = record(null, { ...answer, body: Buffer.from('no such password: correct-horse') })
  expect(response?.body).toBe('no such password: (hidden)')
})
