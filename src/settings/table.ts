import type { KeyObject } from 'node:crypto'
import { CONNECTIONS_DEFAULT, INTAKE_BYTES_DEFAULT, SHARDS_MAX } from '../domain/limits.ts'
import { APPLIED_RESOURCES } from '../domain/managed-by.ts'
import { DATA_DIR_INITIAL } from './client-settings.ts'
import { CAPACITY_SETTINGS } from './tables/capacity-table.ts'
import { DASHBOARD_SETTINGS } from './tables/dashboard-table.ts'
import { LOGIN_SETTINGS } from './tables/login-table.ts'
import { MAIL_SETTINGS } from './tables/mail-table.ts'
import {
  bytesBetween,
  integerBetween,
  oneOf,
  optional,
  parseCidrs,
  parseEgressAllowable,
  parseEgressEntries,
  parseHosts,
  parseListenHost,
  parseObjectName,
  parsePath,
  parseResources,
  parseSecretsKey,
  parseSecretsKeys,
  parseSwitch,
  parseToken,
} from './parsers.ts'
import { NAMESPACE_SETTINGS } from './tables/namespace-table.ts'
import { PREPARE_SETTINGS } from './tables/prepare-table.ts'
import { QUOTA_SETTINGS } from './tables/quota-table.ts'
import { REDIS_SETTINGS, WITH_SHARDS } from './tables/redis-table.ts'
import { SCALING_SETTINGS } from './tables/scaling-table.ts'
import { TLS_SETTINGS } from './tables/tls-table.ts'
import { UNINSTALL_SETTINGS } from './tables/uninstall-table.ts'
import { PROCESSES, setting } from './setting.ts'

const PORT_MAX = 65_535
const GRACE_SECONDS_DEFAULT = 10
const GRACE_SECONDS_MAX = 3_600
const SHUTDOWN_DELAY_SECONDS_MAX = 300
const CONNECTIONS_MIN = 16
const CONNECTIONS_MAX = 1_000_000
/** Lower bound: a few request bodies of 1 MiB would take all of less. */
/** Of a clock that is off by more, nobody should believe the time before. */
const CLOCK_HOLD_SECONDS_MAX = 86_400
const INTAKE_BYTES_MIN = 8 * 1024 ** 2
const INTAKE_BYTES_MAX = 64 * 1024 ** 3
const HISTORY_BYTES_MAX = 4 * 1024 ** 4

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export const LOG_FORMATS = ['auto', 'json', 'text'] as const

/** The API only where it keeps a folder of resources, whose secrets it seals: it answers nothing that is sealed. */
const OPENING_SECRETS = ['standalone', 'controller', 'api', 'executor', 'doctor'] as const
const LOGGING = [...PROCESSES, 'prepare', 'uninstall'] as const
const SERVING = ['standalone', 'api'] as const
/** The controller judges the URLs of channels. */
const CALLING = ['standalone', 'controller', 'api', 'executor'] as const

/** Every setting there is, in the order of the help. The keys are the names in the typed objects. */
export const SETTINGS = Object.freeze({
  port: setting({
    roles: SERVING,
    variable: 'PUNCTUAL_PORT',
    placeholder: 'number',
    help: 'port of the API; 0 takes any free one',
    initial: 8080,
    parse: integerBetween(0, PORT_MAX),
  }),
  host: setting({
    roles: PROCESSES,
    variable: 'PUNCTUAL_HOST',
    placeholder: 'address',
    help: 'address to listen on, for all ports; * takes all, IPv4 and IPv6',
    initial: '127.0.0.1',
    parse: parseListenHost,
  }),
  opsPort: setting({
    roles: PROCESSES,
    variable: 'PUNCTUAL_OPS_PORT',
    placeholder: 'number',
    help: 'port of /healthz, /readyz and /metrics; 0 takes any free one',
    initial: 9090,
    parse: integerBetween(0, PORT_MAX),
  }),
  dataDir: setting({
    roles: ['standalone', 'api', 'doctor', 'backup', 'restore'],
    variable: 'PUNCTUAL_DATA_DIR',
    placeholder: 'folder',
    help: 'where the token, the key, the resources and Redis keep their files',
    initial: DATA_DIR_INITIAL,
    parse: parsePath,
  }),
  resources: setting({
    roles: SERVING,
    variable: 'PUNCTUAL_RESOURCES',
    placeholder: 'place',
    help: 'where resources lie and edits go: kubernetes, or a folder of YAML',
    initial: null,
    initialText: 'none: standalone has resources/ in the data folder',
    parse: optional(parseResources),
  }),
  ...REDIS_SETTINGS,
  shards: setting({
    roles: WITH_SHARDS,
    variable: 'PUNCTUAL_SHARDS',
    placeholder: 'number',
    help: 'shards of the engine; fixed at the first start',
    initial: 4,
    parse: integerBetween(1, SHARDS_MAX),
  }),
  ...CAPACITY_SETTINGS,
  graceSeconds: setting({
    roles: ['standalone', 'executor'],
    variable: 'PUNCTUAL_GRACE_SECONDS',
    placeholder: 'seconds',
    help: 'how long running calls may go on after a stop signal, before their jobs are released',
    initial: GRACE_SECONDS_DEFAULT,
    parse: integerBetween(0, GRACE_SECONDS_MAX),
  }),
  maxConnections: setting({
    roles: SERVING,
    variable: 'PUNCTUAL_MAX_CONNECTIONS',
    placeholder: 'number',
    help: 'concurrent connections to the API; beyond it, the address with the most loses its idlest one',
    initial: CONNECTIONS_DEFAULT,
    parse: integerBetween(CONNECTIONS_MIN, CONNECTIONS_MAX),
  }),
  trustedProxies: setting({
    roles: SERVING,
    variable: 'PUNCTUAL_TRUSTED_PROXIES',
    placeholder: 'list',
    help: 'CIDRs of the proxies in front of the API, whose forwarding headers are trusted',
    initial: Object.freeze([]),
    initialText: 'none',
    parse: parseCidrs,
  }),
  intakeBytes: setting({
    roles: SERVING,
    variable: 'PUNCTUAL_INTAKE_BYTES',
    placeholder: 'bytes',
    help: 'bytes of request bodies held at once, being read or waiting for Redis',
    initial: INTAKE_BYTES_DEFAULT,
    initialText: '128MiB',
    parse: bytesBetween(
      INTAKE_BYTES_MIN,
      INTAKE_BYTES_MAX,
      'bytes from 8MiB to 64GiB, such as 64MiB, 1g or 134217728',
    ),
  }),
  ...TLS_SETTINGS,
  shutdownDelaySeconds: setting({
    roles: ['api'],
    variable: 'PUNCTUAL_SHUTDOWN_DELAY_SECONDS',
    placeholder: 'seconds',
    help: 'how long the API keeps serving after a stop signal, so that clients can move elsewhere',
    initial: 0,
    parse: integerBetween(0, SHUTDOWN_DELAY_SECONDS_MAX),
  }),
  clockHoldSeconds: setting({
    roles: ['standalone', 'api'],
    variable: 'PUNCTUAL_CLOCK_HOLD_SECONDS',
    placeholder: 'seconds',
    help: 'how far time may run ahead of the clock of Redis after it was set back; 0 = follow the clock at once',
    initial: 0,
    parse: integerBetween(0, CLOCK_HOLD_SECONDS_MAX),
  }),
  testClock: setting({
    roles: PROCESSES,
    variable: 'PUNCTUAL_TEST_CLOCK',
    placeholder: null,
    help: 'for tests: let POST /api/test/clock move the time; fixed at the first start',
    initial: false,
    parse: parseSwitch,
  }),
  token: setting({
    roles: ['standalone', 'controller', 'api'],
    variable: 'PUNCTUAL_TOKEN',
    placeholder: 'text',
    help: 'token to accept for team default; the controller makes it an ApiToken; as a flag it shows in process lists',
    initial: null,
    initialText: 'none: standalone creates one in the data folder',
    isSecret: true,
    parse: optional(parseToken),
  }),
  secretsKey: setting({
    roles: OPENING_SECRETS,
    variable: 'PUNCTUAL_SECRETS_KEY',
    placeholder: 'base64',
    help: 'key for secrets kept in Redis; as a flag it shows in process lists',
    initial: null,
    initialText: 'none: standalone creates one in the data folder',
    isSecret: true,
    parse: optional<KeyObject>(parseSecretsKey),
  }),
  otherSecretsKeys: setting({
    roles: OPENING_SECRETS,
    variable: 'PUNCTUAL_OTHER_SECRETS_KEYS',
    placeholder: 'list',
    help: 'keys that open secrets kept in Redis but seal none, for a rotation; as a flag it shows in process lists',
    initial: Object.freeze([]),
    initialText: 'none',
    isSecret: true,
    parse: parseSecretsKeys,
  }),
  egressAllow: setting({
    roles: CALLING,
    variable: 'PUNCTUAL_EGRESS_ALLOW',
    placeholder: 'list',
    help: 'CIDRs and host suffixes to allow beyond public addresses',
    initial: Object.freeze([]),
    initialText: 'none',
    parse: parseEgressEntries,
  }),
  egressDeny: setting({
    roles: CALLING,
    variable: 'PUNCTUAL_EGRESS_DENY',
    placeholder: 'list',
    help: 'CIDRs and host suffixes never to call; overrides every allow',
    initial: Object.freeze([]),
    initialText: 'none',
    parse: parseEgressEntries,
  }),
  egressAllowable: setting({
    roles: CALLING,
    variable: 'PUNCTUAL_EGRESS_ALLOWABLE',
    placeholder: 'list',
    help: 'what a team may allow in its TeamSettings: CIDRs and host suffixes, any or none',
    initial: Object.freeze([]),
    initialText: 'none',
    parse: parseEgressAllowable,
  }),
  egressClusterCidrs: setting({
    roles: CALLING,
    variable: 'PUNCTUAL_EGRESS_CLUSTER_CIDRS',
    placeholder: 'list',
    help: 'CIDRs of pods, services and nodes: open only to entries with addresses inside of them',
    initial: Object.freeze([]),
    initialText: 'none',
    parse: parseCidrs,
  }),
  egressOwnHosts: setting({
    roles: CALLING,
    variable: 'PUNCTUAL_EGRESS_OWN_HOSTS',
    placeholder: 'list',
    help: 'hosts that lead to this API, beside that of the public URL; jobs may not call them',
    initial: Object.freeze([]),
    initialText: 'none',
    parse: parseHosts,
  }),
  ...QUOTA_SETTINGS,
  historyBytes: setting({
    roles: ['standalone', 'executor'],
    variable: 'PUNCTUAL_HISTORY_BYTES',
    placeholder: 'bytes',
    help: 'memory for finished jobs beyond the last 10,000 of each queue, such as 512MiB',
    initial: null,
    initialText: 'a quarter of maxmemory',
    parse: optional(bytesBetween(0, HISTORY_BYTES_MAX, 'bytes up to 4TiB, such as 512MiB, 1g or 1073741824')),
  }),
  ...MAIL_SETTINGS,
  podName: setting({
    roles: ['controller', 'executor'],
    variable: 'PUNCTUAL_POD_NAME',
    placeholder: 'name',
    help: 'name of this pod: its identity in the Lease, or the name of the executor',
    initial: null,
    initialText: 'the host name',
    parse: optional(parseObjectName),
  }),
  ...NAMESPACE_SETTINGS,
  appliedResources: setting({
    roles: SERVING,
    variable: 'PUNCTUAL_APPLIED_RESOURCES',
    placeholder: 'mode',
    help: 'edits of resources that somebody has applied: editable or read-only; a TeamSettings may say otherwise',
    initial: 'editable',
    parse: oneOf(APPLIED_RESOURCES),
  }),
  ...DASHBOARD_SETTINGS,
  ...LOGIN_SETTINGS,
  instanceName: setting({
    roles: ['controller', 'uninstall'],
    variable: 'PUNCTUAL_INSTANCE_NAME',
    placeholder: 'name',
    help: 'name of this installation; its Lease and its engine record are named after it',
    initial: 'punctual',
    parse: parseObjectName,
  }),
  ...SCALING_SETTINGS,
  ...PREPARE_SETTINGS,
  ...UNINSTALL_SETTINGS,
  logLevel: setting({
    roles: LOGGING,
    variable: 'PUNCTUAL_LOG_LEVEL',
    placeholder: 'level',
    help: `lowest level to log: ${LOG_LEVELS.join(', ')}`,
    initial: 'info',
    parse: oneOf(LOG_LEVELS),
  }),
  logFormat: setting({
    roles: LOGGING,
    variable: 'PUNCTUAL_LOG_FORMAT',
    placeholder: 'format',
    help: 'json, text, or auto: text on a terminal, else json',
    initial: 'auto',
    parse: oneOf(LOG_FORMATS),
  }),
})
