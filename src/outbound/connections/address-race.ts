import type { Socket } from 'node:net'
import type { Clock } from '../../ports/runtime.ts'
import { CONNECTION_ATTEMPT_DELAY_MS } from '../bounds.ts'

/** Counts the sockets that connect beside another one of the same race. The first of each race is reserved by its call. */
export class ExtraAttempts {
  #left: number

  constructor(most: number) {
    this.#left = most
  }

  take(): boolean {
    if (this.#left === 0) return false
    this.#left -= 1
    return true
  }

  giveBack(): void {
    this.#left += 1
  }
}

export interface RaceOptions {
  readonly clock: Pick<Clock, 'after'>
  /** At least one, the one to try first in front. */
  readonly addresses: readonly string[]
  readonly extraAttempts: ExtraAttempts
  /** Why an address may not be reached; null = it may. Asked right before it is tried. */
  refusalOf(address: string): Error | null
  /** Begins to connect. */
  connect(address: string): Socket
  /** An address has failed, and others may follow. */
  onFailure(address: string, error: Error): void
  /** The first socket that has connected; the others are closed. */
  onConnect(socket: Socket): void
  /** No address is left: the error of the only one, or the first refusal if there is nothing else, or an AggregateError. */
  onError(error: Error): void
}

/**
 * Connects to the first of several addresses that answers (RFC 8305 §5): each has a head start of 250 ms, and the next
 * one begins at once when one fails. Those before go on, unless this process has too many such attempts: then the next one
 * takes the place of the oldest. Later calls `onConnect` or `onError`, once.
 * @returns cancels the race: all its sockets are closed and nothing is called any more
 */
export function raceAddresses(options: RaceOptions): () => void {
  const race = new AddressRace(options)
  // Who starts it knows how to cancel it first.
  queueMicrotask(() => race.tryNext())
  return () => race.end(null)
}

/**
 * Owns the sockets that are connecting, the extra attempts taken for all but one of them, and the timer of the next.
 *
 *     racing → ended (connected, without an address left, or cancelled)
 */
class AddressRace {
  readonly #options: RaceOptions
  readonly #connecting = new Set<Socket>()
  readonly #errors: Error[] = []
  #refusals = 0
  #extras = 0
  #next = 0
  #hasEnded = false
  #cancelTimer = (): void => undefined

  constructor(options: RaceOptions) {
    this.#options = options
  }

  tryNext(): void {
    this.#cancelTimer()
    const { addresses, clock, refusalOf } = this.#options
    while (!this.#hasEnded && this.#next < addresses.length) {
      const address = addresses[this.#next] as string
      this.#next += 1
      const refusal = refusalOf(address)
      if (refusal !== null) {
        this.#errors.push(refusal)
        this.#refusals += 1
        continue
      }
      this.#try(address)
      if (this.#next < addresses.length) {
        this.#cancelTimer = clock.after(CONNECTION_ATTEMPT_DELAY_MS, () => this.tryNext())
      }
      return
    }
    if (this.#connecting.size === 0) this.#giveUp()
  }

  /** @param winner stays open; null = none does */
  end(winner: Socket | null): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#cancelTimer()
    for (const socket of this.#connecting) if (socket !== winner) socket.destroy()
    this.#connecting.clear()
    this.#giveBackExtras()
  }

  #try(address: string): void {
    if (this.#connecting.size > 0) this.#makeRoom()
    const socket = this.#options.connect(address)
    this.#connecting.add(socket)
    const fail = (error: Error): void => {
      if (this.#hasEnded || !this.#connecting.delete(socket)) return
      socket.destroy()
      this.#giveBackExtras()
      this.#errors.push(error)
      this.#options.onFailure(address, error)
      this.tryNext()
    }
    // It stays: an error of a socket that lost the race would end the process without a listener.
    socket.on('error', fail)
    socket.once('close', () => fail(Object.assign(new Error('closed'), { code: 'ECONNRESET' })))
    socket.once('connect', () => {
      if (this.#hasEnded) return
      this.end(socket)
      this.#options.onConnect(socket)
    })
  }

  #makeRoom(): void {
    if (this.#options.extraAttempts.take()) {
      this.#extras += 1
      return
    }
    const [oldest] = this.#connecting
    if (oldest === undefined) return
    this.#connecting.delete(oldest)
    oldest.destroy()
    this.#errors.push(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' }))
  }

  #giveBackExtras(): void {
    for (; this.#extras > Math.max(0, this.#connecting.size - 1); this.#extras -= 1) {
      this.#options.extraAttempts.giveBack()
    }
  }

  #giveUp(): void {
    if (this.#hasEnded) return
    this.end(null)
    const [only, ...others] = this.#errors
    const isAlone = only !== undefined && (others.length === 0 || this.#refusals === this.#errors.length)
    this.#options.onError(isAlone ? only : new AggregateError(this.#errors, 'No address could be reached'))
  }
}
