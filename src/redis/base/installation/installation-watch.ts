import type { Clock } from '../../../ports/runtime.ts'
import type { RedisConnection } from '../client/connection.ts'
import { META_KEY } from '../layout/keys.ts'

const READ_EVERY_MS = 1_000

interface InstallationWatchOptions {
  readonly connection: Pick<RedisConnection, 'hget'>
  readonly clock: Clock
  /** Called at most once. */
  onLost(): void
}

/**
 * Reports when the data of this process is gone: Redis was emptied or replaced. Without it, the process would carry
 * ids, leases and names of the old data into the new. A Redis that is away or still loading answers with an error and
 * does not count as lost. Owns the installation id read at the start and the timer of the next read.
 *
 *     new → watching (a timer is set or a read is under way) → lost | stopped
 *
 * `stop` waits for nothing.
 */
export class InstallationWatch {
  readonly #options: InstallationWatchOptions
  #installation: string | null = null
  #isStopped = false
  #cancelTimer = (): void => undefined

  constructor(options: InstallationWatchOptions) {
    this.#options = options
  }

  /** Reads the current installation id, then checks it every second. */
  async start(): Promise<void> {
    this.#installation = await this.#read()
    if (this.#installation === null) this.#options.onLost()
    else this.#schedule()
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelTimer()
  }

  #read(): Promise<string | null> {
    return this.#options.connection.hget(META_KEY, 'installation')
  }

  #schedule(): void {
    if (!this.#isStopped)
      this.#cancelTimer = this.#options.clock.after(READ_EVERY_MS, () => void this.#check())
  }

  async #check(): Promise<void> {
    const found = await this.#read().catch(() => this.#installation)
    if (this.#isStopped) return
    if (found === this.#installation) this.#schedule()
    else this.#options.onLost()
  }
}
