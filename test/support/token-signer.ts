import { generateKeyPairSync, sign } from 'node:crypto'

export const ISSUER = 'https://kubernetes.default.svc'

const KEYS = {
  RS256: { hash: 'sha256', pair: () => generateKeyPairSync('rsa', { modulusLength: 2048 }) },
  ES256: { hash: 'sha256', pair: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }) },
  ES384: { hash: 'sha384', pair: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }) },
  ES512: { hash: 'sha512', pair: () => generateKeyPairSync('ec', { namedCurve: 'P-521' }) },
} as const

export interface TokenSigner {
  /** Public, as in a JWK set. */
  readonly jwk: Readonly<Record<string, unknown>>
  /** @param header beside, or in place of, the one that fits */
  sign(claims?: object, header?: object): string
}

/** Signs JWTs as a cluster does. */
export function createSigner(algorithm: keyof typeof KEYS = 'ES256', keyId = 'key-1'): TokenSigner {
  const { hash, pair } = KEYS[algorithm]
  const { publicKey, privateKey } = pair()
  return {
    jwk: { ...publicKey.export({ format: 'jwk' }), kid: keyId, alg: algorithm, use: 'sig' },
    sign: (claims = {}, header = {}) => {
      const signed = partsOf({ alg: algorithm, kid: keyId, ...header }, { iss: ISSUER, ...claims })
      const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const
      return `${signed}.${sign(hash, Buffer.from(signed), key).toString('base64url')}`
    },
  }
}

/** A token that nobody signed. */
export function madeUp(claims: object = {}, header: object = {}): string {
  return `${partsOf({ alg: 'RS256', ...header }, claims)}.c2ln`
}

function partsOf(header: object, claims: object): string {
  return [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
}
