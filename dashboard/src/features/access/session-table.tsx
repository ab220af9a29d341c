import { useState } from 'preact/hooks'
import type { ListedSession } from '../../../../clients/typescript/src/client.ts'
import { confirming, useChange } from '../../editing/changes.ts'
import { useRead } from '../../api/reads.ts'
import { plural } from '../../format/numbers.ts'
import { visible } from '../../format/visible.ts'
import { Badge } from '../../ui/text/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/overlays/dialog.tsx'
import { Empty, QueryStatus } from '../../ui/page/empty.tsx'
import { Panel } from '../../ui/page/page.tsx'
import { type Column, Table } from '../../ui/tables/table.tsx'
import { Time } from '../../ui/text/time.tsx'
import { Verbatim } from '../../ui/text/verbatim.tsx'
import './access.css'

/** Where whoever looks at the page is logged in. */
export function OwnSessions() {
  const read = useRead('listSessions', {}, { isLive: false })
  const [doomed, setDoomed] = useState<ListedSession | null>(null)
  const sessions = read.data?.sessions ?? []
  return (
    <Panel isFlush title="Your sessions">
      <QueryStatus query={read} what="your sessions" />
      {sessions.length > 0 && (
        <Table
          caption="Your sessions"
          rows={sessions}
          columns={columnsFor(setDoomed)}
          keyOf={({ id }) => id}
        />
      )}
      {doomed !== null && <EndOwn session={doomed} onClose={() => setDoomed(null)} />}
    </Panel>
  )
}

/** Who is logged in for the team; for admins. */
export function TeamSessions() {
  const read = useRead('listTeamSessions', {}, { isLive: false })
  const [doomed, setDoomed] = useState<Doomed | null>(null)
  const sessions = read.data?.sessions ?? []
  const subject: Column<ListedSession> = {
    head: 'Token or user',
    isWide: true,
    cell: (session) => (
      <Subject session={session} onEndAll={() => setDoomed({ session, isWhole: true, of: sessions })} />
    ),
  }
  const columns = columnsFor((session) => setDoomed({ session, isWhole: false, of: sessions }))
  return (
    <Panel
      isFlush
      title={read.data?.is_complete === false ? 'The sessions that were opened last' : 'Sessions of the team'}
    >
      <QueryStatus query={read} what="sessions of the team" />
      {read.isSuccess && sessions.length === 0 && (
        <Empty icon="user" title="Nobody is logged in">
          <p>Sessions of browsers are listed here. Programs use tokens.</p>
        </Empty>
      )}
      {sessions.length > 0 && (
        <Table
          caption="Sessions of the team"
          rows={sessions}
          columns={[subject, ...columns]}
          keyOf={({ kind, subject, id }) => `${kind} ${subject} ${id}`}
        />
      )}
      {doomed !== null && <EndOfTeam {...doomed} onClose={() => setDoomed(null)} />}
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

function EndOwn({ session, onClose }: { readonly session: ListedSession; onClose(): void }) {
  const end = useChange((api) => api.endOneSession({ session_id: session.id }), {
    isFaultShown: true,
    said: () => 'Session ended',
    onDone: onClose,
  })
  return (
    <Confirm title="End a session?" verb="End the session" {...confirming(end)} onClose={onClose}>
      <p>
        The browser on <strong class="token-doomed">{placeOf(session)}</strong> has to log in again.
      </p>
    </Confirm>
  )
}

interface Doomed {
  readonly session: ListedSession
  /** Whether all sessions of its token or user end. */
  readonly isWhole: boolean
  readonly of: readonly ListedSession[]
}

function EndOfTeam({ session, isWhole, of, onClose }: Doomed & { onClose(): void }) {
  const { kind, subject, id } = session
  const end = useChange((api) => api.endTeamSessions({ kind, subject, ...(!isWhole && { id }) }), {
    isFaultShown: true,
    said: ({ ended }) => `${plural(ended, 'session')} ended`,
    onDone: onClose,
  })
  const count = of.filter((one) => one.kind === kind && one.subject === subject).length
  return (
    <Confirm
      title={isWhole ? 'End all these sessions?' : 'End a session?'}
      verb={isWhole ? 'End the sessions' : 'End the session'}
      {...confirming(end)}
      onClose={onClose}
    >
      <p>
        {isWhole ? `${plural(count, 'session')} of ` : `The session on ${placeOf(session)} of `}
        <strong class="token-doomed">{visible(subject)}</strong> {isWhole && count !== 1 ? 'end' : 'ends'}.
      </p>
      <p>
        {kind === 'token'
          ? 'The token can log in again until you revoke it.'
          : 'They can log in again as long as they have a role here.'}
      </p>
    </Confirm>
  )
}
