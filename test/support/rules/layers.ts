/**
 * Who may import whom under src/ (CONTRIBUTING.md has the table for people, .oxlintrc.json for editors; tests hold
 * all three together). A folder may always import itself. Adapters never import each other.
 */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  ports: ['domain'],
  contract: ['domain'],
  resources: ['domain'],
  controller: ['domain', 'ports', 'resources'],
  api: ['domain', 'ports', 'contract', 'resources'],
  executor: ['domain', 'ports'],
  redis: ['domain', 'ports', 'resources'],
  kubernetes: ['domain', 'ports', 'resources'],
  'folder-store': ['domain', 'ports', 'resources'],
  outbound: ['domain', 'ports', 'resources'],
  senders: ['domain', 'ports'],
  oidc: ['domain', 'ports'],
  telemetry: ['domain', 'ports', 'resources'],
  settings: ['domain'],
  cli: ['domain', 'contract'],
  standalone: ['domain', 'ports'],
}

/** Folders that may import every folder. */
export const COMPOSITION_ROOTS: readonly string[] = ['roles']

/**
 * Packages of the folders that must stay free of them, with the names that may be taken; Node's own modules count as
 * packages here. `isIP` and its kin only look at a text.
 */
export const PACKAGES_ALLOWED: Readonly<Record<string, Readonly<Record<string, readonly string[] | 'all'>>>> =
  {
    domain: {
      'node:assert/strict': 'all',
      'node:net': ['isIP', 'isIPv4', 'isIPv6'],
      'cron-parser': 'all',
      cronstrue: 'all',
    },
    ports: {},
  }

/** Folders that are given clock, ids and randomness, and may not reach for them. */
export const WITHOUT_CLOCK: readonly string[] = [
  'domain',
  'ports',
  'contract',
  'controller',
  'api',
  'executor',
  'senders',
]
