/**
 * Writes the typed operations of the TypeScript client: what each takes, what it answers, and where it is sent. Our own,
 * because the known generators need the JavaScript API of the compiler, which TypeScript 7 no longer has.
 */
import type { JsonValue } from './crd-definitions.ts'

type Json = Readonly<Record<string, JsonValue>>

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly schema: Json
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly JsonValue[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, JsonValue>>
}

type Content = Readonly<Record<string, { readonly schema: Json }>>

export interface PathsDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonValue>>>>
}

const METHODS: ReadonlySet<string> = new Set(['get', 'post', 'put', 'patch', 'delete'])
/** The one header that callers give; it has a field of its own. */
const KEY_HEADER = 'Idempotency-Key'

/** The text of `operations.ts`. */
export function operationsModule(document: PathsDocument, banner: string): string {
  const names = new Set<string>()
  const read = new Reader(document, names)
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method, operation]) => METHODS.has(method) && hasAnswer(operation as unknown as Operation))
      .map(([method, operation]) => read.operation(method, path, item, operation as unknown as Operation)),
  )
  const imports = [...names].sort().map((name) => `  ${name},\n`)
  return [
    banner,
    `import type {\n${imports.join('')}} from './wire.ts'\nimport type { JsonText } from '../json-text.ts'\n\n`,
    '/** Where an operation is sent, and whether a key makes a repetition harmless. */\n',
    'export interface Operation {\n  readonly method: string\n  readonly path: string\n  readonly hasKey?: boolean\n}\n\n',
    `export const OPERATIONS = {\n${operations.map(({ route }) => route).join('')}} as const satisfies Readonly<Record<string, Operation>>\n\n`,
    '/** What each operation takes. */\n',
    `export interface Inputs {\n${operations.map(({ input }) => input).join('')}}\n\n`,
    '/** What each operation answers; undefined for an answer without a body. */\n',
    `export interface Answers {\n${operations.map(({ answer }) => answer).join('')}}\n\n`,
    '/** The items of the operations that answer with a page. */\n',
    `export interface Items {\n${operations.map(({ item }) => item).join('')}}\n\n`,
    '/** The field of a page that holds its items. */\n',
    `export const ITEM_FIELDS = {\n${operations.map(({ itemField }) => itemField).join('')}} as const\n`,
  ].join('')
}

/** An operation that only sends a browser elsewhere is none of a client's, and a stream does not end. */
function hasAnswer({ responses }: Operation): boolean {
  return Object.entries(responses).some(([status, response]) => {
    const { content } = response as { readonly content?: Content }
    return status.startsWith('2') && content?.['text/event-stream'] === undefined
  })
}

class Reader {
  readonly #document: PathsDocument
  readonly #names: Set<string>

  constructor(document: PathsDocument, names: Set<string>) {
    this.#document = document
    this.#names = names
  }

  operation(method: string, path: string, item: Readonly<Record<string, JsonValue>>, operation: Operation) {
    const { operationId: id, summary, description } = operation
    const shared = (item['parameters'] ?? []) as readonly JsonValue[]
    const parameters = [...shared, ...(operation.parameters ?? [])].map(
      (one) => this.#resolve(one) as unknown as Parameter,
    )
    const named = parameters.filter(({ in: place }) => place !== 'header')
    const hasKey = parameters.some(({ name }) => name === KEY_HEADER)
    const fields = [
      ...named.map(({ name }) => name),
      ...(operation.requestBody === undefined ? [] : ['body']),
    ]
    if (new Set(fields).size < fields.length) throw new Error(`${id} has two inputs of one name.`)
    const inputs = [
      ...named.map((one) => this.#field(one)),
      ...(operation.requestBody === undefined ? [] : [this.#body(operation.requestBody)]),
      ...(hasKey
        ? ['    /** A repeated key gets the first answer. */\n    idempotency_key?: string | undefined\n']
        : []),
    ].join('')
    const remark = commentOf(`${summary}. ${description ?? ''}`, '  ')
    const page = this.#pageOf(operation)
    return {
      route: `  ${id}: { method: '${method.toUpperCase()}', path: '${path}'${hasKey ? ', hasKey: true' : ''} },\n`,
      input: inputs === '' ? `${remark}  ${id}: object\n` : `${remark}  ${id}: {\n${inputs}  }\n`,
      answer: `  ${id}: ${this.#answerOf(operation)}\n`,
      item: page === null ? '' : `  ${id}: ${page.type}\n`,
      itemField: page === null ? '' : `  ${id}: '${page.field}',\n`,
    }
  }

  #field({ name, required, description, schema }: Parameter): string {
    const remark = description === undefined ? '' : commentOf(description, '    ')
    // Ids are numbers in answers; a path takes both.
    const type = required === true && schema['type'] === 'string' ? 'string | number' : this.#type(schema)
    return required === true
      ? `${remark}    ${name}: ${type}\n`
      : `${remark}    ${name}?: ${type} | undefined\n`
  }

  #body({ required = false, content }: NonNullable<Operation['requestBody']>): string {
    const type = `${this.#contentType(content)} | JsonText`
    return required ? `    body: ${type}\n` : `    body?: ${type} | undefined\n`
  }

  #answerOf({ responses }: Operation): string {
    const types = Object.entries(responses)
      .filter(([status]) => status.startsWith('2'))
      .map(([, response]) => {
        const { content } = this.#resolve(response) as { readonly content?: Content }
        return content === undefined ? 'undefined' : this.#contentType(content)
      })
    return [...new Set(types)].join(' | ')
  }

  #contentType(content: Content): string {
    const schema = content['application/json']?.schema
    return schema === undefined ? 'unknown' : this.#type(schema)
  }

  /** The items of an answer that has `next_cursor`. */
  #pageOf({ responses }: Operation): { readonly field: string; readonly type: string } | null {
    const { content } = (responses['200'] === undefined ? {} : this.#resolve(responses['200'])) as {
      readonly content?: Content
    }
    const schema = content?.['application/json']?.schema
    const properties =
      schema === undefined ? undefined : (this.#resolve(schema)['properties'] as Json | undefined)
    if (properties?.['next_cursor'] === undefined) return null
    const lists = Object.entries(properties).filter(([, one]) => this.#resolve(one)['type'] === 'array')
    const [field, array] = lists[0] ?? []
    if (field === undefined || array === undefined || lists.length > 1) return null
    return { field, type: this.#type(this.#resolve(array)['items'] as Json) }
  }

  #type(schema: Json): string {
    const { $ref: reference, enum: values, oneOf, type } = schema
    if (typeof reference === 'string') {
      const name = reference.replace('#/components/schemas/', '')
      this.#names.add(name)
      return name
    }
    if (Array.isArray(values))
      return values.map((value) => JSON.stringify(value).replaceAll('"', "'")).join(' | ')
    if (Array.isArray(oneOf)) return oneOf.map((one) => this.#type(one as Json)).join(' | ')
    if (Array.isArray(type)) return type.map((one) => this.#type({ type: one })).join(' | ')
    if (type === 'integer' || type === 'number') return 'number'
    if (type === 'array') return `ReadonlyArray<${this.#type((schema['items'] ?? {}) as Json)}>`
    if (type === 'string' || type === 'boolean' || type === 'null') return type
    return type === 'object' ? 'Readonly<Record<string, unknown>>' : 'unknown'
  }

  #resolve(value: JsonValue): Json {
    const { $ref: reference } = value as Json
    if (typeof reference !== 'string') return value as Json
    let at: JsonValue = this.#document as unknown as JsonValue
    for (const step of reference.replace('#/', '').split('/'))
      at = (at as Record<string, JsonValue>)[step] ?? null
    return this.#resolve(at)
  }
}

/** A doc comment of lines that fit. */
function commentOf(text: string, indent: string): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.trim().split(/\s+/)) {
    if (line !== '' && line.length + word.length > 105) {
      lines.push(line)
      line = ''
    }
    line += line === '' ? word : ` ${word}`
  }
  lines.push(line)
  const safe = lines.map((one) => one.replaceAll('*/', '* /'))
  if (safe.length === 1) return `${indent}/** ${safe[0] ?? ''} */\n`
  return `${indent}/**\n${safe.map((one) => `${indent} * ${one}\n`).join('')}${indent} */\n`
}
