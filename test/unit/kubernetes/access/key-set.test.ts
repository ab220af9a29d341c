import { createHmac, generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type Jwt, readToken } from '../../../../src/kubernetes/access/jwt.ts'
import { isSignedBy, readKeySet } from '../../../../src/kubernetes/access/key-set.ts'
import { createSigner } from '../../../support/token-signer.ts'

const signer = createSigner('RS256')
const another = createSigner('RS256')

function read(token: string): Jwt {
  const jwt = readToken(token)
  if (jwt === null || jwt === 'opaque') throw new Error('no JWT')
  return jwt
}

function isSigned(token: string, jwk: object): boolean {
  const key = readKeySet({ keys: [jwk] }).get('key-1')
  return key !== undefined && isSignedBy(key, read(token))
}

describe('a signature', () => {
  test.each(['RS256', 'ES256', 'ES384', 'ES512'] as const)('by %s holds for its key and no other', (name) => {
    const [own, other] = [createSigner(name), createSigner(name)]
    const token = own.sign({ sub: 'ann' })
    expect(isSigned(token, own.jwk)).toBe(true)
    expect(isSigned(token, other.jwk)).toBe(false)
    const [head, , signature] = token.split('.')
    const claims = Buffer.from('{"sub":"bob"}').toString('base64url')
    expect(isSigned(`${head}.${claims}.${signature}`, own.jwk)).toBe(false)
  })

  test('is not taken by another algorithm than the one of the key', () => {
    const token = signer.sign({}, { alg: 'ES256' })
    expect(isSigned(token, signer.jwk)).toBe(false)
    expect(isSigned(signer.sign({}, { alg: 'PS256' }), signer.jwk)).toBe(false)
  })

  test('made of the public key as a shared secret makes no JWT that could be looked up', () => {
    const [head, claims] = signer.sign({}, { alg: 'HS256' }).split('.')
    const mac = createHmac('sha256', JSON.stringify(signer.jwk)).update(`${head}.${claims}`)
    expect(readToken(`${head}.${claims}.${mac.digest('base64url')}`)).toBe('opaque')
    expect(readToken(signer.sign({}, { alg: 'none' }))).toBeNull()
    expect(readToken(signer.sign({}, { alg: 'NonE' }))).toBeNull()
  })
})

describe('a key set', () => {
  const small = generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey.export({ format: 'jwk' })

  test.each([
    ['a small key', { ...small, kid: 'key-1', alg: 'RS256' }],
    ['a key for encryption', { ...signer.jwk, use: 'enc' }],
    ['a key without an id', { ...signer.jwk, kid: undefined }],
    ['a key of another algorithm', { ...signer.jwk, alg: 'RS512' }],
    ['a shared secret', { kty: 'oct', k: 'c2VjcmV0', kid: 'key-1', alg: 'HS256' }],
    ['a damaged key', { ...signer.jwk, n: 7 }],
    ['a curve that does not fit', { ...createSigner('ES256').jwk, alg: 'ES384' }],
    ['nothing', null],
  ])('leaves out %s and keeps the others', (_what, jwk) => {
    const keys = readKeySet({ keys: [jwk, { ...another.jwk, kid: 'key-2' }] })
    expect([...keys.keys()]).toEqual(['key-2'])
  })

  test('knows the algorithm of a key that does not name it', () => {
    const { alg: _alg, use: _use, ...bare } = signer.jwk
    expect(isSigned(signer.sign(), bare)).toBe(true)
  })

  test('has at most a hundred keys', () => {
    const keys = Array.from({ length: 101 }, (_, at) => ({ ...signer.jwk, kid: `key-${at}` }))
    expect(readKeySet({ keys }).size).toBe(100)
  })

  test.each([null, 'text', {}, { keys: 7 }])('of %j is empty', (set) => {
    expect(readKeySet(set).size).toBe(0)
  })
})
