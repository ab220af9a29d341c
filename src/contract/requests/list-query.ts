import type { JobStatus } from '../../domain/jobs/job.ts'
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX, QUEUE_NAME_CHARACTERS_MAX } from '../../domain/limits.ts'
import {
  createFieldErrors,
  type FieldErrors,
  singleProblem,
  type ValidationProblem,
} from '../fields/field-errors.ts'
import { refuseUnknownFields } from '../fields/field-reader.ts'
import { readChoice, readInteger, readText } from '../fields/field-rules.ts'
import { mustBeGivenOnce, mustBeNextCursor, mustHaveValue } from '../fields/validation-texts.ts'

const JOB_FILTERS = ['pending', 'processing', 'completed', 'failed', 'dead_lettered'] as const
const PAGE_PARAMETERS: ReadonlySet<string> = new Set(['limit', 'cursor'])
const JOB_PARAMETERS: ReadonlySet<string> = new Set(['queue', 'status', ...PAGE_PARAMETERS])
/** Room for the longest queue name, four bytes a character, with hash and position, in Base64. */
const CURSOR_CHARACTERS_MAX = 1536

export interface Page {
  readonly limit: number
  readonly cursor: string | null
}

export interface JobFilter extends Page {
  readonly queue: string | null
  readonly status: JobStatus | 'dead_lettered' | null
}

export type QueryResult<T> =
  | { readonly kind: 'valid'; readonly value: T }
  | { readonly kind: 'invalid'; readonly problem: ValidationProblem }

/** The answer to a cursor that this list did not make. */
export const BAD_CURSOR: ValidationProblem = singleProblem('cursor', mustBeNextCursor('cursor'))

/** The query of `GET /api/jobs`. An empty value is a mistake: a script whose variable is unset would list everything. */
export function readJobFilter(search: string): QueryResult<JobFilter> {
  return readQuery(search, JOB_PARAMETERS, (value, errors) => ({
    queue: readText(errors, 'queue', value('queue'), QUEUE_NAME_CHARACTERS_MAX),
    status: readChoice(errors, 'status', value('status'), JOB_FILTERS),
    ...readPage(value, errors),
  }))
}

/** The query of every other list. */
export function readPageQuery(search: string): QueryResult<Page> {
  return readQuery(search, PAGE_PARAMETERS, readPage)
}

type Value = (name: string) => string | undefined

function readPage(value: Value, errors: FieldErrors): Page {
  const limit = value('limit')
  const digits = limit !== undefined && /^[0-9]{1,9}$/.test(limit) ? Number(limit) : limit
  return {
    limit: readInteger(errors, 'limit', digits, 1, LIST_LIMIT_MAX) ?? LIST_LIMIT_DEFAULT,
    cursor: readText(errors, 'cursor', value('cursor'), CURSOR_CHARACTERS_MAX),
  }
}

function readQuery<T>(
  search: string,
  known: ReadonlySet<string>,
  read: (value: Value, errors: FieldErrors) => T,
): QueryResult<T> {
  const errors = createFieldErrors()
  const parameters = new URLSearchParams(search)
  const found = read((name) => {
    const given = parameters.getAll(name)
    // One parameter given twice is a list, which none of ours is.
    if (given.length > 1) errors.add(name, mustBeGivenOnce(name))
    else if (given[0] === '') errors.add(name, mustHaveValue(name))
    else return given[0]
    return undefined
  }, errors)
  refuseUnknownFields(new Set(parameters.keys()), known, errors)
  const problem = errors.problem()
  return problem === null ? { kind: 'valid', value: found } : { kind: 'invalid', problem }
}
