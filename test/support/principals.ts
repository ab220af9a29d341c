import type { Actor } from '../../src/domain/access/audit-record.ts'
import { ALL_PERMISSIONS } from '../../src/domain/access/permission.ts'
import type { Principal } from '../../src/domain/access/principal.ts'

/** A token of the team, with all permissions unless others are given. */
export function aPrincipal(team: string, other: Partial<Principal> = {}): Principal {
  return { team, kind: 'token', subject: 'test', permissions: ALL_PERMISSIONS, queues: null, ...other }
}

export const AN_ACTOR: Actor = { kind: 'token', name: 'test', via: 'api', address: '127.0.0.1' }
