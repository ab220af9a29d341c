import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { forbiddenHeaderReason, invalidHeaderValue } from '../../../../src/domain/net/header-rules.ts'
import { anyText } from '../../../support/any-text.ts'

test.each([
  'Authorization',
  'Content-Type',
  'X-A',
  'accept-encoding',
  'x_y',
  "!#$%&'*+.^`|~",
  'Webhook',
  'X-Punctualx',
  'Proxy',
])('%s may be given', (name) => {
  expect(forbiddenHeaderReason(name)).toBeNull()
})

test.each([
  'Connection',
  'KEEP-ALIVE',
  'TE',
  'Trailer',
  'Transfer-Encoding',
  'content-length',
  'Upgrade',
  'Expect',
  'Host',
  'Proxy-Authorization',
  'proxy-connection',
  'HTTP2-Settings',
])('%s controls the connection', (name) => {
  expect(forbiddenHeaderReason(name)).toBe('controls the connection and cannot be set')
})

test.each(['webhook-id', 'Webhook-Signature', 'X-Punctual-Job-Id', 'x-punctual-'])('%s is ours', (name) => {
  expect(forbiddenHeaderReason(name)).toBe('is set by Punctual and cannot be given')
})

test.each(['', 'a b', 'a:b', 'a\r\nb', 'ä', 'a\0', 'a\t', '(a)', 'a/b'])('%j is no header name', (name) => {
  expect(forbiddenHeaderReason(name)).toBe('is not a valid header name')
})

test.each(['', 'a', 'a\tb', ' ~'])('%j is a header value', (value) => {
  expect(invalidHeaderValue(value)).toBe(false)
})

test.each(['a\r\nX-B: c', 'a\nb', 'a\rb', 'a\0', 'a\x7f', 'ä', '\u010a', '\u2028'])(
  '%j is no header value',
  (value) => {
    expect(invalidHeaderValue(value)).toBe(true)
  },
)

test('a value that passes has no byte that ends a line', () => {
  fc.assert(
    fc.property(anyText(), (value) => {
      if (invalidHeaderValue(value)) return
      expect(
        [...Buffer.from(value, 'latin1')].every((byte) => byte === 9 || (byte >= 32 && byte <= 126)),
      ).toBe(true)
      expect(Buffer.from(value, 'latin1').toString('latin1')).toBe(value)
    }),
  )
})
