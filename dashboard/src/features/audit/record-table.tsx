import type { AuditRecord } from '../../../../clients/typescript/src/client.ts'
import { at } from '../../routing/paths.ts'
import { plural } from '../../format/numbers.ts'
import { Badge } from '../../ui/text/badge.tsx'
import { type Column, Table } from '../../ui/tables/table.tsx'
import { Time } from '../../ui/text/time.tsx'
import './audit.css'
import { type Difference, differencesOf } from './difference.ts'
import { isOfMany, sentenceOf } from './sentence.ts'
import { Verbatim } from '../../ui/text/verbatim.tsx'

export function RecordTable({ records }: { readonly records: readonly AuditRecord[] }) {
  return (
    <div class="audit">
      <Table caption="Audit log" rows={records} columns={COLUMNS} keyOf={({ id }) => id} />
    </div>
  )
}

const COLUMNS: ReadonlyArray<Column<AuditRecord>> = [
  {
    head: 'When',
    cell: (record) => (
      <span class="audit-when">
        <Time at={record.at} form="stamp" />
      </span>
    ),
  },
  { head: 'What', isWide: true, cell: (record) => <What record={record} /> },
  { head: 'Outcome', isExtra: true, cell: (record) => <Outcome record={record} /> },
  { head: 'By way of', isExtra: true, cell: ({ via }) => via },
  {
    head: 'Address',
    isExtra: true,
    cell: ({ actor }) => <span class="audit-address number">{actor.address ?? '–'}</span>,
  },
]

function Outcome({ record: { outcome } }: { readonly record: AuditRecord }) {
  if (outcome === 'done') return <span class="soft">Done</span>
  if (outcome === 'refused') return <Badge tone="warn">Refused</Badge>
  return (
    <span title="A process or the Kubernetes API was lost before it was known. Compare with the thing itself.">
      <Badge tone="bad">Unknown</Badge>
    </span>
  )
}

function What({ record }: { readonly record: AuditRecord }) {
  const { actor, before, thing, after } = sentenceOf(record)
  const href = isOfMany(record) ? null : placeOf(record)
  const job = record.count === 1 ? record.after?.['job_id'] : null
  const made = typeof job === 'number' ? job : null
  return (
    <div class="audit-what">
      <span>
        <strong>
          <Verbatim text={actor} />
        </strong>{' '}
        {before}
        {thing === '' ? '' : ' '}
        {href === null || thing === '' ? (
          <Verbatim text={thing} />
        ) : (
          <a href={href}>{<Verbatim text={thing} />}</a>
        )}
        {/^[:,]/.test(after) ? after : ` ${after}`}
        {made !== null && (
          <>
            {' '}
            as <a href={at(`/jobs/${made}`)}>job {made}</a>
          </>
        )}
      </span>
      <Differences all={differencesOf(record)} />
      <Several record={record} />
    </div>
  )
}

/** Until when the same was done, and to which jobs first. */
function Several({ record }: { readonly record: AuditRecord }) {
  const { count, ids, last_at: lastAt, resource, action } = record
  if (count === 1) return null
  const until = (
    <>
      until <Time at={lastAt} form="stamp" />
    </>
  )
  if (resource.kind !== 'job' || action === 'delete') return <div class="audit-field soft">{until}</div>
  return (
    <details class="audit-more">
      <summary>
        {until}: {ids.length < count ? `the first ${ids.length}` : 'all of them'}
      </summary>
      <ul class="audit-ids">
        {ids.map((id) => (
          <li key={id}>
            <a class="number" href={at(`/jobs/${id}`)}>
              {id}
            </a>
          </li>
        ))}
      </ul>
    </details>
  )
}

/** Where the thing is shown; null = nowhere, or no longer. */
function placeOf({ resource: { kind, id }, action }: AuditRecord): string | null {
  if (kind === 'token') return at('/access', { tab: 'tokens' })
  if (kind === 'secret') return at('/access', { tab: 'secrets' })
  if (kind === 'channel') return at('/notifications')
  if (kind === 'window') return at('/maintenance')
  if (id === null || action === 'delete') return null
  if (kind === 'alert') return at('/alerts')
  const places = { job: '/jobs', queue: '/queues', cron: '/crons', bulk: '/bulk', issue: '/issues' } as const
  return kind === 'team' || kind === 'session' ? null : at(`${places[kind]}/${id}`)
}

/** One is shown at once; more can be unfolded. */
function Differences({ all }: { readonly all: readonly Difference[] }) {
  const [first] = all
  if (first === undefined) return null
  if (all.length === 1) return <OneDifference difference={first} />
  return (
    <details class="audit-more">
      <summary>
        {plural(all.length, 'field')}: {all.map(({ field }) => field).join(', ')}
      </summary>
      {all.map((difference) => (
        <OneDifference key={difference.field} difference={difference} />
      ))}
    </details>
  )
}

function OneDifference({ difference: { field, before, after } }: { readonly difference: Difference }) {
  return (
    <div class="audit-field">
      <span class="soft">{field}</span>{' '}
      {before !== null && (
        <del>
          <Verbatim text={before} />
        </del>
      )}
      {before !== null && after !== null && ' → '}
      {after !== null && (
        <ins>
          <Verbatim text={after} />
        </ins>
      )}
    </div>
  )
}
