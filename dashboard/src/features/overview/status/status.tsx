import type { Status as StatusAnswer } from '../../../../../clients/typescript/src/client.ts'
import { useRead } from '../../../api/reads.ts'
import { formatCount } from '../../../format/numbers.ts'
import { formatDuration } from '../../../format/times.ts'
import { QueryStatus } from '../../../ui/page/empty.tsx'
import { Figure, Page, Panel } from '../../../ui/page/page.tsx'
import { Badge } from '../../../ui/text/badge.tsx'
import { Notice } from '../../../ui/text/notice.tsx'
import { Executors } from './executors.tsx'
import { Quotas } from './quotas.tsx'
import { RedisServers } from './redis-servers.tsx'
import { mattersOf } from './status-text.ts'

/** How Punctual itself does, and what that means for the team. */
export function Status() {
  const status = useRead('readStatus', {})
  const { data } = status
  return (
    <Page title="Status" state={data !== undefined && <Badge tone="plain">Version {data.version}</Badge>}>
      <QueryStatus query={status} what="the status" />
      {data !== undefined && <Shown status={data} />}
    </Page>
  )
}

function Shown({ status }: { readonly status: StatusAnswer }) {
  const { installation, usage, quotas, unknown } = status
  return (
    <>
      {mattersOf(status).map((text) => (
        <Notice key={text} icon="warning" tone="bad">
          {text}
        </Notice>
      ))}
      <TeamFigures status={status} />
      {usage !== null && <Quotas quotas={quotas} usage={usage} />}
      {installation === null ? (
        <Notice icon="info" tone="plain">
          Executors and Redis are shown to who has the permission of an admin.
        </Notice>
      ) : (
        <>
          {installation.backlog !== null && <InstallationFigures installation={installation} />}
          {installation.executors !== null && <Executors executors={installation.executors} />}
          <RedisServers servers={installation.redis} />
        </>
      )}
      {unknown.length > 0 && (
        <Panel title="What is not known">
          <ul class="stack">
            {unknown.map(({ part, reason }) => (
              <li key={part}>
                <code>{part}</code>: {reason}
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </>
  )
}

function TeamFigures({
  status: { executors_alive: areAlive, backlog, lateness_ms: lateness },
}: {
  readonly status: StatusAnswer
}) {
  return (
    <div class="figures">
      <Figure
        name="Executors"
        note={areAlive === false ? 'Jobs of a shard wait' : 'They make the calls'}
        {...(areAlive === false && { tone: 'bad' as const })}
      >
        {areAlive === null ? 'Not known' : areAlive ? 'Alive' : 'None alive'}
      </Figure>
      <Figure name="Pending" note="Jobs of the team that have not ended">
        {backlog === null ? '–' : formatCount(backlog.pending)}
      </Figure>
      <Figure name="In flight" note="Calls of the team">
        {backlog === null ? '–' : formatCount(backlog.in_flight)}
      </Figure>
      <Figure name="Oldest startable job" note="How long it has waited">
        {ageText(backlog?.oldest_startable_seconds ?? null)}
      </Figure>
      <Figure name="Lateness, p99" note="Jobs that ended in the last 5 minutes">
        {lateness === null ? '–' : formatDuration(lateness.p99)}
      </Figure>
    </div>
  )
}

function InstallationFigures({
  installation: { backlog, shards, leader_epoch: epoch },
}: {
  readonly installation: NonNullable<StatusAnswer['installation']>
}) {
  if (backlog === null) return null
  return (
    <Panel title="All teams">
      <div class="figures">
        <Figure name="Ready" note="Estimated from a sample">
          {formatCount(backlog.ready)}
        </Figure>
        <Figure name="In flight">{formatCount(backlog.in_flight)}</Figure>
        <Figure name="Due soon" note="Within 20 s">
          {formatCount(backlog.due_soon)}
        </Figure>
        <Figure name="Oldest startable job">{ageText(backlog.oldest_startable_seconds)}</Figure>
        <Figure name="Shards">{formatCount(shards)}</Figure>
        <Figure name="Leader epoch">{epoch === null ? '–' : formatCount(epoch)}</Figure>
      </div>
    </Panel>
  )
}

function ageText(seconds: number | null): string {
  return seconds === null ? '–' : formatDuration(seconds * 1_000)
}
