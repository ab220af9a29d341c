import type { Tally } from '../domain/statistics/tally.ts'

/** What happened by the minute; a minute in which nothing did is missing. Throws StoreUnavailableError. */
export interface StatisticsReader {
  /** @param sinceMs of the first minute, Unix ms @returns by minutes since 1970 */
  ofTeam(team: string, sinceMs: number): Promise<ReadonlyMap<number, Tally>>
  /** null when the team has no such queue. */
  ofQueue(team: string, queueId: number, sinceMs: number): Promise<ReadonlyMap<number, Tally> | null>
}
