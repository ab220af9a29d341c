import type { AuditRecord } from '../../domain/access/audit-record.ts'
import type { AuditFilter, AuditLog, AuditQuery } from '../../ports/audit-log.ts'
import type { Engine } from '../client/engine.ts'
import { formatCursor, type ListScope, parseCursor } from '../names/list-cursor.ts'
import { askAudit, auditHomeOf, closeStaleAudits, settleAudit } from './asked-audit.ts'
import { AUDIT_RETENTION_MS, decodeAuditEntry } from './audit-entry.ts'

/** After this many entries, a request answers what it has found, and a cursor. */
export const EXAMINED_AUDIT_ENTRIES_MAX = 2_000
const READ_TOGETHER = 500

/** An entry's place in the order of the list: by id, and among equal ids the higher lane first. */
interface Place {
  readonly ms: number
  readonly number: number
  readonly lane: number
}

/** A stream of a team: that of a shard, numbered as it, or the one of logins and logouts, numbered behind all shards. */
interface Lane {
  readonly lane: number
  readonly key: string
}

interface Found extends Place {
  readonly text: string
}

/** Throws StoreUnavailableError. */
export function createAuditLog(engine: Engine): AuditLog {
  return {
    ask: (team, entry) => askAudit(engine, team, entry),
    settle: (team, ticket, end) => settleAudit(engine, team, { ticket, end }),
    list: async (query) => {
      if (query.cursor === null) await closeStaleAudits(engine, query.team)
      return listAudit(engine, query)
    },
  }
}

async function listAudit(
  engine: Engine,
  query: AuditQuery,
): Promise<{ records: AuditRecord[]; nextCursor: string | null } | 'bad_cursor'> {
  const { team, filter, limit, cursor } = query
  const scope = scopeOf(query)
  const begin = cursor === null ? null : placeIn(scope, cursor)
  if (begin === null && cursor !== null) return 'bad_cursor'
  const oldestMs = engine.runner.redisNowMs(0) - AUDIT_RETENTION_MS
  const records: AuditRecord[] = []
  let [examined, below] = [0, begin]
  while (examined < EXAMINED_AUDIT_ENTRIES_MAX) {
    const { entries, isEnd } = await newestBelow(engine, team, below)
    for (const entry of entries) {
      if (records.length === limit || examined === EXAMINED_AUDIT_ENTRIES_MAX) {
        return { records, nextCursor: formatCursor(scope, placeText(below)) }
      }
      examined += 1
      below = entry
      const record = decodeAuditEntry(`${entry.ms}-${entry.number}`, entry.lane, entry.text)
      if (record === null || record.atMs < oldestMs || !isWanted(record, filter)) continue
      records.push(record)
      if (query.isEnough?.(records) === true) {
        return { records, nextCursor: formatCursor(scope, placeText(below)) }
      }
    }
    if (isEnd) return { records, nextCursor: null }
  }
  return { records, nextCursor: formatCursor(scope, placeText(below)) }
}

/** The newest entries over all lanes behind a place; fewer than asked for where one lane has most of them. */
async function newestBelow(
  engine: Engine,
  team: string,
  below: Place | null,
): Promise<{ entries: Found[]; isEnd: boolean }> {
  const lanes = await Promise.all(lanesOf(engine, team).map((lane) => readLane(engine, lane, below)))
  // Behind the last entry of a full lane there may be others of it.
  const ends = lanes.flatMap((lane) => (lane.length < READ_TOGETHER ? [] : [lane.at(-1) as Found]))
  const horizon = ends.toSorted(newestFirst)[0]
  const entries = lanes
    .flat()
    .filter((entry) => horizon === undefined || newestFirst(entry, horizon) <= 0)
    .toSorted(newestFirst)
  return { entries, isEnd: horizon === undefined }
}

function lanesOf(engine: Engine, team: string): Lane[] {
  const shards = engine.shards.map((keys) => ({ lane: keys.shard, key: keys.auditLog(team) }))
  return [...shards, { lane: shards.length, key: auditHomeOf(engine, team).sessionLog(team) }]
}

async function readLane(engine: Engine, { lane, key }: Lane, below: Place | null): Promise<Found[]> {
  const from = below === null ? '+' : `${lane < below.lane ? '' : '('}${below.ms}-${below.number}`
  const found = await engine.runner.read((redis) => redis.xrevrange(key, from, '-', 'COUNT', READ_TOGETHER))
  return found.map(([id, [, text = '']]) => {
    const [ms, number] = id.split('-').map(Number)
    return { ms: ms ?? 0, number: number ?? 0, lane, text }
  })
}

function newestFirst(a: Place, b: Place): number {
  return b.ms - a.ms || b.number - a.number || b.lane - a.lane
}

function isWanted(record: AuditRecord, filter: AuditFilter): boolean {
  const { actor, action, resourceKind, resource, afterMs, beforeMs } = filter
  return (
    (actor === null || record.actor.name === actor) &&
    (action === null || record.action === action) &&
    (resourceKind === null || record.resource.kind === resourceKind) &&
    (resource === null || String(record.resource.id) === resource || record.resource.name === resource) &&
    (afterMs === null || record.atMs >= afterMs) &&
    (beforeMs === null || record.atMs < beforeMs)
  )
}

function scopeOf({ team, filter }: AuditQuery): ListScope {
  const { actor, action, resourceKind, resource, afterMs, beforeMs } = filter
  return ['audit', team, actor, action, resourceKind, resource, afterMs, beforeMs]
}

function placeText(place: Place | null): string {
  return place === null ? '' : `${place.ms}-${place.number}-${place.lane}`
}

function placeIn(scope: ListScope, cursor: string): Place | null {
  const [, ms, number, lane] =
    /^(\d{1,15})-(\d{1,15})-(\d{1,4})$/.exec(parseCursor(scope, cursor) ?? '') ?? []
  return ms === undefined ? null : { ms: Number(ms), number: Number(number), lane: Number(lane) }
}
