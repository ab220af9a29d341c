import type { Alert } from '../../../domain/alerts/alert.ts'
import type { AlertFilter } from '../../../ports/alerts.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { formatCursor, type ListScope, parseCursor } from '../../base/names/list-cursor.ts'
import { isWanted } from './alert-filter.ts'
import { newestIds, readAlerts } from './alert-reads.ts'

export interface AlertListQuery {
  readonly team: string
  readonly filter: AlertFilter
  readonly limit: number
  readonly cursor: string | null
}

/** A request that has read this many alerts answers what it has found, and a cursor. */
export const EXAMINED_ALERTS_MAX = 2_000
/** Read at once under a filter: most are passed over. */
const EXAMINED_TOGETHER = 500
/** Ids read from a shard beyond its even share, so that one round trip is nearly always enough. */
const SPARE_IDS = 8

/** A page of the alerts of all shards, newest first. An id below which the rest lies is the cursor of all of them. */
export async function listAlerts(
  engine: Engine,
  query: AlertListQuery,
): Promise<{ alerts: Alert[]; nextCursor: string | null } | 'bad_cursor'> {
  const { team, filter, limit, cursor } = query
  const scope = scopeOf(query)
  const begin = cursor === null ? null : positionIn(scope, cursor)
  if (begin === null && cursor !== null) return 'bad_cursor'
  const isFiltered = Object.values(filter).some((wanted) => wanted !== null)
  const alerts: Alert[] = []
  let [examined, below] = [0, begin]
  while (examined < EXAMINED_ALERTS_MAX) {
    // One more than there is room for tells whether something follows.
    const room = isFiltered ? EXAMINED_TOGETHER : limit - alerts.length + 1
    const wanted = Math.min(room, EXAMINED_ALERTS_MAX - examined)
    const { ids, isEnd } = await mergedIds(engine, { team, below, limit: wanted })
    for (const [i, alert] of (await readAlerts(engine, team, ids)).entries()) {
      if (alerts.length === limit) return { alerts, nextCursor: formatCursor(scope, String(below)) }
      below = ids[i] ?? below
      if (alert !== null && isWanted(alert, filter)) alerts.push(alert)
    }
    if (isEnd) return { alerts, nextCursor: null }
    examined += ids.length
  }
  return { alerts, nextCursor: formatCursor(scope, String(below)) }
}

function scopeOf({ team, filter }: AlertListQuery): ListScope {
  const { type, reason, resourceKind, resourceId, isRead, afterMs, beforeMs } = filter
  return ['alerts', team, type, reason, resourceKind, resourceId, isRead, afterMs, beforeMs]
}

function positionIn(scope: ListScope, cursor: string): number | null {
  const text = parseCursor(scope, cursor) ?? ''
  const id = /^[0-9]{1,16}$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(id) ? id : null
}

/** The newest ids over all shards; fewer than `limit` where one shard has more than its share of them. */
async function mergedIds(
  engine: Engine,
  { team, below, limit }: { team: string; below: number | null; limit: number },
): Promise<{ ids: number[]; isEnd: boolean }> {
  const max = below === null ? '+inf' : (`(${below}` as const)
  const share = Math.min(limit, 2 * Math.ceil(limit / engine.shards.length) + SPARE_IDS)
  const lanes = await Promise.all(
    engine.shards.map((keys) => newestIds(engine, keys, { team, max, limit: share })),
  )
  // Behind the last id of a full lane there may be others of that shard, so nothing older is certain to follow.
  const horizon = Math.max(...lanes.map((ids) => (ids.length < share ? 0 : (ids.at(-1) ?? 0))))
  const known = lanes
    .flat()
    .filter((id) => id >= horizon)
    .toSorted((a, b) => b - a)
  return { ids: known.slice(0, limit), isEnd: horizon === 0 && known.length <= limit }
}
