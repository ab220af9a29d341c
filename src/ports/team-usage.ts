import type { QuotaName } from '../domain/quotas.ts'

/** What a team holds; under the names of the quotas that bound it. */
export type TeamUsage = Readonly<Record<QuotaName, number>>

/** Throws StoreUnavailableError. */
export interface TeamUsageReader {
  /** Counted now, over all shards. */
  read(team: string): Promise<TeamUsage>
}

/** Looks at many teams at once, one step a shard for 250 of them. Throws StoreUnavailableError. */
export interface TeamCensus {
  /** In the order asked. */
  look(teams: readonly string[]): Promise<readonly TeamUsage[]>
}

/** The quota that a push met; `share`: the team has no quota of bytes, and holds its share of what is free. */
export type MetQuota = Exclude<QuotaName, 'callsInFlight'> | 'share'
