import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { Client } from 'undici'
import { RESPONSE_HEADER_BYTES_MAX } from '../../domain/limits.ts'
import type { Clock } from '../../ports/runtime.ts'
import { passOverInterim } from './interim-responses.ts'
import { LinkedList, type Link } from '../linked-list.ts'
import {
  CONNECTION_AGE_MS_MAX,
  IDLE_SOCKETS_MAX,
  KEEP_ALIVE_MARGIN_MS,
  KEEP_ALIVE_MS,
  KEEP_ALIVE_MS_MAX,
} from '../bounds.ts'

export interface PoolBounds {
  /** Open or being opened, over all teams. */
  readonly socketsMax: number
  readonly socketsPerOriginMax: number
}

/** The connections of one team under one policy version. */
interface TeamPools {
  readonly team: string
  readonly version: number
  readonly origins: Map<string, OriginPool>
  retired: boolean
}

/** The connections to one origin. */
export interface OriginPool {
  readonly origin: string
  readonly pools: TeamPools
  /** Longest idle first. */
  readonly idle: Connection[]
  /** Sockets open or being opened. */
  sockets: number
}

export interface Connection {
  readonly pool: OriginPool
  readonly client: Client
  readonly socket: Socket
  readonly openedAtMs: number
  /** To be called before a request: the next bytes are a response. */
  readonly awaitAnswer: () => void
  /** The socket failed, which undici takes for the end of a body without a length. */
  broken: boolean
  /** Generation of the egress guard that has judged it for reuse; null = none yet. */
  judgedGeneration: number | null
  /** Its socket still counts. */
  holdsSocket: boolean
  /** Among all idle connections; null while in use. */
  idleLink: Link<Connection> | null
}

/**
 * Open connections by team, policy version and origin. A reused connection skips the egress check, so it is reused only
 * under the settings version it was checked with; another version closes it.
 *
 * Each connection is an undici `Client` over a socket that we opened, and not part of an undici `Agent`: this way a call
 * knows its connection's timings, stops a connect at its deadline, and learns whether a byte was written.
 */
export class ConnectionPool {
  readonly #clock: Clock
  readonly #bounds: PoolBounds
  readonly #teams = new Map<string, TeamPools>()
  /** Of all origins, longest idle first. */
  readonly #idle = new LinkedList<Connection>()
  #sockets = 0
  #closed = false

  constructor(clock: Clock, bounds: PoolBounds) {
    this.#clock = clock
    this.#bounds = bounds
  }

  /** An idle connection that looks alive, or null. Another version than the last closes the connections of the last. */
  takeIdle(team: string, version: number, origin: string): Connection | null {
    const idle = this.#poolsOf(team, version).origins.get(origin)?.idle
    // The most recently used one is the most likely to be alive.
    for (let connection = idle?.pop(); connection !== undefined; connection = idle?.pop()) {
      this.#unlink(connection)
      if (this.#isReusable(connection)) return connection
      this.discard(connection)
    }
    return null
  }

  /** Reserves a new socket; null if the process or the origin may open no more. */
  reserveSocket(team: string, version: number, origin: string): OriginPool | null {
    const pools = this.#poolsOf(team, version)
    const pool = pools.origins.get(origin) ?? { origin, pools, idle: [], sockets: 0 }
    if (pool.sockets >= this.#bounds.socketsPerOriginMax) return null
    if (this.#sockets >= this.#bounds.socketsMax && !this.#evictLongestIdle()) return null
    // The eviction may have emptied the maps.
    this.#teams.set(team, pools)
    pools.origins.set(origin, pool)
    this.#sockets += 1
    pool.sockets += 1
    return pool
  }

  /** For a reserved socket that was not opened, or has closed. */
  releaseSocket(pool: OriginPool): void {
    const { pools, origin } = pool
    this.#sockets -= 1
    pool.sockets -= 1
    if (pool.sockets > 0) return
    pools.origins.delete(origin)
    if (pools.origins.size === 0 && !pools.retired) this.#teams.delete(pools.team)
  }

  /** Makes a connection of a reserved socket that is open. */
  adopt(pool: OriginPool, socket: Socket): Connection {
    const connection: Connection = {
      pool,
      client: clientOver(socket, pool.origin),
      socket,
      openedAtMs: this.#clock.monotonicMs(),
      awaitAnswer: passOverInterim(socket),
      broken: false,
      judgedGeneration: null,
      holdsSocket: true,
      idleLink: null,
    }
    socket.prependListener('error', () => {
      connection.broken = true
    })
    socket.once('close', () => this.#drop(connection))
    return connection
  }

  /** For reuse, after a response that was read to its end. */
  release(connection: Connection): void {
    if (!this.#isReusable(connection)) return this.discard(connection)
    connection.pool.idle.push(connection)
    connection.idleLink = this.#idle.append(connection)
    if (this.#idle.length > IDLE_SOCKETS_MAX) this.#evictLongestIdle()
  }

  /** For a connection that cannot be reused. */
  discard(connection: Connection): void {
    this.#drop(connection)
    connection.client.destroy(null, ignore)
  }

  /** Closes all idle connections; those in use close when they are released. */
  close(): void {
    this.#closed = true
    while (this.#evictLongestIdle());
  }

  #drop(connection: Connection): void {
    const { pool } = connection
    if (this.#unlink(connection)) pool.idle.splice(pool.idle.indexOf(connection), 1)
    if (!connection.holdsSocket) return
    connection.holdsSocket = false
    this.releaseSocket(pool)
  }

  #unlink(connection: Connection): boolean {
    if (connection.idleLink === null) return false
    this.#idle.remove(connection.idleLink)
    connection.idleLink = null
    return true
  }

  #poolsOf(team: string, version: number): TeamPools {
    const known = this.#teams.get(team)
    // Any other version, not only a higher one: numbers start again after a loss of data.
    if (known !== undefined && known.version === version) return known
    if (known !== undefined) this.#retire(known)
    return { team, version, origins: new Map(), retired: false }
  }

  #retire(pools: TeamPools): void {
    pools.retired = true
    this.#teams.delete(pools.team)
    for (const pool of pools.origins.values()) {
      for (const connection of pool.idle.slice()) this.discard(connection)
    }
  }

  #evictLongestIdle(): boolean {
    const oldest = this.#idle.first
    if (oldest === undefined) return false
    this.discard(oldest)
    return true
  }

  #isReusable({ pool, socket, openedAtMs, broken }: Connection): boolean {
    if (this.#closed || pool.pools.retired || broken || socket.destroyed) return false
    return this.#clock.monotonicMs() - openedAtMs < CONNECTION_AGE_MS_MAX
  }
}

/** The socket closed before a byte of the request was written. */
class StaleConnectionError extends Error {
  readonly code = 'ECONNRESET'
  constructor() {
    super('The connection was closed while it was idle.')
    this.name = 'StaleConnectionError'
  }
}

function clientOver(socket: Socket, origin: string): Client {
  let handedOver = false
  const client = new Client(origin, {
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: RESPONSE_HEADER_BYTES_MAX,
    // undici's timeouts restart at every chunk and every 1xx; the call's own deadline does not.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS_MAX,
    keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
    // undici connects again if the socket closed before it wrote the request.
    connect: (_options, callback) => {
      queueMicrotask(() => {
        if (handedOver) return callback(new StaleConnectionError(), null)
        handedOver = true
        callback(null, socket)
      })
    },
  })
  // Faults inside undici's callbacks must not end the process; the call has its deadline.
  const emitter: EventEmitter = client
  emitter.on('error', ignore)
  return client
}

function ignore(): void {}
