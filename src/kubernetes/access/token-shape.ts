/** Below the bound of all request headers. A token of a service account has about 1,200 characters. */
const TOKEN_CHARACTERS_MAX = 8 * 1024
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/
const NUMBER_MS = 1_000

/** What can be seen of a token without asking anyone; nothing of it is verified. */
export interface TokenShape {
  readonly isJwt: boolean
  /** Unix ms; null when it does not say. */
  readonly expiresAtMs: number | null
}

/** null = no token that Kubernetes could know. */
export function shapeOf(token: string): TokenShape | null {
  if (token.length > TOKEN_CHARACTERS_MAX) return null
  if (!JWT.test(token)) return { isJwt: false, expiresAtMs: null }
  const claims = claimsOf(token.split('.')[1] ?? '')
  if (claims === null) return null
  const { exp } = claims
  return { isJwt: true, expiresAtMs: typeof exp === 'number' ? exp * NUMBER_MS : null }
}

function claimsOf(part: string): { readonly exp?: unknown } | null {
  try {
    const claims: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    return typeof claims === 'object' && claims !== null ? claims : null
  } catch {
    return null
  }
}
