import type { Job, JobSummary } from '../../../../../clients/typescript/src/client.ts'
import { unknownAssertion } from '../../../format/values/assertions.ts'
import { textOf } from '../../../format/values/known-values.ts'
import { at } from '../../../routing/paths.ts'
import { formatDuration, formatSeconds } from '../../../format/times.ts'
import { Button } from '../../../ui/button.tsx'
import { copyText } from '../../../ui/text/hand-over.ts'
import { Fact, Facts } from '../../../ui/page/page.tsx'
import { Time } from '../../../ui/text/time.tsx'
import './chain-facts.css'
import { retriesText } from './waiting-text.ts'
import { visible } from '../../../format/visible.ts'
import { Verbatim } from '../../../ui/text/verbatim.tsx'

const EVENTS = { terminal: 'when the chain has ended', every_attempt: 'after every attempt' } as const

/** A longer one may have to be scrolled. */
const URL_LONG = 150

/** What a chain was pushed with. */
export function ChainFacts({
  job,
  settings,
  traceId,
}: {
  readonly job: JobSummary
  readonly settings: Job['settings']
  readonly traceId: string | null
}) {
  return (
    <div class="stack chain-facts">
      <p class="chain-request">
        <strong class="mono">{job.method}</strong> <Url text={job.url} />
        <Button look="bare" icon="copy" label="Copy: URL" onClick={() => void copyText(job.url, 'The URL')} />
      </p>
      <Facts>
        <Fact name="Queue">
          {job.queue_id === null ? 'None' : <QueueLink id={job.queue_id} name={job.queue ?? ''} />}
        </Fact>
        <Origin job={job} />
        <Fact name="Pushed">
          <Time at={job.created_at} form="stamp" />
        </Fact>
        <Fact name="Due">
          <Time at={job.scheduled_at} form="stamp" />
        </Fact>
        {settings !== null && (
          <>
            <Fact name="Retries">{retriesText(settings)}</Fact>
            <Fact name="Timeout">{formatSeconds(settings.timeout_seconds)}</Fact>
          </>
        )}
      </Facts>
      <div class="chain-long">
        <Facts>
          {job.callback_url !== null && (
            <Fact name="Callback">
              <Url text={job.callback_url} />{' '}
              {settings !== null && <span class="soft">{textOf(EVENTS, settings.callback_events)}</span>}
            </Fact>
          )}
          {Object.keys(job.tags).length > 0 && (
            <Fact name="Tags">
              <Tags tags={job.tags} />
            </Fact>
          )}
          <Fact name="UUID">
            <span class="mono">{job.uuid}</span>
          </Fact>
          {traceId !== null && <Trace id={traceId} />}
        </Facts>
      </div>
      {settings !== null && settings.success_assertions.length > 0 && (
        <p class="soft">
          Success needs more than a 2xx: {visible(settings.success_assertions.map(told).join('; '))}.
        </p>
      )}
    </div>
  )
}

/** What tracing systems find it by. */
function Trace({ id }: { readonly id: string }) {
  return (
    <Fact name="Trace">
      <span class="mono">{id}</span>{' '}
      <Button
        look="bare"
        icon="copy"
        label="Copy: trace id"
        onClick={() => void copyText(id, 'The trace id')}
      />
    </Fact>
  )
}

/** The cron or the bulk that made it. */
function Origin({ job }: { readonly job: JobSummary }) {
  return (
    <>
      {job.cron_id !== null && (
        <Fact name="Run of">
          <a href={at(`/crons/${job.cron_id}`)}>Cron {job.cron_id}</a>
        </Fact>
      )}
      {job.bulk_id !== null && (
        <Fact name="Made by">
          <a href={at(`/bulk/${job.bulk_id}`)}>A bulk action</a>
        </Fact>
      )}
    </>
  )
}

function QueueLink({ id, name }: { readonly id: number; readonly name: string }) {
  return (
    <a href={at(`/queues/${id}`)}>
      <Verbatim text={name} />
    </a>
  )
}

function Url({ text }: { readonly text: string }) {
  return (
    <span class="chain-url mono" tabIndex={text.length > URL_LONG ? 0 : undefined}>
      <Verbatim text={text} />
    </span>
  )
}

function Tags({ tags }: Pick<JobSummary, 'tags'>) {
  return (
    <>
      {Object.entries(tags).map(([name, value]) => (
        <a key={name} class="tag" href={at('/jobs', { tag: `${name}:${value}` })}>
          <Verbatim text={`${name}: ${value}`} />
        </a>
      ))}
    </>
  )
}

function told(assertion: NonNullable<Job['settings']>['success_assertions'][number]): string {
  switch (assertion.type) {
    case 'status_code_equals':
      return `the status is ${assertion.value}`
    case 'body_contains':
      return `the body contains “${assertion.value}”`
    case 'response_time_under_ms':
      return `the answer takes less than ${formatDuration(assertion.value)}`
    default:
      return unknownAssertion(assertion)
  }
}
