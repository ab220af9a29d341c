import { deadLetteredIn, failedIn, type Issue } from '../../domain/issues/issue.ts'
import { formatTimestamp, timestampOrNull } from '../../domain/timestamp.ts'
import type { Issue as WireIssue } from '../../../clients/typescript/src/generated/wire.ts'

export function toWireIssue(issue: Issue): WireIssue {
  const { resource, hours } = issue
  return {
    id: issue.id,
    resource: { kind: resource.kind, id: resource.id, name: resource.name },
    failure_reason: issue.failureReason,
    response_status: issue.responseStatus,
    host: issue.host,
    state: issue.state,
    muted_until: timestampOrNull(issue.mutedUntilMs),
    count: failedIn(hours),
    dead_lettered: deadLetteredIn(hours),
    first_at: formatTimestamp(issue.firstAtMs),
    opened_at: formatTimestamp(issue.openedAtMs),
    last_at: formatTimestamp(issue.lastAtMs),
    sample_job_id: issue.sampleJobId,
    by_hour: hours.map(({ atMs, failed, deadLettered }) => ({
      at: formatTimestamp(atMs),
      failed,
      dead_lettered: deadLettered,
    })),
  }
}
