import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import formats from 'ajv-formats'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { parse } from 'yaml'

interface Body {
  readonly content?: Readonly<
    Record<
      string,
      { readonly schema: object; readonly examples?: Readonly<Record<string, { value: unknown }>> }
    >
  >
}

interface ResponseObject extends Body {
  readonly headers?: Readonly<Record<string, object>>
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly schema: { readonly type?: string; readonly enum?: readonly unknown[] }
}

export interface Operation {
  readonly operationId: string
  /** null = any valid token will do; absent where none is needed. */
  readonly 'x-permission'?: string | null
  /** Of an operation that takes other credentials than a token alone. */
  readonly security?: readonly object[]
  readonly parameters?: ReadonlyArray<Parameter | { readonly $ref: string }>
  readonly requestBody?: Body & { readonly required?: boolean }
  readonly responses: Readonly<Record<string, ResponseObject>>
}

export interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

const text = readFileSync(join(import.meta.dirname, '../../../openapi.yaml'), 'utf8')
export const contract = parse(text) as Contract

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true })
formats.default(ajv)
ajv.addSchema({ $id: 'contract', ...(contract as object) })

/** The object a `$ref` into the document names, or the object itself. */
export function resolve<T extends object>(value: T | { readonly $ref: string }): T {
  if (!('$ref' in value)) return value
  const steps = value.$ref.replace('#/', '').split('/')
  let at: unknown = contract
  for (const step of steps) at = (at as Record<string, unknown>)[step]
  return resolve(at as T)
}

/** Those of the operation and of its path. */
export function parametersOf(path: string, operation: Operation): Parameter[] {
  const shared = contract.paths[path] as unknown as Pick<Operation, 'parameters'>
  return [...(shared.parameters ?? []), ...(operation.parameters ?? [])].map((one) => resolve(one))
}

/** Of the JSON body; null when it takes none. */
export function requestSchemaOf({
  requestBody,
}: Operation): { readonly properties?: Readonly<Record<string, object>> } | null {
  const schema = requestBody?.content?.['application/json']?.schema
  return schema === undefined ? null : resolve(schema)
}

export const schemaOf = (name: string): ValidateFunction =>
  validatorOf({ $ref: `#/components/schemas/${name}` })

const validators = new Map<string, ValidateFunction>()

/** A validator of a schema as it stands in the document; each is compiled once. */
export function validatorOf(schema: object): ValidateFunction {
  const text = JSON.stringify(schema).replaceAll('"#/', '"contract#/')
  const validator = validators.get(text) ?? ajv.compile(JSON.parse(text) as object)
  validators.set(text, validator)
  return validator
}

/** Every operation, with its method and path. */
export function operations(): Array<{ method: string; path: string; operation: Operation }> {
  const methods = ['get', 'post', 'put', 'patch', 'delete']
  return Object.entries(contract.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => methods.includes(method))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
}

interface GivenAnswer {
  readonly status: number
  /** null = none. */
  readonly body: unknown
  header(name: string): string | null | undefined
}

/** In what an answer differs from the one that the document has for its status. */
export function faultsOf({ responses }: Operation, { status, body, header }: GivenAnswer): string[] {
  const documented = responses[String(status)]
  if (documented === undefined) return [`status ${status} is not documented: ${JSON.stringify(body)}`]
  const { content, headers = {} } = resolve(documented)
  const schema = content?.['application/json']?.schema
  const faults: string[] = []
  if (schema === undefined && body !== null) faults.push(`it has a body: ${JSON.stringify(body)}`)
  if (schema !== undefined) {
    faults.push(...faultsBySchema('body', schema, body))
    if (header('content-type') !== 'application/json') faults.push(`it is ${header('content-type')}`)
  }
  for (const [name, described] of Object.entries(headers)) {
    const { schema: headerSchema } = resolve(described as { schema: object })
    faults.push(...faultsBySchema(name, headerSchema, header(name)))
  }
  return faults
}

function faultsBySchema(what: string, schema: object, value: unknown): string[] {
  const validate = validatorOf(schema)
  if (validate(value)) return []
  return [`${what} ${JSON.stringify(value)}: ${ajv.errorsText(validate.errors)}`]
}

/**
 * Whether `contract-matrix`, or `access-matrix` for refused senders, asks a whole installation for this refusal of the
 * operation, in every way; `openapi-walk` asks for all other answers.
 */
export function isAskedOfInstallation(path: string, operation: Operation, status: string): boolean {
  // An operation of a session is asked with its cookie.
  if (operation.security !== undefined) return false
  switch (status) {
    case '401':
      return true
    case '403':
      return (operation['x-permission'] ?? null) !== null
    case '404':
      return path.includes('{')
    case '422':
      return requestSchemaOf(operation) !== null || hasQuery(path, operation)
    default:
      return false
  }
}

export function hasQuery(path: string, operation: Operation): boolean {
  return parametersOf(path, operation).some(({ in: place }) => place === 'query')
}
