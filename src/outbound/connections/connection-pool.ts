import type { Socket } from 'node:net'
import type { Clock } from '../../ports/runtime.ts'
import { CONNECTION_AGE_MS_MAX, IDLE_SOCKETS_MAX, IDLE_SOCKETS_SWEEP_MS } from '../bounds.ts'
import { LinkedList } from '../../domain/linked-list.ts'
import { Connection, type OriginPool, type TeamPools } from './connection.ts'

export interface PoolBounds {
  /** Open or being opened, over all teams. */
  readonly socketsMax: number
  readonly socketsPerOriginMax: number
}

/**
 * Open connections by team, policy version and origin. A reused connection skips the egress check, so it is reused only
 * under the settings version it was checked with; another version closes it.
 */
export class ConnectionPool {
  readonly #clock: Clock
  readonly #bounds: PoolBounds
  readonly #teams = new Map<string, TeamPools>()
  /** Idle connections of all origins, longest idle first. */
  readonly #idle = new LinkedList<Connection>()
  #sockets = 0
  #closed = false
  #isSweepDue = false

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

  /** Frees a reserved socket that was not opened, or has closed. */
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
    const connection = new Connection(pool, socket, this.#clock.monotonicMs())
    socket.once('close', () => this.#drop(connection))
    return connection
  }

  /**
   * Takes a connection back for reuse, after a response that was read to its end.
   * @param keepAliveMs how long the connection may idle; 0 if it cannot be used again
   */
  release(connection: Connection, keepAliveMs: number): void {
    connection.idleUntilMs = this.#clock.monotonicMs() + keepAliveMs
    if (!this.#isReusable(connection)) return this.discard(connection)
    connection.pool.idle.push(connection)
    connection.idleLink = this.#idle.append(connection)
    if (this.#idle.length > IDLE_SOCKETS_MAX) this.#evictLongestIdle()
    this.#planSweep()
  }

  /** Closes a connection that cannot be reused. */
  discard(connection: Connection): void {
    this.#drop(connection)
    connection.destroy()
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

  #planSweep(): void {
    if (this.#isSweepDue) return
    this.#isSweepDue = true
    this.#clock.after(IDLE_SOCKETS_SWEEP_MS, () => this.#sweep())
  }

  /** Closes what has idled long enough, so that no target holds a socket that nobody will use. */
  #sweep(): void {
    this.#isSweepDue = false
    const nowMs = this.#clock.monotonicMs()
    for (const connection of this.#idle) if (connection.idleUntilMs <= nowMs) this.discard(connection)
    if (this.#idle.length > 0) this.#planSweep()
  }

  #isReusable(connection: Connection): boolean {
    const { pool, openedAtMs, idleUntilMs } = connection
    if (this.#closed || pool.pools.retired || !connection.isOpen) return false
    const nowMs = this.#clock.monotonicMs()
    return nowMs < idleUntilMs && nowMs - openedAtMs < CONNECTION_AGE_MS_MAX
  }
}
