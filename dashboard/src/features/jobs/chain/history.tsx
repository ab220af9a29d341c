import type { AuditRecord } from '../../../../../clients/typescript/src/client.ts'
import { useRead } from '../../../api/reads.ts'
import { at } from '../../../routing/paths.ts'
import { Panel } from '../../../ui/page/page.tsx'
import { Time } from '../../../ui/text/time.tsx'
import './history.css'

const SHOWN_MAX = 20

/** What people and scripts have done to a chain; nothing where nobody has. */
export function History({ jobIds }: { readonly jobIds: readonly number[] }) {
  const [first = 0, last] = jobIds
  const ofFirst = useRead('listAuditRecords', {
    resource_kind: 'job',
    resource: String(first),
    limit: SHOWN_MAX,
  })
  const ofLast = useRead(
    'listAuditRecords',
    { resource_kind: 'job', resource: String(last ?? first), limit: SHOWN_MAX },
    { isWanted: last !== undefined },
  )
  const records = [...(ofLast.data?.records ?? []), ...(ofFirst.data?.records ?? [])]
  const known = new Map(records.map((record) => [record.id, record]))
  if (known.size === 0) return null
  return (
    <Panel title="Done by hand" isFlush>
      <ul class="history">
        {[...known.values()].map((record) => (
          <Entry key={record.id} record={record} jobIds={jobIds} />
        ))}
      </ul>
    </Panel>
  )
}

const WORDS: Readonly<Record<string, string>> = {
  fire: 'Fired',
  retry: 'Retried',
  replay: 'Replayed',
  duplicate: 'Duplicated',
}

function Entry({ record, jobIds }: { readonly record: AuditRecord; readonly jobIds: readonly number[] }) {
  const { action, actor, via, outcome, resource, count } = record
  // A record that tells of several jobs has what was made of the first.
  const after = jobIds.some((id) => id === resource.id) ? record.after : null
  const made = typeof after?.['job_id'] === 'number' ? after['job_id'] : null
  const changed = Array.isArray(after?.['changed']) ? (after['changed'] as unknown[]).map(String) : []
  return (
    <li>
      <span>
        {WORDS[action] ?? action}
        {made !== null && (
          <>
            {' '}
            as <a href={at(`/jobs/${made}`)}>job {made}</a>
          </>
        )}
        {changed.length > 0 && `, with another ${changed.join(', ')}`}
        {count > 1 && `, among ${count} jobs`}
        {outcome !== 'done' && ` (${outcome})`}
      </span>
      <span class="soft">
        {actor.name ?? 'unknown'} by {via}, <Time at={record.at} />
      </span>
    </li>
  )
}
