import type { AuditEntry } from '../../../../src/domain/access/audit-record.ts'
import { ASKED_AUDIT_MS } from '../../../../src/domain/limits.ts'
import { createAuditLog } from '../../../../src/redis/ledger/audit-log/audit-log.ts'
import type { StepName } from '../../../../src/redis/steps.ts'
import { AN_ACTOR } from '../../../support/principals.ts'
import type { Scene } from '../../cluster/tear-scenes.ts'

const ENTRY: AuditEntry = {
  actor: AN_ACTOR,
  action: 'edit',
  before: null,
  after: null,
  resource: { kind: 'queue', id: 12, name: 'orders' },
}

/** The steps that only the audit log has. */
export const AUDIT_SCENES: ReadonlyArray<readonly [StepName, string, Scene]> = [
  [
    'ask_audit',
    'a change beside two whose process died',
    async ({ world }) => {
      const log = createAuditLog(world.engine)
      await log.ask('default', ENTRY)
      await log.ask('default', ENTRY)
      world.clock.advance(ASKED_AUDIT_MS)
      return () => log.ask('default', ENTRY)
    },
  ],
  [
    'settle_audit',
    'a change that was made',
    async ({ world }) => {
      const log = createAuditLog(world.engine)
      const ticket = await log.ask('default', ENTRY)
      return () => log.settle('default', ticket, { entry: ENTRY, outcome: 'done' })
    },
  ],
]
