/** Searches of one team, and of all, that a process has under way; a request beyond them is refused. */
const SEARCHES_PER_TEAM_MAX = 4
const SEARCHES_MAX = 64
/** Steps of searches that run at once in a process. */
const STEPS_AT_ONCE = 2

type Turn = () => void

/**
 * Shares the looking through records among the requests of one process, so that it does not take Redis and the event loop
 * from pushes and lists. Each step of a search waits for its turn; teams take turns, whatever the number of their searches.
 */
export class SearchTurns {
  readonly #searches = new Map<string, number>()
  #searchCount = 0
  /** Steps that wait, by team; the team whose turn is next comes first. */
  readonly #waiting = new Map<string, Turn[]>()
  #running = 0

  /** false when too many searches are under way; otherwise `leave` ends this one. */
  enter(team: string): boolean {
    const own = this.#searches.get(team) ?? 0
    if (own >= SEARCHES_PER_TEAM_MAX || this.#searchCount >= SEARCHES_MAX) return false
    this.#searches.set(team, own + 1)
    this.#searchCount += 1
    return true
  }

  leave(team: string): void {
    const left = (this.#searches.get(team) ?? 1) - 1
    if (left === 0) this.#searches.delete(team)
    else this.#searches.set(team, left)
    this.#searchCount -= 1
  }

  async step<T>(team: string, work: () => Promise<T>): Promise<T> {
    if (this.#running >= STEPS_AT_ONCE) await this.#turnOf(team)
    else this.#running += 1
    try {
      return await work()
    } finally {
      this.#passOn()
    }
  }

  #turnOf(team: string): Promise<void> {
    return new Promise((resolve) => {
      const turns = this.#waiting.get(team)
      if (turns === undefined) this.#waiting.set(team, [resolve])
      else turns.push(resolve)
    })
  }

  /** To a waiting step: the number of running ones stays. */
  #passOn(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#running -= 1
      return
    }
    const [team, turns] = next
    const turn = turns.shift()
    // To the end of the line.
    this.#waiting.delete(team)
    if (turns.length > 0) this.#waiting.set(team, turns)
    turn?.()
  }
}
