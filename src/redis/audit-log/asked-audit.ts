import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { AuditEntry, AuditOutcome } from '../../domain/access/audit-record.ts'
import { ASKED_AUDIT_MS, AUDITED_LOGINS_PER_TEAM_MAX } from '../../domain/limits.ts'
import { shardKeys, type Engine } from '../client/engine.ts'
import { step } from '../client/step.ts'
import type { ShardKeys } from '../layout/keys.ts'
import { AUDIT_ARGS, audited, OUTCOME_CODES } from './audit-entry.ts'

export const ASK_AUDIT = step('ask_audit', import.meta.url, {
  keys: ['auditLog', 'auditAsked'],
  args: ['ticket', 'staleMs', 'page', ...AUDIT_ARGS],
})
export const SETTLE_AUDIT = step('settle_audit', import.meta.url, {
  keys: ['auditLog', 'auditAsked'],
  args: ['ticket', 'outcome', ...AUDIT_ARGS],
})

/** Of the changes that have not ended, how many one step looks at. */
const ASKED_PAGE = 100

/**
 * Changes of the team, or its logins and logouts, which whoever has any token can make many of: they have a stream of their
 * own. It is the first letter of a ticket.
 */
type Lane = 'c' | 's'

/** @returns the ticket to settle it with */
export async function askAudit(engine: Engine, team: string, entry: AuditEntry): Promise<string> {
  const lane = entry.resource.kind === 'session' ? 's' : 'c'
  const ticket = lane + randomBytes(9).toString('base64url')
  await sendAsk(engine, team, { lane, ticket, entry })
  return ticket
}

/** Makes entries of what was asked for too long ago. */
export async function closeStaleAudits(engine: Engine, team: string): Promise<void> {
  await Promise.all(
    (['c', 's'] as const).map((lane) => sendAsk(engine, team, { lane, ticket: '', entry: null })),
  )
}

async function sendAsk(
  engine: Engine,
  team: string,
  change: { readonly lane: Lane; readonly ticket: string; readonly entry: AuditEntry | null },
): Promise<void> {
  const { lane, ticket, entry } = change
  await engine.runner.run(
    ASK_AUDIT.with({
      ...auditedIn(engine, team, { lane, entry }),
      ...{ ticket, staleMs: ASKED_AUDIT_MS, page: ASKED_PAGE },
    }),
  )
}

export async function settleAudit(
  engine: Engine,
  team: string,
  { ticket, end }: { ticket: string; end: { entry: AuditEntry; outcome: AuditOutcome } | null },
): Promise<void> {
  const lane = ticket.startsWith('s') ? 's' : 'c'
  await engine.runner.run(
    SETTLE_AUDIT.with({
      ...{ ...auditedIn(engine, team, { lane, entry: end?.entry ?? null }), ticket },
      outcome: OUTCOME_CODES[end?.outcome ?? 'done'],
    }),
  )
}

function auditedIn(
  engine: Engine,
  team: string,
  { lane, entry }: { readonly lane: Lane; readonly entry: AuditEntry | null },
) {
  const keys = auditHomeOf(engine, team)
  const change = { ...audited(engine, keys, { team, entry }), auditAsked: keys.auditAsked(team) }
  if (lane === 'c') return change
  const [auditLog, auditAsked] = [keys.sessionLog(team), keys.sessionAsked(team)]
  return { ...change, auditLog, auditAsked, auditMax: AUDITED_LOGINS_PER_TEAM_MAX }
}

/** Where the changes of a team outside of Redis are noted, and its logins. */
export function auditHomeOf(engine: Engine, team: string): ShardKeys {
  return shardKeys(engine, crc32(team) % engine.shards.length)
}
