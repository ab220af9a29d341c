import type { BulkFilter, Inputs } from '../../../../clients/typescript/src/client.ts'
import { formatStamp } from '../../format/times.ts'

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
  bulk_id: 'Bulk action',
  text: 'Text',
  created_after: 'Created from',
  created_before: 'Created before',
  scheduled_after: 'Due from',
  scheduled_before: 'Due before',
  ended_after: 'Ended from',
  ended_before: 'Ended before',
  not_queue: 'Not in queue',
  not_failure_reason: 'Not failed for',
  not_response_status: 'Not answered with',
  not_host: 'Not at host',
  slower_than_ms: 'Slower than',
  order: 'Order',
}
const NAMES = Object.keys(LABELS) as FilterName[]
const NUMBERS: ReadonlySet<string> = new Set<FilterName>(['response_status', 'cron_id', 'bulk_id'])
const WORDS: Readonly<Record<string, string>> = {
  processing: 'in flight',
  completed: 'succeeded',
  dead_lettered: 'dead letters',
}

/** What only a list takes, and no bulk. */
const OF_LISTS: ReadonlySet<string> = new Set<FilterName>([
  'bulk_id',
  'not_queue',
  'not_failure_reason',
  'not_response_status',
  'not_host',
  'slower_than_ms',
])
const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'dead_lettered'])
const ORDERED_BY_END: readonly FilterName[] = [
  'final_status',
  'failure_reason',
  'response_status',
  'host',
  'slower_than_ms',
  'created_after',
  'created_before',
  'scheduled_after',
  'scheduled_before',
  'ended_after',
  'ended_before',
]

/** Whether a bulk can act on all that an address asks for. */
export function isForBulk(values: FilterValues): boolean {
  const given = NAMES.filter((name) => values[name] !== undefined)
  return !given.some((name) => OF_LISTS.has(name)) && values['status']?.includes(',') !== true
}

/** In which order jobs of several queues are listed. */
export type JobOrder = 'newest' | 'oldest' | 'queue'

/** The order of a list, as the API chooses it where the address does not; null = that of the bulk that made the jobs. */
export function orderOf(values: FilterValues): JobOrder | null {
  const { order, status = '' } = values
  if (values['bulk_id'] !== undefined) return null
  if (order === 'newest' || order === 'oldest' || order === 'queue') return order
  const isEnded = status.split(',').some((one) => ENDED.has(one))
  return isEnded || ORDERED_BY_END.some((name) => values[name] !== undefined) ? 'newest' : 'queue'
}

/** What a click on the head of the times chooses: the newest first, and with the next click the oldest. */
export function orderByTime(is: JobOrder): 'newest' | 'oldest' {
  return is === 'newest' ? 'oldest' : 'newest'
}

/** The filter that an address asks for; what is no filter is left out. The server judges the values. */
export function filterOf(values: FilterValues): Query {
  const names = NAMES.filter((name) => name !== 'order' || orderOf(values) !== null)
  const given = names.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]] as const]))
  return Object.fromEntries(given) as Query
}

/** The same for the body of a bulk, where numbers are numbers. */
export function bulkFilterOf(values: FilterValues): BulkFilter {
  const given = Object.entries(filterOf(values)) as Array<[FilterName, string]>
  const asked = given.filter(([name]) => name !== 'order')
  return Object.fromEntries(
    asked.map(([name, value]) => [name, NUMBERS.has(name) ? Number(value) : value]),
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
    return value === undefined || name === 'order'
      ? []
      : [{ name, label: LABELS[name], value: shownValue(name, value, zone) }]
  })
}

/** A span of time back from now. */
const SPAN = /^\d+[smhdw]$/

function shownWord(word: string): string {
  return WORDS[word] ?? word.replaceAll('_', ' ')
}

function shownValue(name: FilterName, value: string, zone: string): string {
  if (name === 'slower_than_ms') return `${value} ms`
  if (/_(?:after|before)$/.test(name)) {
    if (SPAN.test(value)) return `${value} ago`
    const atMs = Date.parse(value)
    return Number.isNaN(atMs) ? value : formatStamp(atMs, zone)
  }
  if (name === 'status') return value.split(',').map(shownWord).join(' or ')
  if (name === 'final_status' || name.endsWith('failure_reason')) return shownWord(value)
  return value
}
