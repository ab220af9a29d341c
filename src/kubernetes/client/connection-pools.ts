import { isDeepStrictEqual } from 'node:util'
import { Pool } from 'undici'
import type { ClusterTls } from './cluster-config.ts'
import {
  API_CONNECTIONS_MAX,
  CONNECT_TIMEOUT_MS,
  KEEP_ALIVE_MS,
  TCP_KEEP_ALIVE_MS,
  URGENT_CONNECTIONS_MAX,
  WATCH_CONNECTIONS_MAX,
} from './bounds.ts'

type PoolSet = Readonly<Record<'api' | 'urgent' | 'watch', Pool>>

/** The connections to one API server: few that all calls share, one for what is urgent, and one for each watch. */
export interface ConnectionPools {
  /** When authority, certificate or key are others than last time, new connections are opened and the old ones left. */
  under(tls: ClusterTls): PoolSet
  /** Cuts what is under way. */
  close(): Promise<void>
}

export function createConnectionPools(origin: string): ConnectionPools {
  let current: { readonly tls: ClusterTls; readonly pools: PoolSet } | null = null

  return {
    under: (tls) => {
      if (current !== null && isDeepStrictEqual(current.tls, tls)) return current.pools
      // Requests and watches under way end on the connections they have.
      for (const pool of Object.values(current?.pools ?? {})) void pool.close()
      const pools = {
        api: openPool(origin, tls, API_CONNECTIONS_MAX),
        urgent: openPool(origin, tls, URGENT_CONNECTIONS_MAX),
        watch: openPool(origin, tls, WATCH_CONNECTIONS_MAX),
      }
      current = { tls, pools }
      return pools
    },
    close: async () => {
      const pools = Object.values(current?.pools ?? {})
      current = null
      await Promise.all(pools.map((pool) => pool.destroy()))
    },
  }
}

function openPool(origin: string, tls: ClusterTls, connections: number): Pool {
  return new Pool(origin, {
    connections,
    // Over HTTP/2 all watches would share one connection, and a dead one is not noticed.
    allowH2: false,
    pipelining: 1,
    // undici's clocks restart at every byte; ours do not.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    connect: {
      ...tls,
      timeout: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
    },
  })
}
