import { expect, test } from 'vitest'
import { answerText } from '../../../src/senders/webhooks/answer.ts'
import { RETRY_AFTER_MS_MAX, retryAfterMs } from '../../../src/senders/webhooks/retry-after.ts'
import { NOTIFIED_AT_MS } from '../../support/notifications.ts'

const URL_TEXT = 'https://hooks.example.com/in/qq7%20SECRET?key=sesame#part'
const said = (body: string, status = 404) => answerText(status, Buffer.from(body), URL_TEXT)

test.each([
  ['ok', '404 ok'],
  ['', '404'],
  ['no_service\n', '404 no_service'],
  ['{"message": "Unknown Webhook", "code": 10015}', '404 Unknown Webhook (10015)'],
  ['{"message": "no code"}', '404 no code'],
  ['{"error": "no hook"}', '404 no hook'],
  ['{"id": "1", "content": ""}', '404'],
  ['{"message": "cut', '404'],
  ['<!DOCTYPE html><html>…', '404'],
  ['a\r\n\u001b[31mb\u202e', '404 a [31mb'],
  ['Cannot POST /in/qq7%20SECRET', '404'],
  ['no such path: QQ7 secret', '404'],
  ['{"message": "key sesame is not known"}', '404'],
])('the answer %j is shown as %j', (body, expected) => {
  expect(said(body)).toBe(expected)
})

test('a long answer is cut', () => {
  expect(said('é'.repeat(5_000)).length).toBeLessThanOrEqual(170)
})

const wait = (headers: Record<string, string>, body = '') =>
  retryAfterMs({ headers: Object.entries(headers), body: Buffer.from(body) }, NOTIFIED_AT_MS)

test.each([
  [{}, '', null],
  [{ 'Retry-After': '30' }, '', 30_000],
  [{ 'retry-after': ' 1.5 ' }, '', 1_500],
  [{ 'retry-after': 'Sun, 22 Nov 2026 22:10:13 GMT' }, '', 10_000],
  [{ 'retry-after': 'Sun, 22 Nov 2020 22:10:13 GMT' }, '', 0],
  [{ 'retry-after': '-1' }, '', null],
  [{ 'retry-after': 'soon' }, '', null],
  [{ 'retry-after': '99999999' }, '', RETRY_AFTER_MS_MAX],
  [{ 'retry-after': '2' }, '{"retry_after": 0.529}', 529],
  [{ 'retry-after': '529', 'x-ratelimit-reset-after': '0.75' }, '{"retry_after": 529}', 750],
  [{ 'retry-after': '2' }, '{"retry_after": "x"}', 2_000],
  [{ 'retry-after': '2' }, 'null', 2_000],
])('%o and %j ask to wait for %s ms', (headers, body, expected) => {
  expect(wait(headers as Record<string, string>, body)).toBe(expected)
})
