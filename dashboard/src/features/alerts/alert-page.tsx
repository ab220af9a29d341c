import { useLocation, useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import type { Alert } from '../../../../clients/typescript/src/client.ts'
import { isAbsent } from '../../format/faults.ts'
import { textOf } from '../../format/values/known-values.ts'
import { useMay } from '../../session/me.ts'
import { useRead } from '../../api/reads.ts'
import { at } from '../../routing/paths.ts'
import { plural } from '../../format/numbers.ts'
import { Badge, StateBadge } from '../../ui/text/badge.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Menu } from '../../ui/overlays/menu.tsx'
import { Fact, Facts, Page, Panel } from '../../ui/page/page.tsx'
import { type Column, Table } from '../../ui/tables/table.tsx'
import { Time } from '../../ui/text/time.tsx'
import { PlaceholderPage } from '../../ui/page/placeholder-page.tsx'
import type { TonedLabel } from '../../ui/tone.ts'
import { AlertBadge } from './alert-badge.tsx'
import { useMarkRead } from './alert-changes.ts'
import { headlineOf, jobsOf, REASONS, subjectOf } from './alert-text.ts'
import { useMuteItems } from './mute.tsx'
import { Removal } from './removal.tsx'
import { Verbatim } from '../../ui/text/verbatim.tsx'
import './alert-table.css'

const ALL = { label: 'Alerts', href: at('/alerts') }

/** One alert: what it is about, since when, and which channels were told. */
export function AlertPage() {
  const { params } = useRoute()
  const read = useRead('readAlert', { alert_id: params['alert_id'] ?? '' })
  const alert = read.data
  if (alert !== undefined && !read.isPlaceholderData && !isAbsent(read.error))
    return <AlertDetails alert={alert} />
  return (
    <PlaceholderPage
      query={read}
      what="alert"
      icon="alert"
      all={ALL}
      why="They are kept for 30 days, unless somebody deletes them."
    />
  )
}

function AlertDetails({ alert }: { readonly alert: Alert }) {
  const { type, read, message, deliveries } = alert
  return (
    <Page
      title={`${headlineOf(alert)} · ${subjectOf(alert.resource)}`}
      crumbs={[ALL]}
      state={
        <>
          <AlertBadge type={type} />
          {!read && <Badge tone="busy">Unread</Badge>}
        </>
      }
      actions={<Actions alert={alert} />}
    >
      <Panel title="What happened">
        <div class="stack">
          <p>
            <Verbatim text={message} />
          </p>
          <div class="alert-facts">
            <About alert={alert} />
          </div>
        </div>
      </Panel>
      <Panel title="Notifications" isFlush={deliveries.length > 0}>
        <Told alert={alert} />
      </Panel>
    </Page>
  )
}

function About({ alert }: { readonly alert: Alert }) {
  const { resource, reason, count, job_id: jobId } = alert
  const { kind, id } = resource
  const path =
    id === null ? null : kind === 'queue' ? `/queues/${id}` : kind === 'cron' ? `/crons/${id}` : null
  const subject = <Verbatim text={subjectOf(resource)} />
  return (
    <Facts>
      <Fact name="About">{path === null ? subject : <a href={at(path)}>{subject}</a>}</Fact>
      <Fact name="Reason">{textOf(REASONS, reason)}</Fact>
      <Fact name="Raised">{plural(count, 'time')}</Fact>
      <Fact name="First">
        <Time at={alert.first_at} form="stamp" />
      </Fact>
      <Fact name="Last">
        <Time at={alert.last_at} form="stamp" />
      </Fact>
      {jobId !== null && (
        <Fact name="First job">
          <a class="number" href={at(`/jobs/${jobId}`)}>
            {jobId}
          </a>
        </Fact>
      )}
    </Facts>
  )
}

function Actions({ alert }: { readonly alert: Alert }) {
  const { id, read, resource } = alert
  const { route } = useLocation()
  const [isAsking, setIsAsking] = useState(false)
  const mayOperate = useMay('operate')
  const mark = useMarkRead()
  const muteItems = useMuteItems()
  const jobs = jobsOf(alert)
  return (
    <>
      {jobs !== null && (
        <LinkButton icon="jobs" href={at(jobs.path, jobs.query)}>
          {jobs.label}
        </LinkButton>
      )}
      {mayOperate && (
        <>
          {!read && (
            <Button icon="check" isBusy={mark.isPending} onClick={() => mark.mutate([id])}>
              Mark as read
            </Button>
          )}
          <Menu label="Mute" items={muteItems(resource)}>
            Mute
          </Menu>
          <Button icon="trash" onClick={() => setIsAsking(true)}>
            Delete
          </Button>
        </>
      )}
      {isAsking && (
        <Removal
          meant={[id]}
          count={1}
          onDone={() => route(at('/alerts'), true)}
          onClose={() => setIsAsking(false)}
        />
      )}
    </>
  )
}

type Delivery = Alert['deliveries'][number]

const STATES: Readonly<Record<Delivery['state'], TonedLabel>> = {
  pending: { tone: 'busy', label: 'Under way' },
  sent: { tone: 'good', label: 'Sent' },
  failed: { tone: 'bad', label: 'Given up' },
  suppressed: { tone: 'plain', label: 'Muted' },
}

const COLUMNS: ReadonlyArray<Column<Delivery>> = [
  { head: 'Channel', cell: ({ channel }) => <Verbatim text={channel} /> },
  { head: 'State', cell: ({ state }) => <StateBadge table={STATES} state={state} /> },
  {
    head: 'Answer to the last try',
    isWide: true,
    cell: ({ answer }) => (
      <span title={answer ?? undefined}>
        <Verbatim text={answer ?? '–'} />
      </span>
    ),
  },
  { head: 'Last try', align: 'end', cell: ({ at: time }) => <Time at={time} /> },
]

function Told({ alert }: { readonly alert: Alert }) {
  const { deliveries, suppressed_by: window } = alert
  return (
    <>
      {window !== null && (
        <p class="alert-muted">
          It was not sent: the window <a href={at('/maintenance', { window })}>{window}</a> muted it.
        </p>
      )}
      {deliveries.length > 0 && (
        <Table caption="Channels" rows={deliveries} columns={COLUMNS} keyOf={({ channel }) => channel} />
      )}
      {window === null && deliveries.length === 0 && (
        <p class="soft">
          No channel gets alerts of this type. <a href={at('/notifications')}>Channels of the team</a>
        </p>
      )}
    </>
  )
}
