/** Whether so many bytes more may be held: `team`, the team holds its share; `full`, there is no room for anyone. */
export type BudgetAnswer = 'granted' | 'team' | 'full'

/**
 * Of the whole budget, what one team may hold while nobody else needs it. What others hold shrinks what is free and so
 * every cap: two busy teams end at 4/9 each, and a team that holds nothing gets in as long as anything is free.
 */
const TEAM_SHARE = 0.8
const TEAM_FACTOR = TEAM_SHARE / (1 - TEAM_SHARE)

/** The bytes of bodies that a process holds: those being read and those that wait for the store. */
export interface BodyBudget {
  /** What is granted is given back by `release`. */
  reserve(team: string, bytes: number): BudgetAnswer
  release(team: string, bytes: number): void
  readonly heldBytes: number
}

export function createBodyBudget(bytesMax: number): BodyBudget {
  const held = new Map<string, number>()
  let total = 0
  return {
    reserve: (team, bytes) => {
      const left = bytesMax - total - bytes
      const own = held.get(team) ?? 0
      // Whoever holds the most of what is held is told that it is they.
      if (left < 0) return own > total - own ? 'team' : 'full'
      if (own > 0 && own + bytes > TEAM_FACTOR * left) return 'team'
      held.set(team, own + bytes)
      total += bytes
      return 'granted'
    },
    release: (team, bytes) => {
      const left = (held.get(team) ?? 0) - bytes
      if (left > 0) held.set(team, left)
      else held.delete(team)
      total -= bytes
    },
    get heldBytes() {
      return total
    },
  }
}
