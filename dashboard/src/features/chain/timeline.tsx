import type { Call, JobSummary } from '../../../../clients/typescript/src/client.ts'
import { formatDuration } from '../../format/times.ts'
import { Badge } from '../../ui/badge.tsx'
import { Time } from '../../ui/time.tsx'
import { reasonText, stateOf } from '../jobs/job-state.tsx'
import { type Phase, phasesOf, totalMs } from './phases.ts'
import './timeline.css'

export interface TimelineProps {
  readonly attempts: readonly JobSummary[]
  /** The record of an attempt's call, where it has been read and is kept. */
  callOf(job: JobSummary): Call | null
  /** The id of the attempt that is shown below. */
  readonly chosen: number
  onChoose(jobId: number): void
  readonly nowMs: number
}

/** A bar for each attempt, all on one scale, from when it was due to its end. */
export function Timeline({ attempts, callOf, chosen, onChoose, nowMs }: TimelineProps) {
  const bars = attempts.map((job) => ({ job, phases: phasesOf(job, callOf(job), nowMs) }))
  const longestMs = Math.max(1, ...bars.map(({ phases }) => totalMs(phases)))
  return (
    <ol class="timeline">
      {bars.map(({ job, phases }) => (
        <li key={job.job_id}>
          <button type="button" aria-pressed={job.job_id === chosen} onClick={() => onChoose(job.job_id)}>
            <Attempt job={job} phases={phases} longestMs={longestMs} nowMs={nowMs} />
          </button>
        </li>
      ))}
    </ol>
  )
}

interface AttemptProps {
  readonly job: JobSummary
  readonly phases: readonly Phase[]
  readonly longestMs: number
  readonly nowMs: number
}

function Attempt({ job, phases, longestMs, nowMs }: AttemptProps) {
  // Of the original, its own attempt and not what became of the chain.
  const own = job.status === 'failed' ? { tone: 'bad' as const, label: 'Failed' } : stateOf(job, nowMs)
  return (
    <>
      <span class="timeline-name">
        Attempt {job.attempt_number}
        <span class="soft">
          {job.started_at === null ? <Time at={job.scheduled_at} /> : <Time at={job.started_at} />}
        </span>
      </span>
      <span class="timeline-bar">
        <Bar phases={phases} longestMs={longestMs} />
      </span>
      <span class="timeline-end">
        <Badge tone={own.tone}>{job.response_status ?? own.label}</Badge>
        <span class="soft">
          {job.failure_reason === null
            ? job.duration_ms !== null && formatDuration(job.duration_ms)
            : reasonText(job.failure_reason)}
        </span>
      </span>
    </>
  )
}

function Bar({ phases, longestMs }: Pick<AttemptProps, 'phases' | 'longestMs'>) {
  return (
    <>
      {phases.map(({ name, kind, ms }) => (
        <i
          key={name}
          data-kind={kind}
          title={`${name}: ${formatDuration(ms)}`}
          style={{ width: `${((ms / longestMs) * 100).toFixed(3)}%` }}
        >
          <span class="visually-hidden">
            {name} {formatDuration(ms)},
          </span>
        </i>
      ))}
    </>
  )
}

/** The phases of one attempt with their times: what the colours of its bar mean. */
export function Phases({ phases }: { readonly phases: readonly Phase[] }) {
  return (
    <ul class="phases number">
      {phases.map(({ name, kind, ms }) => (
        <li key={name}>
          <i data-kind={kind} />
          {name}
          <strong>{formatDuration(ms)}</strong>
        </li>
      ))}
    </ul>
  )
}
