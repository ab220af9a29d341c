import type { RateLimit } from '../../../domain/access/token-terms.ts'
import { LruCache } from '../../../domain/lru-cache.ts'
import type { RateAdmission, TokenRates } from '../../../ports/access/token-rates.ts'
import type { Clock } from '../../../ports/runtime.ts'
import type { TakenRate } from './take-rate.ts'

/** The rest of a slice is lost after this time, so that requests are counted when they come. */
const SLICE_MS = 1_000
/** A process takes at most this part of a burst, and of a second, at once. */
const SLICE_PART = 10
/** Leases that one request waits for: the others that wait may take all of one. */
const TRIES_MAX = 8
/** Tokens that a process remembers. */
const TOKENS_MAX = 10_000

type Token = Parameters<TokenRates['admit']>[0]

/** The requests of one token that this process may let in. */
interface Slice {
  left: number
  endsAtMs: number
  /** How many to take next: twice as many after one that was used up, 1 after one that was not. */
  size: number
  waiting: number
  lease: Promise<void> | null
  /** Last answer of Redis. */
  known: TakenRate
  knownAtMs: number
}

const NOTHING_KNOWN: TakenRate = { taken: 0, left: 0, waitMs: 0, fullMs: 0 }

/**
 * Takes slices of each token's rate from Redis and lets requests in out of them, without asking for each. All processes
 * together let in at most a slice each more than the limit in a second. A refused token costs no more than a look into
 * memory until it may come again. While Redis is away nobody is limited: what needs it fails by itself.
 */
export class LeasedRates implements TokenRates {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #take: (token: Token, wanted: RateLimit & { readonly wanted: number }) => Promise<TakenRate>
  readonly #slices = new LruCache<string, Slice>(TOKENS_MAX)

  constructor(parts: {
    readonly clock: Pick<Clock, 'monotonicMs'>
    readonly take: (token: Token, wanted: RateLimit & { readonly wanted: number }) => Promise<TakenRate>
  }) {
    this.#clock = parts.clock
    this.#take = parts.take
  }

  admit(token: Token, limit: RateLimit): RateAdmission | Promise<RateAdmission> {
    const slice = this.#sliceOf(token)
    return this.#decided(slice) ?? this.#afterLease(token, limit, slice)
  }

  #sliceOf({ team, name }: Token): Slice {
    const key = `${team}/${name}`
    const found = this.#slices.get(key)
    if (found !== undefined) return found
    const made: Slice = {
      left: 0,
      endsAtMs: 0,
      size: 1,
      waiting: 0,
      lease: null,
      known: NOTHING_KNOWN,
      knownAtMs: 0,
    }
    this.#slices.set(key, made)
    return made
  }

  /** null when Redis has to be asked. */
  #decided(slice: Slice): RateAdmission | null {
    const nowMs = this.#clock.monotonicMs()
    const { known, knownAtMs } = slice
    const passedMs = nowMs - knownAtMs
    const fullMs = Math.max(0, known.fullMs - passedMs)
    if (slice.left > 0 && nowMs < slice.endsAtMs) {
      slice.left -= 1
      return { isAdmitted: true, remaining: slice.left + known.left, fullMs, waitMs: 0 }
    }
    const waitMs = known.taken > 0 || known.left > 0 ? 0 : known.waitMs - passedMs
    return waitMs > 0 ? { isAdmitted: false, remaining: 0, fullMs, waitMs } : null
  }

  async #afterLease(token: Token, limit: RateLimit, slice: Slice): Promise<RateAdmission> {
    slice.waiting += 1
    try {
      for (let tries = 0; tries < TRIES_MAX; tries += 1) {
        await (slice.lease ??= this.#lease(token, limit, slice))
        const decided = this.#decided(slice)
        if (decided !== null) return decided
      }
      return { isAdmitted: false, remaining: 0, fullMs: SLICE_MS, waitMs: SLICE_MS }
    } catch {
      return { isAdmitted: true, remaining: 0, fullMs: 0, waitMs: 0 }
    } finally {
      slice.waiting -= 1
    }
  }

  async #lease(token: Token, limit: RateLimit, slice: Slice): Promise<void> {
    try {
      const nowMs = this.#clock.monotonicMs()
      const sizeMax = Math.max(1, Math.floor(Math.min(limit.burst, limit.requestsPerSecond) / SLICE_PART))
      const isUsedUp = slice.left === 0 && nowMs < slice.endsAtMs
      slice.size = isUsedUp ? Math.min(sizeMax, slice.size * 2) : 1
      const wanted = Math.min(limit.burst, Math.max(slice.size, slice.waiting))
      slice.known = await this.#take(token, { ...limit, wanted })
      slice.knownAtMs = this.#clock.monotonicMs()
      slice.left = slice.known.taken
      slice.endsAtMs = slice.knownAtMs + SLICE_MS
    } finally {
      slice.lease = null
    }
  }
}
