/** Permissions that operations of the API need. `payloads` = to see headers, payloads and call records unmasked. */
export const PERMISSIONS = ['push', 'read', 'payloads', 'operate', 'purge', 'edit', 'admin'] as const
export type Permission = (typeof PERMISSIONS)[number]

export type Permissions = ReadonlySet<Permission>

export const ALL_PERMISSIONS: Permissions = new Set(PERMISSIONS)

/** Scopes of a token; one without scopes has all permissions. */
export const SCOPES = ['push', 'read', 'operate', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

export const SCOPE_PERMISSIONS: Readonly<Record<Scope, Permissions>> = {
  push: new Set(['push']),
  read: new Set(['read']),
  operate: new Set(['read', 'payloads', 'operate', 'purge']),
  admin: ALL_PERMISSIONS,
}

/** Roles of people. */
export const ROLES = ['viewer', 'operator', 'editor', 'admin'] as const
export type Role = (typeof ROLES)[number]

export const ROLE_PERMISSIONS: Readonly<Record<Role, Permissions>> = {
  viewer: new Set(['read']),
  operator: new Set(['read', 'payloads', 'operate']),
  editor: new Set(['push', 'read', 'payloads', 'operate', 'purge', 'edit']),
  admin: ALL_PERMISSIONS,
}
