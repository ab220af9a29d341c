import type { SlicedWork } from '../../domain/shares/cost-gate.ts'

/**
 * Finds the members of the outermost object of a JSON text without parsing their values: a payload is kept as its exact
 * source text, and `JSON.parse` loses digits of numbers, the order of integer-like keys and duplicate keys. Strict RFC
 * 8259 grammar, linear time, no recursion.
 */
export interface JsonMember {
  /** Offsets of the value, without white space around it. */
  readonly start: number
  readonly end: number
  /** Nesting of the value: 0 for a scalar, 1 for `{}`. */
  readonly depth: number
  /** Values in it, itself included: 1 for a scalar, 3 for `{"a":1,"b":2}`. */
  readonly values: number
}

export type JsonObjectScan =
  /** Of two members with one name the last counts, as in `JSON.parse`. */
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, JsonMember> }
  /** Ended by the caller; the rest was not read and may not be JSON. */
  | { readonly kind: 'stopped'; readonly members: ReadonlyMap<string, JsonMember>; readonly name: string }
  /** Another JSON value, which starts at `position`. */
  | { readonly kind: 'other'; readonly position: number }
  /** `position`: UTF-16 offset of the first invalid character; the length of the text when it ends early. */
  | { readonly kind: 'malformed'; readonly position: number }

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
/** `[` and `]`, `{` and `}` are two code points apart. */
const OPEN_TO_CLOSE = 2

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const LITERAL = /true|false|null/y
const UNICODE_ESCAPE = /u[0-9a-fA-F]{4}/y
const SIMPLE_ESCAPES = '"\\/bfnrt'

/** Characters between two stops, some 0.1 ms. */
const PIECE_CHARACTERS = 8 * 1024

type IsEnough = (name: string, isRepeated: boolean) => boolean

/** @param isEnough called after each member; true ends the scan, which bounds the cost of a body with many members */
export function scanJsonObject(text: string, isEnough: IsEnough): JsonObjectScan {
  const scan = new ObjectScan(text, isEnough)
  scan.advance(Infinity)
  return scan.end
}

/** Scans like `scanJsonObject`, with a stop after each piece: a mebibyte takes longer than others should wait. */
export function* scanJsonObjectSliced(text: string, isEnough: IsEnough): SlicedWork<JsonObjectScan> {
  const scan = new ObjectScan(text, isEnough)
  for (let until = 0; !scan.advance((until += PIECE_CHARACTERS));) yield
  return scan.end
}

/** Reads a text that holds one object. It can stop at any token, and within strings and white space. */
export class ObjectScan {
  readonly #text: string
  readonly #values: ValueScan
  #start = 0
  #at = 0
  #state: 'before' | 'within' | 'behind' = 'before'
  #end: JsonObjectScan = { kind: 'malformed', position: 0 }

  constructor(text: string, isEnough: IsEnough) {
    this.#text = text
    this.#values = new ValueScan(text, isEnough)
  }

  /** Valid only once `advance` has answered true. */
  get end(): JsonObjectScan {
    return this.#end
  }

  /** Reads on to about the character `until`; true = it has ended. */
  advance(until: number): boolean {
    if (this.#state === 'before') {
      this.#at = skipSpace(this.#text, this.#at, until)
      if (this.#at >= until) return false
      this.#start = this.#at
      this.#state = 'within'
      this.#values.begin(this.#start)
    }
    if (this.#state === 'within') {
      if (!this.#values.advance(until)) return false
      if (this.#values.end < 0 || this.#values.enoughName !== null) return this.#endAs(this.#values.result())
      this.#at = this.#values.end
      this.#state = 'behind'
    }
    this.#at = skipSpace(this.#text, this.#at, until)
    if (this.#at >= until) return false
    if (this.#at !== this.#text.length) return this.#endAs({ kind: 'malformed', position: this.#at })
    const isObject = this.#text.charCodeAt(this.#start) === OPEN_OBJECT
    return this.#endAs(isObject ? this.#values.result() : { kind: 'other', position: this.#start })
  }

  #endAs(end: JsonObjectScan): true {
    this.#end = end
    return true
  }
}

/** Like `JsonObjectScan`; `end` is the offset after the object, whatever follows it. */
export type JsonMembersScan =
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, JsonMember>; readonly end: number }
  | Extract<JsonObjectScan, { kind: 'stopped' | 'malformed' }>

/** Scans the object whose brace is at `start`. */
export function* scanMembers(text: string, start: number, isEnough: IsEnough): SlicedWork<JsonMembersScan> {
  const scan = new ValueScan(text, isEnough)
  scan.begin(start)
  for (let until = start; !scan.advance((until += PIECE_CHARACTERS));) yield
  return scan.result()
}

/** The offset after the value at `start`, or the complement (~) of an invalid offset. */
export function* endOfValue(text: string, start: number): SlicedWork<number> {
  const scan = new ValueScan(text, null)
  scan.begin(start)
  for (let until = start; !scan.advance((until += PIECE_CHARACTERS));) yield
  return scan.end
}

/** States, by what is read next: here a value. */
const VALUE = 0
/** A value, or the end of the array. */
const FIRST_ITEM = 1
const WITHIN_STRING = 2
const KEY = 3
/** A key, or the end of the object. */
const FIRST_KEY = 4
const WITHIN_KEY = 5
const COLON_NEXT = 6
const AFTER_VALUE = 7

/** Reads one value, and the members of it when it is an object. It can stop as ObjectScan. */
class ValueScan {
  readonly #text: string
  /** null = members are of no interest. */
  readonly #isEnough: IsEnough | null
  readonly #members = new Map<string, JsonMember>()
  /** Closing brackets that are still to come. */
  readonly #closers: number[] = []
  #state = VALUE
  #at = 0
  #keyStart = 0
  /** Name of the member that is being read. */
  #name = ''
  #valueStart = 0
  #deepest = 0
  #values = 0
  /** Offset after the value once it has ended, or the complement (~) of an invalid offset. */
  end = 0
  /** The member after which enough was seen. */
  enoughName: string | null = null

  constructor(text: string, isEnough: IsEnough | null) {
    this.#text = text
    this.#isEnough = isEnough
  }

  begin(start: number): void {
    this.#at = start
  }

  result(): JsonMembersScan {
    const { end, enoughName } = this
    const members = this.#members
    if (enoughName !== null) return { kind: 'stopped', members, name: enoughName }
    return end < 0 ? { kind: 'malformed', position: ~end } : { kind: 'object', members, end }
  }

  /** Reads on up to `until`. Answers true once the value has ended. */
  advance(until: number): boolean {
    for (;;) {
      if (this.#state !== WITHIN_STRING && this.#state !== WITHIN_KEY) {
        this.#at = skipSpace(this.#text, this.#at, until)
      }
      if (this.#at >= until) return false
      const end = this.#read(until)
      if (end === null) continue
      this.end = end
      return true
    }
  }

  /** Reads one token; null = there is more to read. */
  #read(until: number): number | null {
    const code = this.#text.charCodeAt(this.#at)
    switch (this.#state) {
      case FIRST_KEY:
        return code === CLOSE_OBJECT ? this.#close() : this.#beginKey(code)
      case KEY:
        return this.#beginKey(code)
      case WITHIN_KEY:
        return this.#readString(until)
      case COLON_NEXT:
        if (code !== COLON) return ~this.#at
        this.#at += 1
        this.#state = VALUE
        return null
      case FIRST_ITEM:
        return code === CLOSE_ARRAY ? this.#close() : this.#beginValue(code)
      case VALUE:
        return this.#beginValue(code)
      case WITHIN_STRING:
        return this.#readString(until)
      default:
        return this.#readAfter(code)
    }
  }

  #beginKey(code: number): number | null {
    if (code !== QUOTE) return ~this.#at
    this.#keyStart = this.#at
    this.#at += 1
    this.#state = WITHIN_KEY
    return null
  }

  #beginValue(code: number): number | null {
    if (this.#isMember) {
      this.#valueStart = this.#at
      this.#deepest = 0
      this.#values = 0
    }
    this.#values += 1
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      this.#closers.push(code + OPEN_TO_CLOSE)
      const depth = this.#closers.length - 1
      if (depth > this.#deepest) this.#deepest = depth
      this.#state = code === OPEN_OBJECT ? FIRST_KEY : FIRST_ITEM
      this.#at += 1
      return null
    }
    if (code === QUOTE) {
      this.#state = WITHIN_STRING
      this.#at += 1
      return null
    }
    const pattern = code > 0x60 ? LITERAL : NUMBER
    pattern.lastIndex = this.#at
    return pattern.test(this.#text) ? this.#endValue(pattern.lastIndex) : ~this.#at
  }

  /** Whether what is being read is a member of the outermost object, and not within one. */
  get #isMember(): boolean {
    return this.#closers.length === 1 && this.#closers[0] === CLOSE_OBJECT
  }

  #readString(until: number): number | null {
    const at = scanWithinString(this.#text, this.#at, until)
    if (at < 0) return at
    this.#at = at
    // Where it stopped there may be a quote as well, and then the string ends there.
    if (this.#text.charCodeAt(at) !== QUOTE) return null
    if (this.#state === WITHIN_STRING) return this.#endValue(at + 1)
    if (this.#isMember) this.#name = stringAt(this.#text, this.#keyStart, at + 1)
    this.#at = at + 1
    this.#state = COLON_NEXT
    return null
  }

  #close(): number | null {
    this.#closers.pop()
    return this.#endValue(this.#at + 1)
  }

  #endValue(at: number): number | null {
    this.#at = at
    this.#state = AFTER_VALUE
    if (this.#closers.length === 0) return at
    return this.#isMember && this.#isEnough !== null && this.#endMember(this.#isEnough) ? at : null
  }

  #endMember(isEnough: IsEnough): boolean {
    const name = this.#name
    const isRepeated = this.#members.has(name)
    this.#members.set(name, {
      start: this.#valueStart,
      end: this.#at,
      depth: this.#deepest,
      values: this.#values,
    })
    if (!isEnough(name, isRepeated)) return false
    this.enoughName = name
    return true
  }

  #readAfter(code: number): number | null {
    const closer = this.#closers[this.#closers.length - 1]
    if (code === closer) return this.#close()
    if (code !== COMMA) return ~this.#at
    this.#at += 1
    this.#state = closer === CLOSE_OBJECT ? KEY : VALUE
    return null
  }
}

/** The name at `start` and the offset of its value, or the complement (~) of an invalid offset. */
export function nameAt(text: string, start: number): { readonly name: string; readonly valueAt: number } {
  const end = scanString(text, start)
  if (end < 0) return { name: '', valueAt: end }
  return { name: stringAt(text, start, end), valueAt: scanColon(text, end) }
}

/** The value of a member, as `JSON.parse` reads it. */
export function memberValue(text: string, member: JsonMember): unknown {
  return text.charCodeAt(member.start) === QUOTE
    ? stringAt(text, member.start, member.end)
    : JSON.parse(text.slice(member.start, member.end))
}

/** The JSON string whose quotes are at `start` and `end - 1`. */
function stringAt(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1)
  return inner.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : inner
}

/** Skips the colon behind a key; returns where the value starts, or the complement (~) of an invalid offset. */
function scanColon(text: string, start: number): number {
  const at = skipSpace(text, start)
  return text.charCodeAt(at) === COLON ? skipSpace(text, at + 1) : ~at
}

/** Returns the offset after the string, or the complement (~) of an invalid offset. */
function scanString(text: string, start: number): number {
  if (text.charCodeAt(start) !== QUOTE) return ~start
  const at = scanWithinString(text, start + 1, Infinity)
  return at < 0 ? at : at + 1
}

/** Returns where the quote is that ends the string, or where it stopped, or the complement (~) of an invalid offset. */
function scanWithinString(text: string, start: number, until: number): number {
  let at = start
  const end = Math.min(text.length, until)
  while (at < end) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code < 0x20) return ~at
    at = code === BACKSLASH ? scanEscape(text, at + 1) : at + 1
    if (at < 0) return at
  }
  return at >= text.length ? ~text.length : at
}

function scanEscape(text: string, at: number): number {
  if (at < text.length && SIMPLE_ESCAPES.includes(text.charAt(at))) return at + 1
  UNICODE_ESCAPE.lastIndex = at
  return UNICODE_ESCAPE.test(text) ? at + 5 : ~at
}

/** The offset of the next character that is no white space; `until` when there is none before. */
export function skipSpace(text: string, start: number, until = Infinity): number {
  let at = start
  while (at < until) {
    const code = text.charCodeAt(at)
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at
    at += 1
  }
  return at
}
