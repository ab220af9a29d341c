import type {
  EndedSessions,
  ListedSession,
  SessionList,
  TeamSessionList,
} from '../../../clients/typescript/src/client.ts'
import { type Column, itemView, listView, type View } from '../output/view.ts'

const OWN_COLUMNS: ReadonlyArray<Column<ListedSession>> = [
  { head: 'SESSION', cell: ({ id, is_current: isCurrent }) => (isCurrent ? `${id} (this one)` : id) },
  { head: 'DEVICE', cell: ({ device }) => device ?? 'not known', isMain: true },
  { head: 'FROM', cell: ({ address }) => address ?? 'not known' },
  { head: 'LOGGED IN', cell: ({ created_at: at }) => at },
  { head: 'LAST USED', cell: ({ last_used_at: at }) => at },
  { head: 'ENDS', cell: ({ expires_at: at }) => at, isWide: true },
  { head: 'TEAM', cell: ({ opened_for: team }) => team ?? 'not known', isWide: true },
]

export const SESSION_LIST = listView<SessionList, ListedSession>({
  kind: 'session',
  items: (list) => list.sessions,
  id: ({ id }) => id,
  columns: OWN_COLUMNS,
})

const OF_SUBJECTS = listView<TeamSessionList, ListedSession>({
  kind: 'session',
  items: (list) => list.sessions,
  id: ({ id }) => id,
  columns: [{ head: 'SUBJECT', cell: ({ kind, subject }) => `${kind}/${subject}` }, ...OWN_COLUMNS],
})

export const TEAM_SESSION_LIST: View<TeamSessionList> = {
  ...OF_SUBJECTS,
  text: (list, screen) =>
    OF_SUBJECTS.text(list, screen) + (list.is_complete ? '' : 'There are more: these logged in last.\n'),
}

export const ENDED_SESSIONS = itemView<EndedSessions>({
  kind: 'sessions',
  id: ({ ended }) => ended,
  lines: ({ ended }) => [ended === 1 ? '1 session ended' : `${ended} sessions ended`],
})
