import type { Program } from '../../support/servers/processes.ts'
import type { TcpProxy } from '../../support/targets/tcp-proxy.ts'
import type { Stage } from './scenario.ts'

export interface LoneExecutor {
  readonly program: Program
  readonly proxy: TcpProxy
}

/** One more executor, behind a proxy of its own. */
export async function addExecutor({ here, redis }: Pick<Stage, 'here' | 'redis'>): Promise<LoneExecutor> {
  const proxy = await redis.newProxy()
  return { proxy, program: await here.startExecutor({ PUNCTUAL_REDIS_URL: proxy.url }) }
}
