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

/** What a deed may have changed; only that there was one is known. */
const KINDS_OF_DEEDS: ReadonlySet<LiveKind> = new Set(['jobs', 'crons', 'alerts', 'audit'])

/** What of a team has changed in a shard since these marks were taken. */
export function changedKinds(before: LiveMarks, { marks, audited }: ShardLook): readonly LiveKind[] {
  if (audited === null) return LIVE_KINDS
  const isDeed = marks.deeds !== before.deeds
  return LIVE_KINDS.filter((kind) =>
    isDeed && KINDS_OF_DEEDS.has(kind)
      ? true
      : kind === 'audit'
        ? marks.audit !== before.audit
        : audited.some((one) => KINDS_OF[one] === kind) ||
          (kind !== 'settings' && marks[kind] !== before[kind]),
  )
}
