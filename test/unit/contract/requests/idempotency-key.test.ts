import { describe, expect, test } from 'vitest'
import { accepted, GOOD, refused } from '../../../support/engine/push-fixture.ts'

const keyOf = (header: string) => accepted(GOOD, { idempotencyKey: header }).idempotency?.key
const fingerprintOf = (body: unknown) => accepted(body, { idempotencyKey: 'k' }).idempotency?.fingerprint

test('quoted and bare name the same key', () => {
  expect(keyOf('order-1')).toBe('order-1')
  expect(keyOf('"order-1"')).toBe('order-1')
  expect(keyOf(' "a\\"b\\\\c" ')).toBe('a"b\\c')
  expect(keyOf('"half')).toBe('"half')
  expect(keyOf('k'.repeat(255))).toBe('k'.repeat(255))
  expect(keyOf(`"${'k'.repeat(255)}"`)).toBe('k'.repeat(255))
})

test.each([
  ['', 'The idempotency key field is required.'],
  ['""', 'The idempotency key field is required.'],
  ['a b', 'The idempotency key field must be visible ASCII characters.'],
  ['a, b', 'The idempotency key field must be visible ASCII characters.'],
  ['schl\u00fcssel', 'The idempotency key field must be visible ASCII characters.'],
  ['k'.repeat(256), 'The idempotency key field must not be greater than 255 characters.'],
])('%j is no key', (header, text) => {
  expect(refused(GOOD, { idempotencyKey: header })).toEqual({
    message: text,
    errors: { idempotency_key: [text] },
  })
})

describe('the fingerprint', () => {
  const full = { ...GOOD, headers: { 'X-A': '1' }, tags: { a: 'b' }, delay: 5 }

  test('is a SHA-256 in base64url', () => {
    expect(fingerprintOf(full)).toMatch(/^[A-Za-z0-9_-]{43}$/)
  })

  test('does not see white space, order of fields and defaults written out', () => {
    const { queue, ...rest } = full
    expect(fingerprintOf(JSON.stringify({ ...rest, method: 'POST', payload: null, queue }, null, 2))).toBe(
      fingerprintOf(full),
    )
  })

  test('does not see in which order headers and tags stand', () => {
    const text = (headers: string, tags: string) =>
      `{"queue":"q","url":"${GOOD.url}","headers":{${headers}},"tags":{${tags}}}`
    expect(fingerprintOf(text('"X-B":"1","X-A":"2"', '"b":"1","a":"2"'))).toBe(
      fingerprintOf(text('"X-A":"2","X-B":"1"', '"a":"2","b":"1"')),
    )
    expect(fingerprintOf(text('"X-A":"1","X-B":"2"', ''))).not.toBe(
      fingerprintOf(text('"X-A":"2","X-B":"1"', '')),
    )
  })

  test.each([
    { queue: 'other' },
    { url: 'https://example.com/other' },
    { method: 'PUT' },
    { headers: { 'X-A': '2' } },
    { payload: { a: 1 } },
    { callback_url: 'https://example.com' },
    { delay: 6 },
    { timeout_seconds: 5 },
    { retry_delays: [5] },
    { retries_enabled: false },
    { tags: { a: 'c' } },
    { callback_events: 'terminal' },
  ])('sees another %j', (change) => {
    expect(fingerprintOf({ ...full, ...change })).not.toBe(fingerprintOf(full))
  })

  test('sees another spelling of a payload, which is sent as written', () => {
    const text = (payload: string) => `{"queue":"q","url":"${GOOD.url}","payload":${payload}}`
    expect(fingerprintOf(text('{"a":1}'))).not.toBe(fingerprintOf(text('{"a":1.0}')))
  })
})
