import { reasonOf, StartupError } from '../../domain/errors.ts'
import { isLoopback, parseIpAddress, type IpAddress } from '../../domain/net/ip-address.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'

/** A source of some of our own addresses. */
export interface AddressSource {
  /** Name of the source, for the log. */
  readonly name: string
  /** Canonical texts; others are ignored. It ends by itself, soon after the deadline of a look at the latest. */
  read(): Promise<readonly string[]>
}

/** The addresses that the guard keeps closed. */
export interface ClosedAddresses {
  has(address: IpAddress): boolean
  /** Rises with every change: what was decided before may be wrong. */
  readonly generation: number
}

interface OwnAddressOptions {
  readonly sources: readonly AddressSource[]
  readonly clock: Clock
  readonly logger: Logger
  /** How long the start waits for sources that fail. */
  readonly startMsMax: number
  /** Whether a source that fails so has no right to its answer: waiting does not help. */
  readonly isRefusal: (error: unknown) => boolean
}

const LOOK_EVERY_MS = 5_000
/** A source that takes longer counts as failed. */
const LOOK_MS_MAX = 5_000

/**
 * The addresses that no job may call because our own parts are there: Redis, our pods, the API server. They change while
 * this process runs, so all sources are looked at again and again; one that fails keeps what it found last. Loopback is
 * left out: it is closed unless the installation opens it for its own targets. Owns what each source found and the timer
 * of the next look.
 *
 *     new → starting (not every source has answered) → looking ⇄ at rest → stopped
 *
 * `stop` waits for nothing: a look under way still ends, and no other follows.
 */
export class OwnAddresses implements ClosedAddresses {
  readonly #options: OwnAddressOptions
  readonly #found = new Map<AddressSource, readonly IpAddress[]>()
  /** Why each that failed last did. */
  readonly #failing = new Map<AddressSource, string>()
  /** Resolved when every source has answered once. */
  readonly #complete = Promise.withResolvers<void>()
  #closed = { 4: new Set<bigint>(), 6: new Set<bigint>() }
  #generation = 0
  #cancelTimer: () => void = () => undefined
  #isStopped = false

  constructor(options: OwnAddressOptions) {
    this.#options = options
  }

  get generation(): number {
    return this.#generation
  }

  has({ family, value }: IpAddress): boolean {
    return this.#closed[family].has(value)
  }

  /**
   * Resolves once every source has answered, so that nothing of ours is open before; or when it is stopped.
   * @throws StartupError when one has not answered in time; what a source fails with that refuses
   */
  async start(): Promise<void> {
    const { clock, startMsMax } = this.#options
    const cancel = clock.after(startMsMax, () => this.#complete.reject(this.#lateStart()))
    void this.#look()
    await this.#complete.promise.finally(cancel)
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelTimer()
    this.#complete.resolve()
  }

  #isComplete(): boolean {
    return this.#options.sources.every((source) => this.#found.has(source))
  }

  #lateStart(): StartupError {
    const { sources, startMsMax } = this.#options
    const late = sources.filter((source) => !this.#found.has(source))
    const reasons = late.map((source) => `${source.name}: ${this.#failing.get(source) ?? 'no answer'}`)
    return new StartupError(
      `The addresses of this installation, which no job may call, were not found within ${startMsMax / 1000} s (${reasons.join('; ')}). Check that Redis and DNS answer, and start the role again.`,
    )
  }

  async #look(): Promise<void> {
    await Promise.all(this.#options.sources.map((source) => this.#read(source)))
    this.#close([...this.#found.values()].flat())
    if (this.#isComplete()) this.#complete.resolve()
    if (!this.#isStopped)
      this.#cancelTimer = this.#options.clock.after(LOOK_EVERY_MS, () => void this.#look())
  }

  async #read(source: AddressSource): Promise<void> {
    try {
      const texts = await withDeadline(this.#options.clock, source.read())
      const addresses = texts.flatMap((text) => parseIpAddress(text) ?? [])
      this.#found.set(
        source,
        addresses.filter((address) => !isLoopback(address)),
      )
      this.#failing.delete(source)
    } catch (error) {
      const log = this.#failing.has(source) ? 'debug' : 'warn'
      const reason = reasonOf(error)
      this.#failing.set(source, reason)
      this.#options.logger[log]('Own addresses cannot be found; those found last stay closed to jobs', {
        of: source.name,
        reason,
      })
      if (this.#options.isRefusal(error)) this.#complete.reject(error)
    }
  }

  #close(addresses: readonly IpAddress[]): void {
    const isSame =
      addresses.every((address) => this.has(address)) &&
      new Set(addresses.map(({ family, value }) => `${family} ${value}`)).size ===
        this.#closed[4].size + this.#closed[6].size
    if (isSame) return
    const closed = { 4: new Set<bigint>(), 6: new Set<bigint>() }
    for (const { family, value } of addresses) closed[family].add(value)
    this.#closed = closed
    this.#generation += 1
  }
}

async function withDeadline<T>(clock: Clock, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const cancel = clock.after(LOOK_MS_MAX, () => reject(new Error(`no answer within ${LOOK_MS_MAX / 1000} s`)))
  return Promise.race([work, promise]).finally(cancel)
}
