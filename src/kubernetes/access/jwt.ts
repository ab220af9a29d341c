/** Below the bound of all request headers. A token of a service account has about 1,200 characters. */
const TOKEN_CHARACTERS_MAX = 8 * 1024
const THREE_PARTS = /^[\w-]+\.[\w-]+\.[\w-]+$/
const SECOND_MS = 1_000
/** Of JOSE: a signature that whoever checks it cannot make. */
const BY_KEY_PAIR = /^(?:[REP]S(?:256|384|512)|EdDSA)$/
/** As Kubernetes allows it: our clock may be behind the one of whoever made the token. */
const NOT_BEFORE_LEEWAY_MS = 60_000

/** What a JWT says of itself; nothing of it is verified. */
export interface Jwt {
  readonly algorithm: string
  /** null = it names none. */
  readonly keyId: string | null
  readonly issuer: string | null
  readonly subject: string | null
  readonly audiences: readonly string[]
  /** Of a service account: the uids of the account and of what else the token ends with. */
  readonly boundTo: readonly string[]
  /** Unix ms; null when it does not say. */
  readonly notBeforeMs: number | null
  readonly expiresAtMs: number | null
  /** What the signature is over. */
  readonly signed: string
  /** base64url */
  readonly signature: string
}

/** `opaque`: not of the form of a JWT, or one that only its maker can check; null = no token that Kubernetes could know. */
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
