import type { BulkFilter, Inputs } from '../../../clients/typescript/src/client.ts'
import { formatStamp } from './times.ts'

type Query = Omit<Inputs['listJobs'], 'limit' | 'cursor'>
export type FilterName = keyof Query
export type FilterValues = Readonly<Record<string, string>>

/** In the order in which they are shown. */
const LABELS: Readonly<Record<FilterName, string>> = {
  status: 'Status',
  final_status: 'Final status',
  queue: 'Queue',
  failure_reason: 'Failed for',
  response_status: 'Answered with',
  host: 'Host',
  tag: 'Tag',
  cron_id: 'Cron',
  text: 'Text',
  created_after: 'Created from',
  created_before: 'Created before',
  scheduled_after: 'Due from',
  scheduled_before: 'Due before',
  ended_after: 'Ended from',
  ended_before: 'Ended before',
}
const NAMES = Object.keys(LABELS) as FilterName[]
const NUMBERS: ReadonlySet<string> = new Set<FilterName>(['response_status', 'cron_id'])
const WORDS: Readonly<Record<string, string>> = {
  processing: 'in flight',
  completed: 'succeeded',
  dead_lettered: 'dead letters',
}

/** The filter that an address asks for; what is no filter is left out. The server judges the values. */
export function filterOf(values: FilterValues): Query {
  const given = NAMES.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]] as const]))
  return Object.fromEntries(given) as Query
}

/** The same for the body of a bulk, where numbers are numbers. */
export function bulkFilterOf(values: FilterValues): BulkFilter {
  const given = Object.entries(filterOf(values)) as Array<[FilterName, string]>
  return Object.fromEntries(
    given.map(([name, value]) => [name, NUMBERS.has(name) ? Number(value) : value]),
  ) as BulkFilter
}

/** A filter of the API as an address has it. */
export function valuesOf(filter: BulkFilter): FilterValues {
  const given = Object.entries(filter) as Array<[FilterName, string | number]>
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]))
}

export interface FilterChip {
  readonly name: FilterName
  readonly label: string
  readonly value: string
}

/** @param zone of the times, by its IANA name */
export function chipsOf(values: FilterValues, zone: string): FilterChip[] {
  return NAMES.flatMap((name) => {
    const value = values[name]
    return value === undefined ? [] : [{ name, label: LABELS[name], value: shownValue(name, value, zone) }]
  })
}

function shownValue(name: FilterName, value: string, zone: string): string {
  if (/_(?:after|before)$/.test(name)) {
    const atMs = Date.parse(value)
    return Number.isNaN(atMs) ? value : formatStamp(atMs, zone)
  }
  if (name === 'status' || name === 'final_status' || name === 'failure_reason') {
    return WORDS[value] ?? value.replaceAll('_', ' ')
  }
  return value
}
