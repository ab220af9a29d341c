import type { Job, JobSummary } from '../../../../../../clients/typescript/src/client.ts'

/** A retry that comes if the attempt before it fails. */
export interface PlannedRetry {
  readonly attempt: number
  /** The delay after the attempt before has failed. */
  readonly delayMs: number
  /** If each attempt until then fails at once. */
  readonly earliestMs: number
}

export function openOf(job: Pick<Job, 'chain'>): JobSummary | undefined {
  return job.chain.find(({ status }) => status === 'pending' || status === 'processing')
}

/** What the settings of a chain provide for after its open attempt. */
export function plannedOf(job: Pick<Job, 'chain' | 'settings'>, nowMs: number): readonly PlannedRetry[] {
  const open = openOf(job)
  if (open === undefined || job.settings === null || !job.settings.retries_enabled) return []
  let earliestMs = Math.max(Date.parse(open.scheduled_at), nowMs)
  return job.settings.retry_delays.slice(open.attempt_number - 1).map((seconds, index) => {
    earliestMs += seconds * 1_000
    return { attempt: open.attempt_number + index + 1, delayMs: seconds * 1_000, earliestMs }
  })
}

/** A stretch of a chain's time, in parts of the whole from 0 to 1. */
export interface Mark {
  readonly attempt: number
  readonly kind: 'wait' | 'call' | 'planned'
  readonly tone: 'good' | 'bad' | 'busy'
  readonly from: number
  readonly width: number
}

export interface Span {
  readonly fromMs: number
  readonly toMs: number
  /** Where now is, if the chain is not over. */
  readonly now: number | null
  readonly marks: readonly Mark[]
}

/** When each attempt was, or may be, from the first due time on; null for a single attempt, which tells nothing more. */
export function spanOf(job: Pick<Job, 'chain' | 'settings'>, nowMs: number): Span | null {
  const planned = plannedOf(job, nowMs)
  const isOpen = openOf(job) !== undefined
  if (job.chain.length + planned.length < 2) return null
  const times = job.chain.flatMap(({ scheduled_at: due, completed_at: end }) => [due, end])
  const known = times.flatMap((time) => (time === null ? [] : [Date.parse(time)]))
  const ends = [...known, ...planned.map(({ earliestMs }) => earliestMs), ...(isOpen ? [nowMs] : [])]
  const fromMs = Math.min(...known, ...(isOpen ? [nowMs] : []))
  const toMs = Math.max(...ends)
  const wholeMs = Math.max(1, toMs - fromMs)
  const at = (ms: number): number => Math.min(1, Math.max(0, (ms - fromMs) / wholeMs))
  const marks = job.chain.flatMap((attempt) => marksOf(attempt, nowMs, at))
  const later = planned.map(({ attempt, earliestMs }): Mark => {
    return { attempt, kind: 'planned', tone: 'busy', from: at(earliestMs), width: 0 }
  })
  return { fromMs, toMs, now: isOpen ? at(nowMs) : null, marks: [...marks, ...later] }
}

function marksOf(job: JobSummary, nowMs: number, at: (ms: number) => number): Mark[] {
  const dueMs = Date.parse(job.scheduled_at)
  const startMs = job.started_at === null ? Math.max(nowMs, dueMs) : Date.parse(job.started_at)
  const tone = { completed: 'good', failed: 'bad', pending: 'busy', processing: 'busy' } as const
  const mark = (kind: Mark['kind'], from: number, to: number): Mark => {
    return {
      attempt: job.attempt_number,
      kind,
      tone: tone[job.status],
      from: at(from),
      width: at(to) - at(from),
    }
  }
  const wait = mark('wait', dueMs, startMs)
  if (job.started_at === null) return dueMs > nowMs ? [mark('planned', dueMs, dueMs)] : [wait]
  return [wait, mark('call', startMs, job.completed_at === null ? nowMs : Date.parse(job.completed_at))]
}
