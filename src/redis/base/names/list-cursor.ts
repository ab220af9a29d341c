import { createHash } from 'node:crypto'

/** The list that a cursor belongs to: its kind, its team, and its filters. A page's limit does not count. */
export type ListScope = readonly [
  list:
    | 'queues'
    | 'crons'
    | 'cron runs'
    | 'jobs'
    | 'dead-letter groups'
    | 'windows'
    | 'alerts'
    | 'issues'
    | 'audit'
    | 'tokens',
  team: string,
  ...filters: ReadonlyArray<string | number | boolean | null>,
]

const HASH_CHARACTERS = 8

/** The position after a page behind a hash of its list: under another filter the position would skip entries. */
export function formatCursor(scope: ListScope, position: string): string {
  return Buffer.from(hashOf(scope) + position).toString('base64url')
}

/** The position in a cursor; null when the cursor was not made for this list. */
export function parseCursor(scope: ListScope, cursor: string): string | null {
  const position = Buffer.from(cursor, 'base64url').toString('utf8').slice(HASH_CHARACTERS)
  // Base64 can spell one text in several ways; only ours is accepted.
  return formatCursor(scope, position) === cursor ? position : null
}

function hashOf(scope: ListScope): string {
  return createHash('sha256').update(JSON.stringify(scope)).digest('base64url').slice(0, HASH_CHARACTERS)
}
