import type { ApiToken } from '../domain/access/api-token.ts'
import type { Scope } from '../domain/access/permission.ts'
import type { OwnRateLimit, TokenTerms } from '../domain/access/token-terms.ts'
import type { ApiTokenSpec } from './generated/kinds.ts'

type SpecScope = NonNullable<ApiTokenSpec['scopes']>[number]

const SPEC_SCOPES: Readonly<Record<Scope, SpecScope>> = {
  push: 'Push',
  read: 'Read',
  operate: 'Operate',
  admin: 'Admin',
}

/** The token of a checked spec. */
export function tokenOfSpec(team: string, name: string, spec: ApiTokenSpec): ApiToken {
  const { sha256, prefix = null, description = null } = spec
  return { team, name, sha256Hex: sha256, prefix, description, terms: termsOfSpec(spec) }
}

function termsOfSpec({ scopes, queues, expiresAt, rateLimit }: ApiTokenSpec): TokenTerms {
  return {
    scopes: scopes?.map((scope) => scope.toLowerCase() as Lowercase<SpecScope>) ?? [],
    queues: queues ?? null,
    // A time that cannot be read counts as past, so that a mistake makes no token that lasts for ever.
    expiresAtMs: expiresAt === undefined ? null : Date.parse(expiresAt) || 0,
    rateLimit:
      rateLimit === undefined
        ? null
        : {
            requestsPerSecond: rateLimit.requestsPerSecond,
            burst: rateLimit.burst ?? rateLimit.requestsPerSecond,
            ...(rateLimit.sharedWith !== undefined && { sharedWith: rateLimit.sharedWith }),
          },
  }
}

/** Makes the spec of a new resource, without what does not limit the token. */
export function specOfToken({ sha256Hex, prefix, description, terms }: ApiToken): ApiTokenSpec {
  const { scopes, queues, expiresAtMs, rateLimit } = terms
  return {
    sha256: sha256Hex,
    ...(description === null ? {} : { description }),
    ...(prefix === null ? {} : { prefix }),
    ...(scopes.length === 0 ? {} : { scopes: scopes.map((scope) => SPEC_SCOPES[scope]) }),
    ...(queues === null ? {} : { queues }),
    ...(expiresAtMs === null ? {} : { expiresAt: new Date(expiresAtMs).toISOString() }),
    ...(rateLimit === null ? {} : { rateLimit: specOfRate(rateLimit) }),
  }
}

function specOfRate({ sharedWith, ...own }: OwnRateLimit): NonNullable<ApiTokenSpec['rateLimit']> {
  return sharedWith === undefined ? own : { ...own, sharedWith: [...sharedWith] }
}
