import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { AuditEntry, AuditOutcome } from '../../domain/access/audit-record.ts'
import { ASKED_AUDIT_MS } from '../../domain/limits.ts'
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

/** @returns the ticket to settle it with */
export async function askAudit(engine: Engine, team: string, entry: AuditEntry): Promise<string> {
  const ticket = randomBytes(9).toString('base64url')
  await sendAsk(engine, team, { ticket, entry })
  return ticket
}

/** Makes entries of what was asked for too long ago. */
export function closeStaleAudits(engine: Engine, team: string): Promise<void> {
  return sendAsk(engine, team, { ticket: '', entry: null })
}

async function sendAsk(
  engine: Engine,
  team: string,
  { ticket, entry }: { readonly ticket: string; readonly entry: AuditEntry | null },
): Promise<void> {
  const keys = auditHomeOf(engine, team)
  await engine.runner.run(
    ASK_AUDIT.with({
      ...audited(engine, keys, { team, entry }),
      ...{ auditAsked: keys.auditAsked(team), ticket, staleMs: ASKED_AUDIT_MS, page: ASKED_PAGE },
    }),
  )
}

export async function settleAudit(
  engine: Engine,
  team: string,
  { ticket, end }: { ticket: string; end: { entry: AuditEntry; outcome: AuditOutcome } | null },
): Promise<void> {
  const keys = auditHomeOf(engine, team)
  await engine.runner.run(
    SETTLE_AUDIT.with({
      ...audited(engine, keys, { team, entry: end?.entry ?? null }),
      ...{ auditAsked: keys.auditAsked(team), ticket },
      outcome: OUTCOME_CODES[end?.outcome ?? 'done'],
    }),
  )
}

/** Where the changes of a team outside of Redis are noted. */
function auditHomeOf(engine: Engine, team: string): ShardKeys {
  return shardKeys(engine, crc32(team) % engine.shards.length)
}
