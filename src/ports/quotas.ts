import type { QuotaName } from '../domain/quotas.ts'

/** What a team holds; under the names of the quotas that bound it. */
export type TeamUsage = Readonly<Record<QuotaName, number>>

/** Throws StoreUnavailableError. */
export interface TeamUsageReader {
  /** Counted now, over all shards. */
  read(team: string): Promise<TeamUsage>
}

/** Looks at many teams at once, one step a shard for 250 of them. Throws StoreUnavailableError. */
export interface TeamStats {
  /** In the order asked. */
  look(teams: readonly string[]): Promise<readonly TeamUsage[]>
}

/** The quota that a push met; `share`: the team has no quota of bytes, and holds its share of what is free. */
export type MetQuota = Exclude<QuotaName, 'callsInFlight'> | 'share'

/**
 * How many calls of a team this executor may make beside those it holds, where the team has a quota of calls in flight.
 * Answers from memory; a look at all executors runs behind it.
 */
export interface CallQuotas {
  /** @returns null where the team has no quota. @param held calls of the team in this executor */
  roomOf(team: string, held: number): number | null
  /** Of any team that holds nothing here and has no quota of its own; null = no bound. */
  newcomerRoom(): number | null
  /** Teams that have a quota of their own, a bounded number of them. */
  named(): readonly string[]
}

export const NO_CALL_QUOTAS: CallQuotas = Object.freeze({
  roomOf: () => null,
  newcomerRoom: () => null,
  named: () => [],
})
