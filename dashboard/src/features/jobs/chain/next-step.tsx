import { reasonText } from '../../../format/failure-reasons.ts'
import type { Job, JobSummary } from '../../../../../clients/typescript/src/client.ts'
import { useRead } from '../../../api/reads.ts'
import { at } from '../../../routing/paths.ts'
import { Notice } from '../../../ui/text/notice.tsx'
import { Time } from '../../../ui/text/time.tsx'
import { openOf } from './timeline/plan.ts'
import { attemptText, waitingText } from './waiting-text.ts'

/** What happens next in the chain, or how it ended, in one line. */
export function NextStep({ job, nowMs }: { readonly job: Job; readonly nowMs: number }) {
  const open = openOf(job)
  const [original] = job.chain
  if (open?.status === 'processing') {
    return (
      <Notice icon="play" tone="busy">
        {open.attempt_number === 1 ? 'It' : attemptText(open.attempt_number, job.settings)} is in flight,
        started <Time at={open.started_at} />.
      </Notice>
    )
  }
  if (open !== undefined) return <Pending job={job} open={open} nowMs={nowMs} />
  if (original === undefined) return null
  return original.final_status === 'success' ? (
    <Succeeded last={job.chain.at(-1) ?? original} />
  ) : (
    <Failed job={job} original={original} />
  )
}

interface PendingProps {
  readonly job: Job
  readonly open: JobSummary
  readonly nowMs: number
}

function Pending({ job, open, nowMs }: PendingProps) {
  // Only what is told of the open job itself says why it waits.
  const own = useRead('readJob', { job_id: open.job_id }, { isWanted: open.job_id !== job.job_id })
  const told = open.job_id === job.job_id ? job : own.data
  const waiting = told?.job_id === open.job_id ? told.waiting : null
  const startAt = waiting?.estimated_start_at ?? null
  const isDue = Date.parse(open.scheduled_at) <= nowMs
  return (
    <Notice icon="cron" tone={open.attempt_number > 1 ? 'warn' : 'busy'}>
      {isDue ? (
        <>
          Waits
          {startAt !== null && Date.parse(startAt) > nowMs && (
            <>, starts about {<Time at={startAt} form="exact" />}</>
          )}
          .
        </>
      ) : (
        <>
          {attemptText(open.attempt_number, job.settings)} starts <Time at={open.scheduled_at} form="exact" />
          .
        </>
      )}
      {waiting !== null && waiting.reason !== 'not_due' && <> {waitingText(waiting, open.queue)}</>}
    </Notice>
  )
}

function Succeeded({ last }: { readonly last: JobSummary }) {
  return (
    <Notice icon="check" tone="good">
      Succeeded {last.attempt_number > 1 && `with attempt ${last.attempt_number}, `}
      <Time at={last.completed_at} />.
    </Notice>
  )
}

function Failed({ job, original }: { readonly job: Job; readonly original: JobSummary }) {
  const last = job.chain.at(-1) ?? original
  const isDead = original.final_status === 'dead_lettered'
  const made = original.replayed_as
  return (
    <Notice icon={isDead ? 'dead' : 'warning'} tone={made === null ? 'bad' : 'plain'}>
      {isDead ? 'Became a dead letter' : 'Failed for good'} <Time at={last.completed_at} />.{' '}
      {last.error_message ?? (last.failure_reason !== null && `${reasonText(last.failure_reason)}.`)}
      {job.expires_at !== null && made === null && (
        <>
          {' '}
          It can be replayed until it expires <Time at={job.expires_at} form="exact" />.
        </>
      )}
      {made !== null && (
        <>
          {' '}
          It was {isDead ? 'replayed' : 'retried'} as <a href={at(`/jobs/${made}`)}>job {made}</a>.
        </>
      )}
    </Notice>
  )
}
