import type { AuditedResource } from '../../domain/access/audit-record.ts'
import { LIVE_KINDS, type LiveKind, type LiveMarks } from '../../ports/live/live.ts'
import type { ShardLook } from './shard-look.ts'

/** What an entry of the audit log may have changed beside the log itself. */
const KINDS_OF: Readonly<Record<AuditedResource['kind'], LiveKind>> = {
  job: 'jobs',
  queue: 'queues',
  cron: 'crons',
  window: 'settings',
  alert: 'alerts',
  bulk: 'jobs',
  token: 'settings',
  secret: 'settings',
  team: 'settings',
  channel: 'settings',
  session: 'audit',
}

/** What of a team has changed in a shard since these marks were taken. */
export function changedKinds(before: LiveMarks, { marks, audited }: ShardLook): readonly LiveKind[] {
  if (audited === null) return LIVE_KINDS
  return LIVE_KINDS.filter((kind) =>
    kind === 'audit'
      ? marks.audit !== before.audit
      : audited.some((one) => KINDS_OF[one] === kind) ||
        (kind !== 'settings' && marks[kind] !== before[kind]),
  )
}
