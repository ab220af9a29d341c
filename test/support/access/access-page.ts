/** What docs/reference/access.md promises about rights: the one place that tests of access take their expectations from. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/reference/access.md'), 'utf8')

/** The roles of people; each has the permissions of those before it. */
export const PAGE_ROLES = ['viewer', 'operator', 'editor', 'admin'] as const
export type PageRole = (typeof PAGE_ROLES)[number]

export interface PagePermission {
  readonly name: string
  /** Scopes of a token that have it. */
  readonly scopes: readonly string[]
  /** The first role that has it. */
  readonly fromRole: PageRole
  /** As RBAC says it: `get httpqueues/jobs`. */
  readonly rule: string
}

const words = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)

/** The table below "Permissions". */
export const PAGE_PERMISSIONS: readonly PagePermission[] = [
  ...PAGE.matchAll(/^\| `(\w+)` +\|[^|]+\| ([^|]+) \| `(\w+)` +\| ([^|]+) \|$/gm),
].map(([, name = '', scopes = '', role = '', rule = '']) => ({
  name,
  scopes: words(scopes),
  fromRole: PAGE_ROLES.find((one) => one === role) ?? fail(`${role} is no role`),
  rule: words(rule).join(' '),
}))

/** The permission that each operation needs, by `GET /api/queues`; null = none. From the table below "Operations". */
export const PAGE_OPERATIONS: ReadonlyMap<string, string | null> = new Map(
  [...PAGE.matchAll(/^\| `([A-Z]+ \/api\/[^`]+)` +\| (?:none|`(\w+)`) +\|$/gm)].map(
    ([, operation = '', permission]) => [operation, permission ?? null],
  ),
)

export const ALL_OF_PAGE: ReadonlySet<string> = new Set(PAGE_PERMISSIONS.map(({ name }) => name))

export function permissionsOfScopes(...scopes: readonly string[]): ReadonlySet<string> {
  return named(PAGE_PERMISSIONS.filter((one) => scopes.some((scope) => one.scopes.includes(scope))))
}

export function permissionsOfRole(role: PageRole): ReadonlySet<string> {
  return named(
    PAGE_PERMISSIONS.filter(({ fromRole }) => PAGE_ROLES.indexOf(fromRole) <= PAGE_ROLES.indexOf(role)),
  )
}

function named(permissions: readonly PagePermission[]): ReadonlySet<string> {
  return new Set(permissions.map(({ name }) => name))
}

function fail(message: string): never {
  throw new Error(message)
}
