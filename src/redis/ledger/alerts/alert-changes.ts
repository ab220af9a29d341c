import type { AuditEntry } from '../../../domain/access/audit-record.ts'
import type { AlertFilter } from '../../../ports/alerts.ts'
import { AUDIT_ARGS, audited, DONE } from '../audit-log/audit-entry.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import { isWanted } from './alert-filter.ts'
import { newestIds, readAlerts } from './alert-reads.ts'

export const CHANGE_ALERTS = step('change_alerts', import.meta.url, {
  keys: ['alertRecords', 'alertOrder', 'alertCounts', 'auditLog', 'auditCounts'],
  args: ['change', ...AUDIT_ARGS],
  rest: 'ids',
})

export type AlertChange = 'read' | 'remove'

/** Alerts that one step changes. */
const CHANGED_TOGETHER = 200

interface ChangedAlerts {
  readonly keys: ShardKeys
  readonly team: string
  readonly change: AlertChange
  readonly ids: readonly number[]
  /** null = these are part of a larger change, which has an entry of its own. */
  readonly entry: AuditEntry | null
}

/** Answers how many were changed: to be marked as read, those that were unread. */
export async function changeAlerts(
  engine: Engine,
  { keys, team, change, ids, entry }: ChangedAlerts,
): Promise<number> {
  const changed = (await engine.runner.run(
    CHANGE_ALERTS.with({
      alertRecords: keys.alertRecords(team),
      alertOrder: keys.alertOrder(team),
      alertCounts: keys.alertCounts(team),
      change,
      ids,
      ...audited(engine, keys, { team, entry }),
    }),
  )) as number
  if (entry !== null && changed > 0) engine.auditLines.note(team, entry, DONE)
  return changed
}

/**
 * Changes all alerts of now that are wanted, one shard after the other, so that a large deletion leaves room between its
 * steps. A crash leaves whole pages changed, and the rest for the next request.
 */
export async function changeWanted(
  engine: Engine,
  { team, filter, change }: { team: string; filter: AlertFilter; change: AlertChange },
): Promise<number> {
  // Alerts that are raised meanwhile stay as they are, so the request comes to an end.
  const newest = await Promise.all(
    engine.shards.map((keys) => newestIds(engine, keys, { team, max: '+inf', limit: 1 })),
  )
  let changed = 0
  for (const [shard, keys] of engine.shards.entries()) {
    const [last] = newest[shard] ?? []
    if (last !== undefined) changed += await changeShard(engine, { keys, team, filter, change, last })
  }
  return changed
}

async function changeShard(
  engine: Engine,
  wanted: { keys: ShardKeys; team: string; filter: AlertFilter; change: AlertChange; last: number },
): Promise<number> {
  const { keys, team, filter, change } = wanted
  let changed = 0
  let max: number | `(${number}` = wanted.last
  for (;;) {
    const page = await newestIds(engine, keys, { team, max, limit: CHANGED_TOGETHER })
    const alerts = await readAlerts(engine, team, page)
    const ids = page.filter((_, i) => isWanted(alerts[i] ?? null, filter))
    if (ids.length > 0) changed += await changeAlerts(engine, { keys, team, change, ids, entry: null })
    const oldest = page.at(-1)
    if (oldest === undefined || page.length < CHANGED_TOGETHER) return changed
    max = `(${oldest}`
  }
}
