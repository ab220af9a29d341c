import type { ChannelType } from '../../domain/notifications/channel.ts'

/** Messages on their way at once, of each type of channel: one dead service holds up no other. */
const PLACES = 4
/** Of them for channels whose last try failed: the others are sent first. */
const TROUBLED_PLACES = 2

/** A place; `release` may be called twice. */
export interface Place {
  /** False = there are too many such already. */
  noteTroubled(): boolean
  release(): void
}

/** Bounds how many messages this process sends at once. A team has one place of each type, so that no team takes all. */
export class DeliveryPlaces {
  readonly #taken = new Map<ChannelType, Map<string, { isTroubled: boolean }>>()

  /** null = none is free. */
  take(type: ChannelType, team: string): Place | null {
    const taken = this.#taken.get(type) ?? new Map<string, { isTroubled: boolean }>()
    this.#taken.set(type, taken)
    if (taken.has(team) || taken.size >= PLACES) return null
    const mine = { isTroubled: false }
    taken.set(team, mine)
    return {
      noteTroubled: () => {
        const troubled = [...taken.values()].filter(({ isTroubled }) => isTroubled).length
        mine.isTroubled = troubled < TROUBLED_PLACES
        return mine.isTroubled
      },
      release: () => {
        if (taken.get(team) === mine) taken.delete(team)
      },
    }
  }
}
