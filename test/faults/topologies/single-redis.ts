import { startTcpProxy, type TcpProxy } from '../../support/targets/tcp-proxy.ts'
import type { TestRedisOptions } from '../../support/servers/redis-server.ts'
import { startFaultyRedis, type FaultyRedis } from './faulty-redis.ts'
import type { Topology } from './topology.ts'

/** One server, behind proxies. */
export interface SingleRedis extends Topology, FaultyRedis {
  /** What the API, and what all executors, reach Redis through. */
  readonly apiProxy: TcpProxy
  readonly executorProxy: TcpProxy
  /** One more, for an executor of its own. */
  newProxy(): Promise<TcpProxy>
}

export async function startSingleRedis(
  options: Pick<TestRedisOptions, 'program'> = {},
): Promise<SingleRedis> {
  const redis = await startFaultyRedis(options)
  const proxies: TcpProxy[] = []
  const newProxy = async () => {
    const proxy = await startTcpProxy(redis.port)
    proxies.push(proxy)
    return proxy
  }
  const [apiProxy, executorProxy] = [await newProxy(), await newProxy()]
  const url = `redis://127.0.0.1:${redis.port}`
  return {
    ...redis,
    apiProxy,
    executorProxy,
    newProxy,
    env: { PUNCTUAL_REDIS_URL: url },
    apiEnv: { PUNCTUAL_REDIS_URL: apiProxy.url },
    executorEnv: { PUNCTUAL_REDIS_URL: executorProxy.url },
    engine: { url },
    primaries: async () => [redis.client],
    settled: async () => void (await redis.client.ping()),
    stop: async () => {
      await Promise.all([redis.stop(), ...proxies.map((proxy) => proxy.close())])
    },
  }
}
