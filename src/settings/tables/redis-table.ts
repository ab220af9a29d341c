import { DURABILITIES, type Durability } from '../../domain/jobs/durability.ts'
import { REDIS_MAXMEMORY_BYTES_DEFAULT } from '../../domain/limits.ts'
import {
  bytesBetween,
  entriesOf,
  found,
  oneOf,
  optional,
  parsePassword,
  parsePath,
  parseRedisUrl,
  parseSwitch,
  refused,
  type Parser,
} from '../parsers.ts'
import { PROCESSES, setting } from '../setting.ts'

/** Below this Redis 7 cannot hold its own bookkeeping and a batch at once. */
const REDIS_MAXMEMORY_BYTES_MIN = 16 * 1024 ** 2
const REDIS_MAXMEMORY_BYTES_MAX = 4 * 1024 ** 4
const SENTINELS_MAX = 16
const SENTINEL_PORT = 26_379
const PORT_MAX = 65_535

/** Roles that read or write the data of an installation, by its shards. */
export const WITH_SHARDS = [...PROCESSES, 'doctor'] as const
const WITH_REDIS = [...WITH_SHARDS, 'backup', 'restore'] as const

/** A sentinel, which a process asks for the primary. */
export interface SentinelAddress {
  readonly host: string
  readonly port: number
}

const SENTINEL = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?$/

const parseSentinels: Parser<readonly SentinelAddress[] | null> = (text) => {
  const addresses = entriesOf(text).map((entry) => {
    const [, host, port = String(SENTINEL_PORT)] = SENTINEL.exec(entry) ?? []
    if (host === undefined || Number(port) < 1 || Number(port) > PORT_MAX) return null
    return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
  })
  const known = addresses.filter((address) => address !== null)
  const isGood = known.length > 0 && known.length === addresses.length && known.length <= SENTINELS_MAX
  return isGood
    ? found(Object.freeze(known))
    : refused(`1 to ${SENTINELS_MAX} places host:port, separated by commas`)
}

/** Settings of the Redis that holds the jobs, and of how it is reached. */
export const REDIS_SETTINGS = Object.freeze({
  redisUrl: setting({
    roles: WITH_REDIS,
    variable: 'PUNCTUAL_REDIS_URL',
    placeholder: 'url',
    help: 'Redis to use: redis://, rediss:// or a socket path',
    initial: null,
    initialText: 'none: standalone starts its own',
    isSecret: true,
    parse: optional(parseRedisUrl),
  }),
  redisPassword: setting({
    roles: WITH_REDIS,
    variable: 'PUNCTUAL_REDIS_PASSWORD',
    placeholder: 'text',
    help: 'password for the Redis of the URL, unescaped; as a flag it shows in process lists',
    initial: null,
    initialText: 'the one in the URL',
    isSecret: true,
    isVerbatim: true,
    parse: optional(parsePassword),
  }),
  redisSentinels: setting({
    roles: WITH_REDIS,
    variable: 'PUNCTUAL_REDIS_SENTINELS',
    placeholder: 'list',
    help: 'sentinels to ask for the primary, host:port; the host of the URL is its name',
    initial: null,
    initialText: 'none',
    parse: parseSentinels,
  }),
  redisSentinelPassword: setting({
    roles: WITH_REDIS,
    variable: 'PUNCTUAL_REDIS_SENTINEL_PASSWORD',
    placeholder: 'text',
    help: 'password for the sentinels; as a flag it shows in process lists',
    initial: null,
    initialText: 'none',
    isSecret: true,
    isVerbatim: true,
    parse: optional(parsePassword),
  }),
  redisCa: setting({
    roles: WITH_REDIS,
    variable: 'PUNCTUAL_REDIS_CA',
    placeholder: 'file',
    help: 'PEM file of certificate authorities that verify a rediss:// server',
    initial: null,
    initialText: "Node's own",
    parse: optional(parsePath),
  }),
  redisCert: setting({
    roles: WITH_REDIS,
    variable: 'PUNCTUAL_REDIS_CERT',
    placeholder: 'file',
    help: 'PEM file of the certificate to show to a rediss:// server, with its chain',
    initial: null,
    initialText: 'none',
    parse: optional(parsePath),
  }),
  redisKey: setting({
    roles: WITH_REDIS,
    variable: 'PUNCTUAL_REDIS_KEY',
    placeholder: 'file',
    help: 'PEM file of its private key',
    initial: null,
    initialText: 'none',
    parse: optional(parsePath),
  }),
  redisMaxmemoryBytes: setting({
    roles: ['standalone', 'restore'],
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
  redisDurability: setting({
    roles: ['standalone', 'api', 'doctor'],
    variable: 'PUNCTUAL_REDIS_DURABILITY',
    placeholder: 'word',
    help: 'what accepted jobs survive: relaxed, fsync (on disk) or replicated (in replicas)',
    initial: 'relaxed',
    parse: oneOf(DURABILITIES),
  }),
  redisOpenPort: setting({
    roles: ['doctor'],
    variable: 'PUNCTUAL_REDIS_OPEN_PORT',
    placeholder: null,
    help: 'network policies let pods reach any address at the port of Redis; the doctor warns of it',
    initial: false,
    parse: parseSwitch,
  }),
  allowUnsafeRedis: setting({
    roles: PROCESSES,
    variable: 'PUNCTUAL_ALLOW_UNSAFE_REDIS',
    placeholder: null,
    help: 'start even if Redis may lose jobs (evicting policy, no AOF)',
    initial: false,
    parse: parseSwitch,
  }),
})

export interface RedisValues {
  readonly redisUrl: string | null
  readonly redisSentinels: readonly SentinelAddress[] | null
  readonly redisSentinelPassword: string | null
  readonly redisCert: string | null
  readonly redisKey: string | null
  /** Absent in a role that accepts nothing. */
  readonly redisDurability?: Durability
}

/** Finds settings of Redis that contradict each other. */
export function redisMistakes(values: RedisValues): string[] {
  const { redisUrl, redisSentinels, redisSentinelPassword, redisCert, redisKey, redisDurability } = values
  const isEncrypted = redisUrl?.startsWith('rediss:') === true
  const mistakes: (string | false)[] = [
    (redisCert === null) !== (redisKey === null) &&
      'PUNCTUAL_REDIS_CERT and PUNCTUAL_REDIS_KEY are a certificate and its key: give both, or neither.',
    redisCert !== null &&
      redisUrl !== null &&
      !isEncrypted &&
      'PUNCTUAL_REDIS_CERT is for a rediss:// URL, and PUNCTUAL_REDIS_URL is none.',
    redisSentinels !== null &&
      (redisUrl === null || redisUrl.startsWith('/')) &&
      'PUNCTUAL_REDIS_SENTINELS needs a PUNCTUAL_REDIS_URL whose host is the name of the primary, such as redis://mymaster.',
    redisDurability === 'replicated' &&
      redisUrl === null &&
      'PUNCTUAL_REDIS_DURABILITY is replicated, which needs a Redis with a replica: name it by PUNCTUAL_REDIS_URL, or set fsync.',
    redisSentinelPassword !== null &&
      redisSentinels === null &&
      'PUNCTUAL_REDIS_SENTINELS is not set, and PUNCTUAL_REDIS_SENTINEL_PASSWORD is of no use without.',
  ]
  return mistakes.filter((one) => one !== false)
}
