import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX, QUEUE_NAME_CHARACTERS_MAX } from '../../domain/limits.ts'
import { QUEUE_SORTS, type QueueSort } from '../../domain/jobs/queues/queue-order.ts'
import { FieldErrors, singleProblem, type ValidationProblem } from '../fields/field-errors.ts'
import { type FieldReader, MappedFields } from '../fields/field-reader.ts'
import { refuseUnknownFields } from '../fields/unknown-fields.ts'
import {
  mustBeGivenOnce,
  mustBeNextCursor,
  mustBeTimeOrSpan,
  mustBeTimestamp,
  mustHaveValue,
} from '../fields/validation-texts.ts'
import { parseSpan, parseTimestamp } from './run-at.ts'

export const PAGE_PARAMETERS = ['limit', 'cursor'] as const
const PAGE_ONLY: ReadonlySet<string> = new Set(PAGE_PARAMETERS)
const QUEUE_LIST: ReadonlySet<string> = new Set(['name', 'text', 'sort', ...PAGE_PARAMETERS])
/** Parameters that are not text, of all queries. */
const INTEGERS: ReadonlySet<string> = new Set([
  'limit',
  'resource_id',
  'response_status',
  'not_response_status',
  'slower_than_ms',
  'cron_id',
  'bulk_id',
  'step',
])
const BOOLEANS: ReadonlySet<string> = new Set(['read', 'all', 'everywhere'])
const TIMES = /^(?:since|until|(?:\w+_)?(?:after|before))$/
const TIME_CHARACTERS_MAX = 64
/** Room for the longest queue name, four bytes a character, with hash, position and 250 jobs, in Base64. */
const CURSOR_CHARACTERS_MAX = 8192

export interface Page {
  readonly limit: number
  readonly cursor: string | null
}

export type QueryResult<T> =
  /** `spansFromMs`: what its spans of time were counted back from, for the cursor of the next page. */
  | { readonly kind: 'valid'; readonly value: T; readonly spansFromMs?: number }
  | { readonly kind: 'invalid'; readonly problem: ValidationProblem }

/** The answer to a cursor that this list did not make. */
export const BAD_CURSOR: ValidationProblem = singleProblem('cursor', mustBeNextCursor('cursor'))

/** The query of a list without filters. */
export function readPageQuery(search: string): QueryResult<Page> {
  return readQuery(search, { known: PAGE_ONLY }, readPage)
}

export interface QueueListRequest extends Page {
  readonly name: string | null
  /** What the name contains; null = anything. */
  readonly text: string | null
  readonly sort: QueueSort
  /** It looks at more queues than it shows. */
  readonly isCostly: boolean
}

/** The query of the list of queues. */
export function readQueueListQuery(search: string): QueryResult<QueueListRequest> {
  return readQuery(search, { known: QUEUE_LIST }, (query) => {
    const name = query.text('name', QUEUE_NAME_CHARACTERS_MAX)
    const text = query.text('text', QUEUE_NAME_CHARACTERS_MAX)
    const sort = query.choice('sort', QUEUE_SORTS) ?? 'name'
    if (name !== null && text !== null) query.refuse('text', NOT_BESIDE_NAME)
    if (name !== null && sort !== 'name') query.refuse('sort', NOT_BESIDE_NAME)
    return { name, text, sort, isCostly: text !== null || sort !== 'name', ...readPage(query) }
  })
}

const NOT_BESIDE_NAME = (field: string) => `The ${field} cannot be given beside the name.`

export function readPage(query: FieldReader): Page {
  return {
    limit: query.integer('limit', 1, LIST_LIMIT_MAX) ?? LIST_LIMIT_DEFAULT,
    cursor: readCursor(query),
  }
}

export function readCursor(query: FieldReader): string | null {
  return query.text('cursor', CURSOR_CHARACTERS_MAX)
}

/** Reads a time in Unix ms. Timed fields may also give a span back from now. */
export function readTime(fields: FieldReader, field: string): number | null {
  const isTimed = fields instanceof TimedFields
  const text = fields.text(field, TIME_CHARACTERS_MAX)
  if (text === null) return null
  const spanMs = isTimed ? parseSpan(text) : null
  if (isTimed && spanMs !== null) return fields.before(spanMs)
  return parseTimestamp(text) ?? fields.refuse(field, isTimed ? mustBeTimeOrSpan : mustBeTimestamp)
}

/** Fields that may give spans back from now. Owns the time that these are counted back from, and whether there are any. */
export class TimedFields extends MappedFields {
  readonly #nowMs: number
  #hasSpans = false

  constructor(
    errors: FieldErrors,
    valueOf: (field: string) => unknown,
    { nowMs, prefix }: { readonly nowMs: number; readonly prefix?: string },
  ) {
    super(errors, valueOf, prefix)
    this.#nowMs = nowMs
  }

  before(spanMs: number): number {
    this.#hasSpans = true
    return Math.max(0, this.#nowMs - spanMs)
  }

  get spansFromMs(): number | null {
    return this.#hasSpans ? this.#nowMs : null
  }
}

/**
 * The time that the spans of a list are counted back from stands before the cursors of its pages, so that all of them
 * are of the same list.
 */
const BASED_CURSOR = /^([0-9a-z]{1,10})~(.*)$/s

export function basedCursor(cursor: string | null, spansFromMs: number | null): string | null {
  return cursor === null || spansFromMs === null ? cursor : `${spansFromMs.toString(36)}~${cursor}`
}

interface QueryTerms {
  readonly known: ReadonlySet<string>
  /** What spans of time are counted back from on a first page, Unix ms; absent = the query takes none. */
  readonly nowMs?: number
}

/** @param read checks the known parameters in the contract's order; unknown ones are reported after them */
export function readQuery<T>(
  search: string,
  { known, nowMs = 0 }: QueryTerms,
  read: (query: FieldReader) => T,
): QueryResult<T> {
  const errors = new FieldErrors()
  const parameters = new URLSearchParams(search)
  const [, base, bareCursor] = BASED_CURSOR.exec(parameters.get('cursor') ?? '') ?? []
  const valueOf = (name: string): unknown => {
    const [value, ...more] = parameters.getAll(name)
    if (more.length > 0) errors.add(name, mustBeGivenOnce(name))
    else if (value === '') errors.add(name, mustHaveValue(name))
    else if (name === 'cursor' && bareCursor !== undefined) return bareCursor
    else return value === undefined ? undefined : valueIn(name, value)
    return undefined
  }
  const query = new TimedFields(errors, valueOf, {
    nowMs: base === undefined ? nowMs : Number.parseInt(base, 36),
  })
  const found = read(query)
  refuseUnknownFields(errors, { names: new Set(parameters.keys()), known })
  const problem = errors.problem()
  if (problem !== null) return { kind: 'invalid', problem }
  const { spansFromMs } = query
  return spansFromMs === null ? { kind: 'valid', value: found } : { kind: 'valid', value: found, spansFromMs }
}

/** A query has only text: a number or a boolean stands for one where it is wanted, and any other text is refused there. */
function valueIn(name: string, text: string): unknown {
  if (INTEGERS.has(name)) return /^[0-9]{1,16}$/.test(text) ? Number(text) : text
  if (BOOLEANS.has(name)) return text === 'true' ? true : text === 'false' ? false : text
  // A plus sign that was not escaped arrives as a space.
  return TIMES.test(name) ? text.replace(' ', '+') : text
}
