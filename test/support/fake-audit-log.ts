import type { AuditEntry, AuditOutcome, AuditRecord } from '../../src/domain/access/audit-record.ts'
import type { AuditLog } from '../../src/ports/access/audit-log.ts'
import { AN_ACTOR } from './principals.ts'

export const AN_AUDIT_RECORD: AuditRecord = {
  id: '1790000000000-0-1',
  atMs: 1_790_000_000_000,
  count: 1,
  lastAtMs: 1_790_000_000_000,
  ids: [],
  actor: AN_ACTOR,
  action: 'pause',
  resource: { kind: 'queue', id: 12, name: 'orders' },
  outcome: 'done',
  before: { is_active: true },
  after: { is_active: false },
}

/** Keeps what it is told; lists AN_AUDIT_RECORD for the team `default`. */
export class FakeAuditLog implements AuditLog {
  readonly asked: AuditEntry[] = []
  readonly ended: Array<{ entry: AuditEntry; outcome: AuditOutcome } | null> = []

  ask(_team: string, entry: AuditEntry): Promise<string> {
    return Promise.resolve(String(this.asked.push(entry)))
  }

  settle(
    _team: string,
    _ticket: string,
    end: { entry: AuditEntry; outcome: AuditOutcome } | null,
  ): Promise<void> {
    this.ended.push(end)
    return Promise.resolve()
  }

  list({ team, cursor }: { team: string; cursor: string | null }) {
    if (cursor !== null) return Promise.resolve('bad_cursor' as const)
    return Promise.resolve({ records: team === 'default' ? [AN_AUDIT_RECORD] : [], nextCursor: null })
  }

  loggedIn(team: string) {
    return Promise.resolve(team === 'default' ? [{ kind: 'token' as const, name: 'test' }] : [])
  }
}
