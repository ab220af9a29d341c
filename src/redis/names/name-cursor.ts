import type { NamesBegin } from './team-names.ts'

/** A place in a list of names: behind the one that the page before ended with. */

/** So that the cursor of no name is none. */
const MARK = 'n'

export function formatNameCursor(name: string): string {
  return Buffer.from(MARK + name).toString('base64url')
}

/** @param cursor null = the first page */
export function parseNameCursor(cursor: string | null): { readonly begin: NamesBegin } | 'bad_cursor' {
  if (cursor === null) return { begin: '-' }
  const text = Buffer.from(cursor, 'base64url').toString('utf8')
  const name = text.slice(MARK.length)
  return text.startsWith(MARK) && formatNameCursor(name) === cursor ? { begin: `(${name}` } : 'bad_cursor'
}
