import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { answerText } from '../../../src/senders/webhooks/answer.ts'
import { RETRY_AFTER_MS_MAX, retryAfterMs } from '../../../src/senders/webhooks/retry-after.ts'
import { anyText } from '../../support/any-text.ts'
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

test('no answer shows a part of the URL, however it is repeated', () => {
  const secret = 'T0kén SECRET'
  const ways = [
    (text: string) => text,
    encodeURIComponent,
    (text: string) => encodeURIComponent(text).toLowerCase(),
    (text: string) => text.toUpperCase(),
    (text: string) => `<p>${text}</p>`,
    (text: string) => JSON.stringify({ message: text }),
    (text: string) => JSON.stringify({ error: `no ${text}`, code: 1 }),
  ]
  const urls = [
    `https://example.com/${encodeURIComponent(secret)}`,
    `https://example.com/a?b=${encodeURIComponent(secret)}&c`,
    `https://example.com/#${encodeURIComponent(secret)}`,
  ]
  fc.assert(
    fc.property(
      anyText({ maxLength: 20 }),
      anyText({ maxLength: 20 }),
      fc.constantFrom(...ways),
      fc.constantFrom(...urls),
      (before, after, way, url) => {
        const answer = answerText(404, Buffer.from(way(`${before}${secret}${after}`)), url)
        expect(answer.toUpperCase()).not.toMatch(/T0K(?:É|%C3%A9)N( |%20)SECRET/i)
      },
    ),
  )
})

test('no answer shows the beginning of a secret that is longer than the answer', () => {
  const token = 'eyJhbGciOi'.repeat(30)
  for (const body of [`Cannot POST /${token}`, JSON.stringify({ message: `Cannot POST /${token}` })]) {
    expect(answerText(404, Buffer.from(body), `https://example.com/${token}`)).toBe('404')
  }
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
