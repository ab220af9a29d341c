import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { AuditEntry, AuditOutcome } from '../../../domain/access/audit-record.ts'
import { ASKED_AUDIT_MS } from '../../../domain/limits.ts'
import { shardKeys, type Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import type { ShardKeys } from '../../base/layout/keys.ts'
import {
  AUDIT_ARGS,
  audited,
  type AuditRing,
  decodeAuditEntry,
  OUTCOME_CODES,
  ringKeys,
  ringOf,
} from './audit-entry.ts'

export const ASK_AUDIT = step('ask_audit', import.meta.url, {
  keys: ['auditLog', 'auditCounts', 'auditAsked'],
  args: ['ticket', 'staleMs', 'page', ...AUDIT_ARGS],
})
export const SETTLE_AUDIT = step('settle_audit', import.meta.url, {
  keys: ['auditLog', 'auditCounts', 'auditAsked'],
  args: ['ticket', 'outcome', ...AUDIT_ARGS],
})

/** Changes without an end that one step reads at most. */
const ASKED_PAGE = 100

/** The first letter of a ticket. */
const RING_LETTERS: Readonly<Record<AuditRing, string>> = { settings: 'c', deeds: 'd', sessions: 's' }
const RINGS = Object.keys(RING_LETTERS) as readonly AuditRing[]

/** @returns the ticket to settle it with */
export async function askAudit(engine: Engine, team: string, entry: AuditEntry): Promise<string> {
  const ring = ringOf(entry)
  const ticket = RING_LETTERS[ring] + randomBytes(9).toString('base64url')
  await sendAsk(engine, team, { ring, ticket, entry })
  return ticket
}

/** Makes entries of what was asked for too long ago. */
export async function closeStaleAudits(engine: Engine, team: string): Promise<void> {
  await Promise.all(RINGS.map((ring) => sendAsk(engine, team, { ring, ticket: '', entry: null })))
}

async function sendAsk(
  engine: Engine,
  team: string,
  change: { readonly ring: AuditRing; readonly ticket: string; readonly entry: AuditEntry | null },
): Promise<void> {
  const { ring, ticket, entry } = change
  const closed = (await engine.runner.run(
    ASK_AUDIT.with({
      ...auditedIn(engine, team, { ring, entry }),
      ticket,
      staleMs: ASKED_AUDIT_MS,
      page: ASKED_PAGE,
    }),
  )) as string[]
  // Whoever asked for them died before they could say how they ended.
  for (const text of closed) {
    const record = decodeAuditEntry('', { lane: 0, text: `${OUTCOME_CODES.unknown}${text}`, counted: null })
    if (record !== null) engine.auditLines.note(team, record, record)
  }
}

export async function settleAudit(
  engine: Engine,
  team: string,
  { ticket, end }: { ticket: string; end: { entry: AuditEntry; outcome: AuditOutcome } | null },
): Promise<void> {
  const ring = RINGS.find((each) => ticket.startsWith(RING_LETTERS[each])) ?? 'settings'
  // Not only once Redis has it: a line must not be missing because Redis is away.
  if (end !== null) engine.auditLines.note(team, end.entry, { outcome: end.outcome })
  await engine.runner.run(
    SETTLE_AUDIT.with({
      ...auditedIn(engine, team, { ring, entry: end?.entry ?? null }),
      ticket,
      outcome: OUTCOME_CODES[end?.outcome ?? 'done'],
    }),
  )
}

function auditedIn(
  engine: Engine,
  team: string,
  { ring, entry }: { readonly ring: AuditRing; readonly entry: AuditEntry | null },
) {
  const keys = auditHomeOf(engine, team)
  const asked = { settings: keys.auditAsked, deeds: keys.deedAsked, sessions: keys.sessionAsked }
  return {
    ...audited(engine, keys, { team, entry }),
    ...ringKeys(engine, keys, ring, team),
    auditAsked: asked[ring](team),
  }
}

/** Shard in which a team's logins, and its changes outside of Redis, are noted. */
export function auditHomeOf(engine: Engine, team: string): ShardKeys {
  return shardKeys(engine, crc32(team) % engine.shards.length)
}
