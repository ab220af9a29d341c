import { ALL_PERMISSIONS, SCOPE_PERMISSIONS, SCOPES, type Permission, type Scope } from './permission.ts'
import type { Principal } from './principal.ts'
import { NO_TERMS, TOKEN_DAYS_BY_USER_MAX, type TokenRate, type TokenTerms } from './token-terms.ts'

const DAY_MS = 86_400_000

export function tokenPrincipal(team: string, name: string, terms: TokenTerms): Principal {
  const { scopes, queues } = terms
  return {
    team,
    kind: 'token',
    subject: name,
    permissions: permissionsOf(scopes),
    queues: queues === null ? null : new Set(queues),
    terms,
    rates: ratesOf(name, terms),
  }
}

/** A limit that is the same as the one it is shared with adds nothing to it. */
function ratesOf(name: string, { rateLimit }: TokenTerms): readonly TokenRate[] {
  if (rateLimit === null) return []
  const { requestsPerSecond, burst, sharedWith = [] } = rateLimit
  const nearest = sharedWith.at(-1)
  const isSame = nearest?.requestsPerSecond === requestsPerSecond && nearest.burst === burst
  return isSame ? sharedWith : [...sharedWith, { name, requestsPerSecond, burst }]
}

/**
 * The first of these terms that goes beyond what the principal may do; null if none does, so it may make such a token.
 */
export function excessOf(
  { permissions, queues, terms = NO_TERMS }: Principal,
  wanted: TokenTerms,
): 'scopes' | 'queues' | 'expires_at' | 'rate_limit' | null {
  if ([...permissionsOf(wanted.scopes)].some((permission) => !permissions.has(permission))) return 'scopes'
  if (queues !== null && (wanted.queues === null || wanted.queues.some((name) => !queues.has(name)))) {
    return 'queues'
  }
  if (isAbove(wanted.expiresAtMs, terms.expiresAtMs)) return 'expires_at'
  const [own, limit] = [terms.rateLimit, wanted.rateLimit]
  const isFaster =
    isAbove(limit?.requestsPerSecond ?? null, own?.requestsPerSecond ?? null) ||
    isAbove(limit?.burst ?? null, own?.burst ?? null)
  return isFaster ? 'rate_limit' : null
}

/** Whether a principal may make a token of this life: one that a user makes outlives the user's rights, so it has to end. */
export function mayLastUntil({ kind }: Principal, expiresAtMs: number | null, nowMs: number): boolean {
  const isBounded = expiresAtMs !== null && expiresAtMs - nowMs <= TOKEN_DAYS_BY_USER_MAX * DAY_MS
  return kind === 'token' || isBounded
}

/** null is above everything, and nothing is above null. */
function isAbove(value: number | null, bound: number | null): boolean {
  return bound !== null && (value === null || value > bound)
}

function permissionsOf(scopes: readonly Scope[]): ReadonlySet<Permission> {
  if (scopes.length === 0) return ALL_PERMISSIONS
  return new Set(
    SCOPES.filter((scope) => scopes.includes(scope)).flatMap((scope) => [...SCOPE_PERMISSIONS[scope]]),
  )
}
