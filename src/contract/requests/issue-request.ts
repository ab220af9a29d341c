import { ISSUE_STATES, type IssueState } from '../../domain/issues/issue.ts'
import { ISSUE_MUTE_DAYS_MAX, QUEUE_NAME_CHARACTERS_MAX } from '../../domain/limits.ts'
import type { FieldReader } from '../fields/field-reader.ts'
import { type BodyResult, readJsonBody, type RequestBody } from '../fields/json-body.ts'
import {
  mustBeTimestamp,
  mustNotBeLater,
  refusedBecause,
  selectedInvalid,
} from '../fields/validation-texts.ts'
import { type Page, PAGE_PARAMETERS, type QueryResult, readPage, readQuery } from './list-query.ts'
import { parseTimestamp } from './run-at.ts'

const LIST_PARAMETERS: ReadonlySet<string> = new Set(['state', 'queue', ...PAGE_PARAMETERS])
const MUTE_FIELDS: ReadonlySet<string> = new Set(['until'])
const TIME_CHARACTERS_MAX = 64
const MUTE_MS_MAX = ISSUE_MUTE_DAYS_MAX * 86_400_000

/** Shape of `IssueFilter` in the ports, which the contract may not import: all conditions must hold; null = any. */
interface WantedIssues {
  readonly states: readonly IssueState[] | null
  readonly queue: string | null
}

/** The query of `GET /api/issues`. */
export function readIssueQuery(search: string): QueryResult<Page & { readonly filter: WantedIssues }> {
  return readQuery(search, { known: LIST_PARAMETERS }, (query) => ({
    filter: {
      states: readStates(query),
      queue: query.text('queue', QUEUE_NAME_CHARACTERS_MAX),
    },
    ...readPage(query),
  }))
}

/** Reads the states, with commas between. Each counts once, and their order says nothing. */
function readStates(query: FieldReader): readonly IssueState[] | null {
  const given = query.value('state')
  if (typeof given !== 'string') return null
  const wanted = new Set(given.split(','))
  const known = ISSUE_STATES.filter((state) => wanted.has(state))
  if (known.length < wanted.size) query.refuse('state', selectedInvalid)
  return known
}

/** Checks the body of `POST /api/issues/{id}/mute`. Never throws. */
export function readIssueMute(body: RequestBody, nowMs: number): BodyResult<{ readonly untilMs: number }> {
  return readJsonBody(body, MUTE_FIELDS, (fields) => {
    const text = fields.requiredText('until', TIME_CHARACTERS_MAX)
    if (text === null) return { untilMs: 0 }
    const untilMs = parseTimestamp(text) ?? fields.refuse('until', mustBeTimestamp) ?? 0
    if (fields.errors.count > 0) return { untilMs }
    if (untilMs <= nowMs) fields.refuse('until', (path) => refusedBecause(path, 'must be in the future'))
    if (untilMs > nowMs + MUTE_MS_MAX)
      fields.refuse('until', (path) => mustNotBeLater(path, ISSUE_MUTE_DAYS_MAX))
    return { untilMs }
  })
}
