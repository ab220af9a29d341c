import type { RateLimit } from '../../domain/access/token-terms.ts'

/** Whether a request is within the rate limit of its token, and what is left. */
export interface RateAdmission {
  readonly isAdmitted: boolean
  /** About how many more may come at once. */
  readonly remaining: number
  /** Time until a whole burst may come. */
  readonly fullMs: number
  /** Time until one more may come; 0 unless it was refused. */
  readonly waitMs: number
}

/** Counts the requests of tokens with a rate limit, over all processes. Never throws. */
export interface TokenRates {
  /** A promise only when Redis has to be asked. */
  admit(
    token: { readonly team: string; readonly name: string },
    limit: RateLimit,
  ): RateAdmission | Promise<RateAdmission>
}
