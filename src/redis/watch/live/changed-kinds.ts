import type { AuditedResource } from '../../../domain/access/audit-record.ts'
import { LIVE_KINDS, type LiveKind, type LiveMarks } from '../../../ports/live/live.ts'
import type { LiveShardReading } from './live-shard-reading.ts'

/** What an entry of the audit log may have changed beside the log itself. */
const KINDS_OF: Readonly<Record<AuditedResource['kind'], LiveKind>> = {
  job: 'jobs',
  queue: 'queues',
  cron: 'crons',
  window: 'settings',
  alert: 'alerts',
  issue: 'jobs',
  bulk: 'jobs',
  token: 'settings',
  secret: 'settings',
  team: 'settings',
  channel: 'settings',
  session: 'audit',
}

/** The kinds that a deed may have changed, as nothing more is known of it than that there was one. */
const KINDS_OF_DEEDS: ReadonlySet<LiveKind> = new Set(['jobs', 'crons', 'alerts', 'audit'])

/** Finds the kinds of a team that have changed in a shard since these marks were taken. */
export function changedKinds(before: LiveMarks, { marks, audited }: LiveShardReading): readonly LiveKind[] {
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
