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

const LINE_FEED = 0x0a
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
/** `[` and `]`, `{` and `}` are two code points apart. */
const OPEN_TO_CLOSE = 2

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const LITERAL = /true|false|null/y
const UNICODE_ESCAPE = /u[0-9a-fA-F]{4}/y
const SIMPLE_ESCAPES = '"\\/bfnrt'

interface Nesting {
  deepest: number
  values: number
}

/** @param isEnough called after each member; true ends the scan, which bounds the cost of a body with many members */
export function scanJsonObject(text: string, isEnough: IsEnough): JsonObjectScan {
  const start = skipSpace(text, 0)
  if (text.charCodeAt(start) !== OPEN_OBJECT) return scanOther(text, start)
  const scan = scanMembers(text, start, isEnough)
  return scan.kind === 'object' ? scanEnd(text, scan.end, scan.members) : scan
}

type IsEnough = (name: string, isRepeated: boolean) => boolean

/** As `JsonObjectScan`; `end` is the offset after the object, whatever follows it. */
export type JsonMembersScan =
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, JsonMember>; readonly end: number }
  | Extract<JsonObjectScan, { kind: 'stopped' | 'malformed' }>

/** Scans the object whose brace is at `start`. */
export function scanMembers(text: string, start: number, isEnough: IsEnough): JsonMembersScan {
  const members = new Map<string, JsonMember>()
  const nesting = { deepest: 0, values: 0 }
  let at = skipSpace(text, start + 1)
  if (text.charCodeAt(at) === CLOSE_OBJECT) return { kind: 'object', members, end: at + 1 }
  for (;;) {
    const keyEnd = scanString(text, at)
    if (keyEnd < 0) return malformed(keyEnd)
    const valueStart = scanColon(text, keyEnd)
    if (valueStart < 0) return malformed(valueStart)
    nesting.deepest = 0
    nesting.values = 0
    const valueEnd = scanValue(text, valueStart, nesting)
    if (valueEnd < 0) return malformed(valueEnd)
    const name = stringAt(text, at, keyEnd)
    const isRepeated = members.has(name)
    members.set(name, {
      start: valueStart,
      end: valueEnd,
      depth: nesting.deepest,
      values: nesting.values,
    })
    if (isEnough(name, isRepeated)) return { kind: 'stopped', members, name }
    at = skipSpace(text, valueEnd)
    const next = text.charCodeAt(at)
    if (next === CLOSE_OBJECT) return { kind: 'object', members, end: at + 1 }
    if (next !== COMMA) return { kind: 'malformed', position: at }
    at = skipSpace(text, at + 1)
  }
}

/** The offset after the value at `start`, or the complement (~) of an invalid offset. */
export function endOfValue(text: string, start: number): number {
  return scanValue(text, start, { deepest: 0, values: 0 })
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

/** Where a character is; lines and columns count from 1. */
export interface TextPlace {
  readonly position: number
  readonly line: number
  readonly column: number
}

export const FIRST_PLACE: TextPlace = { position: 0, line: 1, column: 1 }

/** The place behind the first characters of a text that begins at `from`. */
export function placeAfter(text: string, characters: number, from = FIRST_PLACE): TextPlace {
  let { line } = from
  let lineStart = 1 - from.column
  for (let at = 0; at < characters; at += 1) {
    if (text.charCodeAt(at) !== LINE_FEED) continue
    line += 1
    lineStart = at + 1
  }
  return { position: from.position + characters, line, column: characters - lineStart + 1 }
}

/** A place for people. */
export function describePlace({ position, line, column }: TextPlace): string {
  return `position ${position} (line ${line}, column ${column})`
}

/** The JSON string whose quotes are at `start` and `end - 1`. */
function stringAt(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1)
  return inner.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : inner
}

function malformed(result: number): { readonly kind: 'malformed'; readonly position: number } {
  return { kind: 'malformed', position: ~result }
}

function scanEnd(text: string, at: number, members: ReadonlyMap<string, JsonMember>): JsonObjectScan {
  const end = skipSpace(text, at)
  return end === text.length ? { kind: 'object', members } : { kind: 'malformed', position: end }
}

function scanOther(text: string, start: number): JsonObjectScan {
  const valueEnd = scanValue(text, start, { deepest: 0, values: 0 })
  if (valueEnd < 0) return malformed(valueEnd)
  const end = skipSpace(text, valueEnd)
  return end === text.length ? { kind: 'other', position: start } : { kind: 'malformed', position: end }
}

// Each scan function below returns the offset after what it read, or the complement (~) of an invalid offset.

function scanValue(text: string, start: number, nesting: Nesting): number {
  const first = text.charCodeAt(start)
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) {
    nesting.values += 1
    return scanScalar(text, start, first)
  }
  const closers: number[] = []
  let at = start
  for (;;) {
    const code = text.charCodeAt(at)
    nesting.values += 1
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      closers.push(code + OPEN_TO_CLOSE)
      if (closers.length > nesting.deepest) nesting.deepest = closers.length
      at = skipSpace(text, at + 1)
      if (text.charCodeAt(at) !== code + OPEN_TO_CLOSE) {
        if (code === OPEN_OBJECT) at = scanKey(text, at)
        if (at < 0) return at
        continue
      }
    } else {
      at = scanScalar(text, at, code)
      if (at < 0) return at
    }
    at = closeOrGoOn(text, at, closers)
    if (at < 0 || closers.length === 0) return at
  }
}

/** Reads what follows a value. Returns where the next value starts, or the end once everything is closed. */
function closeOrGoOn(text: string, start: number, closers: number[]): number {
  let at = start
  while (closers.length > 0) {
    at = skipSpace(text, at)
    const next = text.charCodeAt(at)
    const closer = closers[closers.length - 1]
    if (next === closer) {
      closers.pop()
      at += 1
    } else if (next === COMMA) {
      at = skipSpace(text, at + 1)
      return closer === CLOSE_OBJECT ? scanKey(text, at) : at
    } else {
      return ~at
    }
  }
  return at
}

/** Reads a key and its colon; returns where the value starts. */
function scanKey(text: string, at: number): number {
  const keyEnd = scanString(text, at)
  return keyEnd < 0 ? keyEnd : scanColon(text, keyEnd)
}

function scanColon(text: string, start: number): number {
  const at = skipSpace(text, start)
  return text.charCodeAt(at) === COLON ? skipSpace(text, at + 1) : ~at
}

function scanScalar(text: string, at: number, code: number): number {
  if (code === QUOTE) return scanString(text, at)
  const pattern = code > 0x60 ? LITERAL : NUMBER
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : ~at
}

function scanString(text: string, start: number): number {
  if (text.charCodeAt(start) !== QUOTE) return ~start
  let at = start + 1
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    if (code < 0x20) return ~at
    at = code === BACKSLASH ? scanEscape(text, at + 1) : at + 1
    if (at < 0) return at
  }
  return ~text.length
}

function scanEscape(text: string, at: number): number {
  if (at < text.length && SIMPLE_ESCAPES.includes(text.charAt(at))) return at + 1
  UNICODE_ESCAPE.lastIndex = at
  return UNICODE_ESCAPE.test(text) ? at + 5 : ~at
}

/** The offset of the next character that is no white space. */
export function skipSpace(text: string, start: number): number {
  let at = start
  for (;;) {
    const code = text.charCodeAt(at)
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at
    at += 1
  }
}
