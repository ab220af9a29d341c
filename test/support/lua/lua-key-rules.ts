import { parseLua, type Lua, type LuaFunction, type LuaStatement } from './lua-syntax.ts'

/** Commands whose arguments after the name are all keys, or the first two of them; of any other only the first is. */
const ALL_KEYS = new Set(['DEL', 'EXISTS', 'UNLINK'])
const TWO_KEYS = new Set(['RENAME'])
const WITHOUT_KEYS = new Set(['INFO', 'TIME'])
/** What a script may use that it does not declare. */
const GLOBALS = new Set(
  'ARGV KEYS ipairs math pairs pcall redis string table tonumber tostring type unpack'.split(' '),
)
/** Of execute/finish/guarded.lua: calls its second argument with those behind it. */
const GUARD = 'guarded'

/**
 * What is wrong with a script's keys, in sentences. A key is KEYS[…], or a variable, field or table entry that is only
 * ever given keys. Names count for a whole script, so a name that holds a key somewhere and something else elsewhere
 * is no key: the rule errs on the strict side. @param source with its includes
 */
export function keyViolations(source: string): string[] {
  const script = readScript(parseLua(source))
  return [
    ...undeclaredNames(script),
    ...handedOnFunctions(script),
    ...misuses(script),
    ...script.calls.flatMap((one) => callViolations(script, one)),
  ]
}

type Call = Extract<Lua, { kind: 'call' }>

interface Script {
  readonly statements: readonly LuaStatement[]
  readonly expressions: readonly Lua[]
  readonly calls: readonly Call[]
  /** What each place is given, `name` of a variable or `.name` of a field; null = something that is no expression. */
  readonly given: ReadonlyMap<string, ReadonlyArray<Lua | null>>
  readonly functions: ReadonlyMap<string, LuaFunction>
}

function readScript(block: readonly LuaStatement[]): Script {
  const statements = [...withInner(block)]
  const expressions = statements.flatMap((statement) =>
    expressionsOf(statement).flatMap((one) => [...within(one)]),
  )
  const written = expressions.filter((one) => one.kind === 'call')
  const calls = [...written, ...written.flatMap(guardedCall)]
  const given = new Map<string, Array<Lua | null>>()
  const functions = new Map<string, LuaFunction>()
  const give = (place: string | null, value: Lua | null) => {
    if (place === null) return
    given.set(place, [...(given.get(place) ?? []), value])
    if (value?.kind === 'function') functions.set(place, value)
  }
  for (const statement of statements) {
    if (statement.kind === 'assign') {
      const { targets, values } = statement
      targets.forEach((target, i) =>
        give(placeOf(target), i < values.length ? (values[i] as Lua) : rest(values)),
      )
    }
    if (statement.kind === 'each')
      statement.names.forEach((name, i) => give(name, i === 1 ? listed(statement.values) : null))
  }
  for (const table of expressions.filter((one) => one.kind === 'table')) {
    for (const { field, value } of table.items) if (field !== null) give(`.${field}`, value)
  }
  for (const { args } of calls.filter((one) => placeOf(one.of) === '.insert')) {
    if (args[0] !== undefined) give(placeOf(args[0]), args.at(-1) ?? null)
  }
  for (const [place, { params }] of functions) {
    for (const call of calls.filter((one) => placeOf(one.of) === place)) {
      params.forEach((param, i) => give(param, call.args[i] ?? null))
    }
  }
  return { statements, expressions, calls, given, functions }
}

/** The call that the guard makes. */
function guardedCall({ of, args, line }: Call): Call[] {
  const [, run, ...given] = args
  return isNamed(of, GUARD) && run !== undefined ? [{ kind: 'call', of: run, args: given, line }] : []
}

const NIL: Lua = { kind: 'value', text: 'nil' }

/** What a target gets that has no value of its own: nothing, or a result of the call before it. */
function rest(values: readonly Lua[]): Lua | null {
  return values.at(-1)?.kind === 'call' ? null : NIL
}

/** The list that `for _, x in ipairs(list)` goes through. */
function listed([source]: readonly Lua[]): Lua | null {
  return source?.kind === 'call' && isNamed(source.of, 'ipairs') ? (source.args[0] ?? null) : null
}

function placeOf(target: Lua): string | null {
  if (target.kind === 'name') return target.name
  if (target.kind !== 'index') return null
  return target.field === null ? placeOf(target.of) : `.${target.field}`
}

function isNamed(one: Lua, name: string): boolean {
  return one.kind === 'name' && one.name === name
}

/** @param asked places on the way here: a place that leads to itself gets nothing new there */
function isKey(script: Script, one: Lua | null, asked: ReadonlySet<string> = new Set()): boolean {
  if (one === null) return false
  if (one.kind === 'value') return one.text === 'nil'
  if (one.kind === 'table') return one.items.every(({ value }) => isKey(script, value, asked))
  if (one.kind === 'operation') {
    if (one.operator === 'and') return isKey(script, one.operands[1] ?? null, asked)
    return one.operator === 'or' && one.operands.every((each) => isKey(script, each, asked))
  }
  if (one.kind === 'call') return isKeyFunction(script, one, asked)
  if (one.kind === 'index' && isNamed(one.of, 'KEYS')) return true
  const place = placeOf(one)
  if (place === null) return false
  if (asked.has(place)) return true
  const given = script.given.get(place) ?? []
  return given.length > 0 && given.every((value) => isKey(script, value, new Set([...asked, place])))
}

function isKeyFunction(script: Script, call: Call, asked: ReadonlySet<string>): boolean {
  if (isNamed(call.of, 'unpack')) return call.args.length === 1 && isKey(script, call.args[0] ?? null, asked)
  const place = placeOf(call.of)
  const body = place === null ? undefined : script.functions.get(place)?.body
  if (body === undefined) return false
  const results = [...withInner(body)].filter((each) => each.kind === 'return')
  return (
    results.length > 0 &&
    results.every(({ values }) => values.length === 1 && isKey(script, values[0] as Lua, asked))
  )
}

function callViolations(script: Script, one: Call): string[] {
  const isCommand = isNamed(one.of, 'call') || placeOf(one.of) === '.call'
  if (!isCommand) return []
  const [command, ...args] = one.args
  if (command?.kind !== 'value' || !command.text.startsWith("'"))
    return [`line ${one.line}: a command that is not written out`]
  const name = command.text.slice(1, -1)
  if (WITHOUT_KEYS.has(name)) return []
  const count = ALL_KEYS.has(name) ? args.length : TWO_KEYS.has(name) ? 2 : 1
  return Array.from({ length: count }, (_, i) => args[i] ?? null)
    .filter((key) => !isKey(script, key))
    .map(() => `line ${one.line}: ${name} uses a key that is not in KEYS`)
}

/** Ways around the rule: `redis`, `call` and KEYS serve nothing but their purpose. */
function misuses({ statements, expressions }: Script): string[] {
  const uses = new Map<Lua, string>()
  for (const one of expressions) {
    if (one.kind === 'name' && ['redis', 'call', 'KEYS'].includes(one.name)) {
      uses.set(one, `line ${one.line}: ${one.name} is used in an unusual way`)
    }
  }
  for (const one of expressions) {
    if (one.kind === 'call' && isNamed(one.of, 'call')) uses.delete(one.of)
    if (one.kind !== 'index') continue
    if (isNamed(one.of, 'redis') && one.field === 'call') uses.delete(one.of)
    if (isNamed(one.of, 'KEYS') && one.field === null) uses.delete(one.of)
  }
  for (const statement of statements) {
    if (statement.kind !== 'assign') continue
    const [target, value] = [statement.targets[0], statement.values[0]]
    if (target !== undefined && isNamed(target, 'call') && value !== undefined && placeOf(value) === '.call')
      uses.delete(target)
    for (const each of statement.targets) {
      if (each.kind === 'index' && isNamed(each.of, 'KEYS')) uses.set(each.of, 'KEYS is written to')
    }
  }
  return [...uses.values()]
}

/** A function that is handed on could be called with anything. */
function handedOnFunctions({ expressions, statements, calls }: Script): string[] {
  const functions = new Set<string>()
  const fine = new Set<Lua>(calls.map(({ of }) => of))
  for (const one of statements) {
    if (one.kind !== 'assign') continue
    const [target, value] = [one.targets[0], one.values[0]]
    if (target === undefined || value?.kind !== 'function') continue
    functions.add(pathOf(target))
    fine.add(target)
  }
  return expressions
    .filter((one) => functions.has(pathOf(one)) && !fine.has(one))
    .map((one) => `the function ${pathOf(one)} is handed on`)
}

function pathOf(one: Lua): string {
  if (one.kind === 'name') return one.name
  return one.kind === 'index' && one.field !== null ? `${pathOf(one.of)}.${one.field}` : ''
}

function undeclaredNames({ expressions, given, functions }: Script): string[] {
  const params = new Set([...functions.values()].flatMap((one) => one.params))
  return expressions.flatMap((one) =>
    one.kind === 'name' && !GLOBALS.has(one.name) && !given.has(one.name) && !params.has(one.name)
      ? [`line ${one.line}: ${one.name} is not declared`]
      : [],
  )
}

/** With the bodies of all functions. */
function* withInner(block: readonly LuaStatement[]): Generator<LuaStatement> {
  for (const statement of block) {
    yield statement
    for (const one of expressionsOf(statement)) {
      for (const each of within(one)) if (each.kind === 'function') yield* withInner(each.body)
    }
  }
}

function expressionsOf(statement: LuaStatement): readonly Lua[] {
  if (statement.kind === 'do') return [statement.value]
  return statement.kind === 'assign' ? [...statement.targets, ...statement.values] : statement.values
}

/** An expression and its parts, function bodies apart. */
function* within(one: Lua): Generator<Lua> {
  yield one
  const parts = {
    value: () => [],
    name: () => [],
    function: () => [],
    index: (each: Lua) => (each.kind === 'index' ? [each.of, ...(each.key === null ? [] : [each.key])] : []),
    call: (each: Lua) => (each.kind === 'call' ? [each.of, ...each.args] : []),
    table: (each: Lua) => (each.kind === 'table' ? each.items.map(({ value }) => value) : []),
    operation: (each: Lua) => (each.kind === 'operation' ? each.operands : []),
  }[one.kind](one)
  for (const part of parts) yield* within(part)
}
