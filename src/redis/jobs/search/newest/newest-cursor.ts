import { formatCursor, parseCursor } from '../../../base/names/list-cursor.ts'
import { formatPosition, parsePosition, scopeOf, type CursorScope, type ListPosition } from '../job-cursor.ts'
import type { QueueOrder } from './line.ts'
import type { EndedException, EndedPosition } from './merge-ended.ts'
import type { OpenPosition } from './newest-open.ts'
import type { TimeOrder } from './time-order.ts'

/** Where a page of a list by time ends. */
export type NewestPosition =
  /** Among jobs that have not ended, which come first. */
  | { readonly part: 'open'; readonly at: OpenPosition }
  /** Among jobs that have ended. `isOpenLast` = there were too many others to be put in order, so they come last. */
  | { readonly part: 'ended'; readonly at: EndedPosition; readonly isOpenLast: boolean }
  /** Among jobs that have not ended, which come last, queue by queue. */
  | { readonly part: 'walk'; readonly at: ListPosition | null }

/**
 * A cursor has room for this many characters of exceptions. Of queues beyond, the next page goes on where their ends are
 * past its time, and may repeat or leave out jobs whose ends were noted in another order than they happened.
 */
const EXCEPTIONS_CHARACTERS_MAX = 5_500

/** A position in a list of this order. */
export interface OrderedPosition {
  readonly order: TimeOrder
  readonly position: NewestPosition
}

const LETTERS: Readonly<Record<TimeOrder, string>> = { newest: 'N', oldest: 'O' }

export function formatNewestCursor(scope: CursorScope, { order, position }: OrderedPosition): string {
  return formatCursor(scopeOf(scope), LETTERS[order] + textOf(position))
}

/** null = the cursor was not made by this list. */
export function parseNewestCursor(scope: CursorScope, cursor: string): OrderedPosition | null {
  const text = parseCursor(scopeOf(scope), cursor)
  const order = (['newest', 'oldest'] as const).find((each) => text?.startsWith(LETTERS[each]) === true)
  const position = text === null ? null : positionIn(text.slice(1))
  return order === undefined || position === null ? null : { order, position }
}

function textOf(position: NewestPosition): string {
  switch (position.part) {
    case 'open':
      return `o.${short(position.at.createdMs)}.${short(position.at.rootId)}`
    case 'ended': {
      const { atMs, upTo, exceptions } = position.at
      const place = `${atMs === null ? '' : short(atMs)}.${upTo === null ? '' : textOfQueue(upTo)}`
      return `e.${position.isOpenLast ? 1 : 0}.${place}.${exceptionsText(exceptions)}`
    }
    case 'walk':
      return `w.${position.at === null ? '' : formatPosition(position.at)}`
  }
}

function exceptionsText(exceptions: readonly EndedException[]): string {
  let text = ''
  for (const exception of exceptions) {
    const { ordinal, purge = 0, root = '' } = exception.place
    const place =
      ordinal === undefined
        ? `d-${short(purge)}-${root === '' ? '' : short(Number(root))}`
        : `f-${short(ordinal)}`
    const next = `${textOfQueue(exception)}-${place}`
    if (text.length + next.length >= EXCEPTIONS_CHARACTERS_MAX) break
    text += text === '' ? next : `,${next}`
  }
  return text
}

function textOfQueue({ shard, localId }: QueueOrder): string {
  return `${short(shard)}-${short(localId)}`
}

function short(number: number): string {
  return number.toString(36)
}

function positionIn(text: string): NewestPosition | null {
  const [, part, rest = ''] = /^([oew])\.(.*)$/s.exec(text) ?? []
  if (part === 'o') {
    const [createdMs, rootId] = rest.split('.').map(numberIn)
    return createdMs === undefined || rootId === undefined || !areSafe([createdMs, rootId])
      ? null
      : { part: 'open', at: { createdMs, rootId } }
  }
  if (part === 'e') return endedIn(rest)
  if (part !== 'w') return null
  if (rest === '') return { part: 'walk', at: null }
  const at = parsePosition(rest)
  return at === null ? null : { part: 'walk', at }
}

function endedIn(text: string): NewestPosition | null {
  const [, isOpenLast, at = '', queue = '', named = ''] =
    /^([01])\.([0-9a-z]{0,11})\.([0-9a-z-]*)\.([0-9a-z,-]*)$/.exec(text) ?? []
  if (isOpenLast === undefined) return null
  const upTo = queue === '' ? null : queueIn(queue.split('-'))
  const exceptions = named === '' ? [] : named.split(',').map(exceptionIn)
  const atMs = at === '' ? null : numberIn(at)
  if (upTo === undefined || (atMs !== null && !areSafe([atMs]))) return null
  if (!exceptions.every((exception) => exception !== null)) return null
  return { part: 'ended', at: { atMs, upTo, exceptions }, isOpenLast: isOpenLast === '1' }
}

function exceptionIn(text: string): EndedException | null {
  const [shard = '', localId = '', kind, first = '', root = ''] = text.split('-')
  const queue = queueIn([shard, localId])
  const numbers = [numberIn(first), ...(root === '' ? [] : [numberIn(root)])]
  if (queue === undefined || !areSafe(numbers)) return null
  const [number = 0, rootId] = numbers
  if (kind === 'f') return { ...queue, place: { ordinal: number } }
  return kind === 'd'
    ? { ...queue, place: { purge: number, root: rootId === undefined ? '' : String(rootId) } }
    : null
}

/** undefined = the parts name no queue. */
function queueIn([shard = '', localId = '']: readonly string[]): QueueOrder | undefined {
  const order = { shard: numberIn(shard), localId: numberIn(localId) }
  return areSafe([order.shard, order.localId]) ? order : undefined
}

function numberIn(text: string): number {
  return text === '' ? Number.NaN : Number.parseInt(text, 36)
}

function areSafe(numbers: readonly number[]): boolean {
  return numbers.every((number) => Number.isSafeInteger(number) && number >= 0)
}
