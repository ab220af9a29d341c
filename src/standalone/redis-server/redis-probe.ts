import { Redis } from 'ioredis'

/** State of an address at which a Redis may listen. */
export type RedisProbe =
  /** Nothing listens there. */
  | { readonly state: 'absent' }
  /** Something accepted the connection and did not answer in time. */
  | { readonly state: 'silent' }
  /** The answer does not come from a Redis that we may use. */
  | { readonly state: 'foreign'; readonly reason: string }
  | {
      readonly state: 'loading' | 'ready'
      readonly pid: number
      /** The folder it keeps its data in. */
      readonly dir: string
    }

/** Asks once, on its own connection. Never rejects. */
export async function probeRedis(url: string, timeoutMs: number): Promise<RedisProbe> {
  try {
    return await withRedis(url, timeoutMs, async (redis) => {
      // INFO and CONFIG answer while the data is loaded, PING does not.
      const info = await redis.info()
      const [, dir = ''] = await redis.config('GET', 'dir')
      const pid = Number(/^process_id:([0-9]+)/m.exec(info)?.[1])
      return { state: /^loading:1/m.test(info) ? 'loading' : 'ready', pid, dir }
    })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return { state: 'absent' }
    if (error instanceof Error && error.name === 'ReplyError')
      return { state: 'foreign', reason: error.message }
    return { state: 'silent' }
  }
}

/** Gives a live Redis the settings of this start. Rejects when one is refused or no answer comes in time. */
export async function configureRedis(
  url: string,
  timeoutMs: number,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  await withRedis(url, timeoutMs, async (redis) => {
    for (const [name, value] of Object.entries(settings)) await redis.config('SET', name, value)
  })
}

async function withRedis<T>(url: string, timeoutMs: number, ask: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, {
    protocol: 2,
    lazyConnect: true,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  })
  // The first event says why; later commands only say that the connection is gone.
  let fault: Error | null = null
  redis.on('error', (error: Error) => void (fault ??= error))
  try {
    await redis.connect()
    return await ask(redis)
  } catch (error) {
    throw fault ?? error
  } finally {
    redis.disconnect()
  }
}
