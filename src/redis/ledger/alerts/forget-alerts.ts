import { LEASE_MS, TRIM_BATCH_MAX } from '../../../domain/limits.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import { ALERT_TEAM, alertTeam } from './alert-teams.ts'

export const FORGET_ALERTS = step('forget_alerts', import.meta.url, {
  keys: ['clock', 'executors'],
  args: ['leaseMs', 'page', 'pauseMs'],
  rows: { alertTeams: ALERT_TEAM },
})

/** Pause between two passes over a team, each of which reads all its fingerprints. */
const PAUSE_MS = 3_600_000

/** Ids run ahead of the clock while many alerts are raised at once. */
const AHEAD_MS = 86_400_000

/** Forgets one page of a team's alerts that are past their retention, or of all. Answers whether more is due. */
export async function forgetAlerts(
  engine: Engine,
  keys: ShardKeys,
  { team, isAll = false }: { readonly team: string; readonly isAll?: boolean },
): Promise<boolean> {
  const call = FORGET_ALERTS.with({
    keys,
    leaseMs: LEASE_MS,
    page: TRIM_BATCH_MAX,
    pauseMs: PAUSE_MS,
    alertTeams: [
      { ...alertTeam(keys, team, engine.shards.length), ...(isAll ? { retentionMs: -AHEAD_MS } : {}) },
    ],
  })
  return (await engine.runner.run(call)) === 1
}
