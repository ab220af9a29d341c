import type { ConnectionOptions as TlsOptions, SecureContext } from 'node:tls'
import type { Clock, Logger } from '../../../ports/runtime.ts'
import { TlsFiles } from './tls-files.ts'

/** How a Redis is reached, as the settings state it. */
export interface RedisEndpoint {
  /** `redis://…`, `rediss://…`, or the path of a unix socket. With sentinels its host is the name of the primary. */
  readonly url: string
  /** Sentinels to ask for the primary; null = the URL is the primary. */
  readonly sentinels?: readonly { readonly host: string; readonly port: number }[] | null
  readonly sentinelPassword?: string | null
  /** PEM file of the authorities that a `rediss://` server is verified by; null = Node's own. */
  readonly redisCa?: string | null
  /** PEM files of the certificate that is shown to such a server, and its key. */
  readonly redisCert?: string | null
  readonly redisKey?: string | null
}

export interface ConnectionOptions extends RedisEndpoint {
  /** A reply that takes longer counts as a fault of Redis. */
  readonly commandTimeoutMs: number
  /** Name in CLIENT LIST: `punctual-api`, … */
  readonly name: string
  readonly clock: Clock
  readonly logger: Logger
}

const RECONNECT_DELAY_MS_MAX = 1000
/**
 * A connection is replaced when answers are due and none has come for this much longer than the command timeout. A host
 * without power or a dropped flow sends no reset, and the kernel would retry for a quarter of an hour. Keep-alive finds
 * an idle connection, such as that of the wake hints, dead within a minute.
 */
const SILENCE_SLACK_MS = 1000

/** Options of every connection. */
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

/** Options of a client whose connections lead to the primary that sentinels name; the host of the URL is its name. */
export function sentinelOptions(options: ConnectionOptions) {
  const url = new URL(options.url)
  const { sentinelPassword = null } = options
  const base = clientOptions(options)
  const db = Number(url.pathname.slice(1) || 0)
  const tls: TlsOptions | null = url.protocol === 'rediss:' ? (base.tls ?? {}) : null
  return {
    name: decodeURIComponent(url.hostname),
    tls,
    client: {
      ...base,
      ...(url.username !== '' && { username: decodeURIComponent(url.username) }),
      ...(url.password !== '' && { password: decodeURIComponent(url.password) }),
      ...(db !== 0 && { db }),
      ...(tls !== null && { tls }),
    },
    /** Sentinels are spoken to as the primary is, encrypted or not. */
    sentinel: {
      ...base,
      ...(sentinelPassword !== null && { password: sentinelPassword }),
      ...(tls !== null && { tls }),
    },
  }
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
