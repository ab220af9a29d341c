/** Parses the Lua that our scripts are written in; what they do not use (goto, long brackets) is an error. */

export interface LuaValue {
  readonly kind: 'value'
  readonly text: string
}
export interface LuaName {
  readonly kind: 'name'
  readonly name: string
  readonly line: number
}
/** `of.field`, or `of[key]` when field is null. */
export interface LuaIndex {
  readonly kind: 'index'
  readonly of: Lua
  readonly field: string | null
  readonly key: Lua | null
}
export interface LuaCall {
  readonly kind: 'call'
  readonly of: Lua
  readonly args: readonly Lua[]
  readonly line: number
}
export interface LuaTable {
  readonly kind: 'table'
  readonly items: ReadonlyArray<{ readonly field: string | null; readonly value: Lua }>
}
export interface LuaFunction {
  readonly kind: 'function'
  readonly params: readonly string[]
  readonly body: readonly LuaStatement[]
}
export interface LuaOperation {
  readonly kind: 'operation'
  readonly operator: string
  readonly operands: readonly Lua[]
}
export type Lua = LuaValue | LuaName | LuaIndex | LuaCall | LuaTable | LuaFunction | LuaOperation

/** Blocks are flat: which statement is inside which does not matter to those who ask. */
export type LuaStatement =
  | { readonly kind: 'assign'; readonly targets: readonly Lua[]; readonly values: readonly Lua[] }
  | { readonly kind: 'each'; readonly names: readonly string[]; readonly values: readonly Lua[] }
  | { readonly kind: 'return'; readonly values: readonly Lua[] }
  | { readonly kind: 'do'; readonly value: Lua }

interface Token {
  readonly text: string
  readonly type: 'name' | 'string' | 'number' | 'sign' | 'keyword' | 'end'
  readonly line: number
}

const TOKEN =
  /(--[^\n]*|#![^\n]*|\s+)|([A-Za-z_]\w*)|('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")|(\d+(?:\.\d+)?)|(\.\.\.|\.\.|==|~=|<=|>=|[-+*/%^#<>=(){}[\];:,.])/y
const KEYWORDS = new Set(
  'and break do else elseif end false for function if in local nil not or repeat return then true until while'.split(
    ' ',
  ),
)
const OTHERS = ['..', '==', '~=', '<=', '>=', '<', '>', '+', '-', '*', '/', '%', '^']
const RANKS = new Map([['or', 1], ['and', 2], ...OTHERS.map((sign) => [sign, 3] as const)] as const)

export function parseLua(source: string): LuaStatement[] {
  return new LuaParser(tokensOf(source)).parse()
}

function tokensOf(source: string): Token[] {
  const tokens: Token[] = []
  let line = 1
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < source.length) {
    const at = TOKEN.lastIndex
    const match = TOKEN.exec(source)
    if (match === null) throw new Error(`line ${line}: cannot read ${source.slice(at, at + 20)}`)
    const [text, space, name, string, number] = match
    if (name !== undefined) tokens.push({ text, type: KEYWORDS.has(name) ? 'keyword' : 'name', line })
    else if (string !== undefined) tokens.push({ text, type: 'string', line })
    else if (number !== undefined) tokens.push({ text, type: 'number', line })
    else if (space === undefined) tokens.push({ text, type: 'sign', line })
    line += text.split('\n').length - 1
  }
  return [...tokens, { text: '', type: 'end', line }]
}

class LuaParser {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  parse(): LuaStatement[] {
    const statements = this.#block()
    if (this.#next.type !== 'end') this.#fail()
    return statements
  }

  get #next(): Token {
    return this.#tokens[this.#at] as Token
  }

  #fail(): never {
    throw new Error(`line ${this.#next.line}: did not expect "${this.#next.text}"`)
  }

  #take(): Token {
    const token = this.#next
    this.#at += 1
    return token
  }

  #takes(...texts: string[]): boolean {
    const isThere = this.#next.type !== 'string' && texts.includes(this.#next.text)
    if (isThere) this.#at += 1
    return isThere
  }

  #expect(text: string): void {
    if (!this.#takes(text)) this.#fail()
  }

  #name(): string {
    if (this.#next.type !== 'name') this.#fail()
    return this.#take().text
  }

  #list<T>(one: () => T): T[] {
    const list = [one()]
    while (this.#takes(',')) list.push(one())
    return list
  }

  readonly #expressions = (): Lua[] => this.#list(() => this.#expression())
  readonly #names = (): string[] => this.#list(() => this.#name())

  #block(): LuaStatement[] {
    const statements: LuaStatement[] = []
    const ends = ['end', 'else', 'elseif', 'until']
    while (this.#next.type !== 'end' && !ends.includes(this.#next.text)) {
      statements.push(...this.#statement())
      this.#takes(';')
    }
    return statements
  }

  #body(): LuaStatement[] {
    const body = this.#block()
    this.#expect('end')
    return body
  }

  #statement(): LuaStatement[] {
    if (this.#takes('local')) return this.#local()
    if (this.#takes('function')) return this.#functionStatement()
    if (this.#takes('if')) return this.#condition()
    if (this.#takes('for')) return this.#loop()
    if (this.#takes('do')) return this.#body()
    if (this.#takes('break')) return []
    if (this.#takes('while')) {
      const value = this.#expression()
      this.#expect('do')
      return [{ kind: 'do', value }, ...this.#body()]
    }
    if (this.#takes('repeat')) {
      const body = this.#block()
      this.#expect('until')
      return [...body, { kind: 'do', value: this.#expression() }]
    }
    if (this.#takes('return')) {
      const isBare = this.#next.type === 'end' || ['end', 'else', 'elseif'].includes(this.#next.text)
      return [{ kind: 'return', values: isBare ? [] : this.#expressions() }]
    }
    return [this.#assignmentOrCall()]
  }

  #local(): LuaStatement[] {
    if (this.#takes('function'))
      return this.#named({ kind: 'name', name: this.#name(), line: this.#next.line })
    const { line } = this.#next
    const targets = this.#names().map((name): Lua => ({ kind: 'name', name, line }))
    return [{ kind: 'assign', targets, values: this.#takes('=') ? this.#expressions() : [] }]
  }

  #functionStatement(): LuaStatement[] {
    let target: Lua = { kind: 'name', name: this.#name(), line: this.#next.line }
    while (this.#takes('.')) target = { kind: 'index', of: target, field: this.#name(), key: null }
    return this.#named(target)
  }

  #named(target: Lua): LuaStatement[] {
    return [{ kind: 'assign', targets: [target], values: [this.#function()] }]
  }

  #condition(): LuaStatement[] {
    const statements: LuaStatement[] = [{ kind: 'do', value: this.#expression() }]
    this.#expect('then')
    statements.push(...this.#block())
    if (this.#takes('elseif')) return [...statements, ...this.#condition()]
    if (this.#takes('else')) return [...statements, ...this.#body()]
    this.#expect('end')
    return statements
  }

  #loop(): LuaStatement[] {
    const names = this.#names()
    if (!this.#takes('=', 'in')) this.#fail()
    const values = this.#expressions()
    this.#expect('do')
    return [{ kind: 'each', names, values }, ...this.#body()]
  }

  #assignmentOrCall(): LuaStatement {
    const targets = this.#list(() => this.#operand())
    if (this.#takes('=')) return { kind: 'assign', targets, values: this.#expressions() }
    const [value] = targets
    if (value?.kind !== 'call') return this.#fail()
    return { kind: 'do', value }
  }

  /** Of the operators only `or` and `and` are ranked: the others give nothing that anybody here looks into. */
  #expression(rank = 1): Lua {
    let left = this.#unary()
    for (;;) {
      const operator = this.#next.text
      const strength = this.#next.type === 'string' ? 0 : (RANKS.get(operator) ?? 0)
      if (strength < rank) return left
      this.#at += 1
      left = { kind: 'operation', operator, operands: [left, this.#expression(strength + 1)] }
    }
  }

  #unary(): Lua {
    const operator = this.#next.text
    if (this.#takes('not', '-', '#')) return { kind: 'operation', operator, operands: [this.#unary()] }
    return this.#operand()
  }

  #operand(): Lua {
    const token = this.#take()
    if (token.type === 'string' || token.type === 'number') return { kind: 'value', text: token.text }
    if (['nil', 'true', 'false', '...'].includes(token.text)) return { kind: 'value', text: token.text }
    if (token.text === 'function') return this.#function()
    if (token.text === '{') return this.#table()
    if (token.text === '(') {
      const inner = this.#expression()
      this.#expect(')')
      return this.#suffixes(inner)
    }
    if (token.type === 'name') return this.#suffixes({ kind: 'name', name: token.text, line: token.line })
    this.#at -= 1
    return this.#fail()
  }

  #suffixes(start: Lua): Lua {
    let of = start
    for (;;) {
      const { line } = this.#next
      if (this.#takes('.')) of = { kind: 'index', of, field: this.#name(), key: null }
      else if (this.#takes('[')) {
        of = { kind: 'index', of, field: null, key: this.#expression() }
        this.#expect(']')
      } else if (this.#takes('(')) {
        const args = this.#takes(')') ? [] : this.#expressions()
        if (args.length > 0) this.#expect(')')
        of = { kind: 'call', of, args, line }
      } else return of
    }
  }

  #table(): LuaTable {
    const items: Array<{ field: string | null; value: Lua }> = []
    while (!this.#takes('}')) {
      const isNamed = this.#next.type === 'name' && this.#tokens[this.#at + 1]?.text === '='
      const field = isNamed ? this.#name() : null
      if (isNamed) this.#expect('=')
      items.push({ field, value: this.#expression() })
      if (!this.#takes(',', ';') && this.#next.text !== '}') this.#fail()
    }
    return { kind: 'table', items }
  }

  #function(): LuaFunction {
    this.#expect('(')
    const params = this.#takes(')') ? [] : this.#names()
    if (params.length > 0) this.#expect(')')
    return { kind: 'function', params, body: this.#body() }
  }
}
