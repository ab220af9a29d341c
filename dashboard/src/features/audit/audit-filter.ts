import type { Inputs } from '../../../../clients/typescript/src/client.ts'
import { formatStamp } from '../../format/times.ts'

export type AuditFilter = Omit<Inputs['listAuditRecords'], 'limit' | 'cursor'>
type Name = keyof AuditFilter
type Values = Readonly<Record<string, string>>

export const KINDS: readonly string[] =
  'job queue cron window alert bulk token secret team channel session'.split(' ')

/** In the order in which they are shown. */
const LABELS: Readonly<Record<Name, string>> = {
  actor: 'By',
  action: 'Action',
  resource_kind: 'Of',
  resource: 'Name or id',
  after: 'Since',
  before: 'Before',
}
const NAMES = Object.keys(LABELS) as Name[]

/** The filter that an address asks for; what is no filter is left out. The server judges the values. */
export function filterOf(values: Values): AuditFilter {
  return Object.fromEntries(
    NAMES.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
  ) as AuditFilter
}

export interface AuditChip {
  readonly name: Name
  readonly label: string
  readonly value: string
}

/** @param zone of the times, by its IANA name */
export function chipsOf(values: Values, zone: string): AuditChip[] {
  return NAMES.flatMap((name) => {
    const value = values[name]
    return value === undefined ? [] : [{ name, label: LABELS[name], value: shown(name, value, zone) }]
  })
}

function shown(name: Name, value: string, zone: string): string {
  if (name !== 'after' && name !== 'before') return value
  const atMs = Date.parse(value)
  return Number.isNaN(atMs) ? value : formatStamp(atMs, zone)
}
