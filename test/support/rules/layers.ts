/** A tree of sources with its own layers: src/, and the dashboard's. */
export interface Tree {
  readonly root: string
  /** The file that starts it, and what it may import. */
  readonly entry: { readonly file: string; readonly mayImport: readonly string[] }
  /** Which folders each folder may import beside itself. */
  readonly mayImport: Readonly<Record<string, readonly string[]>>
  /** Folders that may import every folder of the tree. */
  readonly compositionRoots: readonly string[]
  /** What a folder may import of the client package; `*` stands for all others. A folder ends with a slash. */
  readonly client: Readonly<Record<string, string>>
  /**
   * Packages of the folders that must stay free of them, with the names that may be taken; Node's own modules count as
   * packages here.
   */
  readonly packages: Readonly<Record<string, Readonly<Record<string, readonly string[] | 'all'>>>>
  /** Folders that are given clock, ids and randomness, and may not reach for them. */
  readonly withoutClock: readonly string[]
}

const CLIENT = 'clients/typescript/src/'
/** The types of the bodies, which are generated there because the client is published without src/. */
const WIRE_TYPES = `${CLIENT}generated/wire.ts`

/** CONTRIBUTING.md has this table for people, .oxlintrc.json for editors; tests hold all three together. */
export const SERVER: Tree = {
  root: 'src',
  entry: { file: 'main.ts', mayImport: ['roles'] },
  mayImport: {
    domain: [],
    ports: ['domain'],
    contract: ['domain'],
    resources: ['domain'],
    editors: ['domain', 'ports', 'resources'],
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
  },
  compositionRoots: ['roles'],
  client: { cli: CLIENT, contract: WIRE_TYPES, api: WIRE_TYPES },
  packages: {
    domain: {
      'node:assert/strict': 'all',
      // They only look at a text.
      'node:net': ['isIP', 'isIPv4', 'isIPv6'],
      'cron-parser': 'all',
      cronstrue: 'all',
    },
    ports: {},
  },
  withoutClock: ['domain', 'ports', 'contract', 'editors', 'controller', 'api', 'executor', 'senders'],
}

export const DASHBOARD: Tree = {
  root: 'dashboard/src',
  entry: { file: 'main.tsx', mayImport: ['app', 'preferences', 'styles'] },
  mayImport: {
    styles: [],
    format: [],
    routing: [],
    preferences: ['format'],
    session: ['format', 'preferences'],
    api: ['session'],
    ui: ['format', 'preferences'],
    editing: ['format', 'session', 'api', 'ui'],
    features: ['format', 'routing', 'preferences', 'session', 'api', 'ui', 'editing'],
  },
  compositionRoots: ['app'],
  client: { '*': `${CLIENT}client.ts` },
  packages: { format: {} },
  withoutClock: ['format'],
}

export const TREES: readonly Tree[] = [SERVER, DASHBOARD]
