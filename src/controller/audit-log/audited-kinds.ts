import type { AuditLog } from '../../ports/access/audit-log.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import { queueNameOf } from '../../resources/queue-owner.ts'
import type { ApiToken, HttpCron, HttpQueue, KindAccess, MaintenanceWindow, TeamSettings } from '../kinds.ts'
import { type AuditedObject, ResourceAudit } from './resource-audit.ts'

interface AuditedKinds {
  readonly queues: Pick<KindAccess<HttpQueue>, 'changes'>
  readonly crons: Pick<KindAccess<HttpCron>, 'changes'>
  readonly teams: Pick<KindAccess<TeamSettings>, 'changes'>
  readonly tokens: Pick<KindAccess<ApiToken>, 'changes'>
  readonly windows: Pick<KindAccess<MaintenanceWindow>, 'changes'>
  readonly isWatched: (namespace: string) => boolean
  readonly auditLog: AuditLog
  readonly clock: Clock
  readonly logger: Logger
}

export function createResourceAudit(parts: AuditedKinds): ResourceAudit {
  const { queues, crons, teams, tokens, windows } = parts
  const nameOf = ({ metadata }: AuditedObject) => metadata.name
  return new ResourceAudit({
    ...parts,
    kinds: [
      {
        kind: 'queue',
        changes: queues.changes,
        nameOf: (queue: AuditedObject) => queueNameOf(queue),
      },
      {
        kind: 'cron',
        changes: crons.changes,
        nameOf: (cron: AuditedObject) => (cron as HttpCron).spec.displayName ?? nameOf(cron),
      },
      { kind: 'team', changes: teams.changes, nameOf },
      { kind: 'token', changes: tokens.changes, nameOf },
      { kind: 'window', changes: windows.changes, nameOf },
    ],
  })
}
