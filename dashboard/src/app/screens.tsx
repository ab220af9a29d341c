import { Route, Router } from 'preact-iso'
import { useMe } from '../api/me.ts'
import { Access } from '../features/access/access.tsx'
import { AlertList } from '../features/alerts/alert-list.tsx'
import { AlertPage } from '../features/alerts/alert-page.tsx'
import { AuditLog } from '../features/audit/audit-log.tsx'
import { BulkList } from '../features/bulk/bulk-list.tsx'
import { BulkPage } from '../features/bulk/bulk-page.tsx'
import { ChainPage } from '../features/chain/chain-page.tsx'
import { CronList } from '../features/crons/cron-list.tsx'
import { CronPage } from '../features/crons/cron-page.tsx'
import { DeadLetters } from '../features/dead-letters/dead-letters.tsx'
import { JobList } from '../features/jobs/job-list.tsx'
import { Maintenance } from '../features/maintenance/maintenance.tsx'
import { Notifications } from '../features/notifications/notifications.tsx'
import { Overview } from '../features/overview/overview.tsx'
import { QueueList } from '../features/queues/queue-list.tsx'
import { QueuePage } from '../features/queues/queue-page.tsx'
import { SendJob } from '../features/send/send-job.tsx'
import { Empty } from '../ui/empty.tsx'
import { Page, Panel } from '../ui/page.tsx'
import { at } from './paths.ts'
import { useRefusal } from './refusal.ts'

/** Parts of a path are `params` of `useRoute`. */
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
