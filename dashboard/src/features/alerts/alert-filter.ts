import type { Alert, AlertFilter, Inputs } from '../../../../clients/typescript/src/client.ts'
import { formatStamp } from '../../format/times.ts'
import { REASONS, TYPES } from './alert-text.ts'

export type Values = Readonly<Record<string, string>>
interface FilterChip {
  readonly name: string
  readonly label: string
  readonly value: string
}
type Query = Omit<Inputs['listAlerts'], 'limit' | 'cursor'>

const NAMES = ['type', 'reason', 'resource_kind', 'resource_id', 'read', 'after', 'before'] as const
const KINDS: Values = { queue: 'Queues', cron: 'Crons', team: 'The team' }

/** The filter that an address asks for; what is no filter is left out. The server judges the values. */
export function filterOf(values: Values): Query {
  const given = NAMES.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]] as const]))
  return Object.fromEntries(given) as Query
}

/** The same for a body, where numbers and truths are no texts. */
export function bodyOf(filter: Query): AlertFilter {
  // Values from an address are texts.
  const { resource_id: id, read } = filter as Values
  return {
    ...filter,
    ...(id !== undefined && { resource_id: Number(id) }),
    ...(read !== undefined && { read: read === 'true' }),
  } as AlertFilter
}

/**
 * The filter for those that match and that somebody has seen: what is raised later, also once more in a record that is
 * shown, stays as it is.
 */
export function seenOf(filter: Query, rows: readonly Alert[]): Query {
  const lastMs = Math.max(...rows.map(({ last_at: last }) => Date.parse(last)))
  return { ...filter, before: new Date(lastMs + 1).toISOString() }
}

/** @param nameOf the name of a queue or cron where it is known @param zone of the times, by its IANA name */
export function chipsOf(
  values: Values,
  nameOf: (kind: string | undefined, id: string) => string | undefined,
  zone: string,
): FilterChip[] {
  const { type, reason, resource_kind: kind, resource_id: id, read, after, before } = values
  const stamp = (text: string): string =>
    Number.isNaN(Date.parse(text)) ? text : formatStamp(Date.parse(text), zone)
  const chip = (name: string, label: string, value: string | undefined): FilterChip[] =>
    value === undefined ? [] : [{ name, label, value }]
  const labels: Values = { queue: 'Queue', cron: 'Cron' }
  return [
    ...chip('type', 'Type', type && (TYPES[type as Alert['type']]?.label ?? type)),
    ...chip('reason', 'Reason', reason && (REASONS[reason as Alert['reason']] ?? reason)),
    ...(id === undefined
      ? chip('resource_kind', 'About', kind && (KINDS[kind] ?? kind))
      : chip('resource_id', labels[kind ?? ''] ?? 'About', nameOf(kind, id) ?? `with id ${id}`)),
    ...chip('read', 'Show', read && (read === 'false' ? 'unread' : 'read')),
    ...chip('after', 'Last raised from', after && stamp(after)),
    ...chip('before', 'Last raised before', before && stamp(before)),
  ]
}
