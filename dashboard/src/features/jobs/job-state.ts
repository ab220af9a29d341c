/** What other features show of jobs as well: in what state one is. */
import type { JobSummary } from '../../../../clients/typescript/src/client.ts'
import type { Tone } from '../../ui/tone.ts'

export interface JobState {
  readonly tone: Tone
  readonly label: string
}

export type Told = Pick<
  JobSummary,
  'status' | 'final_status' | 'has_pending_retry' | 'scheduled_at' | 'replayed_as'
>

/** What has become of a job, and with an original of its chain, in one or two words. */
export function stateOf(job: Told, nowMs: number): JobState {
  if (job.status === 'processing') return { tone: 'busy', label: 'In flight' }
  if (job.status === 'pending') {
    return Date.parse(job.scheduled_at) > nowMs
      ? { tone: 'plain', label: 'Not due' }
      : { tone: 'busy', label: 'Ready' }
  }
  if (job.status === 'completed') return { tone: 'good', label: 'Succeeded' }
  if (job.has_pending_retry) return { tone: 'warn', label: 'Retrying' }
  if (job.final_status === 'success') return { tone: 'good', label: 'Succeeded on retry' }
  if (job.final_status !== 'dead_lettered') return { tone: 'bad', label: 'Failed' }
  return job.replayed_as === null
    ? { tone: 'dead', label: 'Dead letter' }
    : { tone: 'plain', label: 'Replayed' }
}
