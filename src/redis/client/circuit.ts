import { StoreUnavailableError } from '../../domain/errors.ts'
import type { Clock } from '../../ports/runtime.ts'
import { asStoreFault } from './faults.ts'

/**
 * Without one answer for so long, though something was asked, Redis counts as away. Less than a command may take, so
 * that the first one that finds it silent is enough, and than the pushes of before wait, so that none waits again.
 */
const AWAY_AFTER_MS = 1_200
const LOOK_MS = 1_000

/** What is not even sent, as Redis is known to be away. */
export class StoreAwayError extends StoreUnavailableError {
  constructor() {
    super('it has not answered for a while')
  }
}

export interface CircuitOptions {
  readonly clock: Clock
  /** Asks Redis for what any step needs. Settles as a command does. */
  look(): Promise<unknown>
  onChange(isOpen: boolean): void
}

/**
 * Knows whether one Redis, or the node of one shard, answers.
 *
 *     closed → open (no answer for AWAY_AFTER_MS, though asked)
 *     open → closed (an answer, be it to a look)
 *
 * Closed it lets everything through. Open it refuses what comes and what is under way at once, and looks every second.
 * Owns: the commands under way, and while it is open one timer, which `stop` ends.
 */
export class Circuit {
  readonly #options: CircuitOptions
  readonly #underWay = new Set<(error: StoreAwayError) => void>()
  /** When the oldest command was sent of those since the last answer; null = all is answered. */
  #silentSinceMs: number | null = null
  #lastFaultMs = -Infinity
  #isOpen = false
  #isStopped = false
  #cancelLook = (): void => undefined

  constructor(options: CircuitOptions) {
    this.#options = options
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** @throws StoreAwayError at once, or when the circuit opens while it waits */
  run<T>(command: () => Promise<T>): Promise<T> {
    return this.#isOpen ? Promise.reject(new StoreAwayError()) : this.#send(command)
  }

  /** The connection is there again: whoever waits need not wait for the next look. */
  lookNow(): void {
    if (!this.#isOpen || this.#isStopped) return
    this.#cancelLook()
    this.#look()
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelLook()
  }

  #send<T>(command: () => Promise<T>): Promise<T> {
    this.#noteSent()
    const { promise: givenUp, reject: giveUp } = Promise.withResolvers<never>()
    this.#underWay.add(giveUp)
    return Promise.race([this.#watched(command(), giveUp), givenUp])
  }

  async #watched<T>(sent: Promise<T>, giveUp: (error: StoreAwayError) => void): Promise<T> {
    try {
      const answer = await sent
      this.#underWay.delete(giveUp)
      this.#noteAnswer()
      return answer
    } catch (error) {
      this.#underWay.delete(giveUp)
      if (asStoreFault(error) instanceof StoreUnavailableError) this.#noteFault()
      else this.#noteAnswer()
      throw error
    }
  }

  #noteSent(): void {
    const nowMs = this.#options.clock.monotonicMs()
    // A fault of long ago says nothing of now.
    const isStale = this.#underWay.size === 0 && nowMs - this.#lastFaultMs > AWAY_AFTER_MS
    if (this.#silentSinceMs === null || isStale) this.#silentSinceMs = nowMs
  }

  #noteAnswer(): void {
    this.#silentSinceMs = this.#underWay.size === 0 ? null : this.#options.clock.monotonicMs()
    if (!this.#isOpen) return
    this.#cancelLook()
    this.#isOpen = false
    this.#options.onChange(false)
  }

  #noteFault(): void {
    const nowMs = this.#options.clock.monotonicMs()
    this.#lastFaultMs = nowMs
    if (this.#isOpen || this.#isStopped) return
    if (this.#silentSinceMs === null || nowMs - this.#silentSinceMs < AWAY_AFTER_MS) return
    this.#isOpen = true
    this.#options.onChange(true)
    for (const reject of this.#underWay) reject(new StoreAwayError())
    this.#underWay.clear()
    this.#look()
  }

  #look(): void {
    this.#send(() => this.#options.look()).catch(() => undefined)
    this.#cancelLook = this.#options.clock.after(LOOK_MS, () => this.#look())
  }
}
