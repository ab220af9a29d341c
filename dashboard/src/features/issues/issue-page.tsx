import { useRoute } from 'preact-iso'
import type { Issue } from '../../../../clients/typescript/src/client.ts'
import { useRead } from '../../api/reads.ts'
import { reasonText } from '../../format/failure-reasons.ts'
import { isAbsent } from '../../format/faults.ts'
import { formatCount } from '../../format/numbers.ts'
import { at } from '../../routing/paths.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Fact, Facts, Page, Panel } from '../../ui/page/page.tsx'
import { PlaceholderPage } from '../../ui/page/placeholder-page.tsx'
import { StateBadge } from '../../ui/text/badge.tsx'
import { Time, useNow } from '../../ui/text/time.tsx'
import { IssueActions } from './issue-actions.tsx'
import { deadLettersOf, failureOf, hourly, STATES } from './issue-text.ts'
import './issues.css'
import { Spark } from './spark.tsx'
import { Verbatim } from '../../ui/text/verbatim.tsx'

const ALL = { label: 'Issues', href: at('/issues') }
const SPARK_HOURS = 7 * 24
const SPARK_HEIGHT = 64

/** One issue: what fails since when, how often, and what can be done about it. */
export function IssuePage() {
  const { params } = useRoute()
  const read = useRead('readIssue', { issue_id: params['issue_id'] ?? '' })
  const issue = read.data
  if (issue !== undefined && !read.isPlaceholderData && !isAbsent(read.error))
    return <IssueDetails issue={issue} />
  return (
    <PlaceholderPage
      query={read}
      what="issue"
      icon="alert"
      all={ALL}
      why="It is kept for 7 days after its last failure, and goes with its queue."
    />
  )
}

function IssueDetails({ issue }: { readonly issue: Issue }) {
  const { state, resource } = issue
  const nowMs = useNow()
  const letters = deadLettersOf(issue)
  return (
    <Page
      title={`${resource.name}: ${failureOf(issue)}`}
      crumbs={[ALL]}
      state={<StateBadge table={STATES} state={state} />}
      actions={
        <>
          {letters !== null && (
            <LinkButton icon="dead" href={at('/dead-letters', letters)}>
              Dead letters
            </LinkButton>
          )}
          <IssueActions issue={issue} />
        </>
      }
    >
      <Panel title="Failures by the hour, last 7 days">
        <Spark values={hourly(issue, SPARK_HOURS, nowMs)} height={SPARK_HEIGHT} />
      </Panel>
      <Panel title="What fails">
        <About issue={issue} />
      </Panel>
    </Page>
  )
}

function About({ issue }: { readonly issue: Issue }) {
  const { resource, failure_reason: reason, response_status: status, host, sample_job_id: jobId } = issue
  const { kind, id, name } = resource
  const subject = (
    <>
      {kind} <Verbatim text={name} />
    </>
  )
  return (
    <Facts>
      <Fact name="About">{id === null ? subject : <a href={at(`/${kind}s/${id}`)}>{subject}</a>}</Fact>
      <Fact name="Reason">
        {reason === null ? 'Several: these groups had no room of their own' : reasonText(reason)}
      </Fact>
      {status !== null && <Fact name="Answer">{status}</Fact>}
      {host !== null && (
        <Fact name="Host">
          <Verbatim text={host} />
        </Fact>
      )}
      <Fact name="Failed attempts">{formatCount(issue.count)}</Fact>
      <Fact name="Dead letters">{formatCount(issue.dead_lettered)}</Fact>
      <Fact name="First">
        <Time at={issue.first_at} form="stamp" />
      </Fact>
      <Fact name="Open since">
        <Time at={issue.opened_at} form="stamp" />
      </Fact>
      <Fact name="Last">
        <Time at={issue.last_at} form="stamp" />
      </Fact>
      {issue.muted_until !== null && (
        <Fact name="Muted until">
          <Time at={issue.muted_until} form="stamp" />
        </Fact>
      )}
      <Fact name="Sample">
        <a class="number" href={at(`/jobs/${jobId}`)}>
          {jobId}
        </a>
      </Fact>
    </Facts>
  )
}
