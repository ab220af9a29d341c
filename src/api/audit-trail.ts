import type { AuditedAction, AuditedResource, AuditEntry } from '../domain/access/audit-record.ts'
import { auditedChange } from '../domain/access/audited-fields.ts'
import {
  EditConflictError,
  EditRefusedError,
  QuotaExceededError,
  RedirectedHeadersError,
  StorageFullError,
} from '../domain/errors.ts'
import type { AuditLog } from '../ports/access/audit-log.ts'
import type { TeamRequest } from './team-routes.ts'

export interface WantedChange {
  readonly action: AuditedAction
  readonly resource: AuditedResource
  /** The resource as the API shows it; null = it does not exist yet. */
  readonly before: object | null
}

/** How a change ended: null = it changed nothing. */
export type ChangeEnd = {
  readonly after: object | null
  /** The resource as the change found it, if others may have changed it since it was read. */
  readonly before?: object
  readonly resource?: AuditedResource
} | null

/**
 * Makes a change that is not one step in Redis, between two writes to the audit log: the first says that it is wanted, the
 * second how it ended. What `change` throws is thrown on.
 */
export async function withAudit<Result>(
  auditLog: AuditLog,
  { team, actor }: Pick<TeamRequest, 'team' | 'actor'>,
  wanted: WantedChange & {
    readonly change: () => Promise<Result>
    readonly endOf: (result: Result) => ChangeEnd
  },
): Promise<Result> {
  const { action, resource, before } = wanted
  const entryOf = (of: AuditedResource, after: object | null, found = before): AuditEntry => {
    const both = auditedChange({ ...found }, { ...after })
    return {
      actor,
      action,
      resource: of,
      before: found === null ? null : both.before,
      after: after === null ? null : both.after,
    }
  }
  const ticket = await auditLog.ask(team, entryOf(resource, null))
  let result: Result
  try {
    result = await wanted.change()
  } catch (fault) {
    const outcome = isRefusal(fault) ? 'refused' : 'unknown'
    // The fault is the answer, also when Redis is away by now; then the entry's outcome becomes unknown by itself.
    await auditLog.settle(team, ticket, { entry: entryOf(resource, null), outcome }).catch(() => undefined)
    throw fault
  }
  // The change is made: its answer does not depend on this, without which the outcome becomes unknown by itself.
  const settle = async (): Promise<void> => {
    const end = wanted.endOf(result)
    const made = end === null ? null : entryOf(end.resource ?? resource, end.after, end.before)
    const entry = made !== null && isWithoutDifference(made) ? null : made
    await auditLog.settle(team, ticket, entry === null ? null : { entry, outcome: 'done' })
  }
  await settle().catch(() => undefined)
  return result
}

/** An edit to what was there already: repeated, it would push the entries of others out. */
function isWithoutDifference({ before, after }: AuditEntry): boolean {
  return before !== null && after !== null && Object.keys({ ...before, ...after }).length === 0
}

function isRefusal(fault: unknown): boolean {
  return (
    fault instanceof EditRefusedError ||
    fault instanceof EditConflictError ||
    fault instanceof RedirectedHeadersError ||
    fault instanceof QuotaExceededError ||
    fault instanceof StorageFullError
  )
}
