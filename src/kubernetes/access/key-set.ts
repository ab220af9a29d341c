import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { Jwt } from './jwt.ts'

/** A cluster signs with one key, and keeps those before it for the life of their tokens. */
const KEYS_MAX = 100
/** A smaller key proves nothing, and with a larger one each check of a signature costs too much work. */
const RSA_BITS = { min: 2_048, max: 8_192 }

/**
 * The algorithms of service account tokens, as Kubernetes signs with no others, each with the only kind of key that it
 * goes with.
 */
const ALGORITHMS: Readonly<Record<string, { readonly hash: string; readonly curve: string | null }>> = {
  RS256: { hash: 'sha256', curve: null },
  ES256: { hash: 'sha256', curve: 'P-256' },
  ES384: { hash: 'sha384', curve: 'P-384' },
  ES512: { hash: 'sha512', curve: 'P-521' },
}

interface SigningKey {
  readonly algorithm: string
  readonly hash: string
  readonly publicKey: KeyObject
}

/** Keys by their id. */
export type KeySet = ReadonlyMap<string, SigningKey>

/** Reads a JWK set (RFC 7517) and leaves out keys that no token can be checked by. */
export function readKeySet(set: unknown): KeySet {
  const listed = (set as { readonly keys?: unknown } | null)?.keys
  const found = new Map<string, SigningKey>()
  for (const one of (Array.isArray(listed) ? listed : []).slice(0, KEYS_MAX)) {
    const { kid, alg, use = 'sig', kty, crv = null } = { ...(one as Record<string, unknown> | null) }
    const algorithm = Object.entries(ALGORITHMS).find(
      ([name, { curve }]) =>
        (alg ?? name) === name && crv === curve && kty === (curve === null ? 'RSA' : 'EC'),
    )
    const publicKey = algorithm === undefined || use !== 'sig' ? null : publicKeyOf(one as object)
    if (typeof kid !== 'string' || algorithm === undefined || publicKey === null) continue
    const [name, { hash }] = algorithm
    found.set(kid, { algorithm: name, hash, publicKey })
  }
  return found
}

/** Tells whether this key made the signature. The algorithm is that of the key, and the token must name the same. */
export function isSignedBy(
  { algorithm, hash, publicKey }: SigningKey,
  { algorithm: named, signed, signature }: Jwt,
): boolean {
  if (named !== algorithm) return false
  const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const
  return verify(hash, Buffer.from(signed), key, Buffer.from(signature, 'base64url'))
}

function publicKeyOf(jwk: object): KeyObject | null {
  try {
    const key = createPublicKey({ key: { ...jwk }, format: 'jwk' })
    const { modulusLength: bits = RSA_BITS.min } = key.asymmetricKeyDetails ?? {}
    return bits < RSA_BITS.min || bits > RSA_BITS.max ? null : key
  } catch {
    return null
  }
}
