import { describe, expect, test } from 'vitest'
import { isInTime, type Jwt, readToken } from '../../../../src/kubernetes/access/jwt.ts'
import { madeUp } from '../../../support/token-signer.ts'

const read = (claims: object, header: object = {}) => readToken(madeUp(claims, header)) as Jwt

describe('what a token says', () => {
  test('is read as far as it has the right form', () => {
    const kubernetes = {
      namespace: 'a',
      serviceaccount: { name: 'b', uid: 'u-1' },
      pod: { uid: 'u-2' },
      node: 7,
    }
    const claims = { iss: 'i', sub: 's', aud: ['x', 7, 'y'], nbf: 10, exp: 20, 'kubernetes.io': kubernetes }
    expect(read(claims, { kid: 'k' })).toMatchObject({
      algorithm: 'RS256',
      keyId: 'k',
      issuer: 'i',
      subject: 's',
      audiences: ['x', 'y'],
      boundTo: ['u-1', 'u-2', '', ''],
      notBeforeMs: 10_000,
      expiresAtMs: 20_000,
      signature: 'c2ln',
    })
    expect(read({ iss: 7, sub: null, aud: 'one', nbf: '1', 'kubernetes.io': 'x' }, { kid: 7 })).toMatchObject(
      {
        keyId: null,
        issuer: null,
        subject: null,
        audiences: ['one'],
        boundTo: ['', '', '', ''],
        notBeforeMs: null,
        expiresAtMs: null,
      },
    )
  })

  test.each([
    ['no JWT', 'a.b', 'opaque'],
    ['parts that are no JSON', 'a.b.c', null],
    ['claims that are no object', `${madeUp().split('.')[0]}.MQ.c2ln`, null],
    ['no algorithm', madeUp({}, { alg: undefined }), null],
    ['one of more than 8 KiB', madeUp({ sub: 'x'.repeat(8_192) }), null],
    ['a shared secret', madeUp({}, { alg: 'HS256' }), 'opaque'],
  ])('is nothing for %s', (_what, token, expected) => {
    expect(readToken(token)).toBe(expected)
  })
})

test('a token counts from a minute before it says so until it ends', () => {
  const jwt = read({ nbf: 100, exp: 200 })
  expect([39_999, 40_000, 199_999, 200_000].map((nowMs) => isInTime(jwt, nowMs))).toEqual([
    false,
    true,
    true,
    false,
  ])
  expect(isInTime(read({}), 0)).toBe(true)
})
