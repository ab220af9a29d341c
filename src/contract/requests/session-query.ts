import { type QueryResult, readQuery } from './list-query.ts'

const PARAMETERS: ReadonlySet<string> = new Set(['everywhere'])

/** The query of `DELETE /api/session`. */
export function readSessionEnd(search: string): QueryResult<{ readonly isEverywhere: boolean }> {
  return readQuery(search, { known: PARAMETERS }, (query) => ({
    isEverywhere: query.boolean('everywhere') ?? false,
  }))
}
