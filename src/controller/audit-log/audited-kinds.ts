import type { AuditLog } from '../../ports/audit-log.ts'
import type { Clock, Logger } from '../../ports/runtime.ts'
import { queueNameOf } from '../../resources/queue-owner.ts'
import type { ApiToken, HttpCron, HttpQueue, KindAccess, MaintenanceWindow, TeamSettings } from '../kinds.ts'
import { type AuditedObject, ResourceAudit } from './resource-audit.ts'

interface AuditedKinds {
  readonly queues: Pick<KindAccess<HttpQueue>, 'informer'>
  readonly crons: Pick<KindAccess<HttpCron>, 'informer'>
  readonly teams: Pick<KindAccess<TeamSettings>, 'informer'>
  readonly tokens: Pick<KindAccess<ApiToken>, 'informer'>
  readonly windows: Pick<KindAccess<MaintenanceWindow>, 'informer'>
  readonly auditLog: AuditLog
  readonly clock: Clock
  readonly logger: Logger
}

export function createResourceAudit(parts: AuditedKinds): ResourceAudit {
  const { queues, crons, teams, tokens, windows } = parts
  const nameOf = ({ metadata }: AuditedObject) => metadata.name
  return new ResourceAudit({
    ...parts,
    informers: [
      {
        kind: 'queue',
        informer: queues.informer,
        nameOf: (queue: AuditedObject) => queueNameOf(queue),
      },
      {
        kind: 'cron',
        informer: crons.informer,
        nameOf: (cron: AuditedObject) => (cron as HttpCron).spec.displayName ?? nameOf(cron),
      },
      { kind: 'team', informer: teams.informer, nameOf },
      { kind: 'token', informer: tokens.informer, nameOf },
      { kind: 'window', informer: windows.informer, nameOf },
    ],
  })
}
