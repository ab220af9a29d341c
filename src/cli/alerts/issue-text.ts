import type { Issue, IssueList } from '../../../clients/typescript/src/client.ts'
import { itemView, listView } from '../output/view.ts'

/** One line per issue. */
export const ISSUE_LIST = listView<IssueList, Issue>({
  kind: 'issue',
  items: (list) => list.issues,
  id: (issue) => issue.id,
  columns: [
    { head: 'ISSUE', cell: (issue) => issue.id },
    { head: 'STATE', cell: (issue) => issue.state },
    { head: 'FAILURE', cell: failureText },
    { head: 'RESOURCE', cell: resourceText },
    { head: 'COUNT', cell: (issue) => String(issue.count) },
    { head: 'DEAD', cell: (issue) => String(issue.dead_lettered) },
    { head: 'SINCE', cell: (issue) => issue.opened_at },
    { head: 'LAST', cell: (issue) => issue.last_at },
    { head: 'JOB', cell: (issue) => String(issue.sample_job_id), isWide: true },
  ],
})

export const ISSUE_PAGE = itemView<Issue>({ kind: 'issue', id: (issue) => issue.id, lines: issueLines })

function issueLines(issue: Issue): readonly string[] {
  const { id, state, muted_until: until, count, dead_lettered: dead } = issue
  return [
    `issue ${id}  ${state}${until === null ? '' : ` until ${until}`}`,
    resourceText(issue),
    failureText(issue),
    `${count} failed, ${dead} dead letters, in the last 7 days`,
    `first ${issue.first_at}, open since ${issue.opened_at}, last ${issue.last_at}`,
    `job ${issue.sample_job_id}`,
    ...issue.by_hour.map(
      ({ at, failed, dead_lettered: ofHour }) => `${at}  ${failed} failed, ${ofHour} dead`,
    ),
  ]
}

/** Such as `503 from api.example.com`; failures that are counted together have neither. */
function failureText({ failure_reason: reason, response_status: status, host }: Issue): string {
  if (reason === null) return 'other failures'
  return `${status ?? reason}${host === null ? '' : ` from ${host}`}`
}

function resourceText({ resource: { kind, id, name } }: Issue): string {
  return id === null ? `${kind} ${name}` : `${kind} ${name} (${id})`
}
