import { Route, Router } from 'preact-iso'
import { useMe } from '../session/me.ts'
import { Overview } from '../features/overview/overview.tsx'
import { Empty } from '../ui/page/empty.tsx'
import { Page, Panel } from '../ui/page/page.tsx'
import { at } from '../routing/paths.ts'
import { useRefusal } from './refusal.ts'
import { screen } from './screen.tsx'

const Access = screen(async () => (await import('../features/access/access.tsx')).Access)
const AlertList = screen(async () => (await import('../features/alerts/alert-list.tsx')).AlertList)
const AlertPage = screen(async () => (await import('../features/alerts/alert-page.tsx')).AlertPage)
const AuditLog = screen(async () => (await import('../features/audit/audit-log.tsx')).AuditLog)
const BulkList = screen(async () => (await import('../features/jobs/bulk/bulk-list.tsx')).BulkList)
const BulkPage = screen(async () => (await import('../features/jobs/bulk/bulk-page.tsx')).BulkPage)
const ChainPage = screen(async () => (await import('../features/jobs/chain/chain-page.tsx')).ChainPage)
const CronList = screen(async () => (await import('../features/crons/cron-list.tsx')).CronList)
const CronPage = screen(async () => (await import('../features/crons/cron-page.tsx')).CronPage)
const DeadLetters = screen(
  async () => (await import('../features/jobs/dead-letters/dead-letters.tsx')).DeadLetters,
)
const IssueList = screen(async () => (await import('../features/issues/issue-list.tsx')).IssueList)
const IssuePage = screen(async () => (await import('../features/issues/issue-page.tsx')).IssuePage)
const JobList = screen(async () => (await import('../features/jobs/list/job-list.tsx')).JobList)
const Maintenance = screen(async () => (await import('../features/maintenance/maintenance.tsx')).Maintenance)
const NewQueue = screen(async () => (await import('../features/queues/creation/new-queue.tsx')).NewQueue)
const Notifications = screen(
  async () => (await import('../features/notifications/notifications.tsx')).Notifications,
)
const QueueList = screen(async () => (await import('../features/queues/queue-list.tsx')).QueueList)
const QueuePage = screen(async () => (await import('../features/queues/queue-page.tsx')).QueuePage)
const Status = screen(async () => (await import('../features/overview/status/status.tsx')).Status)
const SendJob = screen(async () => (await import('../features/jobs/send/send-job.tsx')).SendJob)

/** Parts of a path are `params` of `useRoute`. */
export function Screens() {
  const refusal = useRefusal()
  if (refusal !== null) return <Refused {...refusal} />
  return (
    <Router>
      <Route path={at('/')} component={Overview} />
      <Route path={at('/queues')} component={QueueList} />
      <Route path={at('/queues/new')} component={NewQueue} />
      <Route path={at('/queues/:queue_id')} component={QueuePage} />
      <Route path={at('/jobs')} component={JobList} />
      <Route path={at('/jobs/:job_id')} component={ChainPage} />
      <Route path={at('/dead-letters')} component={DeadLetters} />
      <Route path={at('/send')} component={SendJob} />
      <Route path={at('/bulk')} component={BulkList} />
      <Route path={at('/bulk/:bulk_id')} component={BulkPage} />
      <Route path={at('/crons')} component={CronList} />
      <Route path={at('/crons/new')} component={CronList} />
      <Route path={at('/crons/:cron_id')} component={CronPage} />
      <Route path={at('/issues')} component={IssueList} />
      <Route path={at('/issues/:issue_id')} component={IssuePage} />
      <Route path={at('/alerts')} component={AlertList} />
      <Route path={at('/alerts/:alert_id')} component={AlertPage} />
      <Route path={at('/maintenance')} component={Maintenance} />
      <Route path={at('/notifications')} component={Notifications} />
      <Route path={at('/access')} component={Access} />
      <Route path={at('/audit')} component={AuditLog} />
      <Route path={at('/status')} component={Status} />
      <Route default component={Absent} />
    </Router>
  )
}

function Absent() {
  return (
    <Page title="Not found">
      <Empty icon="search" title="There is no such page">
        <a href={at('/')}>To the overview</a>
      </Empty>
    </Page>
  )
}

function Refused({ title, reason }: { readonly title: string; readonly reason: string }) {
  const { may } = useMe()
  return (
    <Page title={title}>
      <Panel>
        <Empty icon="key" title="You may not see this">
          <p>{reason}</p>
          {may.read ? (
            <a href={at('/queues')}>To your queues</a>
          ) : (
            may.push && <a href={at('/send')}>Send a job</a>
          )}
        </Empty>
      </Panel>
    </Page>
  )
}
