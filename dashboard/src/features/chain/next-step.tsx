import type { Job } from '../../../../clients/typescript/src/client.ts'
import { at } from '../../app/paths.ts'
import { Icon, type IconName } from '../../ui/icon.tsx'
import { Time } from '../../ui/time.tsx'
import './next-step.css'
import { reasonText } from '../jobs/job-state.tsx'
import { waitingText } from './waiting-text.ts'

/** What happens next in the chain, or how it ended, in one line. */
export function NextStep({ job }: { readonly job: Job }) {
  const open = job.chain.find(({ status }) => status === 'pending' || status === 'processing')
  const [original] = job.chain
  if (open?.status === 'processing') {
    return (
      <Line icon="play" tone="busy">
        Attempt {open.attempt_number} is in flight since <Time at={open.started_at} />.
      </Line>
    )
  }
  if (open !== undefined) return <Pending job={job} open={open} />
  if (original === undefined) return null
  if (original.final_status === 'success') {
    return (
      <Line icon="check" tone="good">
        Succeeded with attempt {job.chain.at(-1)?.attempt_number},{' '}
        <Time at={job.chain.at(-1)?.completed_at ?? null} />.
      </Line>
    )
  }
  const last = job.chain.at(-1) ?? original
  const why = last.failure_reason === null ? '' : `: ${reasonText(last.failure_reason).toLowerCase()}`
  return (
    <Line icon={original.final_status === 'dead_lettered' ? 'dead' : 'warning'} tone="bad">
      {original.final_status === 'dead_lettered' ? 'Became a dead letter' : 'Failed'}
      {why}. {last.error_message}
      {original.replayed_as !== null && (
        <>
          {' '}
          It was replayed as <a href={at(`/jobs/${original.replayed_as}`)}>job {original.replayed_as}</a>.
        </>
      )}
    </Line>
  )
}

function Pending({ job, open }: { readonly job: Job; readonly open: Job['chain'][number] }) {
  const { waiting } = job.job_id === open.job_id ? job : { waiting: null }
  const startAt = waiting?.estimated_start_at ?? open.scheduled_at
  return (
    <Line icon="cron" tone={open.attempt_number > 1 ? 'warn' : 'busy'}>
      {open.attempt_number > 1 ? `Attempt ${open.attempt_number}` : 'It'} starts <Time at={startAt} />
      {waiting !== null && waiting.reason !== 'not_due' && <>. {waitingText(waiting, open.queue)}</>}
    </Line>
  )
}

function Line({
  icon,
  tone,
  children,
}: {
  readonly icon: IconName
  readonly tone: 'good' | 'bad' | 'warn' | 'busy'
  readonly children: preact.ComponentChildren
}) {
  return (
    <p class="next-step" data-tone={tone}>
      <Icon name={icon} />
      <span>{children}</span>
    </p>
  )
}
