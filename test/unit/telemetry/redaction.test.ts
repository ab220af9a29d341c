import { describe, expect, test } from 'vitest'
import { redactFields, redactText } from '../../../src/telemetry/redaction.ts'

describe('fields', () => {
  test.each([
    'authorization',
    'Authorization',
    'proxy-authorization',
    'cookie',
    'set-cookie',
    'token',
    'apiToken',
    'api_token',
    'signingSecrets',
    'password',
    'payload',
    'responseBody',
    'X-Punctual-Signature',
  ])('%s is redacted whatever it holds', (name) => {
    expect(redactFields({ [name]: 's3cret' })).toEqual({ [name]: '[redacted]' })
    expect(redactFields({ [name]: { deep: ['s3cret'] } })).toEqual({ [name]: '[redacted]' })
  })

  test.each(['fencingToken', 'payloadBytes', 'bodyTruncated', 'secretary', 'queue'])('%s is kept', (name) => {
    expect(redactFields({ [name]: 7 })).toEqual({ [name]: 7 })
  })

  test('nested objects, maps and header pairs are judged too', () => {
    const fields = {
      request: { headers: { authorization: 'Bearer abc' } },
      sent: [
        ['authorization', 'abc'],
        ['accept', 'text/plain'],
      ],
      map: new Map([['cookie', 'a=1']]),
    }
    expect(redactFields(fields)).toEqual({
      request: { headers: { authorization: '[redacted]' } },
      sent: [
        ['authorization', '[redacted]'],
        ['accept', 'text/plain'],
      ],
      map: { cookie: '[redacted]' },
    })
  })

  test('an error keeps type, code, message and cause, all cleaned', () => {
    const error = new TypeError('GET https://u:p@api.example/x?key=1 failed', {
      cause: Object.assign(new Error('Bearer abc.def'), { code: 'ECONNRESET' }),
    })
    const { error: logged } = redactFields({ error }) as { error: Record<string, unknown> }
    expect(logged).toMatchObject({
      type: 'TypeError',
      message: 'GET https://api.example/x?[redacted] failed',
      cause: { code: 'ECONNRESET', message: 'Bearer [redacted]' },
    })
    expect(JSON.stringify(logged)).not.toMatch(/key=1|abc\.def|u:p/)
  })

  test('a circular or very deep value ends, bytes are counted, big lists are cut', () => {
    const loop: Record<string, unknown> = {
      bytes: new Uint8Array(3),
      list: Array.from({ length: 500 }, () => 1n),
    }
    loop.self = loop
    const text = JSON.stringify(redactFields(loop))
    expect(text).toContain('[3 bytes]')
    expect(text).toContain('[too deep]')
    expect(text.length).toBeLessThan(10_000)
  })
})

describe('text', () => {
  test.each([
    ['https://api.example/a/b?token=1&x=2#frag', 'https://api.example/a/b?[redacted]'],
    ['https://api.example/a#frag', 'https://api.example/a'],
    ['redis://default:hunter2@redis:6379/0', 'redis://redis:6379/0'],
    ['two http://a/?x http://b/?y', 'two http://a/?[redacted] http://b/?[redacted]'],
    ['Authorization: Basic dXNlcjpwYXNz', 'Authorization: Basic [redacted]'],
    ['key whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'key [redacted]'],
    ['a question? yes: 3 > 2', 'a question? yes: 3 > 2'],
  ])('%s', (text, expected) => {
    expect(redactText(text)).toBe(expected)
  })

  test('long text is cut and says so', () => {
    expect(redactText('x'.repeat(5_000))).toMatch(/^x{2000}… \(5000 characters\)$/)
  })
})
