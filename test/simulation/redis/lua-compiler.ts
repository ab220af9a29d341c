import { LUA, LuaTable } from './lua-runtime.ts'
import { COMPARISONS, GLOBALS, tokenize, type Token } from './lua-syntax.ts'

/** A compiled script: `call` is `redis.call`. Answers what the script returns. */
export type LuaScript = (
  keys: readonly string[],
  args: readonly string[],
  call: (...words: unknown[]) => unknown,
) => unknown

/**
 * Compiles the part of Lua that the engine's scripts use, so that the simulation runs the real steps. An unknown name or
 * construct is an error, never a silent difference.
 */
export function compileLua(source: string): LuaScript {
  const js = new LuaCompiler(source.replace(/^#!.*\n/, '\n')).compile()
  const prologue = `const {${Object.keys(LUA).join(',')}} = LUA; let $;`
  // The source is one of the repository's own scripts.
  // eslint-disable-next-line no-implied-eval
  const run = new Function('LUA', 'KEYS', 'ARGV', 'redisCall', `${prologue}${js}`) as (
    ...given: unknown[]
  ) => unknown
  return (keys, args, call) => run(LUA, new LuaTable([...keys]), new LuaTable([...args]), call)
}

/** `many` = a call, which may return several values. `truth` = a JavaScript boolean. */
interface Expression {
  readonly js: string
  readonly many?: boolean
  readonly truth?: boolean
}

class LuaCompiler {
  readonly #tokens: readonly Token[]
  #at = 0
  #scopes: Array<Map<string, string>> = [new Map()]
  #names = 0

  constructor(source: string) {
    this.#tokens = tokenize(source)
  }

  compile(): string {
    const js = this.#statements()
    if (this.#token.kind !== 'end') this.#fail('expected the end')
    return js
  }

  get #token(): Token {
    return this.#tokens[this.#at] as Token
  }

  #fail(problem: string): never {
    throw new Error(`line ${this.#token.line}: ${problem} at ${this.#token.text}`)
  }

  /** Consumes the next token if it is `text`. */
  #take(text: string): boolean {
    const { kind } = this.#token
    if (this.#token.text !== text || (kind !== 'symbol' && kind !== 'keyword')) return false
    this.#at += 1
    return true
  }

  #expect(text: string): void {
    if (!this.#take(text)) this.#fail(`expected ${text}`)
  }

  #name(): string {
    const { kind, text } = this.#token
    if (kind !== 'name') this.#fail('expected a name')
    this.#at += 1
    return text
  }

  /** Gives each local a unique name, because Lua may declare a name twice. */
  #declare(name: string): string {
    this.#names += 1
    const js = `${name}_${this.#names}`
    this.#scopes.at(-1)?.set(name, js)
    return js
  }

  #resolve(name: string): string {
    const scope = this.#scopes.findLast((known) => known.has(name))
    if (scope !== undefined) return scope.get(name) as string
    if (name === 'KEYS' || name === 'ARGV') return name
    if (GLOBALS.has(name)) return `lib.${name}`
    return this.#fail(`unknown name ${name}`)
  }

  #block(...ends: string[]): string {
    this.#scopes.push(new Map())
    const js = this.#statements()
    this.#scopes.pop()
    if (!ends.some((end) => this.#token.text === end)) this.#fail(`expected ${ends.join(' or ')}`)
    return `{${js}}`
  }

  #statements(): string {
    let js = ''
    for (;;) {
      while (this.#take(';'));
      const { kind, text } = this.#token
      if (kind === 'end' || (kind === 'keyword' && ['end', 'else', 'elseif'].includes(text))) return js
      js += `${this.#statement()}\n`
    }
  }

  #statement(): string {
    if (this.#take('local')) return this.#take('function') ? this.#localFunction() : this.#localNames()
    if (this.#take('if')) return this.#if()
    if (this.#take('for')) return this.#for()
    if (this.#take('while')) return this.#while()
    if (this.#take('function')) return this.#function()
    if (this.#take('return')) return this.#return()
    if (this.#take('break')) return 'break;'
    return this.#assignmentOrCall()
  }

  #localFunction(): string {
    const name = this.#declare(this.#name())
    return `let ${name}; ${name} = ${this.#functionBody()};`
  }

  #localNames(): string {
    const names = [this.#name()]
    while (this.#take(',')) names.push(this.#name())
    const values = this.#take('=') ? this.#expressions() : []
    const single = names.length === 1 && values.length === 1 ? this.#single(values[0] as Expression) : null
    const list = this.#list(values)
    const declared = names.map((name) => this.#declare(name))
    if (values.length === 0) return `let ${declared.join(', ')};`
    return single === null ? `let [${declared.join(', ')}] = [${list}];` : `let ${declared[0]} = ${single};`
  }

  #if(): string {
    let js = `if (${this.#condition()}) `
    this.#expect('then')
    js += this.#block('end', 'else', 'elseif')
    while (this.#take('elseif')) {
      js += ` else if (${this.#condition()}) `
      this.#expect('then')
      js += this.#block('end', 'else', 'elseif')
    }
    if (this.#take('else')) js += ` else ${this.#block('end')}`
    this.#expect('end')
    return js
  }

  #while(): string {
    const condition = this.#condition()
    this.#expect('do')
    const body = this.#block('end')
    this.#expect('end')
    return `while (${condition}) ${body}`
  }

  #for(): string {
    const names = [this.#name()]
    if (this.#take('=')) {
      const bounds = this.#expressions().map((bound) => `num(${this.#single(bound)})`)
      const [from, to, step = '1'] = bounds
      return this.#loop(
        names,
        ([name]) =>
          `for (let $i = ${from}, $e = ${to}, $s = ${step}; $s > 0 ? $i <= $e : $i >= $e; $i += $s) { let ${name} = $i;`,
      )
    }
    while (this.#take(',')) names.push(this.#name())
    this.#expect('in')
    const [source] = this.#expressions()
    return this.#loop(names, (js) => `for (let [${js.join(', ')}] of ${source?.js}) {`)
  }

  #loop(names: readonly string[], head: (declared: string[]) => string): string {
    this.#expect('do')
    this.#scopes.push(new Map())
    const opening = head(names.map((name) => this.#declare(name)))
    const body = this.#block('end')
    this.#scopes.pop()
    this.#expect('end')
    return `${opening}${body}}`
  }

  /** `function Name.field(…) … end` */
  #function(): string {
    const owner = this.#resolve(this.#name())
    this.#expect('.')
    const field = this.#name()
    return `set(${owner}, '${field}', ${this.#functionBody()});`
  }

  #functionBody(): string {
    this.#expect('(')
    this.#scopes.push(new Map())
    const parameters: string[] = []
    while (!this.#take(')')) {
      parameters.push(this.#declare(this.#name()))
      this.#take(',')
    }
    const body = this.#block('end')
    this.#scopes.pop()
    this.#expect('end')
    return `((${parameters.join(', ')}) => ${body})`
  }

  #return(): string {
    const { kind, text } = this.#token
    const isBare = kind === 'end' || (kind === 'keyword' && ['end', 'else', 'elseif'].includes(text))
    const values = isBare || text === ';' ? [] : this.#expressions()
    this.#take(';')
    return values.length === 1 ? `return ${values[0]?.js};` : `return multi(${this.#list(values)});`
  }

  #assignmentOrCall(): string {
    const first = this.#suffixed()
    if (this.#token.text !== '=' && this.#token.text !== ',') return `${first.js};`
    const targets = [first.js]
    while (this.#take(',')) targets.push(this.#suffixed().js)
    this.#expect('=')
    const values = this.#expressions()
    if (targets.length === 1) return assign(first.js, this.#single(values[0] as Expression))
    const writes = targets.map((target, i) => assign(target, `$v[${i}]`)).join(' ')
    return `{ const $v = [${this.#list(values)}]; ${writes} }`
  }

  #expressions(): Expression[] {
    const all = [this.#expression()]
    while (this.#take(',')) all.push(this.#expression())
    return all
  }

  /** Values of a list. Only the last one may yield several. */
  #list(values: readonly Expression[]): string {
    return values
      .map((value, i) =>
        value.many && i === values.length - 1 ? `...spread(${value.js})` : this.#single(value),
      )
      .join(', ')
  }

  #single(value: Expression): string {
    return value.many ? `first(${value.js})` : value.js
  }

  #condition(): string {
    const value = this.#expression()
    return value.truth ? value.js : `truthy(${this.#single(value)})`
  }

  #expression(): Expression {
    let left = this.#and()
    while (this.#take('or')) {
      const right = this.#and()
      const truth = left.truth === true && right.truth === true
      left = truth
        ? { js: `(${left.js} || ${right.js})`, truth }
        : { js: `(truthy($ = ${this.#single(left)}) ? $ : ${this.#single(right)})` }
    }
    return left
  }

  #and(): Expression {
    let left = this.#comparison()
    while (this.#take('and')) {
      const right = this.#comparison()
      const truth = left.truth === true && right.truth === true
      left = truth
        ? { js: `(${left.js} && ${right.js})`, truth }
        : { js: `(truthy($ = ${this.#single(left)}) ? ${this.#single(right)} : $)` }
    }
    return left
  }

  #comparison(): Expression {
    let left = this.#concatenation()
    for (let compare = this.#operator(); compare !== undefined; compare = this.#operator()) {
      left = { js: compare(this.#single(left), this.#single(this.#concatenation())), truth: true }
    }
    return left
  }

  #operator() {
    const compare = this.#token.kind === 'symbol' ? COMPARISONS.get(this.#token.text) : undefined
    if (compare !== undefined) this.#at += 1
    return compare
  }

  #concatenation(): Expression {
    const left = this.#sum()
    if (!this.#take('..')) return left
    const right = this.#concatenation()
    return { js: `concat(${this.#single(left)}, ${this.#single(right)})` }
  }

  #sum(): Expression {
    let left = this.#product()
    for (;;) {
      const sign = this.#take('+') ? '+' : this.#take('-') ? '-' : null
      if (sign === null) return left
      left = { js: `(num(${this.#single(left)}) ${sign} num(${this.#single(this.#product())}))` }
    }
  }

  #product(): Expression {
    let left = this.#unary()
    for (;;) {
      const sign = this.#take('*') ? '*' : this.#take('/') ? '/' : this.#take('%') ? '%' : null
      if (sign === null) return left
      const [a, b] = [this.#single(left), this.#single(this.#unary())]
      left = { js: sign === '%' ? `mod(${a}, ${b})` : `(num(${a}) ${sign} num(${b}))` }
    }
  }

  #unary(): Expression {
    if (this.#take('not')) return { js: `!truthy(${this.#single(this.#unary())})`, truth: true }
    if (this.#take('-')) return { js: `(-num(${this.#single(this.#unary())}))` }
    if (this.#take('#')) return { js: `len(${this.#single(this.#unary())})` }
    return this.#value()
  }

  #value(): Expression {
    const { kind, text } = this.#token
    if (kind === 'number' || kind === 'string') {
      this.#at += 1
      return { js: text }
    }
    if (this.#take('nil')) return { js: 'undefined' }
    if (this.#take('true')) return { js: 'true', truth: true }
    if (this.#take('false')) return { js: 'false', truth: true }
    if (this.#take('function')) return { js: this.#functionBody() }
    if (this.#take('{')) return this.#table()
    return this.#suffixed()
  }

  #table(): Expression {
    const list: Expression[] = []
    const fields: string[] = []
    while (!this.#take('}')) {
      const next = this.#tokens[this.#at + 1]
      if (this.#take('[')) {
        const key = this.#single(this.#expression())
        this.#expect(']')
        this.#expect('=')
        fields.push(`[${key}, ${this.#single(this.#expression())}]`)
      } else if (this.#token.kind === 'name' && next?.text === '=' && next.kind === 'symbol') {
        const key = this.#name()
        this.#expect('=')
        fields.push(`['${key}', ${this.#single(this.#expression())}]`)
      } else list.push(this.#expression())
      if (!this.#take(',')) this.#take(';')
    }
    return { js: `new LuaTable([${this.#list(list)}], [${fields.join(', ')}])` }
  }

  /** A name or a bracketed value, with its calls and lookups. */
  #suffixed(): Expression {
    let value: Expression
    if (this.#take('(')) {
      value = { js: `(${this.#single(this.#expression())})` }
      this.#expect(')')
    } else {
      const name = this.#name()
      value = { js: name === 'redis' ? this.#redis() : this.#resolve(name) }
    }
    for (;;) {
      if (this.#take('.')) {
        const field = this.#name()
        const isLibrary = value.js.startsWith('lib.')
        value = { js: isLibrary ? `${value.js}.${field}` : `get(${this.#single(value)}, '${field}')` }
      } else if (this.#take('[')) {
        value = { js: `get(${this.#single(value)}, ${this.#single(this.#expression())})` }
        this.#expect(']')
      } else if (this.#take('(')) {
        const given = this.#take(')') ? [] : this.#expressions()
        if (given.length > 0) this.#expect(')')
        value = { js: `${this.#single(value)}(${this.#list(given)})`, many: true }
      } else return value
    }
  }

  #redis(): string {
    this.#expect('.')
    if (this.#name() !== 'call') this.#fail('only redis.call is known')
    return 'redisCall'
  }
}

/** Writes to a target that was compiled for reading: a name, or `get(table, key)`. */
function assign(target: string, value: string): string {
  return target.startsWith('get(')
    ? `set(${target.slice('get('.length, -1)}, ${value});`
    : `${target} = ${value};`
}
