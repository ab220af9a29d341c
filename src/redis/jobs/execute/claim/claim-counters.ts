import type { ShardKeys } from '../../../base/layout/keys.ts'

/** One call of `claim` or `finish` goes on resending for this long; the caller then calls again. */
export const RESEND_MS = 2_000

/**
 * What the claims of one executor in one shard share: their request ids, by which Redis recognizes a claim that it gets
 * twice, and the highest fencing token that was answered.
 */
export class ClaimCounters {
  readonly #executor: string
  #claims = 0
  #highestToken = '0'

  constructor(executor: string) {
    this.#executor = executor
  }

  get highestToken(): string {
    return this.#highestToken
  }

  /** @param token '' = the claim brought nothing */
  noteToken(token: string): void {
    if (token !== '') this.#highestToken = token
  }

  /** Makes the part of the next claim that identifies it. */
  next(keys: ShardKeys) {
    this.#claims += 1
    return {
      executor: this.#executor,
      heldJobs: keys.heldJobs(this.#executor),
      requestId: `${this.#executor}:${this.#claims}`,
      knownToken: this.#highestToken,
      rotation: this.#claims,
    }
  }
}
