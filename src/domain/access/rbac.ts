import type { Permission } from './permission.ts'

/** One right as a rule of Kubernetes RBAC names it, in the API group `punctual.dev`. */
export interface AccessRule {
  readonly verb: string
  readonly resource: string
  readonly subresource: string
}

/**
 * The right in the team's namespace that each permission follows from. The API server serves none of these
 * sub-resources: rules may name them all the same, and so no right over the objects themselves gives one of them.
 */
export const PERMISSION_RULES: Readonly<Record<Permission, AccessRule>> = {
  push: { verb: 'create', resource: 'httpqueues', subresource: 'jobs' },
  read: { verb: 'get', resource: 'httpqueues', subresource: 'jobs' },
  payloads: { verb: 'get', resource: 'httpqueues', subresource: 'payloads' },
  operate: { verb: 'update', resource: 'httpqueues', subresource: 'jobs' },
  purge: { verb: 'delete', resource: 'httpqueues', subresource: 'jobs' },
  edit: { verb: 'update', resource: 'httpqueues', subresource: 'settings' },
  admin: { verb: 'update', resource: 'teamsettings', subresource: 'access' },
}
