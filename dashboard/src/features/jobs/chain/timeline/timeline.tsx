import type { Call, Job, JobSummary } from '../../../../../../clients/typescript/src/client.ts'
import { reasonText } from '../../../../format/failure-reasons.ts'
import { formatDuration, formatSeconds } from '../../../../format/times.ts'
import { Badge } from '../../../../ui/text/badge.tsx'
import { Time } from '../../../../ui/text/time.tsx'
import { stateOf } from '../../job-state.ts'
import { type Phase, phasesOf, totalMs } from './phases.ts'
import { plannedOf } from './plan.ts'
import './timeline.css'

/** At most this many planned retries get a row of their own. */
const PLANNED_SHOWN = 3

export interface TimelineProps {
  readonly job: Job
  /** The record of an attempt's call, where it has been read and is kept. */
  callOf(job: JobSummary): Call | null
  /** The id of the attempt that is shown below. */
  readonly chosen: number
  onChoose(jobId: number): void
  readonly nowMs: number
}

/** A bar for each attempt, all on one scale, from when it was due to its end; then the retries to come. */
export function Timeline({ job, callOf, chosen, onChoose, nowMs }: TimelineProps) {
  const bars = job.chain.map((attempt) => ({ attempt, phases: phasesOf(attempt, callOf(attempt), nowMs) }))
  const longestMs = Math.max(1, ...bars.map(({ phases }) => totalMs(phases)))
  const planned = plannedOf(job, nowMs)
  const unshown = planned.length - PLANNED_SHOWN
  return (
    <ol class="timeline">
      {bars.map(({ attempt, phases }) => (
        <li key={attempt.job_id}>
          <button
            type="button"
            aria-pressed={attempt.job_id === chosen}
            onClick={() => onChoose(attempt.job_id)}
          >
            <Attempt job={attempt} phases={phases} longestMs={longestMs} nowMs={nowMs} />
          </button>
        </li>
      ))}
      {planned.slice(0, PLANNED_SHOWN).map(({ attempt, delayMs }) => (
        <li key={attempt} class="timeline-planned soft">
          <span>Attempt {attempt}</span>
          <i />
          <span>{formatSeconds(delayMs / 1_000)} later, if it still fails</span>
        </li>
      ))}
      {unshown > 0 && (
        <li class="timeline-planned soft">
          <span>and {unshown} more</span>
        </li>
      )}
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
  // The original shows how its own attempt ended, not what became of the chain.
  const own = job.status === 'failed' ? { tone: 'bad' as const, label: 'Failed' } : stateOf(job, nowMs)
  return (
    <>
      <span class="timeline-name">
        Attempt {job.attempt_number}
        <span class="soft">
          {triggerOf(job)}, <Time at={job.started_at ?? job.scheduled_at} />
        </span>
      </span>
      <span class="timeline-bar">
        <Bar phases={phases} longestMs={longestMs} />
      </span>
      <span class="timeline-end">
        <Badge tone={own.tone}>{job.response_status ?? own.label}</Badge>
        <span class="soft">
          {[
            job.failure_reason === null || job.response_status !== null
              ? null
              : reasonText(job.failure_reason),
            job.failure_reason === 'assertion_failed' ? reasonText(job.failure_reason) : null,
            job.duration_ms === null ? null : formatDuration(job.duration_ms),
          ]
            .filter((part) => part !== null)
            .join(', ')}
        </span>
      </span>
    </>
  )
}

/** What made an attempt. */
function triggerOf({ is_retry: isRetry, cron_id: cronId }: JobSummary): string {
  if (isRetry) return 'Retry'
  return cronId === null ? 'Pushed' : 'Run of a cron'
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
  if (phases.length === 0) return null
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
