import type { Job, Waiting } from '../../../../../clients/typescript/src/client.ts'
import { formatCount, plural } from '../../../format/numbers.ts'
import { formatSeconds } from '../../../format/times.ts'

/** Why a job waits, in a sentence with its numbers. @param queue null for a run of a cron without a queue */
export function waitingText({ reason, ...known }: Waiting, queue: string | null): string {
  const its = queue === null ? 'Its queue' : `The queue ${queue}`
  switch (reason) {
    case 'not_due':
      return 'It is not due yet.'
    case 'queue_paused':
      return `${its} is paused.${before(known)}`
    case 'held_by_window':
      return `The maintenance window ${known.window ?? ''} holds it.`
    case 'circuit_open':
      return `Too many calls of ${small(its)} failed, so none begins for a while (circuit breaker).${before(known)}`
    case 'target_asks_to_wait':
      return `The target asks ${small(its)} to wait.${before(known)}`
    case 'rate_limited':
      return `${its} is at its rate limit.${before(known)}`
    case 'no_executor':
      return 'No executor is running.'
    case 'team_at_limit':
      return `The team has ${ofLimit(known)} calls in flight.${before(known)}`
    case 'queue_at_limit':
      return `${its} has ${ofLimit(known)} calls in flight, its limit.${before(known)}`
    case 'behind':
      return `It waits for a slot.${before(known)}`
    default:
      return `It waits: ${String(reason satisfies never)}.${before(known)}`
  }
}

/** Within a sentence. */
function small(text: string): string {
  return `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`
}

function ofLimit({ in_flight: inFlight, limit }: Pick<Waiting, 'in_flight' | 'limit'>): string {
  return `${formatCount(inFlight ?? 0)} of ${formatCount(limit ?? 0)}`
}

function before({ jobs_before: jobs, is_exact: isExact }: Pick<Waiting, 'jobs_before' | 'is_exact'>): string {
  if (jobs === null || jobs === 0) return ''
  const count = plural(jobs, 'job starts', 'jobs start')
  return ` ${isExact ? count : `About ${count}`} before it.`
}

/** Which retry comes next, such as `Retry 2 of 3`; for a first attempt, when the job starts. */
export function attemptText(attempt: number, settings: Job['settings']): string {
  if (attempt === 1) return 'It'
  const retry = `Retry ${attempt - 1}`
  return settings === null ? retry : `${retry} of ${settings.retry_delays.length}`
}

/** The retries that a chain has, in words. */
export function retriesText({
  retries_enabled: isOn,
  retry_delays: delays,
}: NonNullable<Job['settings']>): string {
  if (!isOn) return 'None'
  const told = delays.map(formatSeconds)
  // A number stays with its unit.
  return `${delays.length}, after ${told.join(', ').replaceAll(/(\d) /g, '$1\u00A0')}`
}
