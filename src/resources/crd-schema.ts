import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import type { ErrorObject, SchemaObject } from 'ajv'
import { parse } from 'yaml'
import type { FieldPath, FieldProblem } from './field-path.ts'

/** Checks a resource's `spec` as the API server does, and answers with the defaults filled in. */
export type SpecReader = (
  spec: unknown,
) => { readonly spec: unknown } | { readonly problems: readonly FieldProblem[] }

/** Where the files lie, beside `src` as beside `dist`. */
const CRD_FOLDER = new URL('../../crds/', import.meta.url)
const PROBLEMS_MAX = 20

/**
 * Compiles the schema of a kind from its CRD file, so that a manifest that works in a cluster works here.
 * @param file name of a file of `crds/`
 */
export function readerOfCrd(file: string): SpecReader {
  const crd: unknown = parse(readFileSync(new URL(file, CRD_FOLDER), 'utf8'))
  const schema = asSchema(crd).spec.versions[0]?.schema.openAPIV3Schema.properties.spec
  if (schema === undefined) throw new Error(`${file} has no schema of spec`)
  const ajv = new Ajv({ allErrors: true, verbose: true, useDefaults: true, strictTypes: false })
  const validate = ajv.compile(toJsonSchema(schema))
  return (given) => {
    const spec = withoutNulls(structuredClone(given), schema)
    if (validate(spec)) return { spec }
    const problems = (validate.errors ?? []).map(problemOf)
    return { problems: problems.slice(0, PROBLEMS_MAX) }
  }
}

interface CrdDocument {
  readonly spec: {
    readonly versions: ReadonlyArray<{
      readonly schema: { readonly openAPIV3Schema: { readonly properties: { readonly spec?: CrdSchema } } }
    }>
  }
}

/** A structural schema: the part of OpenAPI that a CRD may use. */
interface CrdSchema extends SchemaObject {
  readonly properties?: Readonly<Record<string, CrdSchema>>
  readonly items?: CrdSchema
  readonly nullable?: boolean
}

/** Our own file, checked by the tests. */
function asSchema(crd: unknown): CrdDocument {
  return crd as CrdDocument
}

/**
 * As JSON Schema: fields that are not named are mistakes, as kubectl has them by default, and an int-or-string is
 * a type of two.
 */
function toJsonSchema(schema: CrdSchema): SchemaObject {
  const { properties, items, description: _description, format: _format, ...rest } = schema
  const kept = Object.entries(rest).filter(([name]) => !name.startsWith('x-kubernetes-'))
  return {
    ...Object.fromEntries(kept),
    ...(schema['x-kubernetes-int-or-string'] === true ? { type: ['integer', 'string'] } : {}),
    ...(schema['x-kubernetes-list-type'] === 'set' ? { uniqueItems: true } : {}),
    ...(items === undefined ? {} : { items: toJsonSchema(items) }),
    ...(properties === undefined
      ? {}
      : {
          additionalProperties: false,
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, property]) => [name, toJsonSchema(property)]),
          ),
        }),
  }
}

/** As the API server does before it fills in defaults: a null where none may stand counts as not given. */
function withoutNulls(value: unknown, schema: CrdSchema): unknown {
  if (Array.isArray(value)) {
    const { items } = schema
    return items === undefined ? value : value.map((item) => withoutNulls(item, items))
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).flatMap(([name, field]) => {
    const property = schema.properties?.[name]
    if (property === undefined) return [[name, field] as const]
    if (field === null && property.nullable !== true) return []
    return [[name, withoutNulls(field, property)] as const]
  })
  return Object.fromEntries(entries)
}

function problemOf(error: ErrorObject): FieldProblem {
  const path = pathOf(error.instancePath)
  const params = error.params as Readonly<Record<string, unknown>>
  switch (error.keyword) {
    case 'additionalProperties':
      return {
        path: [...path, String(params.additionalProperty)],
        reason: `is not a known field; known here: ${Object.keys(error.parentSchema?.properties ?? {}).join(', ')}.`,
      }
    case 'required':
      return { path: [...path, String(params.missingProperty)], reason: 'is required.' }
    default:
      return { path, reason: `${shown(error.data)} ${ruleText(error)}` }
  }
}

function ruleText(error: ErrorObject): string {
  const { keyword, parentSchema: rule = {} } = error
  if (keyword === 'type') return `must be ${typeText(rule)}.`
  if (keyword === 'enum') return `must be one of ${(rule.enum as readonly unknown[]).join(', ')}.`
  if (keyword === 'uniqueItems') return 'must not hold the same entry twice.'
  if (keyword === 'minimum' || keyword === 'maximum')
    return `must be ${rangeText(rule.minimum, rule.maximum)}.`
  if (keyword === 'minItems' || keyword === 'maxItems') {
    return `must have ${countText(rule.minItems, rule.maxItems)} entries.`
  }
  if (keyword === 'minLength' || keyword === 'maxLength') {
    return `must have ${countText(rule.minLength, rule.maxLength)} characters.`
  }
  return `${error.message ?? 'is not allowed'}.`
}

function typeText(rule: Readonly<Record<string, unknown>>): string {
  const names: Readonly<Record<string, string>> = {
    integer: 'a whole number',
    string: 'a text',
    boolean: 'true or false',
    array: 'a list',
    object: 'a map of fields',
  }
  const types = (Array.isArray(rule.type) ? rule.type : [rule.type]).map((type) => names[String(type)])
  return [...types, ...(rule.nullable === true ? ['null'] : [])].join(' or ')
}

function rangeText(min: unknown, max: unknown): string {
  return `from ${String(min)} to ${String(max)}`
}

function countText(min: unknown, max: unknown): string {
  return typeof min === 'number' ? `${min} to ${String(max)}` : `at most ${String(max)}`
}

/** A JSON pointer as a path; indexes become numbers. */
function pathOf(pointer: string): FieldPath {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^(?:0|[1-9][0-9]*)$/.test(part) ? Number(part) : part))
}

const SHOWN_CHARACTERS_MAX = 60

/** The value as it stands there, shortened. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length <= SHOWN_CHARACTERS_MAX ? text : `${text.slice(0, SHOWN_CHARACTERS_MAX - 1)}…`
}
