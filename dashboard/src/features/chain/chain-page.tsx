import { useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import type { Job, JobSummary } from '../../../../clients/typescript/src/client.ts'
import { isAbsent } from '../../api/faults.ts'
import { useRead } from '../../api/reads.ts'
import { at } from '../../app/paths.ts'
import { Empty, Fault, Loading } from '../../ui/empty.tsx'
import { Fact, Facts, Page, Panel } from '../../ui/page.tsx'
import { Time, useNow } from '../../ui/time.tsx'
import { ChainActions } from './chain-actions.tsx'
import { Exchange } from './exchange.tsx'
import { JobBadge } from '../jobs/job-state.tsx'
import { NextStep } from './next-step.tsx'
import { phasesOf } from './phases.ts'
import { Phases, Timeline } from './timeline.tsx'

const CRUMBS = [{ label: 'Jobs', href: at('/jobs') }]

/** One page for a chain, whichever of its jobs the address names. */
export function ChainPage() {
  const { params } = useRoute()
  const job = useRead('readJob', { job_id: params['job_id'] ?? '' })
  if (job.data === undefined) {
    return (
      <Page title={`Job ${params['job_id'] ?? ''}`} crumbs={CRUMBS}>
        {job.error === null && <Loading what="the job" />}
        {job.error !== null && !isAbsent(job.error) && (
          <Fault fault={job.error} onRetry={() => void job.refetch()} />
        )}
        {isAbsent(job.error) && (
          <Empty icon="search" title="There is no such job">
            <p>It was never pushed, it was deleted, or it ended so long ago that it is no longer kept.</p>
            <a href={at('/jobs')}>All jobs</a>
          </Empty>
        )}
      </Page>
    )
  }
  return <Chain job={job.data} />
}

function Chain({ job }: { readonly job: Job }) {
  const nowMs = useNow()
  const [original] = job.chain
  const [chosen, setChosen] = useState<number | null>(null)
  const shown = chosen ?? job.chain.at(-1)?.job_id ?? job.job_id
  const attempt = useRead('readJob', { job_id: shown }, { isLive: shown === job.job_id || chosen === null })
  const record = attempt.data?.job_id === shown ? attempt.data : undefined
  const call = record?.calls.at(-1) ?? null
  const told = original ?? job
  return (
    <Page
      title={`Job ${told.job_id}`}
      crumbs={CRUMBS}
      state={<JobBadge job={told} nowMs={nowMs} />}
      actions={<ChainActions job={job} />}
    >
      <NextStep job={job} />
      <Panel title={job.chain.length === 1 ? '1 attempt' : `${job.chain.length} attempts`} isFlush>
        <Timeline
          attempts={job.chain}
          callOf={({ job_id: id }) => (id === shown ? call : null)}
          chosen={shown}
          onChoose={setChosen}
          nowMs={nowMs}
        />
      </Panel>
      <Panel title={`Attempt ${attemptOf(job.chain, shown)}`}>
        {record === undefined ? (
          <Loading what="the attempt" />
        ) : (
          <div class="stack">
            <Phases phases={phasesOf(record, call, nowMs)} />
            {call === null ? <NoRecord job={record} /> : <Exchange call={call} jobId={record.job_id} />}
          </div>
        )}
      </Panel>
      <Panel title="As it was pushed">
        <ChainFacts job={told} />
      </Panel>
    </Page>
  )
}

function attemptOf(chain: readonly JobSummary[], jobId: number): number {
  return chain.find(({ job_id: id }) => id === jobId)?.attempt_number ?? 1
}

function NoRecord({ job }: { readonly job: Job }) {
  if (job.started_at === null) return <p class="soft">It has not started yet.</p>
  if (job.completed_at === null) return <p class="soft">It is in flight.</p>
  return (
    <p class="soft">
      {job.error_message === null ? '' : `${job.error_message} `}
      The exchange is not kept: records expire after three days, and of many successes a second only the first
      are kept.
    </p>
  )
}

function ChainFacts({ job }: { readonly job: JobSummary }) {
  const tags = Object.entries(job.tags)
  return (
    <Facts>
      <Fact name="Request">
        <span class="mono">
          {job.method} {job.url}
        </span>
      </Fact>
      <Fact name="Queue">
        {job.queue_id === null ? 'None' : <a href={at(`/queues/${job.queue_id}`)}>{job.queue}</a>}
      </Fact>
      {job.cron_id !== null && (
        <Fact name="Run of">
          <a href={at(`/crons/${job.cron_id}`)}>Cron {job.cron_id}</a>
        </Fact>
      )}
      <Fact name="Pushed">
        <Time at={job.created_at} form="stamp" />
      </Fact>
      <Fact name="Due">
        <Time at={job.scheduled_at} form="stamp" />
      </Fact>
      <Fact name="Callback">{job.callback_url ?? 'None'}</Fact>
      <Fact name="Tags">
        {tags.length === 0
          ? 'None'
          : tags.map(([name, value]) => (
              <a key={name} class="tag" href={at('/jobs', { tag: `${name}:${value}` })}>
                {name}: {value}
              </a>
            ))}
      </Fact>
      <Fact name="UUID">
        <span class="mono">{job.uuid}</span>
      </Fact>
    </Facts>
  )
}
