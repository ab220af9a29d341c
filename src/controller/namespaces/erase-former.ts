import type { AuditEntry } from '../../domain/access/audit-record.ts'
import { pause } from '../../domain/pause.ts'
import type { AuditLog } from '../../ports/access/audit-log.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import type { LeaderSession } from '../engine/leader-session.ts'

/** Longer than an API takes to learn that a token is gone, and to end a push that used it. */
export const TOKENS_SETTLE_MS = 5_000

interface Parts {
  readonly engine: Pick<LeaderSession, 'write' | 'applied'>
  readonly auditLog: AuditLog
  readonly clock: Clock
  readonly logger: Logger
}

interface Former {
  readonly team: string
  /** The uid of the namespace that has the name now; null = no namespace has it. */
  readonly uid: string | null
}

/**
 * Removes what a deleted namespace has left, in steps that may be repeated, and says so in the log and in the audit log
 * of the team, which stays. Throws StoreUnavailableError.
 * @returns false when the signal has ended it
 */
export async function eraseFormer(parts: Parts, former: Former, signal: AbortSignal): Promise<boolean> {
  const { engine, clock } = parts
  const { team } = former
  const tokens = await eraseSettings(engine, team)
  // Nobody may push for the team any more, or what is made after the last page would stay.
  if (tokens > 0) await pause(clock, TOKENS_SETTLE_MS, signal)
  let removed = 0
  while (!signal.aborted) {
    const page = await engine.write((compiler) => compiler.eraseTeam(team))
    removed += page.removed
    if (page.status !== 'erased') continue
    if (tokens + removed > 0) await tell(parts, former, { tokens, removed })
    return true
  }
  return false
}

/** @returns how many tokens there were */
async function eraseSettings(engine: Parts['engine'], team: string): Promise<number> {
  const applied = await engine.applied()
  const tokens = applied.tokens.filter((token) => token.team === team)
  for (const { name } of tokens) await engine.write((compiler) => compiler.removeToken(team, name))
  for (const window of applied.windows) {
    if (window.team === team) await engine.write((compiler) => compiler.removeWindow(team, window.name))
  }
  if (applied.teams.includes(team)) await engine.write((compiler) => compiler.removeTeam(team))
  return tokens.length
}

async function tell(
  { auditLog, logger }: Parts,
  { team, uid }: Former,
  counts: { readonly tokens: number; readonly removed: number },
): Promise<void> {
  const { tokens, removed: queues_and_crons } = counts
  logger.warn('What a deleted namespace had left was removed', {
    namespace: team,
    isMadeAnew: uid !== null,
    revoked: tokens,
    queuesAndCrons: queues_and_crons,
  })
  const entry: AuditEntry = {
    actor: { kind: 'system', name: 'punctual-controller', via: 'kubectl', address: null },
    action: 'delete',
    resource: { kind: 'team', id: null, name: team },
    before: { tokens, queues_and_crons },
    after: null,
  }
  const ticket = await auditLog.ask(team, entry)
  await auditLog.settle(team, ticket, { entry, outcome: 'done' })
}
