import { formatTimestamp, timestampOrNull } from '../../../domain/timestamp.ts'
import type { FailureReason } from '../../../domain/jobs/job.ts'
import type { WrittenList } from './json-list.ts'
import type {
  DeadLetterGroup as WireGroup,
  DeadLetterGroupList,
} from '../../../../clients/typescript/src/generated/wire.ts'

/** Shape of `DeadLetterGroup` in the ports, which the contract may not import. */
interface DeadLetterGroup {
  readonly queueId: number
  readonly queueName: string
  readonly failureReason: FailureReason | null
  readonly responseStatus: number | null
  readonly host: string
  readonly count: number
  readonly firstEndedAtMs: number
  readonly lastEndedAtMs: number
  readonly nextPurgeAtMs: number | null
  readonly newestJobId: number
  readonly errorMessage: string | null
}

/** Shape of a page of groups in the ports, which the contract may not import. */
interface DeadLetterGroupPage {
  readonly groups: readonly DeadLetterGroup[]
  readonly nextCursor: string | null
  readonly searched: number
}

export function deadLetterGroupsOf({
  groups,
  nextCursor,
  searched,
}: DeadLetterGroupPage): WrittenList<DeadLetterGroup> {
  const rest: Omit<DeadLetterGroupList, 'groups'> = { next_cursor: nextCursor, searched }
  return { field: 'groups', rows: groups, toWire: toWireGroup, rest }
}

/** The hidden queue of a cron, which has no name, is not shown. */
function toWireGroup(group: DeadLetterGroup): WireGroup {
  const isHidden = group.queueName === ''
  return {
    queue_id: isHidden ? null : group.queueId,
    queue: isHidden ? null : group.queueName,
    failure_reason: group.failureReason,
    response_status: group.responseStatus,
    host: group.host === '' ? null : group.host,
    count: group.count,
    first_ended_at: formatTimestamp(group.firstEndedAtMs),
    last_ended_at: formatTimestamp(group.lastEndedAtMs),
    next_purge_at: timestampOrNull(group.nextPurgeAtMs),
    newest_job_id: group.newestJobId,
    error_message: group.errorMessage,
  }
}
