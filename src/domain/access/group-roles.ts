import { type Permission, ROLE_PERMISSIONS, ROLES, type Role } from './permission.ts'
import type { NamedUser } from './session.ts'

/** Group → team → role. */
export type GroupRoles = ReadonlyMap<string, ReadonlyMap<string, Role>>

export const GROUPS_MAX = 1_000
/** The team of a role that is given without one. */
const DEFAULT_TEAM = 'default'

/** Reads `{"ops": "admin", "devs": {"shop": "editor"}}`; null when it is something else. */
export function parseGroupRoles(text: string): GroupRoles | null {
  try {
    const entries = Object.entries(JSON.parse(text) as Readonly<Record<string, unknown>>)
    const roles = new Map(entries.map(([group, given]) => [group, teamRoles(given)] as const))
    return entries.length === 0 || entries.length > GROUPS_MAX ? null : roles
  } catch {
    return null
  }
}

function teamRoles(given: unknown): ReadonlyMap<string, Role> {
  const entries =
    typeof given === 'string' ? [[DEFAULT_TEAM, given] as const] : Object.entries(given as object)
  return new Map(entries.map(([team, role]) => [team, roleOf(role)]))
}

function roleOf(text: unknown): Role {
  const role = ROLES.find((one) => one === text)
  if (role === undefined) throw new Error('no such role')
  return role
}

/** The teams in which the groups of a user give it a role. */
export function teamsOf(roles: GroupRoles, { groups }: NamedUser): string[] {
  return [...new Set(groups.flatMap((group) => [...(roles.get(group)?.keys() ?? [])]))]
}

/** Permissions that a user's groups give in a team; empty = none. */
export function permissionsIn(
  roles: GroupRoles,
  { groups }: NamedUser,
  team: string,
): ReadonlySet<Permission> {
  return new Set(
    groups.flatMap((group) => {
      const role = roles.get(group)?.get(team)
      return role === undefined ? [] : [...ROLE_PERMISSIONS[role]]
    }),
  )
}
