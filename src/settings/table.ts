import type { KeyObject } from 'node:crypto'
import {
  CONNECTIONS_DEFAULT,
  CRONS_PER_TEAM_DEFAULT,
  INTAKE_BYTES_DEFAULT,
  PENDING_JOBS_PER_TEAM_DEFAULT,
  QUEUES_PER_TEAM_DEFAULT,
  REDIS_MAXMEMORY_BYTES_DEFAULT,
  SHARDS_MAX,
} from '../domain/limits.ts'
import { CAPACITY_SETTINGS, EXECUTOR_CONCURRENCY_MAX } from './capacity-table.ts'
import {
  bytesBetween,
  integerBetween,
  oneOf,
  optional,
  parseEgressAllowable,
  parseEgressEntries,
  parseListenHost,
  parseNamespace,
  parseNamespaces,
  parseObjectName,
  parsePassword,
  parsePath,
  parseRedisUrl,
  parseSecretsKey,
  parseSwitch,
  parseToken,
  quota,
} from './parsers.ts'
import { setting, type Setting } from './setting.ts'

const PORT_MAX = 65_535
const GRACE_SECONDS_DEFAULT = 10
const GRACE_SECONDS_MAX = 3_600
const DRAIN_SECONDS_MAX = 300
const CONNECTIONS_MIN = 16
const CONNECTIONS_MAX = 1_000_000
/** Less, and a few bodies of a mebibyte each would be all. */
const INTAKE_BYTES_MIN = 8 * 1024 ** 2
const INTAKE_BYTES_MAX = 64 * 1024 ** 3
const EXECUTOR_PODS_MAX = 1_000
const SCALING_DOWN_SECONDS_MAX = 86_400
/** Below this Redis 7 cannot hold its own bookkeeping and a batch at once. */
const REDIS_MAXMEMORY_BYTES_MIN = 16 * 1024 ** 2
const REDIS_MAXMEMORY_BYTES_MAX = 4 * 1024 ** 4
const QUOTA_COUNT_MAX = 1_000_000_000

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export const LOG_FORMATS = ['auto', 'json', 'text'] as const
/** Where the API writes edits of queues. */
export const RESOURCE_MODES = ['engine', 'kubernetes'] as const
export const SCALING_MODES = ['builtin', 'external', 'fixed'] as const

/** Every setting there is, in the order of the help. The keys are the names in the typed objects. */
export const SETTINGS = Object.freeze({
  port: setting({
    variable: 'PUNCTUAL_PORT',
    placeholder: 'number',
    help: 'port of the API; 0 takes any free one',
    initial: 8080,
    parse: integerBetween(0, PORT_MAX),
  }),
  host: setting({
    variable: 'PUNCTUAL_HOST',
    placeholder: 'address',
    help: 'address to listen on, for all ports; * takes all, IPv4 and IPv6',
    initial: '127.0.0.1',
    parse: parseListenHost,
  }),
  opsPort: setting({
    variable: 'PUNCTUAL_OPS_PORT',
    placeholder: 'number',
    help: 'port of /healthz, /readyz and /metrics; 0 takes any free one',
    initial: 9090,
    parse: integerBetween(0, PORT_MAX),
  }),
  dataDir: setting({
    variable: 'PUNCTUAL_DATA_DIR',
    placeholder: 'folder',
    help: 'where the token, the key, the resources and Redis keep their files',
    initial: '.punctual',
    parse: parsePath,
  }),
  manifests: setting({
    variable: 'PUNCTUAL_MANIFESTS',
    placeholder: 'folder',
    help: 'folder of YAML resources',
    initial: null,
    initialText: 'resources/ in the data folder',
    parse: optional(parsePath),
  }),
  redisUrl: setting({
    variable: 'PUNCTUAL_REDIS_URL',
    placeholder: 'url',
    help: 'Redis to use: redis://, rediss:// or a socket path',
    initial: null,
    initialText: 'none: standalone starts its own',
    isSecret: true,
    parse: optional(parseRedisUrl),
  }),
  redisPassword: setting({
    variable: 'PUNCTUAL_REDIS_PASSWORD',
    placeholder: 'text',
    help: 'password for the Redis of the URL, as it is: nothing escaped; as a flag it shows in process lists',
    initial: null,
    initialText: 'the one in the URL',
    isSecret: true,
    isVerbatim: true,
    parse: optional(parsePassword),
  }),
  redisCa: setting({
    variable: 'PUNCTUAL_REDIS_CA',
    placeholder: 'file',
    help: 'PEM file of the authorities that a rediss:// server is verified by',
    initial: null,
    initialText: "Node's own",
    parse: optional(parsePath),
  }),
  redisMaxmemoryBytes: setting({
    variable: 'PUNCTUAL_REDIS_MAXMEMORY',
    placeholder: 'bytes',
    help: "memory limit of standalone's own Redis, such as 512MiB or 2g",
    initial: REDIS_MAXMEMORY_BYTES_DEFAULT,
    initialText: '1GiB',
    parse: bytesBetween(
      REDIS_MAXMEMORY_BYTES_MIN,
      REDIS_MAXMEMORY_BYTES_MAX,
      'bytes from 16MiB to 4TiB, such as 512MiB, 1g or 1073741824',
    ),
  }),
  allowUnsafeRedis: setting({
    variable: 'PUNCTUAL_ALLOW_UNSAFE_REDIS',
    placeholder: null,
    help: 'start although Redis may lose jobs (evicting policy, no AOF)',
    initial: false,
    parse: parseSwitch,
  }),
  shards: setting({
    variable: 'PUNCTUAL_SHARDS',
    placeholder: 'number',
    help: 'parts the engine is split into; fixed at the first start',
    initial: 4,
    parse: integerBetween(1, SHARDS_MAX),
  }),
  ...CAPACITY_SETTINGS,
  graceSeconds: setting({
    variable: 'PUNCTUAL_GRACE_SECONDS',
    placeholder: 'seconds',
    help: 'how long calls under way may go on at a stop, before they are given back',
    initial: GRACE_SECONDS_DEFAULT,
    parse: integerBetween(0, GRACE_SECONDS_MAX),
  }),
  maxConnections: setting({
    variable: 'PUNCTUAL_MAX_CONNECTIONS',
    placeholder: 'number',
    help: 'connections to the API at once; one more is ended at once',
    initial: CONNECTIONS_DEFAULT,
    parse: integerBetween(CONNECTIONS_MIN, CONNECTIONS_MAX),
  }),
  intakeBytes: setting({
    variable: 'PUNCTUAL_INTAKE_BYTES',
    placeholder: 'bytes',
    help: 'request bodies that an API holds at once, those being read and those that wait for Redis',
    initial: INTAKE_BYTES_DEFAULT,
    initialText: '128MiB',
    parse: bytesBetween(
      INTAKE_BYTES_MIN,
      INTAKE_BYTES_MAX,
      'bytes from 8MiB to 64GiB, such as 64MiB, 1g or 134217728',
    ),
  }),
  drainSeconds: setting({
    variable: 'PUNCTUAL_DRAIN_SECONDS',
    placeholder: 'seconds',
    help: 'how long the API goes on serving at a stop, while clients turn elsewhere',
    initial: 0,
    parse: integerBetween(0, DRAIN_SECONDS_MAX),
  }),
  token: setting({
    variable: 'PUNCTUAL_TOKEN',
    placeholder: 'text',
    help: 'token to accept: for team default, by the controller as an ApiToken; as a flag it shows in process lists',
    initial: null,
    initialText: 'none: standalone makes one and keeps it in the data folder',
    isSecret: true,
    parse: optional(parseToken),
  }),
  secretsKey: setting({
    variable: 'PUNCTUAL_SECRETS_KEY',
    placeholder: 'base64',
    help: 'key for secrets kept in Redis; as a flag it shows in process lists',
    initial: null,
    initialText: 'none: standalone makes one and keeps it in the data folder',
    isSecret: true,
    parse: optional<KeyObject>(parseSecretsKey),
  }),
  egressAllow: setting({
    variable: 'PUNCTUAL_EGRESS_ALLOW',
    placeholder: 'list',
    help: 'CIDRs and host suffixes to open beyond public addresses',
    initial: Object.freeze([]),
    initialText: 'none',
    parse: parseEgressEntries,
  }),
  egressDeny: setting({
    variable: 'PUNCTUAL_EGRESS_DENY',
    placeholder: 'list',
    help: 'CIDRs and host suffixes never to call; beats every allow',
    initial: Object.freeze([]),
    initialText: 'none',
    parse: parseEgressEntries,
  }),
  egressAllowable: setting({
    variable: 'PUNCTUAL_EGRESS_ALLOWABLE',
    placeholder: 'list',
    help: 'the most a team may open by its TeamSettings: CIDRs and host suffixes, any or none',
    initial: null,
    initialText: 'any',
    parse: parseEgressAllowable,
  }),
  quotaQueues: quotaSetting('QUEUES', 'queues', QUEUES_PER_TEAM_DEFAULT),
  quotaCrons: quotaSetting('CRONS', 'crons', CRONS_PER_TEAM_DEFAULT),
  quotaPendingJobs: quotaSetting('PENDING_JOBS', 'jobs not ended', PENDING_JOBS_PER_TEAM_DEFAULT),
  quotaStoredBytes: setting({
    variable: 'PUNCTUAL_QUOTA_STORED_BYTES',
    placeholder: 'bytes',
    help: 'bytes a team may store at most, such as 512MiB, or none: then four times what is free in Redis',
    initial: null,
    initialText: 'none',
    parse: quota(
      bytesBetween(0, REDIS_MAXMEMORY_BYTES_MAX, 'bytes up to 4TiB, such as 512MiB, 1g or 1073741824'),
    ),
  }),
  quotaJobsPerMonth: quotaSetting('JOBS_PER_MONTH', 'jobs of a calendar month, UTC', null),
  quotaCallsInFlight: quotaSetting('CALLS_IN_FLIGHT', 'calls at once, over all executors', null),
  podName: setting({
    variable: 'PUNCTUAL_POD_NAME',
    placeholder: 'name',
    help: 'this pod: its identity in the lease, and the name of an executor',
    initial: null,
    initialText: 'the host name',
    parse: optional(parseObjectName),
  }),
  podNamespace: setting({
    variable: 'PUNCTUAL_POD_NAMESPACE',
    placeholder: 'namespace',
    help: "the operator's own namespace, where its lease and its executors are",
    initial: null,
    initialText: 'none',
    parse: optional(parseNamespace),
  }),
  watchNamespaces: setting({
    variable: 'PUNCTUAL_WATCH_NAMESPACES',
    placeholder: 'list',
    help: 'look at these namespaces only, separated by commas',
    initial: null,
    initialText: 'all',
    parse: optional(parseNamespaces),
  }),
  resources: setting<(typeof RESOURCE_MODES)[number]>({
    variable: 'PUNCTUAL_RESOURCES',
    placeholder: 'mode',
    help: 'where edits of queues and crons go: kubernetes writes resources, engine goes straight to Redis',
    initial: 'engine',
    parse: oneOf(RESOURCE_MODES),
  }),
  instanceName: setting({
    variable: 'PUNCTUAL_INSTANCE_NAME',
    placeholder: 'name',
    help: 'this installation; its Lease and its record of the engine are called after it',
    initial: 'punctual',
    parse: parseObjectName,
  }),
  executorDeployment: setting({
    variable: 'PUNCTUAL_EXECUTOR_DEPLOYMENT',
    placeholder: 'name',
    help: 'the Deployment to scale',
    initial: 'punctual-executor',
    parse: parseObjectName,
  }),
  scalingMode: setting<(typeof SCALING_MODES)[number]>({
    variable: 'PUNCTUAL_SCALING_MODE',
    placeholder: 'mode',
    help: 'builtin scales executors by what they have to do, external and fixed leave their number to others',
    initial: 'builtin',
    parse: oneOf(SCALING_MODES),
  }),
  scalingMin: setting({
    variable: 'PUNCTUAL_SCALING_MIN',
    placeholder: 'number',
    help: 'executor pods there always are',
    initial: 0,
    parse: integerBetween(0, EXECUTOR_PODS_MAX),
  }),
  scalingMax: setting({
    variable: 'PUNCTUAL_SCALING_MAX',
    placeholder: 'number',
    help: 'executor pods there are at most',
    initial: 10,
    parse: integerBetween(1, EXECUTOR_PODS_MAX),
  }),
  scalingCallsPerPod: setting({
    variable: 'PUNCTUAL_SCALING_CALLS_PER_POD',
    placeholder: 'number',
    help: 'calls at once that one executor pod should carry before another is asked for',
    initial: 200,
    parse: integerBetween(1, EXECUTOR_CONCURRENCY_MAX),
  }),
  scalingDownSeconds: setting({
    variable: 'PUNCTUAL_SCALING_DOWN_SECONDS',
    placeholder: 'seconds',
    help: 'how long fewer executor pods must have been enough before there are fewer',
    initial: 120,
    parse: integerBetween(0, SCALING_DOWN_SECONDS_MAX),
  }),
  logLevel: setting<(typeof LOG_LEVELS)[number]>({
    variable: 'PUNCTUAL_LOG_LEVEL',
    placeholder: 'level',
    help: `least level to log: ${LOG_LEVELS.join(', ')}`,
    initial: 'info',
    parse: oneOf(LOG_LEVELS),
  }),
  logFormat: setting<(typeof LOG_FORMATS)[number]>({
    variable: 'PUNCTUAL_LOG_FORMAT',
    placeholder: 'format',
    help: 'json, text, or auto: text on a terminal, else json',
    initial: 'auto',
    parse: oneOf(LOG_FORMATS),
  }),
})

function quotaSetting(name: string, what: string, initial: number | null): Setting<number | null> {
  return setting<number | null>({
    variable: `PUNCTUAL_QUOTA_${name}`,
    placeholder: 'number',
    help: `${what} of a team at most, or none`,
    initial,
    initialText: String(initial ?? 'none'),
    parse: quota(integerBetween(0, QUOTA_COUNT_MAX)),
  })
}
