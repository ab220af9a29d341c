import type { AuditRecord } from '../../../../clients/typescript/src/client.ts'
import { at } from '../../app/paths.ts'
import { plural } from '../../format/numbers.ts'
import { Badge } from '../../ui/badge.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import './audit.css'
import { type Difference, differencesOf } from './difference.ts'
import { sentenceOf } from './sentence.ts'

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
  const href = placeOf(record)
  const made = typeof record.after?.['job_id'] === 'number' ? record.after['job_id'] : null
  return (
    <div class="audit-what">
      <span>
        <strong>
          <bdi>{actor}</bdi>
        </strong>{' '}
        {before}{' '}
        {href === null || thing === '' ? <bdi>{thing}</bdi> : <a href={href}>{<bdi>{thing}</bdi>}</a>}
        {/^[:,]/.test(after) ? after : ` ${after}`}
        {made !== null && (
          <>
            {' '}
            as <a href={at(`/jobs/${made}`)}>job {made}</a>
          </>
        )}
      </span>
      <Differences all={differencesOf(record)} />
    </div>
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
  const places = { job: '/jobs', queue: '/queues', cron: '/crons', bulk: '/bulk' } as const
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
          <bdi>{before}</bdi>
        </del>
      )}
      {before !== null && after !== null && ' → '}
      {after !== null && (
        <ins>
          <bdi>{after}</bdi>
        </ins>
      )}
    </div>
  )
}
