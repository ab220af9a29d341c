import { JOB_ORDERS, type JobFilter, type JobOrder, type ListedStatus } from '../../domain/jobs/job-filter.ts'
import { FAILURE_REASONS } from '../../domain/jobs/job.ts'
import { QUEUE_NAME_CHARACTERS_MAX } from '../../domain/limits.ts'
import { singleProblem } from '../fields/field-errors.ts'
import type { FieldReader } from '../fields/field-reader.ts'
import { prohibits, selectedInvalid, tooManyQueuesToOrder } from '../fields/validation-texts.ts'
import { JOB_FILTERS, readFilterBeside, readHost, readJobFilter, STATUSES } from './job-query.ts'
import { type Page, PAGE_PARAMETERS, type QueryResult, readPage, readQuery } from './list-query.ts'

/** No call lasts a day. */
const SLOWER_THAN_MS_MAX = 86_400_000
/**
 * What only the list takes, and no bulk: an executor of the version before would pass over it and act on all other jobs too.
 */
const LIST_FILTERS = [
  'bulk_id',
  'not_queue',
  'not_failure_reason',
  'not_response_status',
  'not_host',
  'slower_than_ms',
  'order',
] as const
const PARAMETERS: ReadonlySet<string> = new Set([...JOB_FILTERS, ...LIST_FILTERS, ...PAGE_PARAMETERS])

/** The query of `GET /api/jobs`. An empty value is a mistake: with an unset variable, a script would list everything. */
export function readJobQuery(search: string, nowMs: number): QueryResult<JobListRequest> {
  return readQuery(search, { known: PARAMETERS, nowMs }, (query) => {
    const filter = readListFilter(query)
    const order = query.choice('order', JOB_ORDERS)
    const bulkId = query.integer('bulk_id', 0, Number.MAX_SAFE_INTEGER)
    if (bulkId === null) return { filter, order, ...readPage(query) }
    // The jobs of a bulk are read from its own list, in its order and without their payloads.
    if (filter.text !== null) query.refuse('bulk_id', (path) => prohibits(path, 'text'))
    if (order !== null) query.refuse('bulk_id', (path) => prohibits(path, 'order'))
    return { filter: { ...filter, bulkId }, order, ...readPage(query) }
  })
}

function readListFilter(fields: FieldReader): JobFilter {
  const statuses = readStatuses(fields)
  const filter = statuses === null ? readJobFilter(fields) : { ...readFilterBeside(fields), status: null }
  const excluded = {
    queue: fields.text('not_queue', QUEUE_NAME_CHARACTERS_MAX),
    failureReason: fields.choice('not_failure_reason', FAILURE_REASONS),
    responseStatus: fields.integer('not_response_status', 100, 599),
    host: readHost(fields, 'not_host'),
  }
  const not = Object.fromEntries(Object.entries(excluded).filter(([, value]) => value !== null))
  const slowerThanMs = fields.integer('slower_than_ms', 1, SLOWER_THAN_MS_MAX)
  return {
    ...filter,
    ...(statuses !== null && { statuses }),
    ...(Object.keys(not).length > 0 && { not }),
    ...(slowerThanMs !== null && { slowerThanMs }),
  }
}

/** Reads several statuses with commas between; null = there is one, or none. Each counts once. */
function readStatuses(fields: FieldReader): ListedStatus[] | null {
  const value = fields.value('status')
  if (typeof value !== 'string' || !value.includes(',')) return null
  const given = [...new Set(value.split(','))]
  const known = STATUSES.filter((status) => given.includes(status))
  if (known.length < given.length) fields.refuse('status', selectedInvalid)
  return known
}

export interface JobListRequest extends Page {
  readonly filter: JobFilter
  /** null = that of the cursor, or the usual one of the filter. */
  readonly order: JobOrder | null
}

/** The answer to a wish for an order over more queues than can be looked at. */
export const TOO_MANY_TO_ORDER = singleProblem('order', tooManyQueuesToOrder('order'))
