import { isDeepStrictEqual } from 'node:util'
import { Pool } from 'undici'
import type { ClusterTls } from './cluster-config.ts'

/**
 * What connections are used for. `urgent` is the Lease, which is renewed even while all other requests hang. `review`
 * asks who users are and what they may do, which must not wait behind anybody's edits, and `doubt` asks the same about
 * tokens that anybody may have made up.
 */
export type PoolName = 'api' | 'urgent' | 'review' | 'doubt' | 'watch'

const CONNECTIONS_MAX: Readonly<Record<PoolName, number>> = {
  api: 4,
  urgent: 1,
  review: 8,
  doubt: 2,
  watch: 256,
}
const CONNECT_TIMEOUT_MS = 10_000
/**
 * Shorter than the 90 s or more after which API servers, and the load balancers before them, close idle connections.
 */
const KEEP_ALIVE_MS = 30_000
/** A connection that has been silent for this long is probed by TCP. The value is client-go's. */
const TCP_KEEP_ALIVE_MS = 30_000

/** The connections to one API server: a few for the requests of each purpose, and one for each watch. */
export class ConnectionPools {
  readonly #origin: string
  #current: { readonly tls: ClusterTls; readonly pools: Readonly<Record<PoolName, Pool>> } | null = null

  constructor(origin: string) {
    this.#origin = origin
  }

  /** Opens new connections when CA, certificate or key have changed; requests in flight finish on the old ones. */
  pool(name: PoolName, tls: ClusterTls): Pool {
    if (this.#current === null || !isDeepStrictEqual(this.#current.tls, tls)) {
      for (const old of Object.values(this.#current?.pools ?? {})) void old.close()
      const open = (name: PoolName): Pool => openPool(this.#origin, tls, CONNECTIONS_MAX[name])
      this.#current = {
        tls,
        pools: {
          api: open('api'),
          urgent: open('urgent'),
          review: open('review'),
          doubt: open('doubt'),
          watch: open('watch'),
        },
      }
    }
    return this.#current.pools[name]
  }

  /** Cuts the requests in flight. */
  async close(): Promise<void> {
    const pools = Object.values(this.#current?.pools ?? {})
    this.#current = null
    await Promise.all(pools.map((pool) => pool.destroy()))
  }
}

function openPool(origin: string, tls: ClusterTls, connections: number): Pool {
  return new Pool(origin, {
    connections,
    // Over HTTP/2 all watches would share one connection, and nobody would notice that it is dead.
    allowH2: false,
    pipelining: 1,
    // undici restarts these timeouts at every byte; our deadlines do not restart.
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
