import type { Job } from '../../../clients/typescript/src/client.ts'

type Waiting = NonNullable<Job['waiting']>

/** Why a job waits, in one sentence. */
export function waitingText(waiting: Waiting): string {
  const { reason, estimated_start_at: start } = waiting
  // A later API may know more reasons.
  const cause = Object.hasOwn(CAUSES, reason) ? CAUSES[reason](waiting) : reason
  if (reason === 'not_due') return `it waits: ${cause}`
  return `it waits: ${cause}${start === null ? '' : `; it may start at ${start}`}`
}

const CAUSES: Readonly<Record<Waiting['reason'], (waiting: Waiting) => string>> = {
  not_due: ({ until }) => `it is due at ${until ?? 'a later time'}`,
  queue_paused: (waiting) => `its queue is paused${behind(waiting, ', with ')}`,
  held_by_window: ({ window, until }) =>
    `the maintenance window ${window ?? ''} holds it${until === null ? '' : ` until ${until}`}`,
  circuit_open: ({ until }) =>
    until === null
      ? 'the circuit breaker of its queue is open, and one job tries the target'
      : `the circuit breaker of its queue is open until ${until}`,
  target_asks_to_wait: ({ until }) =>
    until === null
      ? 'its target has asked to wait, and one job tries it'
      : `its target asks to wait until ${until}`,
  rate_limited: (waiting) => `its queue is at its rate limit${behind(waiting, ', with ')}`,
  no_executor: () => 'no executor is running',
  team_at_limit: ({ in_flight: calls, limit }) => `its team makes ${calls} of ${limit} calls at once`,
  queue_at_limit: (waiting) =>
    `its queue makes ${waiting.in_flight} of ${waiting.limit} calls at once${behind(waiting, ', and ')}`,
  behind: (waiting) => behind(waiting, '') || 'it is the next of its queue',
}

function behind({ jobs_before: jobs, is_exact: isExact }: Waiting, before: string): string {
  if (jobs === null || jobs === 0) return ''
  const count = `${isExact ? '' : 'about '}${jobs} ready ${jobs === 1 ? 'job' : 'jobs'}`
  return `${before}${count} before it`
}
