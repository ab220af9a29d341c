import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX, QUEUE_NAME_CHARACTERS_MAX } from '../../domain/limits.ts'
import { FieldErrors, singleProblem, type ValidationProblem } from '../fields/field-errors.ts'
import { type FieldReader, MappedFields } from '../fields/field-reader.ts'
import { refuseUnknownFields } from '../fields/unknown-fields.ts'
import {
  mustBeGivenOnce,
  mustBeNextCursor,
  mustBeTimestamp,
  mustHaveValue,
} from '../fields/validation-texts.ts'
import { parseTimestamp } from './run-at.ts'

export const PAGE_PARAMETERS = ['limit', 'cursor'] as const
const PAGE_ONLY: ReadonlySet<string> = new Set(PAGE_PARAMETERS)
const QUEUE_LIST: ReadonlySet<string> = new Set(['name', ...PAGE_PARAMETERS])
/** Parameters that are not text, of all queries. */
const INTEGERS: ReadonlySet<string> = new Set(['limit', 'resource_id', 'response_status', 'cron_id', 'step'])
const BOOLEANS: ReadonlySet<string> = new Set(['read', 'all', 'everywhere'])
const TIMES = /^(?:since|(?:\w+_)?(?:after|before))$/
const TIME_CHARACTERS_MAX = 64
/** Room for the longest queue name, four bytes a character, with hash, position and 250 jobs, in Base64. */
const CURSOR_CHARACTERS_MAX = 8192

export interface Page {
  readonly limit: number
  readonly cursor: string | null
}

export type QueryResult<T> =
  | { readonly kind: 'valid'; readonly value: T }
  | { readonly kind: 'invalid'; readonly problem: ValidationProblem }

/** The answer to a cursor that this list did not make. */
export const BAD_CURSOR: ValidationProblem = singleProblem('cursor', mustBeNextCursor('cursor'))

/** The query of a list without filters. */
export function readPageQuery(search: string): QueryResult<Page> {
  return readQuery(search, PAGE_ONLY, readPage)
}

/** The query of the list of queues. */
export function readQueueListQuery(search: string): QueryResult<Page & { readonly name: string | null }> {
  return readQuery(search, QUEUE_LIST, (query) => ({
    name: query.text('name', QUEUE_NAME_CHARACTERS_MAX),
    ...readPage(query),
  }))
}

export function readPage(query: FieldReader): Page {
  return {
    limit: query.integer('limit', 1, LIST_LIMIT_MAX) ?? LIST_LIMIT_DEFAULT,
    cursor: readCursor(query),
  }
}

export function readCursor(query: FieldReader): string | null {
  return query.text('cursor', CURSOR_CHARACTERS_MAX)
}

export function readTime(fields: FieldReader, field: string): number | null {
  const text = fields.text(field, TIME_CHARACTERS_MAX)
  if (text === null) return null
  return parseTimestamp(text) ?? fields.refuse(field, mustBeTimestamp)
}

/** @param read checks the known parameters in the contract's order; unknown ones are reported after them */
export function readQuery<T>(
  search: string,
  known: ReadonlySet<string>,
  read: (query: FieldReader) => T,
): QueryResult<T> {
  const errors = new FieldErrors()
  const parameters = new URLSearchParams(search)
  const query = new MappedFields(errors, (name) => {
    const [value, ...more] = parameters.getAll(name)
    if (more.length > 0) errors.add(name, mustBeGivenOnce(name))
    else if (value === '') errors.add(name, mustHaveValue(name))
    else return value === undefined ? undefined : valueIn(name, value)
    return undefined
  })
  const found = read(query)
  refuseUnknownFields(errors, { names: new Set(parameters.keys()), known })
  const problem = errors.problem()
  return problem === null ? { kind: 'valid', value: found } : { kind: 'invalid', problem }
}

/** A query has only text: a number or a boolean stands for one where it is wanted, and any other text is refused there. */
function valueIn(name: string, text: string): unknown {
  if (INTEGERS.has(name)) return /^[0-9]{1,16}$/.test(text) ? Number(text) : text
  if (BOOLEANS.has(name)) return text === 'true' ? true : text === 'false' ? false : text
  // A plus sign that was not escaped arrives as a space.
  return TIMES.test(name) ? text.replace(' ', '+') : text
}
