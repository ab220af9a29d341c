import {
  ALERT_COALESCE_MS,
  ALERT_FINGERPRINTS_MAX,
  ALERT_RETENTION_DAYS,
  ALERTS_PER_SHARD_MIN,
  ALERTS_PER_TEAM_MAX,
} from '../../../domain/limits.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'

const DAY_MS = 86_400_000

/** The rows of a step that raises alerts: the keys and arguments that alerts/alerts.lua needs of a team. */
export const ALERT_TEAM = {
  keys: [
    'alertRecords',
    'alertOrder',
    'alertTotals',
    'alertCounts',
    'notices',
    'retentionDue',
    'failingQueues',
  ],
  args: ['team', 'shard', 'recordsMax', 'fingerprintsMax', 'coalesceMs', 'retentionMs'],
} as const

/** @param shards of the installation: each keeps an equal part of a team's alerts */
export function alertTeam(keys: ShardKeys, team: string, shards: number) {
  return {
    alertRecords: keys.alertRecords(team),
    alertOrder: keys.alertOrder(team),
    alertTotals: keys.alertTotals(team),
    alertCounts: keys.alertCounts(team),
    notices: keys.notices,
    retentionDue: keys.retentionDue,
    failingQueues: keys.failingQueues,
    team,
    shard: keys.shard,
    recordsMax: Math.max(ALERTS_PER_SHARD_MIN, Math.ceil(ALERTS_PER_TEAM_MAX / shards)),
    fingerprintsMax: ALERT_FINGERPRINTS_MAX,
    coalesceMs: ALERT_COALESCE_MS,
    retentionMs: ALERT_RETENTION_DAYS * DAY_MS,
  }
}
