/**
 * The part of Lua 5.1 that the engine's scripts use, for scripts compiled by lua-compiler.ts. nil is `undefined`, a
 * string has one character per byte (latin1), and a call that returns none or several values returns a `Multi`.
 */
export class LuaTable {
  readonly list: unknown[]
  readonly #fields = new Map<unknown, unknown>()

  constructor(list: unknown[] = [], fields: ReadonlyArray<readonly [unknown, unknown]> = []) {
    while (list.length > 0 && list.at(-1) === undefined) list.pop()
    this.list = list
    for (const [key, value] of fields) this.set(key, value)
  }

  get(key: unknown): unknown {
    if (typeof key === 'number' && key >= 1 && key <= this.list.length) return this.list[key - 1]
    return this.#fields.get(key)
  }

  set(key: unknown, value: unknown): void {
    if (key === undefined) throw new Error('table index is nil')
    if (typeof key === 'number' && key >= 1 && key <= this.list.length) {
      this.list[key - 1] = value
      while (this.list.length > 0 && this.list.at(-1) === undefined) this.list.pop()
    } else if (key === this.list.length + 1 && value !== undefined) {
      this.list.push(value)
      for (let next = this.list.length + 1; this.#fields.has(next); next += 1) {
        this.list.push(this.#fields.get(next))
        this.#fields.delete(next)
      }
    } else if (value === undefined) this.#fields.delete(key)
    else this.#fields.set(key, value)
  }

  *pairs(): Generator<[unknown, unknown]> {
    for (let i = 0; i < this.list.length; i += 1) {
      if (this.list[i] !== undefined) yield [i + 1, this.list[i]]
    }
    yield* this.#fields
  }
}

/** The result of a function that returns none or several values. */
export class Multi extends Array<unknown> {}

export function multi(...values: unknown[]): unknown {
  if (values.length === 1) return values[0]
  const answer = new Multi()
  answer.push(...values)
  return answer
}

const first = (value: unknown) => (value instanceof Multi ? value[0] : value)
const spread = (value: unknown): unknown[] => (value instanceof Multi ? value : [value])
const truthy = (value: unknown) => value !== undefined && value !== false

function num(value: unknown): number {
  const number = typeof value === 'number' ? value : typeof value === 'string' ? tonumber(value) : undefined
  if (number === undefined) throw new Error(`attempt to perform arithmetic on ${describe(value)}`)
  return number
}

function describe(value: unknown): string {
  return value === undefined ? 'a nil value' : `a ${value instanceof LuaTable ? 'table' : typeof value} value`
}

function tonumber(value: unknown, base?: unknown): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return undefined
  if (base !== undefined) {
    const parsed = Number.parseInt(value, base as number)
    return Number.isNaN(parsed) ? undefined : parsed
  }
  return /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(value) ? Number(value) : undefined
}

/** Formats a number as Lua does, by %.14g, for the sizes that the engine uses. */
function tostring(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'number') throw new Error(`a text or a number is expected, not ${describe(value)}`)
  if (Math.abs(value) >= 1e14) return Number(value.toPrecision(14)).toExponential()
  return String(Number(value.toPrecision(14)))
}

function concat(a: unknown, b: unknown): string {
  for (const value of [a, b]) {
    if (typeof value !== 'string' && typeof value !== 'number') {
      throw new Error(`attempt to concatenate ${describe(value)}`)
    }
  }
  return tostring(a) + tostring(b)
}

function lt(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a < b
  if (typeof a === 'string' && typeof b === 'string') return a < b
  throw new Error(`attempt to compare ${describe(a)} with ${describe(b)}`)
}

const le = (a: unknown, b: unknown) => !lt(b, a)

function mod(a: unknown, b: unknown): number {
  const [x, y] = [num(a), num(b)]
  return x - Math.floor(x / y) * y
}

function len(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (value instanceof LuaTable) return value.list.length
  throw new Error(`attempt to get length of ${describe(value)}`)
}

function get(table: unknown, key: unknown): unknown {
  if (table instanceof LuaTable) return table.get(key)
  throw new Error(`attempt to index ${describe(table)} (field ${String(key)})`)
}

function set(table: unknown, key: unknown, value: unknown): void {
  if (!(table instanceof LuaTable)) throw new Error(`attempt to index ${describe(table)}`)
  table.set(key, value)
}

function* ipairs(table: unknown): Generator<[number, unknown]> {
  for (let i = 1; ; i += 1) {
    const value = get(table, i)
    if (value === undefined) return
    yield [i, value]
  }
}

const CLASSES: Readonly<Record<string, string>> = { d: '0-9', a: 'A-Za-z', s: '\\s', w: 'A-Za-z0-9' }
const patterns = new Map<string, RegExp>()

/**
 * Translates a Lua pattern into a RegExp. Supports classes, `[^|]`, `%[`, `%-`, `.`, `*`, `+`, `?`, anchors and groups, and refuses
 * the rest.
 */
function pattern(text: string): RegExp {
  let known = patterns.get(text)
  if (known === undefined) {
    if (/%[^dasw]|\[|-/i.test(text.replaceAll('[^|]', '').replaceAll(/%[[-]/g, '')))
      throw new Error(`the simulation does not support the pattern ${text}`)
    const source = text
      .replace(/[|{}\\]/g, '\\$&')
      .replaceAll('%[', '\\[')
      .replaceAll('%-', '-')
      .replace(/\./g, '[^]')
      .replace(/%([a-z])/g, (_, name: string) => `[${CLASSES[name]}]`)
      .replace(/%([A-Z])/g, (_, name: string) => `[^${CLASSES[name.toLowerCase()]}]`)
    known = new RegExp(source, 'g')
    patterns.set(text, known)
  }
  known.lastIndex = 0
  return known
}

const captures = (match: RegExpExecArray): unknown[] => (match.length > 1 ? match.slice(1) : [match[0]])

function sub(text: unknown, from: unknown, to: unknown = -1): string {
  const all = tostring(text)
  const at = (index: number) => (index < 0 ? Math.max(all.length + index + 1, 0) : index)
  return all.slice(Math.max(at(num(from)), 1) - 1, at(num(to)))
}

function format(template: unknown, ...values: unknown[]): string {
  let next = 0
  return tostring(template).replace(/%(0?)(\d*)(?:\.(\d+))?([dfs])/g, (_, zero, width, digits, kind) => {
    const value = values[next]
    next += 1
    const text =
      kind === 's' ? tostring(value) : kind === 'd' ? String(Math.trunc(num(value))) : fixed(value, digits)
    return text.padStart(Number(width), zero === '' ? ' ' : '0')
  })
}

/** Formats large integers in full, as %.0f does. */
function fixed(value: unknown, digits: unknown): string {
  const number = num(value)
  if (Number.isInteger(number) && digits === '0') return BigInt(number).toString()
  return number.toFixed(Number(digits ?? 6))
}

function* gmatch(text: unknown, wanted: unknown): Generator<unknown[]> {
  const found = [...tostring(text).matchAll(pattern(tostring(wanted)))]
  for (const match of found) yield captures(match)
}

function listOf(table: unknown): unknown[] {
  if (!(table instanceof LuaTable)) throw new Error(`table expected, got ${describe(table)}`)
  return table.list
}

const LIBRARY = {
  string: {
    sub,
    format,
    gmatch,
    char: (...codes: unknown[]) => String.fromCharCode(...codes.map(num)),
    match: (text: unknown, wanted: unknown) => {
      const match = pattern(tostring(wanted)).exec(tostring(text))
      return match === null ? undefined : multi(...captures(match))
    },
    find: (text: unknown, wanted: unknown, from: unknown, plain: unknown) => {
      if (!truthy(plain)) throw new Error('the simulation supports only plain finds')
      const at = tostring(text).indexOf(tostring(wanted), num(from) - 1)
      return at === -1 ? undefined : multi(at + 1, at + tostring(wanted).length)
    },
  },
  table: {
    insert: (table: unknown, value: unknown) => {
      if (value !== undefined) set(table, len(table) + 1, value)
    },
    concat: (table: unknown, separator: unknown = '') =>
      listOf(table).map(tostring).join(tostring(separator)),
    sort: (table: unknown) => {
      listOf(table).sort((a, b) => (tostring(a) < tostring(b) ? -1 : 1))
    },
  },
  math: {
    abs: (x: unknown) => Math.abs(num(x)),
    ceil: (x: unknown) => Math.ceil(num(x)),
    floor: (x: unknown) => Math.floor(num(x)),
    max: (...all: unknown[]) => Math.max(...all.map(num)),
    min: (...all: unknown[]) => Math.min(...all.map(num)),
  },
  ipairs,
  pairs: (table: unknown) => (table as LuaTable).pairs(),
  tonumber,
  tostring,
  type: (value: unknown) =>
    value instanceof LuaTable ? 'table' : value === undefined ? 'nil' : typeof value,
  pcall: (run: unknown, ...given: unknown[]) => {
    try {
      return multi(true, ...spread((run as (...given: unknown[]) => unknown)(...given)))
    } catch (error) {
      return multi(false, String(error))
    }
  },
  unpack: (table: unknown, from: unknown = 1, to: unknown = len(table)) =>
    multi(...listOf(table).slice(num(from) - 1, num(to))),
}

/** The functions that compiled code calls; `lua-compiler.ts` declares each in its prologue. */
export const LUA = {
  LuaTable,
  multi,
  first,
  spread,
  truthy,
  num,
  concat,
  lt,
  le,
  mod,
  len,
  get,
  set,
  lib: LIBRARY,
}
