import type { QuotaName } from '../domain/quotas.ts'

/** Usage of a team, by the name of the quota that limits it. */
export type TeamUsage = Readonly<Record<QuotaName, number>>

/** Throws StoreUnavailableError. */
export interface TeamUsageReader {
  /** Counted now, over all shards. */
  read(team: string): Promise<TeamUsage>
}

/** Reads the usage of many teams at once: one step per shard for 250 of them. Throws StoreUnavailableError. */
export interface TeamStats {
  /** Answers in the order asked. */
  read(teams: readonly string[]): Promise<readonly TeamUsage[]>
}

/** The quota that a push exceeds. `share` = the team has no byte quota and holds its fair share of free memory. */
export type MetQuota = Exclude<QuotaName, 'callsInFlight'> | 'share'

/**
 * How many more calls this executor may make for a team with a quota of calls in flight. Answers from memory, which a
 * background read of all executors refreshes.
 */
export interface CallQuotas {
  /** @returns null = the team has no quota. @param held the team's calls in this executor */
  headroomOf(team: string, held: number): number | null
  /** Headroom of any team without a quota of its own that holds nothing here; null = unlimited. */
  newcomerHeadroom(): number | null
  /** Teams with a quota of their own; bounded. */
  teamsWithQuota(): readonly string[]
}

export const NO_CALL_QUOTAS: CallQuotas = Object.freeze({
  headroomOf: () => null,
  newcomerHeadroom: () => null,
  teamsWithQuota: () => [],
})
