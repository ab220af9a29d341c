import type { Clock } from '../../ports/runtime.ts'
import type { RedisConnection } from '../client/connection.ts'
import { META_KEY } from '../layout/keys.ts'

const LOOK_MS = 1_000

/**
 * Tells when the data this process works on is gone: Redis was emptied, or another took its place. A process that went
 * on would carry numbers, leases and names of the old data into the new. A Redis that is away or still loading is no
 * such thing, as it answers with an error.
 *
 *     new → looking (a timer is set or a read is under way) → lost | stopped
 *
 * `stop` waits for nothing.
 */
export interface InstallationWatch {
  /** Notes the installation of now, then goes on looking. */
  start(): Promise<void>
  stop(): void
}

export function createInstallationWatch(options: {
  connection: Pick<RedisConnection, 'hget'>
  clock: Clock
  /** Called once at most. */
  onLost(): void
}): InstallationWatch {
  const { connection, clock } = options
  let known: string | null = null
  let isStopped = false
  let cancelTimer = (): void => undefined

  async function look(): Promise<void> {
    const found = await connection.hget(META_KEY, 'installation').catch(() => known)
    if (isStopped) return
    if (found === known) lookLater()
    else options.onLost()
  }

  function lookLater(): void {
    if (!isStopped) cancelTimer = clock.after(LOOK_MS, () => void look())
  }

  return {
    start: async () => {
      known = await connection.hget(META_KEY, 'installation')
      if (known === null) options.onLost()
      else lookLater()
    },
    stop: () => {
      isStopped = true
      cancelTimer()
    },
  }
}
