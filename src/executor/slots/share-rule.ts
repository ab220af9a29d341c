import { CLAIM_BATCH_BYTES_MAX } from '../../domain/limits.ts'

/**
 * All arithmetic of shares. One rule serves slots and bytes, teams and queues, and needs no list of who else there is:
 * whoever holds `h` may take one more while `h + 1 ≤ α (free − 1 − seats)`, or when it holds nothing and anything is
 * free. Alone it comes to rest at its share of the total; what others hold shrinks `free` and so everybody's bound.
 */

/** α = share / (1 − share): how many times what stays free one of them may hold. */
export interface Shares {
  /** Of a team, 0–1. */
  readonly team: number
  /** Of a queue whose team has others at work, 0–1. */
  readonly queue: number
}

/** What there is of slots, or of bytes. */
export interface Pool {
  readonly total: number
  readonly free: number
  /** In claims under way: whose jobs they bring is not known yet, so each counts them as its own. */
  readonly granted: number
}

const SEATS_SHARE = 0.02
/** Below it there is no room for seats. */
const SEATED_MIN = 4
/** α comes of a division. */
const ROUNDING = 1e-9

/** Of a job: what is read of it is kept twice, as it came and as it is sent. */
const BYTES_FACTOR = 2
/** What a call may keep of an answer, and itself. */
export const BYTES_PER_CALL = 16 * 1024
const CLAIM_BYTES_MIN = 64 * 1024
/** Records differ: a claim is given room for so much more than their mean. */
const CLAIM_BYTES_SLACK = 1.5

/** Slots that only who holds none may take. */
export function seatsOf(concurrency: number): number {
  return concurrency < SEATED_MIN ? 0 : Math.max(1, Math.floor(concurrency * SEATS_SHARE))
}

/** How many slots lie on top of `concurrency`, so that a lone team, and its lone queue, reach all of it. */
export function reserveOf(concurrency: number, shares: Shares): number {
  const seats = seatsOf(concurrency)
  return Math.ceil(concurrency / alphaOf(shares.team) - ROUNDING) + 2 * seats + 1
}

/** The rule over one pool: of slots, or of bytes. */
export class ShareRule {
  readonly #pool: Pool
  readonly #seats: number
  readonly #teamAlpha: number
  readonly #queueAlpha: number

  constructor(pool: Pool, options: { readonly shares: Shares; readonly seats: number }) {
    this.#pool = pool
    this.#seats = options.seats
    this.#teamAlpha = alphaOf(options.shares.team)
    this.#queueAlpha = alphaOf(options.shares.queue)
  }

  /** How much more a team that holds `held` may take. */
  teamRoom(held: number): number {
    const { free, granted } = this.#pool
    return room(this.#teamAlpha, free - this.#seats, held + granted)
  }

  queueRoom(held: number): number {
    const { free, granted } = this.#pool
    return room(this.#queueAlpha, free - this.#seats, held + granted)
  }

  /** Of a team's only queue: the team's share, but for room that a sibling finds when it comes. */
  loneQueueRoom(held: number): number {
    const { free, granted } = this.#pool
    return room(this.#teamAlpha, free - 2 * this.#seats - 1, held + granted)
  }
}

/** The largest `r` with `held + r ≤ α (free − r)`. */
function room(alpha: number, free: number, held: number): number {
  return Math.max(0, Math.floor((alpha * free - held) / (1 + alpha) + ROUNDING))
}

function alphaOf(share: number): number {
  return share / (1 - share)
}

/** How many bytes of records a claim for so many jobs may bring. `meanBytes` = of one in that shard, so far. */
export function claimBytes(slots: number, meanBytes: number): number {
  const expected = Math.ceil(CLAIM_BYTES_SLACK * slots * meanBytes)
  return Math.min(CLAIM_BATCH_BYTES_MAX, Math.max(CLAIM_BYTES_MIN, expected))
}

/** What so many jobs, with so many bytes of records, take of the budget. */
export function budgetBytes(jobs: number, recordBytes: number): number {
  return BYTES_FACTOR * recordBytes + BYTES_PER_CALL * jobs
}
