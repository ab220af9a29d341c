import type { SlicedWork } from '../../domain/shares/cost-gate.ts'
import { endOfValue, type JsonMembersScan, nameAt, scanMembers, skipSpace } from './json-members.ts'
import { TextPieces } from './text-pieces.ts'

/** One value of the array, in a text that also has others. */
export interface JsonItem {
  readonly text: string
  /** null = it is no object. */
  readonly scan: Exclude<JsonMembersScan, { kind: 'malformed' }> | null
}

/** How the scan ended. Positions are of the piece that was read last. */
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
  /** Limit of one item. */
  readonly bytes: number
  /** Made anew for each item; see `scanMembers`. */
  isEnough(): (name: string, isRepeated: boolean) => boolean
}

/** Bytes by which a piece exceeds an item: whatever is cut at its end is longer than an item may be. */
const SLACK_BYTES = 16
const NAME_CHARACTERS_SHOWN = 100
/** Length of `e+`, without a digit. */
const EXPONENT_CHARACTERS = 2
/** Bytes of a UTF-16 unit in UTF-8, at most. */
const UNIT_BYTES_MAX = 3

/** Pieces for `scanJsonItems`: each holds any item that is not too long. */
export function piecesOfItems(body: Buffer, itemBytes: number): TextPieces {
  return new TextPieces(body, itemBytes + SLACK_BYTES)
}

type Turns<T> = Generator<JsonItem | undefined, T>

/**
 * Scans `{"<field>": […]}` without parsing the values, and yields each item. It also yields in between, so that the caller can
 * let others go on. Strict RFC 8259 grammar.
 */
export function* scanJsonItems(pieces: TextPieces, field: string, bounds: ItemBounds): Turns<JsonItemsScan> {
  const start = yield* nextAt(pieces, 0)
  if (pieces.text[start] !== '{') {
    const isNothing = start === pieces.text.length
    return { kind: isNothing ? 'malformed' : 'other', position: start }
  }
  const nameStart = yield* nextAt(pieces, start + 1)
  if (pieces.text[nameStart] === '}') return yield* atEnd(pieces, nameStart + 1, { kind: 'absent' })
  const { name, valueAt } = yield* nameOf(pieces, nameStart)
  if (valueAt < 0) return { kind: 'malformed', position: ~valueAt }
  if (name !== field) return { kind: 'unexpected', name }
  const arrayAt = yield* nextAt(pieces, valueAt)
  if (pieces.text[arrayAt] !== '[') return { kind: 'no_array' }
  const list = yield* scanList(pieces, arrayAt + 1, bounds)
  if (typeof list !== 'number') return list
  const at = yield* nextAt(pieces, list)
  if (pieces.text[at] === '}') return yield* atEnd(pieces, at + 1, { kind: 'items' })
  if (pieces.text[at] !== ',') return { kind: 'malformed', position: at }
  const next = yield* nameOf(pieces, yield* nextAt(pieces, at + 1))
  return next.valueAt < 0
    ? { kind: 'malformed', position: ~next.valueAt }
    : { kind: 'unexpected', name: next.name }
}

/** Yields the items from behind the bracket on; answers where the array ends. */
function* scanList(pieces: TextPieces, start: number, bounds: ItemBounds): Turns<number | JsonItemsScan> {
  let at = yield* nextAt(pieces, start)
  if (pieces.text[at] === ']') return at + 1
  for (let index = 0; ; index += 1) {
    if (index === bounds.items) return { kind: 'too_many' }
    let item = yield* scanItem(pieces.text, at, bounds)
    if (mayBeCutOff(item.end, pieces.text) && at > 0 && !pieces.isLast) {
      yield
      pieces.moveTo(at)
      at = 0
      item = yield* scanItem(pieces.text, at, bounds)
    }
    const { text } = pieces
    if (item.end < 0) {
      const isTooLong = !pieces.isLast && ~item.end > text.length - SLACK_BYTES
      return isTooLong ? { kind: 'too_long', index } : { kind: 'malformed', position: ~item.end }
    }
    if (hasMoreBytes(text, { start: at, end: item.end }, bounds.bytes)) return { kind: 'too_long', index }
    yield item
    at = skipSpace(text, item.end)
    if (at === text.length) at = yield* nextAt(pieces, at)
    if (pieces.text[at] === ']') return at + 1
    if (pieces.text[at] !== ',') return { kind: 'malformed', position: at }
    at = skipSpace(pieces.text, at + 1)
    if (at === pieces.text.length) at = yield* nextAt(pieces, at)
  }
}

/** `end` is as `endOfValue` answers it. */
type ScannedItem = JsonItem & { readonly end: number }

function* scanItem(text: string, at: number, bounds: ItemBounds): SlicedWork<ScannedItem> {
  if (text[at] !== '{') return { text, scan: null, end: yield* endOfValue(text, at) }
  const scan = yield* scanMembers(text, at, bounds.isEnough())
  if (scan.kind === 'malformed') return { text, scan: null, end: ~scan.position }
  return { text, scan, end: scan.kind === 'object' ? scan.end : yield* endOfValue(text, at) }
}

/** A number that is cut off begins with one that is none, which `e+` may follow. */
function mayBeCutOff(end: number, text: string): boolean {
  return end < 0 || end >= text.length - EXPONENT_CHARACTERS
}

function hasMoreBytes(text: string, { start, end }: { start: number; end: number }, bytes: number): boolean {
  const units = end - start
  if (units * UNIT_BYTES_MAX <= bytes) return false
  return units > bytes || Buffer.byteLength(text.slice(start, end)) > bytes
}

/** Offset of the next character that is no white space; the end of the text when the body ends. */
function* nextAt(pieces: TextPieces, start: number): Turns<number> {
  let at = skipSpace(pieces.text, start)
  while (at === pieces.text.length && !pieces.isLast) {
    yield
    pieces.moveTo(at)
    at = skipSpace(pieces.text, 0)
  }
  return at
}

/** Reads a name like `nameAt`. One that is longer than a piece is cut. */
function* nameOf(pieces: TextPieces, at: number): Turns<ReturnType<typeof nameAt>> {
  const found = nameAt(pieces.text, at)
  if (found.valueAt >= 0 || pieces.isLast) return found
  yield
  pieces.moveTo(at)
  const again = nameAt(pieces.text, 0)
  const isCut = again.valueAt < 0 && !pieces.isLast && ~again.valueAt > pieces.text.length - SLACK_BYTES
  return isCut ? { name: pieces.text.slice(1, 1 + NAME_CHARACTERS_SHOWN), valueAt: 0 } : again
}

function* atEnd(pieces: TextPieces, at: number, scan: JsonItemsScan): Turns<JsonItemsScan> {
  const end = yield* nextAt(pieces, at)
  return end === pieces.text.length ? scan : { kind: 'malformed', position: end }
}
