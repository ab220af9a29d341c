import type { JobFilter, TimeRange } from '../../../domain/jobs/job-filter.ts'
import { formatCursor, type ListScope, parseCursor } from '../../base/names/list-cursor.ts'
import type { Section } from './sections/sections.ts'
import type { Spot } from './sections/spot.ts'

/** Where a page ends. A hidden queue has no name. */
export type ListPosition =
  | { readonly queue: string; readonly section: Section; readonly spot: Spot }
  /** The page ends after all jobs of this queue. */
  | { readonly queue: string; readonly section: null }

/** Redis refuses a larger cursor of HSCAN. */
const SCAN_MAX = 2n ** 64n - 1n
/** The version is raised when positions change their meaning, so that the cursors of an older version are refused. */
const VERSION = 2

export interface CursorScope {
  /** Absent = it is the list of jobs. */
  readonly list?: 'dead-letter groups'
  readonly team: string
  readonly filter: JobFilter
}

export function scopeOf({ list, team, filter }: CursorScope): ListScope {
  const { queue, status, finalStatus, failureReason, responseStatus, host, tag, cronId, text } = filter
  const { bulkId = null } = filter
  const times = [filter.created, filter.scheduled, filter.ended].flatMap(timesOf)
  const tagged = tag === null ? [null, null] : [tag.name, tag.value]
  const ends = [status, finalStatus, failureReason, responseStatus]
  // What the version before does not know comes last, so that other cursors stay those that it made.
  const bulk = bulkId === null ? [] : [bulkId]
  const others = [filter.statuses, filter.not, filter.slowerThanMs].flatMap((asked) =>
    asked === undefined ? [] : [JSON.stringify(asked)],
  )
  const added = [...bulk, ...others]
  return [list ?? 'jobs', team, VERSION, queue, ...ends, host, ...tagged, cronId, ...times, text, ...added]
}

function timesOf({ afterMs, beforeMs }: TimeRange): Array<number | null> {
  return [afterMs, beforeMs]
}

export function formatJobCursor(scope: CursorScope, position: ListPosition): string {
  return formatCursor(scopeOf(scope), formatPosition(position))
}

/** As `formatJobCursor`, of a list that has places of its own. */
export function formatJobPlace(scope: CursorScope, place: string): string {
  return formatCursor(scopeOf(scope), place)
}

/** null = the cursor was not made under this filter. */
export function parseJobPlace(scope: CursorScope, cursor: string): string | null {
  return parseCursor(scopeOf(scope), cursor)
}

/** null = the cursor was not made under this filter. */
export function parseJobCursor(scope: CursorScope, cursor: string): ListPosition | null {
  const text = parseCursor(scopeOf(scope), cursor)
  return text === null ? null : parsePosition(text)
}

/** Writes a letter, numbers, and the name of the queue, which may hold anything. */
export function formatPosition(position: ListPosition): string {
  return `${lettersOf(position)}.${position.queue}`
}

function lettersOf(position: ListPosition): string {
  if (position.section === null) return 'q.0.0'
  const { spot } = position
  switch (spot.kind) {
    case 'due':
      return `o.${spot.dueMs}.${spot.id}`
    case 'scan':
      return `s.${spot.scan}.${spot.found.join('-')}`
    case 'found':
      return `e.0.${spot.found.join('-')}`
    case 'purge':
      return `d.${spot.purgeMs}.${spot.id}`
    case 'left':
      return `f.${spot.left}.0`
  }
}

/** null = the text is no position. */
export function parsePosition(text: string): ListPosition | null {
  const [, letter = '', a = '', b = '', queue = ''] =
    /^([osedfq])\.(\d{1,20})\.((?:\d{1,16}(?:-\d{1,16})*)?)\.(.*)$/s.exec(text) ?? []
  const first = Number(a)
  const ids = b === '' ? [] : b.split('-').map(Number)
  const [second = 0] = ids
  if (!ids.every(Number.isSafeInteger)) return null
  if (letter === 's') {
    if (BigInt(a) > SCAN_MAX) return null
    return { queue, section: 'open', spot: { kind: 'scan', scan: a, found: ids } }
  }
  if (!Number.isSafeInteger(first)) return null
  switch (letter) {
    case 'o':
      return { queue, section: 'open', spot: { kind: 'due', dueMs: first, id: second } }
    case 'e':
      return { queue, section: 'open', spot: { kind: 'found', found: ids } }
    case 'd':
      return { queue, section: 'dead', spot: { kind: 'purge', purgeMs: first, id: second } }
    case 'f':
      return { queue, section: 'finished', spot: { kind: 'left', left: first } }
    case 'q':
      return { queue, section: null }
    default:
      return null
  }
}
