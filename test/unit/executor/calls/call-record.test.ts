import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CALL_RECORD_BODY_BYTES_MAX } from '../../../../src/domain/limits.ts'
import { judgeCall } from '../../../../src/executor/calls/call-judgement.ts'
import { recordCall } from '../../../../src/executor/calls/call-record.ts'
import { anyText } from '../../../support/any-text.ts'
import { answered, claimedJob, failedCall } from '../executor-fixture.ts'

function record(payload: string | null, result: Parameters<typeof recordCall>[1] = answered()) {
  const work = claimedJob({ jobId: 48, attempt: 3, request: { payload } })
  return recordCall(work, result, judgeCall(result, work.settings))
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

test('notes that the caller did not read the whole body', () => {
  expect(record(null, answered({ body: 'x', bodyTruncated: true })).response).toEqual({
    status: 200,
    headers: [],
    body: 'x',
    bodyTruncated: true,
  })
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
