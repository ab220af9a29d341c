import type { TokenRate } from '../../domain/access/token-terms.ts'
import type { RateAdmission, TokenRates } from '../../ports/access/token-rates.ts'

/** The rate limit that leaves least, and its answer. */
export interface CountedRate {
  readonly limit: TokenRate
  readonly admission: RateAdmission
}

/**
 * Counts a request for each of these rate limits, the token's own first, until one refuses it. A promise only when one of
 * them is.
 */
export function countRates(
  { team, limits }: { readonly team: string; readonly limits: readonly TokenRate[] },
  rates: TokenRates,
): CountedRate | null | Promise<CountedRate | null> {
  const next = (
    index: number,
    tightest: CountedRate | null,
  ): CountedRate | null | Promise<CountedRate | null> => {
    const limit = limits[index]
    if (limit === undefined) return tightest
    const goOn = (admission: RateAdmission): ReturnType<typeof next> => {
      if (!admission.isAdmitted) return { limit, admission }
      const isTighter = tightest === null || admission.remaining < tightest.admission.remaining
      return next(index - 1, isTighter ? { limit, admission } : tightest)
    }
    const admission = rates.admit({ team, name: limit.name }, limit)
    return admission instanceof Promise ? admission.then(goOn) : goOn(admission)
  }
  return next(limits.length - 1, null)
}
