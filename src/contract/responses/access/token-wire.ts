import type { ApiToken } from '../../../domain/access/api-token.ts'
import { timestampOrNull } from '../../../domain/timestamp.ts'
import type { OwnRateLimit } from '../../../domain/access/token-terms.ts'
import type { RateLimit, Token as WireToken } from '../../../../clients/typescript/src/generated/wire.ts'

export function toWireToken(token: Omit<ApiToken, 'sha256Hex'>, lastUsedAtMs: number | null): WireToken {
  const { name, prefix, description, terms } = token
  const { scopes, queues, expiresAtMs, rateLimit } = terms
  return {
    id: name,
    name,
    prefix,
    description,
    scopes: [...scopes],
    queues: queues === null ? null : [...queues],
    expires_at: timestampOrNull(expiresAtMs),
    rate_limit: rateLimit === null ? null : toWireRate(rateLimit),
    last_used_at: timestampOrNull(lastUsedAtMs),
  }
}

function toWireRate({ requestsPerSecond, burst, sharedWith }: OwnRateLimit): RateLimit {
  return {
    requests_per_second: requestsPerSecond,
    burst,
    ...(sharedWith !== undefined && { shared_with: sharedWith.map(({ name }) => name) }),
  }
}
