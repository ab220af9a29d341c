import { lazy, Route, Router } from 'preact-iso'
import { useMe } from '../api/me.ts'
import { Empty } from '../ui/empty.tsx'
import { Page, Panel } from '../ui/page.tsx'
import { at } from './paths.ts'
import { useRefusal } from './refusal.ts'

const Overview = lazy(() => import('../features/overview/overview.tsx').then((one) => one.Overview))
const QueueList = lazy(() => import('../features/queues/queue-list.tsx').then((one) => one.QueueList))
const QueuePage = lazy(() => import('../features/queues/queue-page.tsx').then((one) => one.QueuePage))
const JobList = lazy(() => import('../features/jobs/job-list.tsx').then((one) => one.JobList))
const ChainPage = lazy(() => import('../features/chain/chain-page.tsx').then((one) => one.ChainPage))
const DeadLetters = lazy(() =>
  import('../features/dead-letters/dead-letters.tsx').then((one) => one.DeadLetters),
)
const SendJob = lazy(() => import('../features/send/send-job.tsx').then((one) => one.SendJob))
const BulkList = lazy(() => import('../features/bulk/bulk-list.tsx').then((one) => one.BulkList))
const BulkPage = lazy(() => import('../features/bulk/bulk-page.tsx').then((one) => one.BulkPage))
const CronList = lazy(() => import('../features/crons/cron-list.tsx').then((one) => one.CronList))
const CronPage = lazy(() => import('../features/crons/cron-page.tsx').then((one) => one.CronPage))
const AlertList = lazy(() => import('../features/alerts/alert-list.tsx').then((one) => one.AlertList))
const AlertPage = lazy(() => import('../features/alerts/alert-page.tsx').then((one) => one.AlertPage))
const Maintenance = lazy(() =>
  import('../features/maintenance/maintenance.tsx').then((one) => one.Maintenance),
)
const Notifications = lazy(() =>
  import('../features/notifications/notifications.tsx').then((one) => one.Notifications),
)
const Access = lazy(() => import('../features/access/access.tsx').then((one) => one.Access))
const AuditLog = lazy(() => import('../features/audit/audit-log.tsx').then((one) => one.AuditLog))

/** Each screen is read when it is first shown. Parts of a path are `params` of `useRoute`. */
export function Screens() {
  const refusal = useRefusal()
  if (refusal !== null) return <Refused {...refusal} />
  return (
    <Router>
      <Route path={at('/')} component={Overview} />
      <Route path={at('/queues')} component={QueueList} />
      <Route path={at('/queues/:queue_id')} component={QueuePage} />
      <Route path={at('/jobs')} component={JobList} />
      <Route path={at('/jobs/:job_id')} component={ChainPage} />
      <Route path={at('/dead-letters')} component={DeadLetters} />
      <Route path={at('/send')} component={SendJob} />
      <Route path={at('/bulk')} component={BulkList} />
      <Route path={at('/bulk/:bulk_id')} component={BulkPage} />
      <Route path={at('/crons')} component={CronList} />
      <Route path={at('/crons/:cron_id')} component={CronPage} />
      <Route path={at('/alerts')} component={AlertList} />
      <Route path={at('/alerts/:alert_id')} component={AlertPage} />
      <Route path={at('/maintenance')} component={Maintenance} />
      <Route path={at('/notifications')} component={Notifications} />
      <Route path={at('/access')} component={Access} />
      <Route path={at('/audit')} component={AuditLog} />
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
