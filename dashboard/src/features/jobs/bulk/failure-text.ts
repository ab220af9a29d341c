import type { BulkFailure } from '../../../../../clients/typescript/src/client.ts'
import { textOf } from '../../../format/values/known-values.ts'

const REASONS: Readonly<Record<BulkFailure['reason'], string>> = {
  not_found: 'There is no such job, or no longer',
  in_flight: 'It is in flight',
  not_pending: 'It does not wait any more',
  already_due: 'It is already due',
  not_dead_lettered: 'It is no dead letter, or no longer',
  not_ended: 'Its chain goes on, with a retry',
  not_failed: 'Its chain has succeeded',
  already_made: 'It was retried or replayed before',
  not_kept: 'Its payload or headers are no longer kept',
  damaged: 'Its record cannot be read',
  queue_draining: 'Its queue takes no new jobs',
  over_quota: 'The new job would exceed a quota',
}

export function failureText(reason: BulkFailure['reason']): string {
  return textOf(REASONS, reason)
}
