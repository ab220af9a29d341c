import type { QuotaName } from '../domain/quotas.ts'

/** What a team holds; under the names of the quotas that bound it. */
export type TeamUsage = Readonly<Record<QuotaName, number>>

/** Throws StoreUnavailableError. */
export interface TeamUsageReader {
  /** Counted now, over all shards. */
  read(team: string): Promise<TeamUsage>
}

/** The quota that a push met; `share`: the team has no quota of bytes, and holds its share of what is free. */
export type MetQuota = Exclude<QuotaName, 'callsInFlight'> | 'share'
