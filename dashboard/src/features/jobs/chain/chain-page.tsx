import { useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import type { Job, JobSummary } from '../../../../../clients/typescript/src/client.ts'
import { isAbsent } from '../../../format/faults.ts'
import { useMay } from '../../../session/me.ts'
import { useRead } from '../../../api/reads.ts'
import { at } from '../../../routing/paths.ts'
import { plural } from '../../../format/numbers.ts'
import { QueryStatus } from '../../../ui/page/empty.tsx'
import { Page, Panel } from '../../../ui/page/page.tsx'
import { useNow } from '../../../ui/text/time.tsx'
import { PlaceholderPage } from '../../../ui/page/placeholder-page.tsx'
import { JobBadge } from '../job-badge.tsx'
import { ChainActions } from './chain-actions.tsx'
import { ChainFacts } from './chain-facts.tsx'
import { Exchange } from './exchange/exchange.tsx'
import { History } from './history.tsx'
import { NextStep } from './next-step.tsx'
import { NoRecord } from './exchange/no-record.tsx'
import { phasesOf } from './timeline/phases.ts'
import { spanOf } from './timeline/plan.ts'
import { SpanStrip } from './timeline/span.tsx'
import { Phases, Timeline } from './timeline/timeline.tsx'
import { useCalls } from './timeline/use-calls.ts'

const ALL = { label: 'Jobs', href: at('/jobs') }

/** One page for a chain, whichever of its jobs the address names. */
export function ChainPage() {
  const id = useRoute().params['job_id'] ?? ''
  const job = useRead('readJob', { job_id: id })
  if (job.data !== undefined && !isAbsent(job.error)) {
    return <Chain key={job.data.original_job_id} job={job.data} />
  }
  return (
    <PlaceholderPage
      query={job}
      what="job"
      title={`Job ${id}`}
      icon="search"
      all={ALL}
      why="It was never pushed, it was deleted, or it ended so long ago that it is no longer kept."
    />
  )
}

function Chain({ job }: { readonly job: Job }) {
  const nowMs = useNow()
  const mayOperate = useMay('operate')
  // null follows the newest attempt that began: before the next one does, the last answer is what one looks for.
  const [chosen, setChosen] = useState<number | null>(null)
  const newest = job.chain.findLast(({ started_at: startedAt }) => startedAt !== null) ?? job.chain.at(-1)
  const shown = chosen ?? newest?.job_id ?? job.job_id
  const told = job.chain[0] ?? job
  const span = spanOf(job, nowMs)
  const attempt = useRead('readJob', { job_id: String(shown) })
  const calls = useCalls(job.chain)
  const record = attempt.data?.job_id === shown ? attempt.data : undefined
  const call = record?.calls.at(-1) ?? null
  return (
    <Page
      title={`Job ${told.job_id}`}
      crumbs={[ALL]}
      state={<JobBadge job={told} nowMs={nowMs} />}
      actions={<ChainActions job={job} nowMs={nowMs} />}
    >
      <NextStep job={job} nowMs={nowMs} />
      <Panel>
        <ChainFacts job={told} settings={job.settings} traceId={job.trace_id ?? null} />
      </Panel>
      <Panel title={plural(job.chain.length, 'attempt')} isFlush>
        {span !== null && <SpanStrip span={span} />}
        <Timeline
          job={job}
          callOf={({ job_id: id }) => (id === shown ? call : null) ?? calls.get(id) ?? null}
          chosen={shown}
          onChoose={setChosen}
          nowMs={nowMs}
        />
      </Panel>
      <Panel title={`Attempt ${attemptOf(job.chain, shown)}`}>
        {record === undefined ? (
          <QueryStatus query={attempt} what="the attempt" />
        ) : (
          <div class="stack">
            <Phases phases={phasesOf(record, call, nowMs)} />
            {call === null ? (
              <NoRecord job={record} />
            ) : (
              <Exchange call={call} jobId={record.job_id} isBase64={record.body_encoding === 'base64'} />
            )}
          </div>
        )}
      </Panel>
      {mayOperate && <History jobIds={[...new Set([told.job_id, job.chain.at(-1)?.job_id ?? shown])]} />}
    </Page>
  )
}

function attemptOf(chain: readonly JobSummary[], jobId: number): number {
  return chain.find(({ job_id: id }) => id === jobId)?.attempt_number ?? 1
}
