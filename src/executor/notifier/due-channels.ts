import type { ChannelType } from '../../domain/notifications/channel.ts'
import type { ChannelRef } from '../../ports/notifications.ts'
import { DeliveryPlaces, type Place } from './delivery-places.ts'

/** Channels looked at at once. Most only wait for their next digest, and answer within milliseconds. */
const LOOKS_MAX = 32
/** Channels that wait for a place. Further ones stay due, and are found again by a later poll. */
const WAITING_MAX = 1_000

/** Whether the channel may send now; it has the place until its tending ends. */
export type TakePlace = (isTroubled: boolean) => boolean

export interface DueChannelsOptions {
  typeOf(ref: ChannelRef): ChannelType
  /** Must not throw. `no_place`: it has something to send, and is to be tended again once a place is free. */
  tend(ref: ChannelRef, takePlace: TakePlace): Promise<'done' | 'no_place'>
}

/**
 * Tends channels that are due: many looks at once, few messages. Owns the list of those still to be looked at, those that
 * wait for a place, those being tended, and the places.
 *
 *     listed → looked at → sending (has a place) → forgotten
 *                        ↘ waiting for a place ↗
 *
 * `stop` begins no more, and waits for those being tended.
 */
export class DueChannels {
  readonly #options: DueChannelsOptions
  readonly #places = new DeliveryPlaces()
  #listed: ChannelRef[] = []
  /** First come, first served. */
  readonly #waiting = new Map<string, ChannelRef>()
  readonly #tended = new Map<string, Promise<void>>()
  /** Channels that are being tended and have no place. */
  readonly #looking = new Set<string>()
  #isStopped = false

  constructor(options: DueChannelsOptions) {
    this.#options = options
  }

  /** Replaces the list; channels that are still due are on the new one. */
  list(channels: readonly ChannelRef[]): void {
    this.#listed = [...channels]
    this.#lookOn()
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#tended.values())
  }

  #lookOn(): void {
    while (this.#looking.size < LOOKS_MAX && !this.#isStopped) {
      const ref = this.#listed.shift()
      if (ref === undefined) return
      const name = nameOf(ref)
      if (!this.#tended.has(name) && !this.#waiting.has(name)) this.#tend(ref, null)
    }
  }

  /** Gives free places to those that wait for one. */
  #fillPlaces(): void {
    if (this.#isStopped) return
    for (const [name, ref] of this.#waiting) {
      const place = this.#take(ref, false)
      if (place === null) continue
      this.#waiting.delete(name)
      this.#tend(ref, place)
    }
  }

  #take(ref: ChannelRef, isTroubled: boolean): Place | null {
    return this.#places.take(this.#options.typeOf(ref), { team: ref.team, isTroubled })
  }

  #tend(ref: ChannelRef, given: Place | null): void {
    const name = nameOf(ref)
    let place = given
    if (place === null) this.#looking.add(name)
    const takePlace = (isTroubled: boolean) => {
      if (place !== null && !isTroubled) return true
      place?.release()
      place = this.#take(ref, isTroubled)
      if (place === null) return false
      this.#looking.delete(name)
      this.#lookOn()
      return true
    }
    const tended = this.#options.tend(ref, takePlace).then((answer) => {
      this.#tended.delete(name)
      this.#looking.delete(name)
      place?.release()
      if (answer === 'no_place' && this.#waiting.size < WAITING_MAX) this.#waiting.set(name, ref)
      if (answer === 'no_place' || place !== null || given !== null) this.#fillPlaces()
      this.#lookOn()
    })
    this.#tended.set(name, tended)
  }
}

function nameOf({ team, channel }: ChannelRef): string {
  return `${team}/${channel}`
}
