import type { RedisOptions } from 'ioredis'

/** As BullMQ's documentation asks for; pipelining of one turn's commands makes single adds faster. */
export function redisOptions(port: number): RedisOptions {
  return { host: '127.0.0.1', port, maxRetriesPerRequest: null, enableAutoPipelining: true }
}
