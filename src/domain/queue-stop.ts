import type { Actor, AuditRecord } from './access/audit-record.ts'

/** Two ways to stop a queue: a pause keeps it from starting jobs, a drain from taking new ones. */
export type QueueStopKind = 'pause' | 'drain'

/** Who paused or drained a queue, when and why, as the audit log has it. */
export interface QueueStop {
  /** Unix ms. */
  readonly atMs: number
  readonly by: Actor['name']
  readonly via: Actor['via']
  readonly reason: string | null
}

/** Names of each setting: first in the API, then in a resource. */
const FIELDS = {
  pause: { action: 'pause', names: ['is_active', 'active'], value: false },
  drain: { action: 'drain', names: ['is_draining', 'draining'], value: true },
} as const

/**
 * The newest entry that paused or drained a queue; null when there is none.
 * @param records of the queue, newest first
 */
export function stopIn(records: readonly AuditRecord[], kind: QueueStopKind): QueueStop | null {
  const { action, names, value } = FIELDS[kind]
  const found = records.find(
    ({ outcome, after, ...record }) =>
      outcome === 'done' && (record.action === action || names.some((name) => after?.[name] === value)),
  )
  if (found === undefined) return null
  const reason = found.after?.['reason']
  const { name, via } = found.actor
  return { atMs: found.atMs, by: name, via, reason: typeof reason === 'string' ? reason : null }
}
