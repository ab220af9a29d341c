import type { WakeHints } from '../../../ports/jobs.ts'
import type { RedisConnection } from './connection.ts'
import { WAKE_CHANNEL } from '../layout/keys.ts'

/** Listens on its own connection; ioredis renews subscriptions after a reconnect. */
export async function subscribeToWakeHints(connection: RedisConnection): Promise<WakeHints> {
  const listeners = new Set<(shard: number) => void>()
  connection.on('message', (channel: string, message: string) => {
    if (channel === WAKE_CHANNEL) for (const listener of listeners) listener(Number(message))
  })
  await connection.subscribe(WAKE_CHANNEL)
  return {
    onWake: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
