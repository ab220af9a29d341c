import { createHash } from 'node:crypto'

/** What a cursor belongs to: the kind of list, its team, and what else narrows it. A page's limit does not. */
export type ListScope = readonly [
  list:
    | 'queues'
    | 'crons'
    | 'cron runs'
    | 'jobs'
    | 'dead-letter groups'
    | 'windows'
    | 'alerts'
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
