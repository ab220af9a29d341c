import { PERMISSIONS } from '../../domain/access/permission.ts'
import type { Principal } from '../../domain/access/principal.ts'
import { timestampOrNull } from '../../domain/timestamp.ts'
import type { Me } from '../../../clients/typescript/src/generated/wire.ts'

export function toWireMe({ team, subject, kind, permissions, queues, terms, roles = [] }: Principal): Me {
  const may = PERMISSIONS.map((permission) => [permission, permissions.has(permission)] as const)
  return {
    team,
    subject,
    kind,
    roles: [...roles],
    scopes: [...(terms?.scopes ?? [])],
    queues: queues === null ? null : [...queues],
    expires_at: timestampOrNull(terms?.expiresAtMs ?? null),
    may: Object.fromEntries(may) as unknown as Me['may'],
  }
}
