import type { JobListQuery } from '../../ports/jobs.ts'
import { formatCursor, type ListScope, parseCursor } from '../names/list-cursor.ts'

/** The parts of a queue's list, in their order. */
export type Section = 'open' | 'dead' | 'finished'

/** Where the rest of a section begins. */
export type Spot =
  /** Open jobs after this one, by due time and id. */
  | { readonly kind: 'due'; readonly dueMs: number; readonly id: number }
  /** Open jobs in no order: an HSCAN cursor, and how many entries of that scan step were listed. */
  | { readonly kind: 'scan'; readonly scan: string; readonly given: number }
  /** Dead letters or finished chains: entries left, counted from the oldest, so that new ones do not shift the page. */
  | { readonly kind: 'left'; readonly left: number }

/** Where a page ends. */
export type ListPosition =
  | { readonly queue: string; readonly section: Section; readonly spot: Spot }
  /** After all jobs of this queue. */
  | { readonly queue: string; readonly section: null }

export const FIRST_DUE = { kind: 'due', dueMs: 0, id: 0 } as const satisfies Spot
export const FIRST_SCAN = { kind: 'scan', scan: '0', given: 0 } as const satisfies Spot

/** Redis refuses a larger cursor of HSCAN. */
const SCAN_MAX = 2n ** 64n - 1n

export function firstSpot(section: Section): Spot {
  return section === 'open' ? FIRST_DUE : { kind: 'left', left: Number.MAX_SAFE_INTEGER }
}

export function sectionsOf(status: JobListQuery['status']): readonly Section[] {
  switch (status) {
    case 'pending':
    case 'processing':
      return ['open']
    case 'completed':
      return ['finished']
    case 'dead_lettered':
      return ['dead']
    case 'failed':
    case null:
      return ['open', 'dead', 'finished']
  }
}

/** What narrows a list of jobs. */
export type JobFilter = Pick<JobListQuery, 'team' | 'queue' | 'status'>

function scopeOf({ team, queue, status }: JobFilter): ListScope {
  return ['jobs', team, queue, status]
}

/** A letter, two numbers, and the name of the queue, which may hold anything. */
export function formatJobCursor(filter: JobFilter, position: ListPosition): string {
  return formatCursor(scopeOf(filter), `${lettersOf(position)}.${position.queue}`)
}

function lettersOf(position: ListPosition): string {
  if (position.section === null) return 'q.0.0'
  const { section, spot } = position
  switch (spot.kind) {
    case 'due':
      return `o.${spot.dueMs}.${spot.id}`
    case 'scan':
      return `s.${spot.scan}.${spot.given}`
    case 'left':
      return `${section === 'dead' ? 'd' : 'f'}.${spot.left}.0`
  }
}

/** null when the cursor was not made under this filter. */
export function parseJobCursor(filter: JobFilter, cursor: string): ListPosition | null {
  const text = parseCursor(scopeOf(filter), cursor) ?? ''
  const [, letter = '', a = '', b = '', queue = ''] =
    /^([osdfq])\.(\d{1,20})\.(\d{1,20})\.(.+)$/s.exec(text) ?? []
  return positionOf({ letter, a, b, queue })
}

function positionOf(parts: { letter: string; a: string; b: string; queue: string }): ListPosition | null {
  const { letter, a, b, queue } = parts
  const [first, second] = [Number(a), Number(b)]
  if (letter === 's') {
    const isScan = BigInt(a) <= SCAN_MAX && Number.isSafeInteger(second)
    return isScan ? { queue, section: 'open', spot: { kind: 'scan', scan: a, given: second } } : null
  }
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(second)) return null
  switch (letter) {
    case 'o':
      return { queue, section: 'open', spot: { kind: 'due', dueMs: first, id: second } }
    case 'd':
      return { queue, section: 'dead', spot: { kind: 'left', left: first } }
    case 'f':
      return { queue, section: 'finished', spot: { kind: 'left', left: first } }
    case 'q':
      return { queue, section: null }
    default:
      return null
  }
}
