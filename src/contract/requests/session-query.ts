import type { FieldReader } from '../fields/field-reader.ts'
import { required } from '../fields/validation-texts.ts'
import { type QueryResult, readQuery } from './list-query.ts'

const ALL_OR_ONE: ReadonlySet<string> = new Set(['everywhere'])
const OF_TEAM: ReadonlySet<string> = new Set(['kind', 'subject', 'id'])
/** As long as the name of a user may be. */
const SUBJECT_CHARACTERS_MAX = 1_024
const ID_CHARACTERS_MAX = 64
const KINDS = ['token', 'user'] as const

/** The query of `DELETE /api/session`. */
export function readSessionEnd(search: string): QueryResult<{ readonly isEverywhere: boolean }> {
  return readQuery(search, { known: ALL_OR_ONE }, (query) => ({
    isEverywhere: query.boolean('everywhere') ?? false,
  }))
}

/** Whose sessions end. */
export interface TeamSessionsEnd {
  readonly kind: (typeof KINDS)[number]
  readonly subject: string
  /** The one that ends; null = all that were opened for the team. */
  readonly id: string | null
}

/** The query of `DELETE /api/team/sessions`. */
export function readTeamSessionsEnd(search: string): QueryResult<TeamSessionsEnd> {
  return readQuery(search, { known: OF_TEAM }, (query) => ({
    kind: readKind(query),
    subject: query.requiredText('subject', SUBJECT_CHARACTERS_MAX) ?? '',
    id: query.text('id', ID_CHARACTERS_MAX),
  }))
}

function readKind(query: FieldReader): TeamSessionsEnd['kind'] {
  if (query.value('kind') === undefined) query.refuse('kind', required)
  return query.choice('kind', KINDS) ?? 'token'
}
