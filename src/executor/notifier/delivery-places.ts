import type { ChannelType } from '../../domain/notifications/channel.ts'

/** Messages on their way at once, of each type of channel: one dead service holds up no other. */
const PLACES = 4
/** At most this many of them are for channels whose last try failed: the others are sent first. */
const TROUBLED_PLACES = 2

/** A place; `release` may be called twice. */
export interface Place {
  release(): void
}

/** Bounds how many messages this process sends at once. A team has one place of each type, so that no team takes all. */
export class DeliveryPlaces {
  readonly #taken = new Map<ChannelType, Map<string, { readonly isTroubled: boolean }>>()

  /** null = none is free for such a channel. */
  take(
    type: ChannelType,
    { team, isTroubled }: { readonly team: string; readonly isTroubled: boolean },
  ): Place | null {
    const taken = this.#taken.get(type) ?? new Map<string, { readonly isTroubled: boolean }>()
    this.#taken.set(type, taken)
    if (taken.has(team) || taken.size >= PLACES) return null
    const troubled = [...taken.values()].filter((other) => other.isTroubled).length
    if (isTroubled && troubled >= TROUBLED_PLACES) return null
    const mine = { isTroubled }
    taken.set(team, mine)
    return {
      release: () => {
        if (taken.get(team) === mine) taken.delete(team)
      },
    }
  }
}
