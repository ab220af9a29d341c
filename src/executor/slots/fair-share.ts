import { CLAIM_BATCH_BYTES_MAX } from '../../domain/limits.ts'
import { alphaOf, forNewcomersOf, headroomOf, ROUNDING } from '../../domain/shares/fair-share.ts'
import type { CapacityPool } from './capacity-pool.ts'

export interface Shares {
  /** The most that one team may take, 0–1. */
  readonly team: number
  /** The most that one queue may take while its team has other busy queues, 0–1. */
  readonly queue: number
}

/** A job's record is held twice: as claimed and as sent. */
const BYTES_FACTOR = 2
/** Memory for one call and the part of its response that is kept. */
export const BYTES_PER_CALL = 16 * 1024
const CLAIM_BYTES_MIN = 64 * 1024
/** Records differ in size, so a claim is granted more than their mean. */
const CLAIM_BYTES_SLACK = 1.5

/** Slots to add to `concurrency` so that a team, or its only queue, can use all of `concurrency` when it is alone. */
export function reserveOf(concurrency: number, shares: Shares): number {
  return Math.ceil(concurrency / alphaOf(shares.team) - ROUNDING) + 2 * forNewcomersOf(concurrency) + 1
}

/**
 * Fair sharing of one pool by dynamic thresholds: a team or queue that holds `h` may take one more while
 * `h + 1 ≤ α (available − 1 − forNewcomers)`.
 *
 * Grants in progress count as held by everyone, because whose jobs they bring is not known yet.
 */
export class FairShare {
  readonly #pool: CapacityPool
  readonly #forNewcomers: number
  readonly #teamAlpha: number
  readonly #queueAlpha: number

  constructor(pool: CapacityPool, options: { readonly shares: Shares; readonly forNewcomers: number }) {
    this.#pool = pool
    this.#forNewcomers = options.forNewcomers
    this.#teamAlpha = alphaOf(options.shares.team)
    this.#queueAlpha = alphaOf(options.shares.queue)
  }

  /** How much more a team that holds `held` may take. */
  teamHeadroom(held: number): number {
    return this.#headroom(this.#teamAlpha, this.#forNewcomers, held)
  }

  queueHeadroom(held: number): number {
    return this.#headroom(this.#queueAlpha, this.#forNewcomers, held)
  }

  /** Headroom of a team's only queue: the team's share, less what the team's next queue needs to start. */
  onlyQueueHeadroom(held: number): number {
    return this.#headroom(this.#teamAlpha, 2 * this.#forNewcomers + 1, held)
  }

  #headroom(alpha: number, forOthers: number, held: number): number {
    const { available, granted } = this.#pool
    return headroomOf({ alpha, available: available - forOthers, held: held + granted })
  }
}

/** Bytes of records that a claim for `slots` jobs may bring. @param meanBytes mean record size in that shard so far */
export function claimBytes(slots: number, meanBytes: number): number {
  const expected = Math.ceil(CLAIM_BYTES_SLACK * slots * meanBytes)
  return Math.min(CLAIM_BATCH_BYTES_MAX, Math.max(CLAIM_BYTES_MIN, expected))
}

/** The part of the memory budget that `jobs` jobs with `recordBytes` bytes of records take. */
export function budgetBytes(jobs: number, recordBytes: number): number {
  return BYTES_FACTOR * recordBytes + BYTES_PER_CALL * jobs
}
