import { type Permissions, ROLE_PERMISSIONS, ROLES } from './permission.ts'
import type { Principal } from './principal.ts'

/** A user with these permissions; it has every role whose permissions it has. */
export function userPrincipal(team: string, name: string, permissions: Permissions): Principal {
  const roles = ROLES.filter((role) => ROLE_PERMISSIONS[role].isSubsetOf(permissions))
  return { team, kind: 'user', subject: name, permissions, queues: null, roles }
}
