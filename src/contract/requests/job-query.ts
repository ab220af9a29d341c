import { ANY_JOB, type JobFilter, type TimeRange } from '../../domain/jobs/job-filter.ts'
import { FAILURE_REASONS } from '../../domain/jobs/job.ts'
import {
  QUEUE_NAME_CHARACTERS_MAX,
  SEARCHED_TEXT_CHARACTERS_MAX,
  TAG_NAME_CHARACTERS_MAX,
  TAG_VALUE_CHARACTERS_MAX,
} from '../../domain/limits.ts'
import { HOST_NAME_CHARACTERS_MAX, isCallableHost } from '../../domain/net/host-name.ts'
import type { FieldReader } from '../fields/field-reader.ts'
import { mustBeHost, mustBeTag } from '../fields/validation-texts.ts'
import { type QueryResult, readCursor, readQuery, readTime } from './list-query.ts'

/** The filters of a list of jobs, in the order errors are reported. */
export const JOB_FILTERS = [
  'queue',
  'status',
  'final_status',
  'failure_reason',
  'response_status',
  'host',
  'tag',
  'cron_id',
  'created_after',
  'created_before',
  'scheduled_after',
  'scheduled_before',
  'ended_after',
  'ended_before',
  'text',
] as const

export const STATUSES = ['pending', 'processing', 'completed', 'failed', 'dead_lettered'] as const
const FINAL_STATUSES = [
  'success',
  'retrying',
  'failed_with_retries',
  'failed_no_retries',
  'dead_lettered',
] as const
const TAG_CHARACTERS_MAX = TAG_NAME_CHARACTERS_MAX + 1 + TAG_VALUE_CHARACTERS_MAX

/** The filters that dead letters are grouped under: only some, and all of them only dead letters. */
const GROUP_PARAMETERS: ReadonlySet<string> = new Set([
  'queue',
  'failure_reason',
  'response_status',
  'host',
  'tag',
  'cron_id',
  'ended_after',
  'ended_before',
  'cursor',
])

/** The query of `GET /api/jobs/dead-letter-groups`. */
export function readDeadLetterQuery(
  search: string,
  nowMs: number,
): QueryResult<{ readonly filter: JobFilter; readonly cursor: string | null }> {
  return readQuery(search, { known: GROUP_PARAMETERS, nowMs }, (query) => ({
    filter: { ...ANY_JOB, ...readEndFilter(query) },
    cursor: readCursor(query),
  }))
}

function readEndFilter(fields: FieldReader) {
  return {
    queue: fields.text('queue', QUEUE_NAME_CHARACTERS_MAX),
    failureReason: fields.choice('failure_reason', FAILURE_REASONS),
    responseStatus: fields.integer('response_status', 100, 599),
    host: readHost(fields),
    tag: readTag(fields),
    cronId: fields.integer('cron_id', 0, Number.MAX_SAFE_INTEGER),
    ended: readRange(fields, 'ended'),
  }
}

/** Reads the filter from a query or a body. */
export function readJobFilter(fields: FieldReader): JobFilter {
  const queue = fields.text('queue', QUEUE_NAME_CHARACTERS_MAX)
  const status = fields.choice('status', STATUSES)
  return { ...readFilterBeside(fields, queue), status }
}

/** Reads all of it but the status. */
export function readFilterBeside(
  fields: FieldReader,
  queue = fields.text('queue', QUEUE_NAME_CHARACTERS_MAX),
): Omit<JobFilter, 'status'> {
  return {
    queue,
    finalStatus: fields.choice('final_status', FINAL_STATUSES),
    failureReason: fields.choice('failure_reason', FAILURE_REASONS),
    responseStatus: fields.integer('response_status', 100, 599),
    host: readHost(fields),
    tag: readTag(fields),
    cronId: fields.integer('cron_id', 0, Number.MAX_SAFE_INTEGER),
    created: readRange(fields, 'created'),
    scheduled: readRange(fields, 'scheduled'),
    ended: readRange(fields, 'ended'),
    text: fields.text('text', SEARCHED_TEXT_CHARACTERS_MAX),
  }
}

export function readHost(fields: FieldReader, name: 'host' | 'not_host' = 'host'): string | null {
  const text = fields.text(name, HOST_NAME_CHARACTERS_MAX)
  if (text === null) return null
  const isAddress = text.startsWith('[') && text.endsWith(']')
  // WHATWG's parser would take a port, a path or a user from it.
  const url =
    /[/?#@\\\s]/.test(text) || (text.includes(':') && !isAddress) ? null : URL.parse(`http://${text}`)
  if (url === null || !isCallableHost(url.hostname)) return fields.refuse(name, mustBeHost)
  return url.hostname
}

/** The name ends at the first colon. */
function readTag(fields: FieldReader): JobFilter['tag'] {
  const text = fields.text('tag', TAG_CHARACTERS_MAX)
  if (text === null) return null
  const colon = text.indexOf(':')
  if (colon < 1) return fields.refuse('tag', mustBeTag)
  return { name: text.slice(0, colon), value: text.slice(colon + 1) }
}

function readRange(fields: FieldReader, time: 'created' | 'scheduled' | 'ended'): TimeRange {
  return {
    afterMs: readTime(fields, `${time}_after`),
    beforeMs: readTime(fields, `${time}_before`),
  }
}
