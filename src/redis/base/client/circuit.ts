import { StoreUnavailableError } from '../../../domain/errors.ts'
import { LinkedList, type Link } from '../../../domain/linked-list.ts'
import type { Clock } from '../../../ports/runtime.ts'
import { asStoreFault } from './faults.ts'

/**
 * Redis counts as away when commands have been unanswered for this long. Shorter than the command timeout, so the first
 * command that meets the silence is enough; shorter than the deadline of a push, so no push waits a second time.
 */
const AWAY_AFTER_MS = 1_200
const PROBE_MS = 1_000

/** The command was not sent, because Redis is known to be away. */
export class StoreAwayError extends StoreUnavailableError {
  constructor() {
    super('it has not answered for a while')
  }
}

type GiveUp = (error: StoreAwayError) => void

export interface CircuitOptions {
  readonly clock: Clock
  /** Asks Redis for something that every step needs. */
  probe(): Promise<unknown>
  onChange(isOpen: boolean): void
}

/**
 * Knows whether one Redis, or the node of one shard, answers.
 *
 *     closed → open (no answer for AWAY_AFTER_MS, though asked)
 *     open → closed (any answer, also to a probe)
 *
 * While closed it passes everything on. While open it rejects new and pending commands at once, and probes every second.
 * Owns the pending commands and, while open, one timer, which `stop` cancels.
 */
export class Circuit {
  readonly #options: CircuitOptions
  readonly #underWay = new LinkedList<GiveUp>()
  /** Time at which the oldest command since the last answer was sent; null = all are answered. */
  #silentSinceMs: number | null = null
  #lastFaultMs = -Infinity
  #isOpen = false
  #isStopped = false
  #cancelProbe = (): void => undefined

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

  /** The connection is back: probe now instead of waiting for the timer. */
  probeNow(): void {
    if (!this.#isOpen || this.#isStopped) return
    this.#cancelProbe()
    this.#probe()
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelProbe()
  }

  #send<T>(command: () => Promise<T>): Promise<T> {
    this.#noteSent()
    const { promise: givenUp, reject: giveUp } = Promise.withResolvers<never>()
    const link = this.#underWay.append(giveUp)
    return Promise.race([this.#watched(command(), link), givenUp])
  }

  async #watched<T>(sent: Promise<T>, link: Link<GiveUp>): Promise<T> {
    try {
      const answer = await sent
      this.#underWay.remove(link)
      this.#noteAnswer()
      return answer
    } catch (error) {
      this.#underWay.remove(link)
      if (asStoreFault(error) instanceof StoreUnavailableError) this.#noteFault()
      else this.#noteAnswer()
      throw error
    }
  }

  #noteSent(): void {
    const nowMs = this.#options.clock.monotonicMs()
    // An old fault says nothing about the present.
    const isStale = this.#underWay.length === 0 && nowMs - this.#lastFaultMs > AWAY_AFTER_MS
    if (this.#silentSinceMs === null || isStale) this.#silentSinceMs = nowMs
  }

  #noteAnswer(): void {
    this.#silentSinceMs = this.#underWay.length === 0 ? null : this.#options.clock.monotonicMs()
    if (!this.#isOpen) return
    this.#cancelProbe()
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
    for (const link of this.#underWay.links()) {
      this.#underWay.remove(link)
      link.value(new StoreAwayError())
    }
    this.#probe()
  }

  #probe(): void {
    this.#send(() => this.#options.probe()).catch(() => undefined)
    this.#cancelProbe = this.#options.clock.after(PROBE_MS, () => this.#probe())
  }
}
