import { describe, expect, test } from 'vitest'
import type { SuccessAssertion } from '../../../../src/domain/jobs/assertion.ts'
import { ERROR_MESSAGE_CHARACTERS_MAX } from '../../../../src/domain/limits.ts'
import { DEFAULT_QUEUE_SETTINGS } from '../../../../src/domain/jobs/queue-settings.ts'
import { judgeCall } from '../../../../src/executor/calls/call-judgement.ts'
import { answered, failedCall } from '../executor-fixture.ts'

function settingsWith(...successAssertions: SuccessAssertion[]) {
  return { ...DEFAULT_QUEUE_SETTINGS, successAssertions }
}

describe('the status', () => {
  test.each([
    [100, 'unknown'],
    [199, 'unknown'],
    [200, null],
    [204, null],
    [299, null],
    [300, 'http_redirect'],
    [302, 'http_redirect'],
    [399, 'http_redirect'],
    [400, 'http_client_error'],
    [404, 'http_client_error'],
    [499, 'http_client_error'],
    [500, 'http_server_error'],
    [503, 'http_server_error'],
    [599, 'http_server_error'],
    [600, 'unknown'],
    [999, 'unknown'],
  ])('%i is %s', (status, failureReason) => {
    expect(judgeCall(answered({ status }), settingsWith())).toEqual({
      failureReason,
      errorMessage: failureReason === null ? null : `The target answered ${status}.`,
      responseStatus: status,
    })
  })

  test('a call without an answer keeps its reason and has no status', () => {
    expect(judgeCall(failedCall('The connection was refused.'), settingsWith())).toEqual({
      failureReason: 'connection_error',
      errorMessage: 'The connection was refused.',
      responseStatus: null,
    })
  })
})

describe('assertions', () => {
  const answer = answered({ status: 201, found: new Set(['grüße']), durationMs: 250.4 })

  test.each<SuccessAssertion>([
    { type: 'status_code_equals', value: 201 },
    { type: 'body_contains', value: 'grüße' },
    { type: 'response_time_under_ms', value: 251 },
  ])('$type holds', (assertion) => {
    expect(judgeCall(answer, settingsWith(assertion)).failureReason).toBeNull()
  })

  test('of a coded body says which coding it has', () => {
    const coded = (coding: string) => answered({ headers: [['Content-Encoding', coding]] })
    const message = (coding: string) =>
      judgeCall(coded(coding), settingsWith({ type: 'body_contains', value: 'ok' })).errorMessage
    expect(message('gzip')).toBe(
      'The response body does not contain "ok": it is coded (gzip) and is searched as it came.',
    )
    expect(message('s3cret')).toBe(
      'The response body does not contain "ok": it is coded and is searched as it came.',
    )
    expect(message('identity')).toBe('The response body does not contain "ok".')
  })

  test('of a body that was cut short hold for what came of it', () => {
    const cut = answered({ found: new Set(['ok']), isBodyCutShort: true })
    expect(judgeCall(cut, settingsWith({ type: 'body_contains', value: 'ok' })).failureReason).toBeNull()
    expect(judgeCall(cut, settingsWith({ type: 'body_contains', value: 'end' }))).toEqual({
      failureReason: 'assertion_failed',
      errorMessage: 'The response body was cut short, and what came of it does not contain "end".',
      responseStatus: 200,
    })
  })

  test.each<[SuccessAssertion, string]>([
    [{ type: 'status_code_equals', value: 200 }, 'Expected status 200, got 201.'],
    [{ type: 'body_contains', value: 'GRÜSSE' }, 'The response body does not contain "GRÜSSE".'],
    [
      { type: 'response_time_under_ms', value: 250 },
      'Expected a response in under 250 ms, got one after 250 ms.',
    ],
  ])('%o is broken', (assertion, errorMessage) => {
    expect(judgeCall(answer, settingsWith(assertion))).toEqual({
      failureReason: 'assertion_failed',
      errorMessage,
      responseStatus: 201,
    })
  })

  test('all must hold; the first broken one is reported', () => {
    const settings = settingsWith(
      { type: 'status_code_equals', value: 201 },
      { type: 'body_contains', value: 'a' },
      { type: 'body_contains', value: 'b' },
    )
    expect(judgeCall(answer, settings).errorMessage).toBe('The response body does not contain "a".')
  })

  test('a status outside 2xx fails as itself, though the assertion expects it', () => {
    const settings = settingsWith({ type: 'status_code_equals', value: 404 })
    expect(judgeCall(answered({ status: 404 }), settings).failureReason).toBe('http_client_error')
  })
})

describe('the message', () => {
  test('is kept up to its bound and cut above it', () => {
    const atBound = 'x'.repeat(ERROR_MESSAGE_CHARACTERS_MAX)
    expect(judgeCall(failedCall(atBound), settingsWith()).errorMessage).toBe(atBound)
    expect(judgeCall(failedCall(`${atBound}x`), settingsWith()).errorMessage).toBe(`${atBound.slice(1)}…`)
  })

  test('is cut between characters, never within one', () => {
    for (const lead of ['', 'x']) {
      const message = lead + '😀'.repeat(ERROR_MESSAGE_CHARACTERS_MAX)
      const cut = judgeCall(failedCall(message), settingsWith()).errorMessage ?? ''
      expect(cut.isWellFormed(), `after ${lead.length} characters`).toBe(true)
      expect(cut.length).toBeLessThanOrEqual(ERROR_MESSAGE_CHARACTERS_MAX)
    }
  })

  test('quotes an excerpt of a long assertion, cut between characters', () => {
    for (const lead of ['', 'x']) {
      const assertion = { type: 'body_contains', value: lead + '😀'.repeat(100) } as const
      const message = judgeCall(answered(), settingsWith(assertion)).errorMessage ?? ''
      expect(message).not.toMatch(/\\ud/)
      expect(message.length).toBeLessThan(130)
    }
  })
})
