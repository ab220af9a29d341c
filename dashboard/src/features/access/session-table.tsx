import type { UseQueryResult } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import type { ListedSession } from '../../../../clients/typescript/src/client.ts'
import { confirming, useChange } from '../../editing/changes.ts'
import { useRead } from '../../api/reads.ts'
import { visible } from '../../format/visible.ts'
import { Badge } from '../../ui/text/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/overlays/dialog.tsx'
import { QueryStatus } from '../../ui/page/empty.tsx'
import { Panel } from '../../ui/page/page.tsx'
import { type Column, Table } from '../../ui/tables/table.tsx'
import { Time } from '../../ui/text/time.tsx'
import { Verbatim } from '../../ui/text/verbatim.tsx'
import './access.css'

/** Where whoever looks at the page is logged in. */
export function OwnSessions() {
  const read = useRead('listSessions', {}, { isLive: false })
  return <Sessions title="Your sessions" read={read} isOwn />
}

/** Who is logged in for the team; for admins. */
export function TeamSessions() {
  const read = useRead('listTeamSessions', {}, { isLive: false })
  const title =
    read.data?.is_complete === false ? 'The sessions that were opened last' : 'Sessions of the team'
  return <Sessions title={title} read={read} />
}

interface SessionsProps {
  readonly title: string
  readonly read: UseQueryResult<{ readonly sessions: readonly ListedSession[] }>
  readonly isOwn?: boolean
}

function Sessions({ title, read, isOwn = false }: SessionsProps) {
  const [doomed, setDoomed] = useState<Doomed | null>(null)
  const sessions = read.data?.sessions ?? []
  const columns = columnsFor((session) => setDoomed({ session }))
  const subject: Column<ListedSession> = {
    head: 'Token or user',
    isWide: true,
    cell: (session) => <Subject session={session} onEndAll={() => setDoomed({ session, isWhole: true })} />,
  }
  return (
    <Panel isFlush title={title}>
      <QueryStatus query={read} what="sessions" />
      {sessions.length > 0 && (
        <Table
          caption={title}
          rows={sessions}
          columns={isOwn ? columns : [subject, ...columns]}
          keyOf={({ subject: name, id }) => `${name} ${id}`}
        />
      )}
      {doomed !== null && <End {...doomed} isOwn={isOwn} onClose={() => setDoomed(null)} />}
    </Panel>
  )
}

function columnsFor(onEnd: (session: ListedSession) => void): ReadonlyArray<Column<ListedSession>> {
  return [
    {
      head: 'Device',
      isWide: true,
      cell: ({ device, is_current: isCurrent }) => (
        <>
          {device ?? <span class="soft">Not known</span>}{' '}
          {isCurrent && <Badge tone="good">This browser</Badge>}
        </>
      ),
    },
    {
      head: 'From',
      cell: ({ address }) =>
        address === null ? <span class="soft">Not known</span> : <span class="mono">{address}</span>,
    },
    { head: 'Logged in', align: 'end', isExtra: true, cell: ({ created_at: at }) => <Time at={at} /> },
    { head: 'Last used', align: 'end', cell: ({ last_used_at: at }) => <Time at={at} /> },
    {
      head: 'End',
      align: 'end',
      cell: (session) =>
        !session.is_current && (
          <Button
            look="bare"
            icon="logout"
            label={`End the session on ${placeOf(session)}`}
            onClick={() => onEnd(session)}
          />
        ),
    },
  ]
}

function Subject({
  session: { kind, subject },
  onEndAll,
}: {
  readonly session: ListedSession
  onEndAll(): void
}) {
  return (
    <span class="token-name">
      <strong title={visible(subject)}>
        <Verbatim text={subject} />
      </strong>
      <small class="soft">
        {kind === 'token' ? 'Token' : 'User'} ·{' '}
        <Button look="bare" onClick={onEndAll}>
          End all<span class="visually-hidden"> sessions of {visible(subject)}</span>
        </Button>
      </small>
    </span>
  )
}

/** As a sentence names it. */
function placeOf({ device, address }: ListedSession): string {
  const where = address === null ? '' : ` at ${address}`
  return `${device ?? 'a device that is not known'}${where}`
}

interface Doomed {
  readonly session: ListedSession
  /** Whether all sessions of its token or user end. */
  readonly isWhole?: boolean
}

function End({
  session,
  isWhole = false,
  isOwn,
  onClose,
}: Doomed & { readonly isOwn: boolean; onClose(): void }) {
  const { kind, subject, id } = session
  const end = useChange(
    async (api) => {
      if (isOwn) await api.endOneSession({ session_id: id })
      else await api.endTeamSessions({ kind, subject, ...(!isWhole && { id }) })
    },
    {
      isFaultShown: true,
      said: () => (isWhole ? 'Sessions ended' : 'Session ended'),
      onDone: onClose,
    },
  )
  return (
    <Confirm
      title={isWhole ? 'End all these sessions?' : 'End a session?'}
      verb={isWhole ? 'End the sessions' : 'End the session'}
      {...confirming(end)}
      onClose={onClose}
    >
      <p>
        <strong class="token-doomed">{visible(subject)}</strong> has to log in again
        {isWhole ? ' everywhere' : ` on ${placeOf(session)}`}.
      </p>
      {!isOwn && (
        <p>
          {kind === 'token'
            ? 'The token can log in again until you revoke it.'
            : 'They can log in again as long as they have a role here.'}
        </p>
      )}
    </Confirm>
  )
}
