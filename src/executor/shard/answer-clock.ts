import type { Clock } from '../../ports/runtime.ts'

/** By how much one clock may gain or lose on another: more than clocks are corrected by while they run. */
const DRIFT = 0.001
/** A time of Redis is cut to the millisecond. */
const CUT_MS = 1
/** Our wall clock gains at least this much on the monotonic one when that stood still, as it does on a suspended machine. */
const STALL_MS = 4
/** So many answers say how late the next one may come. */
const RECENT_ANSWERS = 8
/** Answers that come no later than this need no lead. */
const QUICK_MS = 4
/** How much longer than the latest of them the next one may take. */
const LEAD_FACTOR = 1.25
/** The longest lead that a claim takes, as flow.lua has it: answers that come later still cost a rate its jobs. */
const LEAD_MS_MAX = 1_000

/**
 * How late the answers of a shard come. Owns the difference between Redis's clock and ours, which is never overestimated
 * for longer than until the next answer: one that is read at once makes it larger, and one whose step was sent later than it
 * allows makes it smaller. Between them it is kept, so that an answer that was held up shows by how much. The way of
 * the quickest answer does not show.
 */
export class AnswerClock {
  readonly #clock: Pick<Clock, 'monotonicMs' | 'wallMs'>
  /** The wall clock minus the monotonic one, at most. */
  #aheadMs: number
  #lookedMs: number
  #stalledMs = 0
  /** Redis's clock minus ours; null = no answer has come yet. */
  #offsetMs: number | null = null
  #notedMs = 0
  /** By how much the last answers were late, the newest last. */
  readonly #lateMs: number[] = []

  constructor(clock: Pick<Clock, 'monotonicMs' | 'wallMs'>) {
    this.#clock = clock
    this.#lookedMs = clock.monotonicMs()
    this.#aheadMs = clock.wallMs() - this.#lookedMs
  }

  /** Our time: that of the monotonic clock, and what it has stood still for. A wall clock that is set forward looks the same. */
  nowMs(): number {
    const monotonicMs = this.#clock.monotonicMs()
    const aheadMs = this.#clock.wallMs() - monotonicMs
    const known = this.#aheadMs + (monotonicMs - this.#lookedMs) * DRIFT
    if (aheadMs - known >= STALL_MS) this.#stalledMs += aheadMs - known
    this.#aheadMs = aheadMs - known >= STALL_MS ? aheadMs : Math.min(known, aheadMs)
    this.#lookedMs = monotonicMs
    return monotonicMs + this.#stalledMs
  }

  /** For how long the monotonic clock has stood still, as far as it was noticed. */
  get stalledMs(): number {
    return this.#stalledMs
  }

  /** Notes an answer as it is read. @param redisMs Redis's time in it, cut to the ms @param sentMs our time before its step was sent */
  note(redisMs: number, sentMs: number): void {
    const readMs = this.nowMs()
    const atLeast = redisMs - readMs
    const atMost = redisMs + CUT_MS - sentMs
    const known = this.#offsetMs === null ? atLeast : this.#offsetMs - (readMs - this.#notedMs) * DRIFT
    this.#offsetMs = Math.min(Math.max(known, atLeast), atMost)
    this.#notedMs = readMs
    if (this.#lateMs.push(this.#offsetMs - atLeast) > RECENT_ANSWERS) this.#lateMs.shift()
  }

  /** How many ms it is until this time of Redis; negative = it is past, 0 also when nothing is known. */
  until(redisMs: number): number {
    return this.#offsetMs === null ? 0 : redisMs - this.#offsetMs - this.nowMs()
  }

  /** How long after its step an answer may be read, in whole ms; 0 = at once, as nearly always. */
  get leadMs(): number {
    const latest = Math.max(0, ...this.#lateMs)
    return latest <= QUICK_MS ? 0 : Math.min(LEAD_MS_MAX, Math.ceil(latest * LEAD_FACTOR))
  }
}
