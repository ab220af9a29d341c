/** Below the bound of all request headers. A token of a service account has about 1,200 characters. */
const TOKEN_CHARACTERS_MAX = 8 * 1024
const THREE_PARTS = /^[\w-]+\.[\w-]+\.[\w-]+$/
const SECOND_MS = 1_000
/** JOSE's signatures by a key pair: whoever checks one cannot make one. */
const BY_KEY_PAIR = /^(?:[REP]S(?:256|384|512)|EdDSA)$/
/** Our clock may be behind the one of the token's maker. Kubernetes allows as much. */
const NOT_BEFORE_LEEWAY_MS = 60_000

/** What a JWT says of itself; nothing of it is verified. */
export interface Jwt {
  readonly algorithm: string
  /** null = the token names no key. */
  readonly keyId: string | null
  readonly issuer: string | null
  readonly subject: string | null
  readonly audiences: readonly string[]
  /** For a token of a service account, the uids of the account and of the objects whose end also ends the token. */
  readonly boundTo: readonly string[]
  /** Unix ms; null = the token may be used at once. */
  readonly notBeforeMs: number | null
  readonly expiresAtMs: number | null
  /** The text that was signed. */
  readonly signed: string
  /** In base64url. */
  readonly signature: string
}

/**
 * Answers `opaque` for a token that is no JWT, or a JWT that only its maker can check, and null for a text that cannot
 * be a token Kubernetes knows.
 */
export function readToken(token: string): Jwt | 'opaque' | null {
  if (token.length > TOKEN_CHARACTERS_MAX) return null
  if (!THREE_PARTS.test(token)) return 'opaque'
  const [head = '', body = '', signature = ''] = token.split('.')
  const header = decoded(head)
  const claims = decoded(body)
  const algorithm = textOf(header?.['alg'])
  if (header === null || claims === null || algorithm === null || /^none$/i.test(algorithm)) return null
  if (!BY_KEY_PAIR.test(algorithm)) return 'opaque'
  const { iss, sub, aud, nbf, exp, 'kubernetes.io': kubernetes } = claims
  return {
    algorithm,
    keyId: textOf(header['kid']),
    issuer: textOf(iss),
    subject: textOf(sub),
    audiences: (Array.isArray(aud) ? aud : [aud]).filter((one) => typeof one === 'string'),
    boundTo: uidsIn(kubernetes),
    notBeforeMs: timeOf(nbf),
    expiresAtMs: timeOf(exp),
    signed: `${head}.${body}`,
    signature,
  }
}

export function isInTime({ notBeforeMs, expiresAtMs }: Jwt, nowMs: number): boolean {
  if (expiresAtMs !== null && expiresAtMs <= nowMs) return false
  return notBeforeMs === null || notBeforeMs <= nowMs + NOT_BEFORE_LEEWAY_MS
}

function decoded(part: string): Readonly<Record<string, unknown>> | null {
  try {
    return recordOf(JSON.parse(Buffer.from(part, 'base64url').toString('utf8')))
  } catch {
    return null
  }
}

function uidsIn(claim: unknown): readonly string[] {
  const { serviceaccount, pod, secret, node } = recordOf(claim) ?? {}
  return [serviceaccount, pod, secret, node].map((one) => textOf(recordOf(one)?.['uid']) ?? '')
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === 'object' && value !== null ? { ...value } : null
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function timeOf(value: unknown): number | null {
  return typeof value === 'number' ? value * SECOND_MS : null
}
