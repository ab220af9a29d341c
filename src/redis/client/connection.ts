import { readFileSync } from 'node:fs'
import { Cluster, Redis, ReplyError, type RedisOptions } from 'ioredis'
import { reasonOf, StartupError, StoreUnreachableError } from '../../domain/errors.ts'
import type { Logger } from '../../ports/runtime.ts'

/** One server or a Cluster: the engine sends the same commands to each, and only these. */
export type RedisConnection = Pick<
  Redis,
  | 'config'
  | 'del'
  | 'disconnect'
  | 'eval'
  | 'evalsha'
  | 'get'
  | 'hdel'
  | 'hget'
  | 'hgetall'
  | 'hkeys'
  | 'hlen'
  | 'hmget'
  | 'hrandfield'
  | 'hscan'
  | 'hset'
  | 'hsetnx'
  | 'hstrlen'
  | 'info'
  | 'lindex'
  | 'llen'
  | 'lrange'
  | 'ping'
  | 'publish'
  | 'scan'
  | 'scard'
  | 'setnx'
  | 'srandmember'
  | 'sscan'
  | 'subscribe'
  | 'ttl'
  | 'unsubscribe'
  | 'zcard'
  | 'zcount'
  | 'zmscore'
  | 'zrange'
  | 'zrangebyscore'
  | 'xrevrange'
  | 'zrevrange'
  | 'zscan'
  | 'zscore'
> & {
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'ready', listener: () => void): unknown
  on(event: 'message', listener: (channel: string, message: string) => void): unknown
}

export interface ConnectionOptions {
  /** `redis://…`, `rediss://…`, or the path of a unix socket. */
  readonly url: string
  /** PEM file of the authorities that a `rediss://` server is verified by; null = Node's own. */
  readonly redisCa?: string | null
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

/**
 * Connects and waits until Redis answers. Commands fail at once while the connection is down: callers resend whole steps,
 * so nothing waits unseen in a client's queue.
 */
export async function connectRedis(options: ConnectionOptions): Promise<RedisConnection> {
  const single = new Redis(options.url, clientOptions(options))
  // A command's rejection only says that the connection is gone; the first event says why.
  let first: Error | null = null
  single.on('error', (error: Error) => {
    first ??= error
  })
  try {
    await single.connect()
    const info = await single.info('cluster')
    if (!info.includes('cluster_enabled:1')) {
      logConnectionEvents(single, options.logger)
      return single
    }
  } catch (error) {
    single.disconnect()
    const why: unknown = first ?? error
    throw new StoreUnreachableError(
      `Redis does not answer at ${withoutPassword(options.url)}: ${reasonOf(why).replace(/\.$/, '')}. Start it, or set PUNCTUAL_REDIS_URL.`,
      { cause: error, isRefusal: why instanceof ReplyError },
    )
  }
  single.disconnect()
  return connectCluster(options, single.options)
}

/** The server, or the primaries of a Cluster. */
export function primariesOf(
  connection: RedisConnection,
): ReadonlyArray<Pick<Redis, 'info' | 'ping' | 'scan'>> {
  return connection instanceof Cluster ? connection.nodes('master') : [connection]
}

/** Resolves when Redis answers. Of a Cluster any node will do: one silent node must not make the others look dead. */
export async function pingAny(connection: RedisConnection): Promise<void> {
  const pings = primariesOf(connection).map((node) => node.ping())
  await Promise.any(pings).catch(() => pings[0])
}

/**
 * The client learns the nodes from the one in the URL, then tries until one of them is ready. Nodes that announce
 * unreachable addresses would be tried forever, so the first connection has a bound.
 */
async function connectCluster(options: ConnectionOptions, named: RedisOptions): Promise<RedisConnection> {
  const { host = 'localhost', port = 6379, username, password, tls } = named
  const cluster = new Cluster([{ host, port }], {
    enableOfflineQueue: false,
    lazyConnect: true,
    clusterRetryStrategy: reconnectDelayMs,
    // The nodes use the same credentials as the one in the URL.
    redisOptions: { ...clientOptions(options), username, password, tls },
  })
  logConnectionEvents(cluster, options.logger)
  let reason = 'none of its nodes is ready'
  cluster.on('node error', (error: Error, node: string) => {
    reason = `${node}: ${error.message}`
  })
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>()
  cluster.once('ready', resolve)
  const timer = setTimeout(() => reject(new Error(reason)), 2 * options.commandTimeoutMs + 1000)
  // Only the first try is reported here; `ready` reports any.
  cluster.connect().catch(() => undefined)
  try {
    await ready
    return cluster
  } catch (error) {
    cluster.disconnect()
    throw new StoreUnreachableError(
      `The nodes of the Redis Cluster at ${withoutPassword(options.url)} do not answer: ${reasonOf(error)}. ` +
        'Each must be up and announce an address that is reached from here (cluster-announce-ip).',
      { cause: error },
    )
  } finally {
    clearTimeout(timer)
  }
}

function clientOptions(options: ConnectionOptions) {
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

function tlsOptions({ url, redisCa = null }: ConnectionOptions): { readonly tls?: { readonly ca: string } } {
  if (redisCa === null || !url.startsWith('rediss:')) return {}
  try {
    return { tls: { ca: readFileSync(redisCa, 'utf8') } }
  } catch (error) {
    throw new StartupError(`PUNCTUAL_REDIS_CA cannot be read: ${reasonOf(error)}.`, { cause: error })
  }
}

function reconnectDelayMs(attempt: number): number {
  return Math.min(RECONNECT_DELAY_MS_MAX, 25 * 2 ** Math.min(attempt, 6))
}

function logConnectionEvents(connection: RedisConnection, logger: Logger): void {
  let isDown = false
  connection.on('error', (error: Error) => {
    if (!isDown) logger.warn('Redis connection failed', { reason: error.message })
    isDown = true
  })
  connection.on('ready', () => {
    if (isDown) logger.info('Redis connection is back')
    isDown = false
  })
}

/** For messages: the address without its credentials, which may contain an unescaped `@` or `/`. */
export function withoutPassword(url: string): string {
  return url.replace(/\/\/.*@/, '//')
}
