import { alphaOf } from '../domain/shares/fair-share.ts'

/** Whether more bytes may be held. `team`: the team has used up its share; `full`: no team can get more. */
export type BudgetAnswer = 'granted' | 'team' | 'full'

/**
 * The share of the budget that one team may hold while no other team needs it. Its cap follows from what is free, so it
 * shrinks as others take bytes: two busy teams end at 4/9 each, and a team that holds nothing always gets some.
 */
const TEAM_SHARE = 0.8
/** Above this many teams, those that hold nothing are forgotten. */
const IDLE_TEAMS_MAX = 1_000
const TEAM_ALPHA = alphaOf(TEAM_SHARE)

/** The bytes of the request bodies that a process holds: those being read and those that wait for the job store. */
export class BodyBudget {
  readonly #bytesMax: number
  /** Bytes held by each team; teams that hold none stay until there are too many. */
  readonly #held = new Map<string, number>()
  #total = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get heldBytes(): number {
    return this.#total
  }

  /** Bytes that are granted must be released. */
  reserve(team: string, bytes: number): BudgetAnswer {
    const left = this.#bytesMax - this.#total - bytes
    const own = this.#held.get(team) ?? 0
    // The team that holds most of the budget is the one to slow down.
    if (left < 0) return own > this.#total - own ? 'team' : 'full'
    if (own > 0 && own + bytes > TEAM_ALPHA * left) return 'team'
    this.#held.set(team, own + bytes)
    this.#total += bytes
    return 'granted'
  }

  release(team: string, bytes: number): void {
    const left = (this.#held.get(team) ?? 0) - bytes
    // Taking a team out and in again for each of its bodies would cost more than its place.
    if (left > 0 || this.#held.size <= IDLE_TEAMS_MAX) this.#held.set(team, left)
    else this.#held.delete(team)
    this.#total -= bytes
  }
}
