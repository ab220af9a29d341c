import { alphaOf, headroomOf } from './fair-share.ts'

/** A delay that lasts for this long is that of a queue, not of a burst. */
export const SHED_WINDOW_MS = 100
/**
 * The least delay of a window that is too long. Refusing has a cost of its own, so at a shorter delay it takes more from
 * those that are accepted than it saves them (ADR 0036).
 */
export const SHED_TARGET_MS = 500
/** One long window may be a pause of the machine; after as many in a row, places are limited. */
const LONG_WINDOWS = 2
/** Windows without a refusal after which the limit is lifted. */
const CALM_WINDOWS = 10
/**
 * Below this nobody is refused, however long the delays are. With as many connections as a process takes, one push of eight
 * is taken even when refusals alone keep the loop busy: with fewer places, hardly any would be.
 */
export const SHED_PLACES_MIN = 512
/** What a long window leaves of the places in use, at least: as much as the target is of the delay. */
const CUT_MIN = 0.5
const GROWTH = 1.05
/** One team may have this part of the places while no other team wants any. */
const TEAM_ALPHA = alphaOf(0.9)

/** Where work waits before it is done: to be read by the event loop, and in a list for the job store. */
export type Waiting = 'loop' | 'list'

/**
 * Limits how much is under way, by how long it waits. Without a queue there is no limit. As long as even the least delay
 * of each window is above the target, the places become fewer, and more again once it is below. Teams share them: who has
 * no more than an equal part of them is never refused, and more may be had while places are free.
 */
export class ShedLimit {
  readonly #held = new Map<string, number>()
  #heldTotal = 0
  #limit = Infinity
  #beganMs: number
  /** The least delay of the window at each place; Infinity = none was seen. */
  #loopMs = Infinity
  #listMs = Infinity
  #heldMost = 0
  #refusals = 0
  #longWindows = 0
  #calmWindows = 0

  constructor(nowMs: number) {
    this.#beganMs = nowMs
  }

  /** Whether nothing is under way. */
  get isIdle(): boolean {
    return this.#heldTotal === 0
  }

  /** Whether there is a limit now. */
  get isShedding(): boolean {
    return this.#limit !== Infinity
  }

  /** Takes places if the team may have more, else answers false. Places that were taken must be given back by `leave`. */
  enter(team: string, places: number): boolean {
    const held = this.#held.get(team) ?? 0
    if (this.#limit !== Infinity && !this.#hasPlace(held)) {
      this.#refusals += 1
      return false
    }
    this.#held.set(team, held + places)
    this.#heldTotal += places
    if (this.#heldTotal > this.#heldMost) this.#heldMost = this.#heldTotal
    return true
  }

  leave(team: string, places: number): void {
    const left = (this.#held.get(team) ?? 0) - places
    if (left > 0) this.#held.set(team, left)
    else this.#held.delete(team)
    this.#heldTotal -= places
  }

  /** Begins to measure after a pause, of which nothing is known. */
  begin(nowMs: number): void {
    this.#longWindows = 0
    this.#openWindow(nowMs)
  }

  /** Notes how long something has waited, and ends a window that is over. */
  waited(where: Waiting, delayMs: number, nowMs: number): void {
    if (where === 'loop') this.#loopMs = Math.min(this.#loopMs, delayMs)
    else this.#listMs = Math.min(this.#listMs, delayMs)
    if (nowMs - this.#beganMs < SHED_WINDOW_MS) return
    const leastMs = seen(this.#loopMs) + seen(this.#listMs)
    if (leastMs > SHED_TARGET_MS) this.#endLong(leastMs)
    else this.#endShort()
    this.#openWindow(nowMs)
  }

  #openWindow(nowMs: number): void {
    this.#beganMs = nowMs
    this.#loopMs = Infinity
    this.#listMs = Infinity
    this.#heldMost = this.#heldTotal
    this.#refusals = 0
  }

  #endLong(delayMs: number): void {
    this.#calmWindows = 0
    this.#longWindows += 1
    if (this.#longWindows < LONG_WINDOWS) return
    const used = Math.min(this.#limit, this.#heldMost)
    this.#limit = Math.max(SHED_PLACES_MIN, Math.floor(used * Math.max(CUT_MIN, SHED_TARGET_MS / delayMs)))
  }

  #endShort(): void {
    this.#longWindows = 0
    if (this.#limit === Infinity) return
    this.#calmWindows = this.#refusals > 0 ? 0 : this.#calmWindows + 1
    if (this.#calmWindows >= CALM_WINDOWS) this.#limit = Infinity
    else this.#limit = Math.ceil(this.#limit * GROWTH)
  }

  #hasPlace(held: number): boolean {
    const teams = this.#held.size + (held === 0 ? 1 : 0)
    if (held < this.#limit / teams) return true
    return headroomOf({ alpha: TEAM_ALPHA, available: this.#limit - this.#heldTotal, held }) > 0
  }
}

/** Where nothing was seen, nothing has waited. */
function seen(leastMs: number): number {
  return leastMs === Infinity ? 0 : leastMs
}
