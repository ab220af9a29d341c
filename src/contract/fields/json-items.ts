import { endOfValue, type JsonMembersScan, nameAt, scanMembers, skipSpace } from './json-members.ts'

/** One value of the array, at the beginning of a text that begins with it. */
export interface JsonItem {
  readonly text: string
  /** null = it is no object. */
  readonly scan: Exclude<JsonMembersScan, { kind: 'malformed' }> | null
}

export type JsonItemsScan =
  | { readonly kind: 'items'; readonly items: readonly JsonItem[] }
  /** The first invalid character, or the length of the text when it ends early. */
  | { readonly kind: 'malformed'; readonly position: number }
  /** The text is another value than an object, which starts here. */
  | { readonly kind: 'other'; readonly position: number }
  /** A member of another name, or the second of this one; the rest was not read. */
  | { readonly kind: 'unexpected'; readonly name: string }
  | { readonly kind: 'absent' | 'no_array' | 'too_many' }
  /** This item is longer than `characters`; the rest was not read. */
  | { readonly kind: 'too_long'; readonly index: number }

export interface ItemBounds {
  readonly items: number
  /** UTF-16 units of one item. Each item is scanned in one go. */
  readonly characters: number
  /** Made anew for each item; see `scanMembers`. */
  isEnough(): (name: string, isRepeated: boolean) => boolean
}

/**
 * Scans `{"<field>": […]}` item by item without parsing the values. It yields after each item, so that the caller can let
 * others go on in between. Strict RFC 8259 grammar.
 */
export function* scanJsonItems(
  text: string,
  field: string,
  bounds: ItemBounds,
): Generator<undefined, JsonItemsScan> {
  const start = skipSpace(text, 0)
  if (text[start] !== '{') {
    const isNothing = start === text.length
    return { kind: isNothing ? 'malformed' : 'other', position: start }
  }
  const nameStart = skipSpace(text, start + 1)
  if (text[nameStart] === '}') return atEnd(text, nameStart + 1, { kind: 'absent' })
  const { name, valueAt } = nameAt(text, nameStart)
  if (valueAt < 0) return { kind: 'malformed', position: ~valueAt }
  if (name !== field) return { kind: 'unexpected', name }
  if (text[valueAt] !== '[') return { kind: 'no_array' }
  const items: JsonItem[] = []
  let at = skipSpace(text, valueAt + 1)
  if (text[at] === ']') at += 1
  else {
    for (;;) {
      if (items.length === bounds.items) return { kind: 'too_many' }
      const item = scanItem(text.slice(at, at + bounds.characters + 1), bounds)
      const isCut = at + bounds.characters + 1 < text.length
      if (item.end < 0) {
        const isTooLong = isCut && ~item.end > bounds.characters
        return isTooLong
          ? { kind: 'too_long', index: items.length }
          : { kind: 'malformed', position: at + ~item.end }
      }
      if (item.end > bounds.characters) return { kind: 'too_long', index: items.length }
      items.push(item)
      yield
      at = skipSpace(text, at + item.end)
      if (text[at] === ']') break
      if (text[at] !== ',') return { kind: 'malformed', position: at }
      at = skipSpace(text, at + 1)
    }
    at += 1
  }
  at = skipSpace(text, at)
  if (text[at] === '}') return atEnd(text, at + 1, { kind: 'items', items })
  if (text[at] !== ',') return { kind: 'malformed', position: at }
  const next = nameAt(text, skipSpace(text, at + 1))
  return next.valueAt < 0
    ? { kind: 'malformed', position: ~next.valueAt }
    : { kind: 'unexpected', name: next.name }
}

/** @param text begins with the item and may be cut off; `end` as in `endOfValue` */
function scanItem(text: string, bounds: ItemBounds): JsonItem & { readonly end: number } {
  if (text[0] !== '{') return { text, scan: null, end: endOfValue(text, 0) }
  const scan = scanMembers(text, 0, bounds.isEnough())
  if (scan.kind === 'malformed') return { text, scan: null, end: ~scan.position }
  return { text, scan, end: scan.kind === 'object' ? scan.end : endOfValue(text, 0) }
}

function atEnd(text: string, at: number, scan: JsonItemsScan): JsonItemsScan {
  const end = skipSpace(text, at)
  return end === text.length ? scan : { kind: 'malformed', position: end }
}
