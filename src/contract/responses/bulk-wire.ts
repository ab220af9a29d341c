import type { Bulk, BulkFailure } from '../../domain/bulk/bulk.ts'
import type { JobFilter, TimeRange } from '../../domain/jobs/job-filter.ts'
import { formatTimestamp, timestampOrNull } from '../../domain/timestamp.ts'
import type {
  Bulk as WireBulk,
  BulkFilter as WireFilter,
  BulkPreview as WirePreview,
} from '../../../clients/typescript/src/generated/wire.ts'

/** Shape of `BulkPreview` in the ports, which the contract may not import. */
export interface ShownPreview {
  readonly matched: number
  readonly isAtLeast: boolean
  readonly sample: readonly number[]
}

export function toWireBulk(bulk: Bulk): WireBulk {
  return {
    id: bulk.id,
    action: bulk.action,
    state: bulk.state,
    matched: bulk.matched,
    is_at_least: bulk.isAtLeast,
    done: bulk.done,
    skipped: bulk.skipped,
    failed: bulk.failed,
    filter: bulk.filter === null ? null : toWireFilter(bulk.filter),
    rate: bulk.ratePerSecond,
    stop_when: bulk.stopWhen && {
      failed_again_percent: bulk.stopWhen.failedAgainPercent,
      min: bulk.stopWhen.min,
    },
    stopped: bulk.stopped && { failed_again: bulk.stopped.failedAgain, ended: bulk.stopped.ended },
    outcome: bulk.outcome && {
      succeeded: bulk.outcome.succeeded,
      waiting: bulk.outcome.waiting,
      failed_again: bulk.outcome.failedAgain,
      removed: bulk.outcome.removed,
    },
    created_by: bulk.createdBy.name,
    created_at: formatTimestamp(bulk.createdAtMs),
    started_at: timestampOrNull(bulk.startedAtMs),
    ended_at: timestampOrNull(bulk.endedAtMs),
  }
}

export function toWireBulkWithFailures(bulk: Bulk, failures: readonly BulkFailure[]): WireBulk {
  return {
    ...toWireBulk(bulk),
    failures: failures.map(({ jobId, reason }) => ({ job_id: jobId, reason })),
  }
}

export function toWirePreview({ matched, isAtLeast, sample }: ShownPreview): WirePreview {
  return { matched, is_at_least: isAtLeast, sample: [...sample] }
}

/** The filter without the fields that are not asked for. */
function toWireFilter(filter: JobFilter): WireFilter {
  const { queue, status, finalStatus, failureReason, responseStatus, host, tag, cronId, text } = filter
  return withoutNulls({
    queue,
    status,
    host,
    text,
    final_status: finalStatus,
    failure_reason: failureReason,
    response_status: responseStatus,
    tag: tag === null ? null : `${tag.name}:${tag.value}`,
    cron_id: cronId,
    ...toWireRange('created', filter.created),
    ...toWireRange('scheduled', filter.scheduled),
    ...toWireRange('ended', filter.ended),
  })
}

function toWireRange(name: string, { afterMs, beforeMs }: TimeRange) {
  return { [`${name}_after`]: timestampOrNull(afterMs), [`${name}_before`]: timestampOrNull(beforeMs) }
}

function withoutNulls(fields: Readonly<Record<string, unknown>>): WireFilter {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}
