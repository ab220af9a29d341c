/** What the overview shows first: open issues, a sentence each. */
import type { Issue } from '../../../../clients/typescript/src/client.ts'
import { useRead } from '../../api/reads.ts'
import { at } from '../../routing/paths.ts'
import { Panel } from '../../ui/page/page.tsx'
import { Time } from '../../ui/text/time.tsx'
import { Replay } from './issue-actions.tsx'
import { countOf, failureOf } from './issue-text.ts'
import './issues.css'
import { Verbatim } from '../../ui/text/verbatim.tsx'

const SHOWN_MAX = 5

export function OpenIssues() {
  const read = useRead('listIssues', { state: 'open', limit: SHOWN_MAX + 1 })
  const issues = read.data?.issues ?? []
  if (issues.length === 0) return null
  return (
    <Panel
      title="Open issues"
      isFlush
      actions={issues.length > SHOWN_MAX && <a href={at('/issues', { state: 'open' })}>All open issues</a>}
    >
      <ul class="issues-now">
        {issues.slice(0, SHOWN_MAX).map((issue) => (
          <li key={issue.id}>
            <Sentence issue={issue} />
            <Replay issue={issue} />
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function Sentence({ issue }: { readonly issue: Issue }) {
  return (
    <a href={at(`/issues/${issue.id}`)}>
      <Verbatim text={issue.resource.name} />: <Verbatim text={failureOf(issue)} />, {countOf(issue)} since{' '}
      <Time at={issue.opened_at} />
    </a>
  )
}
