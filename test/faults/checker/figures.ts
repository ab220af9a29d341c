/** What one run of a scenario came to. */
export interface Figures {
  /** Pushes answered with a 201. */
  readonly accepted: number
  /** Accepted jobs that are gone, also where a fault may take them, or whose chain does not end. */
  readonly lost: number
  /** Jobs that the program has said are lost. */
  readonly told: number
  /** Calls of an attempt beyond its first one, allowed or not. */
  readonly doubled: number
  /** Calls before their due time, by the clock of this machine. */
  readonly early: number
  /** The most calls at once of the limited queue beyond its limit. */
  readonly overLimit: number
  /** Findings of the inspection at rest: slots, leases, counters and keys that nothing owns. */
  readonly leaked: number
  /** Pushes that got another answer, and those that got none. */
  readonly refused: number
  readonly unanswered: number
  /** The longest time without a push accepted, and without a call. */
  readonly longestPushGapMs: number
  readonly longestCallGapMs: number
  /** null: none was refused. */
  readonly slowestRefusalMs: number | null
}

/** What a fault may do to what is in flight when it strikes. */
export interface Allowance {
  /** Further calls of one attempt, and of one callback. */
  readonly moreCalls: number
  /** Calls at once beyond the limit, while a frozen executor still has some open. */
  readonly overLimit: number
}

export const NOTHING_ALLOWED: Allowance = { moreCalls: 0, overLimit: 0 }

export interface Verdict {
  readonly figures: Figures
  /** Sentences that name what is wrong; empty: every promise was kept. */
  readonly complaints: readonly string[]
}
