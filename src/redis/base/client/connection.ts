import { Cluster, Redis, ReplyError, type RedisOptions } from 'ioredis'
import { reasonOf, StoreUnreachableError } from '../../../domain/errors.ts'
import type { Logger } from '../../../ports/runtime.ts'
import { clientOptions, type ConnectionOptions, reconnectDelayMs } from './client-options.ts'
import { writeScriptRuns } from './script-run.ts'
import { openBySentinels } from './sentinels/sentinel-client.ts'

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
  | 'wait'
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

/**
 * Connects and waits until Redis answers. Commands fail at once while the connection is down: callers resend whole steps,
 * so nothing waits unseen in a client's queue.
 */
export async function connectRedis(options: ConnectionOptions): Promise<RedisConnection> {
  return (await connectClient(options)).client
}

export interface ConnectedClient {
  readonly client: Redis | Cluster
  /** Answers whether all sentinels say that no failover is under way; null = there are none. */
  readonly isSettled: (() => Promise<boolean>) | null
}

/** The same, for who needs more of the client. */
export async function connectClient(options: ConnectionOptions): Promise<ConnectedClient> {
  const { sentinels = null } = options
  if (sentinels !== null) return connectBySentinels(options, sentinels)
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
      return { client: writeScriptRuns(single), isSettled: null }
    }
  } catch (error) {
    single.disconnect()
    throw noAnswer(options.url, first ?? error)
  }
  single.disconnect()
  return { client: await connectCluster(options, single.options), isSettled: null }
}

/** The fault of a Redis that does not answer at the start. */
export function noAnswer(url: string, why: unknown): StoreUnreachableError {
  return new StoreUnreachableError(
    `Redis does not answer at ${withoutPassword(url)}: ${reasonOf(why).replace(/\.$/, '')}. Start it, or set PUNCTUAL_REDIS_URL.`,
    { cause: why, isRefusal: why instanceof ReplyError },
  )
}

/** The watch would ask forever, so the first answer has a bound. */
async function connectBySentinels(
  options: ConnectionOptions,
  sentinels: NonNullable<ConnectionOptions['sentinels']>,
): Promise<ConnectedClient> {
  let last: Error | null = null
  const noteError = (error: Error): void => {
    last = error
  }
  const { client, name, isSettled } = openBySentinels(options, { sentinels, onError: noteError })
  client.on('error', noteError)
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('no answer')), firstAnswerMs(options))
  try {
    await Promise.race([client.connect(), late])
    logConnectionEvents(client, options.logger)
    return { client: writeScriptRuns(client), isSettled }
  } catch (error) {
    client.disconnect()
    const why: unknown = last ?? error
    const places = sentinels.map(({ host, port }) => `${host}:${port}`).join(', ')
    throw new StoreUnreachableError(
      `No primary called ${name} is reached by the sentinels at ${places}: ${reasonOf(why).replace(/\.$/, '')}. ` +
        'Check PUNCTUAL_REDIS_SENTINELS, and the name in PUNCTUAL_REDIS_URL.',
      { cause: error, isRefusal: why instanceof ReplyError },
    )
  } finally {
    clearTimeout(timer)
  }
}

/** How long a first connection that finds its server by asking others may take, before what it has heard is told. */
function firstAnswerMs({ commandTimeoutMs }: ConnectionOptions): number {
  return 2 * commandTimeoutMs + 1000
}

/** The server, or the primaries of a Cluster. */
export function primariesOf(
  connection: RedisConnection,
): ReadonlyArray<Pick<Redis, 'config' | 'info' | 'ping' | 'scan'>> {
  return connection instanceof Cluster ? connection.nodes('master') : [connection]
}

/** The same by where each is, as the client knows it. */
export function namedPrimariesOf(
  connection: RedisConnection,
): ReadonlyMap<string, Pick<Redis, 'duplicate' | 'info'>> {
  const nodes = connection instanceof Cluster ? connection.nodes('master') : [connection as Redis]
  return new Map(nodes.map((node) => [nameOf(node), node]))
}

/** The number of the database that its commands go to. */
export function databaseOf(connection: RedisConnection): number {
  return connection instanceof Cluster ? 0 : ((connection as Redis).options.db ?? 0)
}

/** A client with a connector of its own learns by each connection where the primary is. */
function nameOf(node: Redis): string {
  const { host, port, path, Connector } = node.options
  if (typeof path === 'string') return path
  if (Connector === undefined) return `${host}:${port}`
  const { stream } = node as Partial<Pick<Redis, 'stream'>>
  return stream !== undefined && 'remotePort' in stream
    ? `${stream.remoteAddress}:${stream.remotePort}`
    : 'unknown'
}

/**
 * Servers that the client knows at present: their names or addresses, and the addresses that connections lead to; none
 * of a unix socket.
 */
export function serversOf(connection: RedisConnection): readonly string[] {
  if (!(connection instanceof Cluster)) return peerOf(connection as Partial<Redis>)
  return connection.nodes('all').flatMap((node) => [node.options.host ?? [], peerOf(node)].flat())
}

function peerOf({ stream }: Partial<Pick<Redis, 'stream'>>): readonly string[] {
  const address = stream !== undefined && 'remoteAddress' in stream ? stream.remoteAddress : undefined
  return address === undefined ? [] : [address]
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
async function connectCluster(options: ConnectionOptions, named: RedisOptions): Promise<Cluster> {
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
  const timer = setTimeout(() => reject(new Error(reason)), firstAnswerMs(options))
  // Only the first try is reported here; `ready` reports any.
  cluster.connect().catch(() => undefined)
  try {
    await ready
    return writeScriptRuns(cluster)
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

/** Address without its credentials, which may contain an unescaped `@` or `/`; for messages. */
export function withoutPassword(url: string): string {
  return url.replace(/\/\/.*@/, '//')
}
