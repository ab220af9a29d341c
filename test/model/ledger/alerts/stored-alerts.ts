import type { Redis } from 'ioredis'
import { type Alert, ALERT_TYPES } from '../../../../src/domain/alerts/alert.ts'
import type { AlertFilter } from '../../../../src/ports/alerts.ts'
import { shardKeys, type Engine } from '../../../../src/redis/base/engine/engine.ts'
import { ALERT_COUNTS } from '../../../../src/redis/base/layout/fields.ts'

export const ANY: AlertFilter = {
  type: null,
  reason: null,
  resourceKind: null,
  resourceId: null,
  isRead: null,
  afterMs: null,
  beforeMs: null,
}

/** An alert that is to be there; what is not said is the same for all. */
export type StoredAlert = Partial<Omit<Alert, 'message' | 'resource'>> & {
  readonly shard?: number
  /** Orders alerts over all shards. */
  readonly number: number
  readonly team?: string
  readonly kind?: Alert['resource']['kind']
  readonly resourceId?: number | null
}

const NOW_MS = 1_800_000_000_000
/** When these alerts are forgotten: in no test. */
const FOREVER_MS = 9_000_000_000_000

/** As ledger/alerts/alerts.lua writes them: thousands of alerts, without the jobs that raise them. Answers their ids. */
export async function storeAlerts(
  engine: Engine,
  client: Pick<Redis, 'pipeline'>,
  alerts: readonly StoredAlert[],
): Promise<number[]> {
  const pipeline = client.pipeline()
  const last = NOW_MS + Math.max(...alerts.map(({ number }) => number))
  const ids = alerts.map((alert) => {
    const { shard = 0, number, team = 'default', type = 'failure', isRead = false } = alert
    const keys = shardKeys(engine, shard)
    const id = (NOW_MS + number) * 64 + shard
    pipeline.hset(keys.alertRecords(team), String(id), recordOf(alert))
    pipeline.zadd(keys.alertOrder(team), id, String(id))
    if (!isRead) pipeline.hincrby(keys.alertCounts(team), `${ALERT_COUNTS.unread}${type}`, 1)
    pipeline.hset(keys.alertCounts(team), ALERT_COUNTS.last, last)
    pipeline.zadd(keys.retentionDue, FOREVER_MS, `a${team}`)
    return id
  })
  for (const [error] of (await pipeline.exec()) ?? []) if (error !== null) throw error
  return ids
}

function recordOf({ number, ...alert }: StoredAlert): string {
  const { type = 'failure', reason = 'timeout', kind = 'queue', resourceId = 7 } = alert
  const { isRead = false, count = 1, jobId = 16, suppressedBy } = alert
  const atMs = NOW_MS + number
  const { firstAtMs = atMs, lastAtMs = atMs } = alert
  const parts = [isRead ? 0 : 1, count, lastAtMs, 0, firstAtMs, type, reason, kind, resourceId ?? '']
  return [...parts, suppressedBy ?? '', jobId ?? '', '["emails",1,0,0]'].join('|')
}

/** Unread alerts of a team by type, as their records say. */
export async function unreadRecords(
  engine: Engine,
  client: Pick<Redis, 'hvals'>,
  team = 'default',
): Promise<Record<string, number>> {
  const counts = Object.fromEntries(ALERT_TYPES.map((type) => [type, 0]))
  for (const keys of engine.shards) {
    for (const text of await client.hvals(keys.alertRecords(team))) {
      const [unread, , , , , type = ''] = text.split('|')
      if (unread === '1') counts[type] = (counts[type] ?? 0) + 1
    }
  }
  return counts
}
