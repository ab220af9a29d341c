import type { Actor, AuditedAction, AuditEntry } from '../../../domain/access/audit-record.ts'
import { ALERT_TYPES, type AlertType } from '../../../domain/alerts/alert.ts'
import type { AlertStore, UnreadAlerts } from '../../../ports/alerts.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { ALERT_COUNTS } from '../../base/layout/fields.ts'
import { changeAlerts, changeWanted } from './alert-changes.ts'
import { listAlerts } from './alert-pages.ts'
import { readAlerts, shardOfAlert } from './alert-reads.ts'

export function createAlertStore(engine: Engine): AlertStore {
  const get = async (team: string, alertId: number) => (await readAlerts(engine, team, [alertId]))[0] ?? null
  return {
    list: (query) => listAlerts(engine, query),
    get,
    counts: (team) => countUnread(engine, team),
    markRead: async (team, alertId, actor) => {
      const keys = shardOfAlert(engine, alertId)
      if (keys === null) return null
      await changeAlerts(engine, {
        keys,
        team,
        change: 'read',
        ids: [alertId],
        entry: entryOf(alertId, 'read', actor),
      })
      return get(team, alertId)
    },
    markAllRead: (team, filter) => changeWanted(engine, { team, filter, change: 'read' }),
    remove: async (team, alertId, actor) => {
      const keys = shardOfAlert(engine, alertId)
      if (keys === null) return false
      return (
        (await changeAlerts(engine, {
          keys,
          team,
          change: 'remove',
          ids: [alertId],
          entry: entryOf(alertId, 'delete', actor),
        })) > 0
      )
    },
    removeAll: (team, filter) => changeWanted(engine, { team, filter, change: 'remove' }),
  }
}

function entryOf(alertId: number, action: AuditedAction, actor: Actor): AuditEntry {
  return { actor, action, resource: { kind: 'alert', id: alertId, name: null }, before: null, after: null }
}

async function countUnread(engine: Engine, team: string): Promise<UnreadAlerts> {
  const fields = ALERT_TYPES.map((type) => `${ALERT_COUNTS.unread}${type}`)
  const counts = await engine.runner.read((redis) =>
    Promise.all(engine.shards.map((keys) => redis.hmget(keys.alertCounts(team), ...fields))),
  )
  // Lost writes can leave fewer counted than there are; then the rest counts as read.
  const countOf = (i: number) =>
    Math.max(
      0,
      counts.reduce((sum, ofShard) => sum + Number(ofShard[i] ?? 0), 0),
    )
  const byType = Object.fromEntries(ALERT_TYPES.map((type, i) => [type, countOf(i)]))
  return {
    unread: Object.values(byType).reduce((sum, count) => sum + count, 0),
    byType: byType as Record<AlertType, number>,
  }
}
