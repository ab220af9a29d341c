import type { SecureContext } from 'node:tls'
import type { RedisOptions } from 'ioredis'
import type { Logger } from '../../ports/runtime.ts'
import { TlsFiles } from './tls-files.ts'

/** Which Redis, as the settings say it. */
export interface RedisPlace {
  /** `redis://…`, `rediss://…`, or the path of a unix socket. With sentinels its host is the name of the primary. */
  readonly url: string
  /** To ask for the primary; null = the URL is it. */
  readonly sentinels?: readonly { readonly host: string; readonly port: number }[] | null
  readonly sentinelPassword?: string | null
  /** PEM file of the authorities that a `rediss://` server is verified by; null = Node's own. */
  readonly redisCa?: string | null
  /** PEM files of the certificate that is shown to such a server, and its key. */
  readonly redisCert?: string | null
  readonly redisKey?: string | null
}

export interface ConnectionOptions extends RedisPlace {
  /** A reply that takes longer counts as a fault of Redis. */
  readonly commandTimeoutMs: number
  /** For CLIENT LIST: `punctual-api`, … */
  readonly name: string
  readonly logger: Logger
}

const RECONNECT_DELAY_MS_MAX = 1000
/**
 * When answers are due and none has come for this much longer than the command timeout, the connection is replaced. A host
 * without power or a dropped flow sends no reset, and the kernel would retry for a quarter of an hour. Keep-alive finds an
 * idle connection, such as that of the wake hints, dead within a minute.
 */
const SILENCE_SLACK_MS = 1000

/** What every connection is opened with. */
export function clientOptions(options: ConnectionOptions) {
  return {
    lazyConnect: true,
    connectionName: options.name,
    protocol: 2 as const,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: options.commandTimeoutMs,
    connectTimeout: options.commandTimeoutMs,
    socketTimeout: options.commandTimeoutMs + SILENCE_SLACK_MS,
    retryStrategy: reconnectDelayMs,
    // A failed-over primary answers READONLY until the client connects to the new one.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
    ...tlsOptions(options),
  }
}

/**
 * The options that find the primary by sentinels: those of the URL, with its host as the name. Sentinels are spoken to as
 * the primary is, encrypted or not.
 */
export function sentinelOptions(options: ConnectionOptions, sentinels: NonNullable<RedisPlace['sentinels']>) {
  const url = new URL(options.url)
  const { sentinelPassword = null } = options
  const tls = url.protocol === 'rediss:' ? (tlsOptions(options).tls ?? {}) : null
  const db = Number(url.pathname.slice(1) || 0)
  return {
    ...clientOptions(options),
    sentinels: [...sentinels],
    name: decodeURIComponent(url.hostname),
    role: 'master' as const,
    // A former primary ends its connections or answers READONLY. The client's own detector of failovers must stay off: when
    // it hears of one while it connects, it gives up for good.
    failoverDetector: false,
    sentinelCommandTimeout: options.commandTimeoutMs,
    sentinelRetryStrategy: reconnectDelayMs,
    ...(sentinelPassword !== null && { sentinelPassword }),
    ...(url.username !== '' && { username: decodeURIComponent(url.username) }),
    ...(url.password !== '' && { password: decodeURIComponent(url.password) }),
    ...(db !== 0 && { db }),
    ...(tls !== null && { tls, sentinelTLS: tls, enableTLSForSentinelMode: true }),
  } satisfies RedisOptions
}

export function reconnectDelayMs(attempt: number): number {
  return Math.min(RECONNECT_DELAY_MS_MAX, 25 * 2 ** Math.min(attempt, 6))
}

/** The client takes the properties of `tls` anew for each connection. */
function tlsOptions({ url, redisCa = null, redisCert = null, redisKey = null, logger }: ConnectionOptions): {
  readonly tls?: { readonly secureContext: SecureContext }
} {
  if (!url.startsWith('rediss:') || (redisCa === null && redisCert === null)) return {}
  const files = new TlsFiles({ redisCa, redisCert, redisKey }, logger)
  return {
    tls: {
      get secureContext() {
        return files.context()
      },
    },
  }
}
