import { monthOf } from '../../../domain/quotas.ts'
import { NO_CEILINGS } from './ceilings.ts'
import type { ShardCeilings } from './quota-keeper.ts'

/** What a step needs to keep to quotas: these arguments, and a row of `teams` for each team. base/lib/quota.lua reads them. */
export const BOUND_ARGS = ['month', 'monthEndsMs', 'allBytesMax'] as const
export const CEILING_ROW = { args: ['team', 'jobsMax', 'bytesMax', 'monthMax', 'isShare'] } as const

/** @param ceilings null = there are no quotas */
export function packCeilings(ceilings: ShardCeilings | null, teams: readonly string[], nowMs: number) {
  const { month, nextStartsMs } = ceilings?.month ?? monthOf(nowMs)
  return {
    month,
    monthEndsMs: nextStartsMs,
    allBytesMax: ceilings?.memory ?? '',
    teams: teams.map((team) => {
      const { jobs, bytes, monthJobs, isShare } = ceilings?.of(team) ?? NO_CEILINGS
      return {
        team,
        jobsMax: jobs ?? '',
        bytesMax: bytes ?? '',
        monthMax: monthJobs ?? '',
        isShare: isShare ? 1 : 0,
      }
    }),
  }
}
