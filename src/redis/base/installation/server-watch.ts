import type { StoreRisk, StoreSafety, StoreServer } from '../../../ports/health.ts'
import type { RedisMetrics } from '../../../ports/metrics.ts'
import type { Clock, Logger } from '../../../ports/runtime.ts'

/** Three looks a minute, so that nobody waits a minute to be told; each is one INFO for each primary. */
const LOOK_EVERY_MS = 20_000

interface ServerWatchOptions {
  /** A primary that did not answer is null: what was last seen of it stands. */
  read(): Promise<ReadonlyMap<string, StoreServer | null>>
  /** Risks that the installation was started with on purpose. */
  readonly accepted: ReadonlySet<StoreRisk>
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: RedisMetrics
}

/** A problem as logged. */
interface LoggedProblem {
  readonly server: string
  readonly problem: string
}

/**
 * Looks at the settings, the memory and the disk of Redis while it runs: whoever changes them then is not told by the check
 * at the start. It only tells; pushes are taken as before, as refusing them all would lose more than the risk. Owns what
 * was last seen of each primary, and the timer of the next look.
 *
 *     new → watching (a timer is set or a look is under way) → stopped
 *
 * `stop` waits for nothing.
 */
export class ServerWatch implements StoreSafety {
  readonly #options: ServerWatchOptions
  readonly #listeners = new Set<() => void>()
  #servers = new Map<string, StoreServer>()
  /** Problems logged, by server and message. */
  #logged: ReadonlyMap<string, LoggedProblem> = new Map()
  #isStopped = false
  #cancelTimer = (): void => undefined

  constructor(options: ServerWatchOptions) {
    this.#options = options
  }

  /** Resolves after the first look. */
  start(): Promise<void> {
    return this.#look()
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelTimer()
  }

  risks(): readonly string[] {
    return [...new Set([...this.#logged.values()].map(({ problem }) => problem))].toSorted()
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  async #look(): Promise<void> {
    // A Redis that is away is told of by others, and has not become safe by it.
    const found = await this.#options.read().catch(() => null)
    if (this.#isStopped) return
    if (found !== null) this.#note(found)
    this.#cancelTimer = this.#options.clock.after(LOOK_EVERY_MS, () => void this.#look())
  }

  #note(found: ReadonlyMap<string, StoreServer | null>): void {
    const { accepted, metrics } = this.#options
    const servers = new Map<string, StoreServer>()
    for (const [name, seen] of found) {
      const server = seen ?? this.#servers.get(name)
      if (server === undefined) continue
      servers.set(name, { ...server, risks: server.risks.filter(({ risk }) => !accepted.has(risk)) })
    }
    this.#servers = servers
    metrics.serversSeen([...servers.values()])
    this.#tell([...servers.values()])
  }

  /** Each risk is logged once, and once more when it is mended. */
  #tell(servers: readonly StoreServer[]): void {
    const { logger } = this.#options
    const risks = new Map(
      servers.flatMap(({ name, risks: some }) => some.map(({ message }) => keyed(name, message))),
    )
    const begun = [...risks].filter(([key]) => !this.#logged.has(key))
    const mended = [...this.#logged].filter(([key]) => !risks.has(key))
    this.#logged = risks
    for (const [, risk] of begun) logger.error('Redis puts jobs at risk', { ...risk })
    for (const [, risk] of mended) logger.info('Redis no longer puts jobs at risk', { ...risk })
    if (begun.length + mended.length > 0) for (const listener of this.#listeners) listener()
  }
}

function keyed(server: string, problem: string): readonly [key: string, logged: LoggedProblem] {
  return [`${server} ${problem}`, { server, problem }]
}
