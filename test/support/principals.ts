import type { Actor } from '../../src/domain/access/audit-record.ts'
import { ALL_PERMISSIONS } from '../../src/domain/access/permission.ts'
import type { ApiToken } from '../../src/domain/access/api-token.ts'
import type { Principal } from '../../src/domain/access/principal.ts'
import { NO_TERMS } from '../../src/domain/access/token-terms.ts'

/** A token of the team, with all permissions unless others are given. */
export function aPrincipal(team: string, other: Partial<Principal> = {}): Principal {
  return { team, kind: 'token', subject: 'test', permissions: ALL_PERMISSIONS, queues: null, ...other }
}

/** A token without limits, unless others are given. */
export function anApiToken(name: string, other: Partial<ApiToken> = {}): ApiToken {
  const none = { prefix: null, description: null, terms: NO_TERMS }
  return { team: 'default', name, sha256Hex: '0'.repeat(64), ...none, ...other }
}

export const AN_ACTOR: Actor = { kind: 'token', name: 'test', via: 'api', address: '127.0.0.1' }
