import type { Issue } from '../../../../src/domain/issues/issue.ts'
import type { IssueStore } from '../../../../src/ports/issues/issue-store.ts'

const AT_MS = Date.UTC(2026, 10, 21, 10, 0, 0)

export const ISSUE_ID = '7-9f86d08188'

export function fakeIssues(): IssueStore {
  const known = (team: string, id: string): boolean => team === 'default' && id === ISSUE_ID
  const state = { acknowledge: 'acknowledged', mute: 'muted', resolve: 'resolved', reopen: 'open' } as const
  return {
    list: ({ team, cursor }) => {
      const page = { issues: team === 'default' ? [anIssue()] : [], nextCursor: 'next' }
      return Promise.resolve(cursor === null ? page : 'bad_cursor')
    },
    get: (team, id) => Promise.resolve(known(team, id) ? anIssue() : null),
    change: ({ team, issueId, change, mutedUntilMs }) =>
      Promise.resolve(known(team, issueId) ? anIssue({ state: state[change], mutedUntilMs }) : null),
  }
}

export function anIssue(change: Partial<Issue> = {}): Issue {
  return {
    id: ISSUE_ID,
    resource: { kind: 'queue', id: 7, name: 'emails' },
    failureReason: 'http_server_error',
    responseStatus: 503,
    host: 'mail.example.com',
    state: 'open',
    mutedUntilMs: null,
    firstAtMs: AT_MS - 7_200_000,
    openedAtMs: AT_MS - 3_600_000,
    lastAtMs: AT_MS,
    sampleJobId: 16,
    hours: [
      { atMs: AT_MS - 3_600_000, failed: 2, deadLettered: 0 },
      { atMs: AT_MS, failed: 5, deadLettered: 3 },
    ],
    ...change,
  }
}
