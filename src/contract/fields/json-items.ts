import { endOfValue, type JsonMembersScan, nameAt, scanMembers, skipSpace } from './json-members.ts'
import { TextWindow } from './text-window.ts'

/** One value of the array, in a text that also has others. */
export interface JsonItem {
  readonly text: string
  /** null = it is no object. */
  readonly scan: Exclude<JsonMembersScan, { kind: 'malformed' }> | null
}

/** How the scan ended. Positions are of the window's text. */
export type JsonItemsScan =
  | { readonly kind: 'items' }
  /** The first invalid character, or the length of the text when the body ends early. */
  | { readonly kind: 'malformed'; readonly position: number }
  /** The body is another value than an object, which starts here. */
  | { readonly kind: 'other'; readonly position: number }
  /** A member of another name, or the second of this one; the rest was not read. */
  | { readonly kind: 'unexpected'; readonly name: string }
  | { readonly kind: 'absent' | 'no_array' | 'too_many' }
  /** This item has more than `bytes`; the rest was not read. */
  | { readonly kind: 'too_long'; readonly index: number }

export interface ItemBounds {
  readonly items: number
  /** Of one item. Each is scanned in one go. */
  readonly bytes: number
  /** Made anew for each item; see `scanMembers`. */
  isEnough(): (name: string, isRepeated: boolean) => boolean
}

/** Of a window beside an item: whatever is cut at its end, is longer than an item may be. */
const SLACK_BYTES = 16
const NAME_CHARACTERS_SHOWN = 100
/** Bytes of a UTF-16 unit in UTF-8, at most. */
const UNIT_BYTES_MAX = 3

/** For `scanJsonItems`: a piece holds any item that is not too long. */
export function windowOfItems(body: Buffer, itemBytes: number): TextWindow {
  return new TextWindow(body, itemBytes + SLACK_BYTES)
}

type Turns<T> = Generator<JsonItem | undefined, T>

/**
 * Scans `{"<field>": […]}` without parsing the values, and yields each item. It also yields when it moves the window on, so
 * that the caller can let others go on in between. Strict RFC 8259 grammar.
 */
export function* scanJsonItems(window: TextWindow, field: string, bounds: ItemBounds): Turns<JsonItemsScan> {
  const start = yield* nextAt(window, 0)
  if (window.text[start] !== '{') {
    const isNothing = start === window.text.length
    return { kind: isNothing ? 'malformed' : 'other', position: start }
  }
  const nameStart = yield* nextAt(window, start + 1)
  if (window.text[nameStart] === '}') return yield* atEnd(window, nameStart + 1, { kind: 'absent' })
  const { name, valueAt } = yield* nameOf(window, nameStart)
  if (valueAt < 0) return { kind: 'malformed', position: ~valueAt }
  if (name !== field) return { kind: 'unexpected', name }
  const arrayAt = yield* nextAt(window, valueAt)
  if (window.text[arrayAt] !== '[') return { kind: 'no_array' }
  const list = yield* scanList(window, arrayAt + 1, bounds)
  if (typeof list !== 'number') return list
  const at = yield* nextAt(window, list)
  if (window.text[at] === '}') return yield* atEnd(window, at + 1, { kind: 'items' })
  if (window.text[at] !== ',') return { kind: 'malformed', position: at }
  const next = yield* nameOf(window, yield* nextAt(window, at + 1))
  return next.valueAt < 0
    ? { kind: 'malformed', position: ~next.valueAt }
    : { kind: 'unexpected', name: next.name }
}

/** Yields the items from behind the bracket on; answers where the array ends. */
function* scanList(window: TextWindow, start: number, bounds: ItemBounds): Turns<number | JsonItemsScan> {
  let at = yield* nextAt(window, start)
  if (window.text[at] === ']') return at + 1
  for (let index = 0; ; index += 1) {
    if (index === bounds.items) return { kind: 'too_many' }
    let item = scanItem(window.text, at, bounds)
    if (item.end < 0 && at > 0 && !window.isLast) {
      // It may only be cut off.
      yield
      window.moveTo(at)
      at = 0
      item = scanItem(window.text, at, bounds)
    }
    const { text } = window
    if (item.end < 0) {
      const isTooLong = !window.isLast && ~item.end > text.length - SLACK_BYTES
      return isTooLong ? { kind: 'too_long', index } : { kind: 'malformed', position: ~item.end }
    }
    if (hasMoreBytes(text, { start: at, end: item.end }, bounds.bytes)) return { kind: 'too_long', index }
    yield item
    at = skipSpace(text, item.end)
    if (at === text.length) at = yield* nextAt(window, at)
    if (window.text[at] === ']') return at + 1
    if (window.text[at] !== ',') return { kind: 'malformed', position: at }
    at = skipSpace(window.text, at + 1)
    if (at === window.text.length) at = yield* nextAt(window, at)
  }
}

/** @returns `end` as `endOfValue` answers it */
function scanItem(text: string, at: number, bounds: ItemBounds): JsonItem & { readonly end: number } {
  if (text[at] !== '{') return { text, scan: null, end: endOfValue(text, at) }
  const scan = scanMembers(text, at, bounds.isEnough())
  if (scan.kind === 'malformed') return { text, scan: null, end: ~scan.position }
  return { text, scan, end: scan.kind === 'object' ? scan.end : endOfValue(text, at) }
}

function hasMoreBytes(text: string, { start, end }: { start: number; end: number }, bytes: number): boolean {
  const units = end - start
  if (units * UNIT_BYTES_MAX <= bytes) return false
  return units > bytes || Buffer.byteLength(text.slice(start, end)) > bytes
}

/** Where the next character is that is no white space; the end of the text when the body ends. */
function* nextAt(window: TextWindow, start: number): Turns<number> {
  let at = skipSpace(window.text, start)
  while (at === window.text.length && !window.isLast) {
    yield
    window.moveTo(at)
    at = skipSpace(window.text, 0)
  }
  return at
}

/** As `nameAt`. A name that is longer than the window is cut. */
function* nameOf(window: TextWindow, at: number): Turns<ReturnType<typeof nameAt>> {
  const found = nameAt(window.text, at)
  if (found.valueAt >= 0 || window.isLast) return found
  yield
  window.moveTo(at)
  const again = nameAt(window.text, 0)
  const isCut = again.valueAt < 0 && !window.isLast && ~again.valueAt > window.text.length - SLACK_BYTES
  return isCut ? { name: window.text.slice(1, 1 + NAME_CHARACTERS_SHOWN), valueAt: 0 } : again
}

function* atEnd(window: TextWindow, at: number, scan: JsonItemsScan): Turns<JsonItemsScan> {
  const end = yield* nextAt(window, at)
  return end === window.text.length ? scan : { kind: 'malformed', position: end }
}
