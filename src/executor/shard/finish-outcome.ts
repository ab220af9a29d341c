import type { WorkEnd } from '../../ports/jobs.ts'
import type { FinishOutcome } from '../../ports/metrics.ts'

/** How the metrics count an end; null for what is counted elsewhere: a callback by its runner, a damaged job where it is set aside. */
export function countedAs(end: WorkEnd, outcome: 'done' | 'stale'): FinishOutcome | null {
  if (outcome === 'stale') return 'stale'
  if (end.type === 'released') return 'released'
  if (end.type === 'callback_ended' || end.type === 'quarantined') return null
  switch (end.end.kind) {
    case 'retry':
      return 'retrying'
    case 'dead_letter':
      return 'dead_lettered'
    case 'success':
    case 'failed_no_retries':
      return end.end.kind
  }
}
