import type { Actor, AuditRecord } from '../../../domain/access/audit-record.ts'
import type { AuditFilter, AuditLog, AuditQuery } from '../../../ports/access/audit-log.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { formatCursor, type ListScope, parseCursor } from '../../base/names/list-cursor.ts'
import { askAudit, auditHomeOf, closeStaleAudits, settleAudit } from './asked-audit.ts'
import { AUDITED_LOGINS_PER_TEAM_MAX } from '../../../domain/limits.ts'
import { AUDIT_RETENTION_MS, decodeAuditEntry } from './audit-entry.ts'

/** A request that has read this many entries answers what it has found, and a cursor. */
export const EXAMINED_AUDIT_ENTRIES_MAX = 2_000
const READ_TOGETHER = 500

/** An entry's place in the order of the list: by id, and among equal ids the higher lane first. */
interface Place {
  readonly ms: number
  readonly number: number
  readonly lane: number
}

/** A stream of a team with what was counted into its entries. */
interface Lane {
  readonly lane: number
  readonly key: string
  readonly counts: string
}

interface Found extends Place {
  readonly text: string
  readonly counted: string | null
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
    loggedIn: (team, sinceMs) => loggedIn(engine, team, sinceMs),
  }
}

/** Reads the lane of logins alone, at most all of it. */
async function loggedIn(engine: Engine, team: string, sinceMs: number): Promise<LoggedIn[]> {
  const lane = lanesOf(engine, team)[LOGIN_LANE] as Lane
  const found = new Map<string, LoggedIn>()
  let below: Place | null = null
  for (let read = 0; read < AUDITED_LOGINS_PER_TEAM_MAX; read += READ_TOGETHER) {
    const entries: Found[] = await readLane(engine, lane, below)
    for (const entry of entries) {
      const record = decodeAuditEntry(`${entry.ms}-${entry.number}`, entry)
      if (record === null || record.action !== 'login' || record.lastAtMs < sinceMs) continue
      const { kind, name } = record.actor
      const key = JSON.stringify([kind, name])
      if (!found.has(key)) found.set(key, { kind, name })
    }
    below = entries.at(-1) ?? null
    if (entries.length < READ_TOGETHER) break
  }
  return [...found.values()]
}

type LoggedIn = Pick<Actor, 'kind' | 'name'>

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
      const record = decodeAuditEntry(`${entry.ms}-${entry.number}`, entry)
      if (record === null || record.lastAtMs < oldestMs || !isWanted(record, filter)) continue
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

/** The place of the logins in `lanesOf`. */
const LOGIN_LANE = 1

/** Numbered for good, as cursors and ids have the numbers: settings, logins and logouts, and the deeds of each shard. */
function lanesOf(engine: Engine, team: string): Lane[] {
  const home = auditHomeOf(engine, team)
  return [
    { key: home.auditLog(team), counts: home.auditCounts(team) },
    { key: home.sessionLog(team), counts: home.sessionCounts(team) },
    ...engine.shards.map((keys) => ({ key: keys.deedLog(team), counts: keys.deedCounts(team) })),
  ].map((lane, number) => ({ ...lane, lane: number }))
}

async function readLane(engine: Engine, { lane, key, counts }: Lane, below: Place | null): Promise<Found[]> {
  const from = below === null ? '+' : `${lane < below.lane ? '' : '('}${below.ms}-${below.number}`
  const found = await engine.runner.read((redis) => redis.xrevrange(key, from, '-', 'COUNT', READ_TOGETHER))
  if (found.length === 0) return []
  // After the entries: a count that rises in between is seen.
  const counted = await engine.runner.read((redis) => redis.hmget(counts, ...found.map(([id]) => id)))
  return found.map(([id, [, text = '']], i) => {
    const [ms, number] = id.split('-').map(Number)
    return { ms: ms ?? 0, number: number ?? 0, lane, text, counted: counted[i] ?? null }
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
    (resource === null ||
      record.resource.name === resource ||
      [record.resource.id, ...record.ids].some((id) => String(id) === resource)) &&
    (afterMs === null || record.lastAtMs >= afterMs) &&
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
