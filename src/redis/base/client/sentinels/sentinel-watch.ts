import { StoreUnavailableError } from '../../../../domain/errors.ts'
import { pause } from '../../../../domain/pause.ts'
import type { Clock, Logger } from '../../../../ports/runtime.ts'
import type { Sentinel, SentinelListener, SentinelView } from './sentinel.ts'
import type { ServerAddress } from './sentinel-news.ts'

/** News can be lost with the connection that brings them, so the sentinels are also asked this often. */
const SURVEY_EVERY_MS = 1_000
/** The same during a failover. */
const SURVEY_HALTED_MS = 100
/** A sentinel that answers later than this is not waited for. */
const ANSWER_MS_MAX = 500
/**
 * A failover that has not ended by then holds nothing up any longer: executors would lose their leases. A replica that was
 * chosen is promoted within some two seconds; one that hangs may keep its sentinel waiting for minutes.
 */
const HALT_MS_MAX = 8_000
/** The other sentinels are looked up this often: a single name may stand for all of them. */
const DISCOVER_EVERY_MS = 30_000
const SENTINELS_MAX = 16

export interface SentinelWatchOptions {
  readonly sentinels: readonly ServerAddress[]
  open(address: ServerAddress, listener: SentinelListener): Sentinel
  readonly clock: Clock
  readonly logger: Logger
  /** A failover begins: what the primary takes from now on may be lost. */
  onHalt(): void
  /** There is a primary to connect to: a new one, or that of before when the failover has come to nothing. */
  onPrimary(): void
}

interface Known {
  readonly sentinel: Sentinel
  readonly isNamed: boolean
  isDown: boolean
  /** Of its last answer; null = it has not answered yet. */
  epoch: number | null
}

/**
 * Knows by all sentinels which server is the primary, and when it may not be written to.
 *
 *     steady → halted (a sentinel begins a failover)
 *     halted → steady (there is a newer primary, the failover came to nothing, or HALT_MS_MAX is over)
 *
 * A former primary takes writes until a sentinel tells it otherwise, seconds after the switch, and all of them are lost. So
 * it is not believed: connections end when a failover begins, which is some 100 ms before a replica is promoted, and the
 * next ones lead to the newest primary that any sentinel knows. Owns a connection to each sentinel and the timer of the next
 * survey. `stop` waits for nothing.
 */
export class SentinelWatch {
  readonly #options: SentinelWatchOptions
  readonly #sentinels = new Map<string, Known>()
  #newest: Pick<SentinelView, 'primary' | 'epoch'> | null = null
  /** The failover under way: when it was first heard of, and the sentinels that have told of it. */
  #halt: { readonly sinceMs: number; readonly by: Set<string> } | null = null
  /** Sentinels whose failover took too long: they halt nothing until it has ended. */
  readonly #ignored = new Set<string>()
  #discoveredAtMs = -Infinity
  #hasNews = false
  #endPause = new AbortController()
  #isStopped = false

  constructor(options: SentinelWatchOptions) {
    this.#options = options
    for (const address of options.sentinels) this.#add(address, true)
    void this.#run()
  }

  /**
   * Answers where the primary is, once it may be written to: waits out a failover.
   *
   * @throws StoreUnavailableError when no sentinel answers
   */
  async primary(): Promise<ServerAddress> {
    for (;;) {
      while (this.#halt !== null && !this.#isStopped) await this.#pause(SURVEY_HALTED_MS)
      const answers = await this.#survey()
      if (this.#isStopped || answers === 0 || this.#newest === null)
        throw new StoreUnavailableError('No sentinel answers')
      // A failover may have begun meanwhile.
      if (this.#halt === null) return this.#newest.primary
    }
  }

  /** Answers whether each sentinel that was named, and each other that answers, says now that no failover is under way. */
  async isSettled(): Promise<boolean> {
    const epoch = this.#newest?.epoch
    const views = await this.#read()
    const haveAnswered = [...this.#sentinels].every(([key, { isNamed }]) => !isNamed || views.has(key))
    const agree = [...views.values()].every((view) => view.epoch === epoch && !view.isFailingOver)
    return this.#halt === null && !this.#isStopped && haveAnswered && agree
  }

  /** Asks the sentinels now: the primary has refused something. */
  doubt(): void {
    this.#wake()
  }

  stop(): void {
    this.#isStopped = true
    this.#wake()
    for (const { sentinel } of this.#sentinels.values()) sentinel.close()
    this.#sentinels.clear()
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      this.#hasNews = false
      await this.#survey()
      await this.#discover()
      if (!this.#hasNews) await this.#pause(this.#halt === null ? SURVEY_EVERY_MS : SURVEY_HALTED_MS)
    }
  }

  /** Ends early when there is news. */
  #pause(ms: number): Promise<void> {
    return pause(this.#options.clock, ms, this.#endPause.signal)
  }

  #wake(): void {
    this.#hasNews = true
    this.#endPause.abort()
    this.#endPause = new AbortController()
  }

  /** @returns how many sentinels have answered */
  async #survey(): Promise<number> {
    // What was asked before a failover began does not say that it has ended.
    const halt = this.#halt
    const views = await this.#read()
    if (this.#isStopped) return 0
    const newest = [...views.values()].toSorted((one, other) => other.epoch - one.epoch)[0]
    if (newest === undefined) return 0
    if (this.#newest === null || newest.epoch > this.#newest.epoch) this.#take(newest)
    // A sentinel that knows only earlier primaries may still want to fail over from one of them.
    const current = [...views].filter(([, { epoch }]) => epoch === this.#newest?.epoch)
    for (const [key, { isFailingOver }] of current) {
      if (isFailingOver) this.#haltBy(key)
      else this.#ignored.delete(key)
    }
    if (this.#halt !== null && this.#halt === halt) this.#endIfOver(new Map(current))
    return views.size
  }

  #endIfOver(views: ReadonlyMap<string, SentinelView>): void {
    const { by, sinceMs } = this.#halt ?? { by: new Set<string>(), sinceMs: 0 }
    // One that has told of it and does not answer now may still promote a replica.
    const isOver = [...by].every((key) => this.#hasGivenUp(views.get(key)))
    const isLate = this.#options.clock.monotonicMs() - sinceMs >= HALT_MS_MAX
    if (!isOver && !isLate) return
    if (!isOver) for (const key of by) this.#ignored.add(key)
    this.#options.logger.warn('A failover did not happen: Redis is used as before')
    this.#resume()
  }

  /** A new address without its epoch is that of a replica that is being promoted. */
  #hasGivenUp(view: SentinelView | undefined): boolean {
    if (view === undefined || view.isFailingOver) return false
    const { host, port } = this.#newest?.primary ?? view.primary
    return view.primary.host === host && view.primary.port === port
  }

  /** One that knows only earlier primaries fails over from one of them. */
  #isCurrent(key: string): boolean {
    const epoch = this.#sentinels.get(key)?.epoch ?? null
    return epoch === null || this.#newest === null || epoch >= this.#newest.epoch
  }

  #haltBy(key: string): void {
    if (this.#ignored.has(key)) return
    if (this.#halt !== null) {
      this.#halt.by.add(key)
      return
    }
    this.#halt = { sinceMs: this.#options.clock.monotonicMs(), by: new Set([key]) }
    this.#options.logger.warn('A failover of Redis begins: nothing is written until there is a primary')
    this.#options.onHalt()
  }

  #take({ primary, epoch }: SentinelView): void {
    const isFirst = this.#newest === null
    this.#newest = { primary, epoch }
    this.#ignored.clear()
    if (isFirst) return
    this.#options.logger.info('Redis has another primary', { host: primary.host, port: primary.port })
    this.#resume()
  }

  #resume(): void {
    this.#halt = null
    this.#wake()
    this.#options.onPrimary()
  }

  async #read(): Promise<ReadonlyMap<string, SentinelView>> {
    const views = new Map<string, SentinelView>()
    const reads = [...this.#sentinels].map(async ([key, known]) => {
      const view = await this.#inTime(known.sentinel.read())
      if (view !== null) {
        views.set(key, view)
        known.epoch = view.epoch
      }
      this.#note(key, known, view !== null)
    })
    await Promise.all(reads)
    return views
  }

  /** null = it failed or came too late. */
  #inTime<T>(answer: Promise<T>): Promise<T | null> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(ANSWER_MS_MAX, () => resolve(null))
      answer.then(resolve, () => resolve(null)).finally(cancel)
    })
  }

  #note(key: string, known: Known, answers: boolean): void {
    // Those that others have told of may not be reached from here.
    if (this.#isStopped || known.isDown === !answers || !known.isNamed) return
    known.isDown = !answers
    const { logger } = this.#options
    if (answers) logger.info('A sentinel answers again', { sentinel: key })
    else logger.warn('A sentinel does not answer', { sentinel: key })
  }

  #add(address: ServerAddress, isNamed: boolean): void {
    const key = `${address.host}:${address.port}`
    if (this.#sentinels.has(key) || this.#sentinels.size >= SENTINELS_MAX) return
    const sentinel = this.#options.open(address, {
      connected: () => this.#wake(),
      heard: (news) => {
        if (news === 'begins' && !this.#isStopped && this.#isCurrent(key)) this.#haltBy(key)
        this.#wake()
      },
    })
    this.#sentinels.set(key, { sentinel, isNamed, isDown: false, epoch: null })
  }

  /** Keeps those that were named, and all that these know. */
  async #discover(): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs()
    if (nowMs - this.#discoveredAtMs < DISCOVER_EVERY_MS || this.#isStopped) return
    const asked = [...this.#sentinels.values()].map(({ sentinel }) => this.#inTime(sentinel.readOthers()))
    const answers = (await Promise.all(asked)).filter((others) => others !== null)
    if (answers.length === 0 || this.#isStopped) return
    this.#discoveredAtMs = nowMs
    const found = new Map(answers.flat().map((address) => [`${address.host}:${address.port}`, address]))
    for (const [key, { sentinel, isNamed }] of this.#sentinels) {
      if (isNamed || found.has(key)) continue
      sentinel.close()
      this.#sentinels.delete(key)
    }
    for (const address of found.values()) this.#add(address, false)
  }
}
