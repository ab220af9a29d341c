import type { AuditEntry } from '../../../domain/access/audit-record.ts'
import type { Issue, IssueChange } from '../../../domain/issues/issue.ts'
import { ISSUE_QUIET_MS } from '../../../domain/limits.ts'
import { formatTimestamp } from '../../../domain/timestamp.ts'
import type { IssueFilter, IssueStore } from '../../../ports/issues/issue-store.ts'
import { AUDIT_ARGS, audited, DONE } from '../audit-log/audit-entry.ts'
import type { Engine } from '../../base/engine/engine.ts'
import { step } from '../../base/engine/step.ts'
import { formatCursor, type ListScope, parseCursor } from '../../base/names/list-cursor.ts'
import { placeOfIssue, readIssue, readIssues } from './issue-reads.ts'

export const CHANGE_ISSUE = step('change_issue', import.meta.url, {
  keys: ['issues', 'issuesDue', 'auditLog', 'auditCounts'],
  args: ['team', 'field', 'state', 'mutedUntil', 'dueMs', ...AUDIT_ARGS],
})

/** The letter of the state that a change leads to; issues.lua has them. */
const STATES: Readonly<Record<IssueChange, string>> = {
  acknowledge: 'a',
  mute: 'm',
  resolve: 'r',
  reopen: 'o',
}

type Change = Parameters<IssueStore['change']>[0]

export function createIssueStore(engine: Engine): IssueStore {
  return {
    list: (query) => listIssues(engine, query),
    get: (team, issueId) => readIssue(engine, team, issueId),
    change: (request) => changeIssue(engine, request),
  }
}

async function listIssues(
  engine: Engine,
  { team, filter, limit, cursor }: Parameters<IssueStore['list']>[0],
): Promise<{ issues: Issue[]; nextCursor: string | null } | 'bad_cursor'> {
  const scope: ListScope = ['issues', team, filter.states?.join(',') ?? null, filter.queue]
  const after = cursor === null ? null : parseCursor(scope, cursor)
  if (after === null && cursor !== null) return 'bad_cursor'
  const wanted = (await readIssues(engine, team)).filter((issue) => isWanted(issue, filter))
  const following = wanted
    .map((issue) => ({ issue, position: positionOf(issue) }))
    .filter(({ position }) => after === null || position < after)
    .toSorted((one, other) => (one.position > other.position ? -1 : 1))
  const page = following.slice(0, limit)
  const last = page.at(-1)
  const nextCursor = following.length > limit && last ? formatCursor(scope, last.position) : null
  return { issues: page.map(({ issue }) => issue), nextCursor }
}

/** Times are of 13 digits, so the text has their order. One that fails meanwhile is found on the first page. */
function positionOf({ lastAtMs, id }: Issue): string {
  return `${lastAtMs} ${id}`
}

function isWanted({ state, resource }: Issue, filter: IssueFilter): boolean {
  if (filter.states?.includes(state) === false) return false
  return filter.queue === null || (resource.kind === 'queue' && resource.name === filter.queue)
}

async function changeIssue(engine: Engine, request: Change): Promise<Issue | null> {
  const { team, issueId, change, mutedUntilMs } = request
  const place = placeOfIssue(engine, issueId)
  const before = await readIssue(engine, team, issueId)
  if (place === null || before === null) return null
  const { keys, field } = place
  const entry = entryOf(request, before)
  const found = await engine.runner.run(
    CHANGE_ISSUE.with({
      keys,
      issues: keys.issues(team),
      team,
      field,
      state: STATES[change],
      mutedUntil: mutedUntilMs ?? '',
      dueMs: engine.runner.redisNowMs(keys.shard) + ISSUE_QUIET_MS,
      ...audited(engine, keys, { team, entry }),
    }),
  )
  if (found === 0) return null
  engine.auditLines.note(team, entry, DONE)
  return readIssue(engine, team, issueId)
}

function entryOf({ change, issueId, mutedUntilMs, actor }: Change, { resource, state }: Issue): AuditEntry {
  const after = mutedUntilMs === null ? null : { muted_until: formatTimestamp(mutedUntilMs) }
  const before = after === null ? null : { state }
  return {
    actor,
    action: change,
    resource: { kind: 'issue', id: issueId, name: resource.name },
    before,
    after,
  }
}
