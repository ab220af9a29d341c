import type { Bulk, BulkFailure } from '../../../../../clients/typescript/src/client.ts'
import { formatCount } from '../../../format/numbers.ts'
import { Badge } from '../../../ui/text/badge.tsx'
import type { Tone } from '../../../ui/tone.ts'

const STATES: Readonly<Record<Bulk['state'], { readonly tone: Tone; readonly label: string }>> = {
  starting: { tone: 'plain', label: 'Starting' },
  running: { tone: 'busy', label: 'Running' },
  aborting: { tone: 'warn', label: 'Aborting' },
  aborted: { tone: 'warn', label: 'Aborted' },
  stopped: { tone: 'bad', label: 'Stopped' },
  done: { tone: 'good', label: 'Done' },
}

export function BulkBadge({ bulk }: { readonly bulk: Bulk }) {
  const { tone, label } = STATES[bulk.state]
  const hasFailed = bulk.state === 'done' && bulk.failed > 0
  if (hasFailed) return <Badge tone="warn">Done, not all</Badge>
  const again = bulk.outcome?.failed_again ?? 0
  if (bulk.state === 'done' && again > 0)
    return <Badge tone="warn">Done, {formatCount(again)} failed again</Badge>
  return <Badge tone={tone}>{label}</Badge>
}

export function isOver({ state }: Bulk): boolean {
  return state === 'done' || state === 'aborted' || state === 'stopped'
}

const REASONS: Readonly<Record<BulkFailure['reason'], string>> = {
  not_found: 'There is no such job, or no longer',
  in_flight: 'It is in flight',
  not_pending: 'It does not wait any more',
  already_due: 'It is due already',
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
  return REASONS[reason]
}
