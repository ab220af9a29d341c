import { type AuditEntry, type AuditOutcome, likenessOf } from '../domain/access/audit-record.ts'
import { boundedEntry } from '../domain/access/audited-fields.ts'
import type { AuditLines } from '../ports/access/audit-log.ts'
import type { Runtime } from '../ports/runtime.ts'

/** Like changes within this time are one line, and one with their count. */
export const GATHERED_MS = 60_000
/** Changes of a team in that time that are not alike; further ones are told apart by actor and action alone. */
export const LINES_PER_TEAM_MAX = 600
/** Lines of a team in that time, coarse ones included; everything beyond is one more line. */
const WITH_COARSE_LINES_MAX = 700
/** Ids that a line lists of the changes it counts. */
const IDS_MAX = 10

/** A line's fields, and the like changes that followed it. */
interface Gathered {
  readonly fields: Readonly<Record<string, unknown>>
  count: number
  firstAtMs: number
  lastAtMs: number
  readonly ids: Array<number | string>
}

/**
 * Writes each change that is audited to the log, where nobody who uses the API can push it out. A line belongs to its team:
 * the first of like changes is written at once, those that follow within a minute are one line with their count, so a team
 * that changes thousands of things writes a bounded number of lines and takes none from others.
 *
 * Owns what was counted and not written yet. `stop` writes it; a process that is killed leaves it to the audit log.
 */
export function createAuditLines({ clock, logger }: Runtime): AuditLines & { stop(): void } {
  let teams = new Map<string, Map<string, Gathered>>()
  let cancel: (() => void) | null = null

  function flush(): void {
    cancel?.()
    cancel = null
    const ended = teams
    teams = new Map()
    for (const lines of ended.values()) {
      for (const { fields, count, firstAtMs, lastAtMs, ids } of lines.values()) {
        if (count === 0) continue
        const times = { first_at: isoOf(firstAtMs), last_at: isoOf(lastAtMs) }
        logger.info('audit', { ...fields, count, ...times, ...(ids.length === 0 ? {} : { ids }) })
      }
    }
  }

  return {
    note(team, given, { outcome }) {
      const lines = teams.get(team) ?? new Map<string, Gathered>()
      teams.set(team, lines)
      const [key, fields] = lineOf(lines, team, { entry: boundedEntry(given), outcome })
      const known = lines.get(key)
      const nowMs = clock.wallMs()
      if (known === undefined) {
        lines.set(key, { fields, count: 0, firstAtMs: nowMs, lastAtMs: nowMs, ids: [] })
        logger.info('audit', fields)
        cancel ??= clock.after(GATHERED_MS, flush)
        return
      }
      if (known.count === 0) known.firstAtMs = nowMs
      known.count += 1
      known.lastAtMs = nowMs
      const { id } = given.resource
      if (id !== null && known.ids.length < IDS_MAX) known.ids.push(id)
    },
    stop: flush,
  }
}

interface Change {
  readonly entry: AuditEntry
  readonly outcome: AuditOutcome
}

/** The line that the change belongs to: its own, or with many lines a coarser one. */
function lineOf(
  lines: ReadonlyMap<string, Gathered>,
  team: string,
  { entry, outcome }: Change,
): [key: string, fields: Gathered['fields']] {
  const { actor, action, resource, before, after } = entry
  const { kind, id, name } = resource
  const who = { actor: { kind: actor.kind, name: actor.name }, via: actor.via, address: actor.address }
  const alike = JSON.stringify([outcome, ...likenessOf(entry)])
  if (lines.has(alike) || lines.size < LINES_PER_TEAM_MAX) {
    return [alike, { team, ...who, action, resource: { kind, id, name }, outcome, before, after }]
  }
  const coarse = JSON.stringify([outcome, who, action, kind])
  if (lines.has(coarse) || lines.size < WITH_COARSE_LINES_MAX) {
    return [coarse, { team, ...who, action, resource: { kind }, outcome }]
  }
  return ['', { team }]
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}
