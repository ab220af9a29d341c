import type { RedisOptions } from 'ioredis'

/** The only argument, as the harness wrote it. */
export function readOptions(): unknown {
  return JSON.parse(process.argv[2] ?? '{}')
}

/** As BullMQ's documentation asks for; pipelining of one turn's commands makes single adds faster. */
export function redisOptions(port: number): RedisOptions {
  return { host: '127.0.0.1', port, maxRetriesPerRequest: null, enableAutoPipelining: true }
}

export interface Job {
  readonly url: string
  readonly payload: unknown
}
