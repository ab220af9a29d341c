import { Ajv, type ErrorObject, type SchemaObject } from 'ajv'
import { excerpt } from '../../domain/excerpt.ts'
import { schemaOfCrd, type CrdSchema } from './crd-file.ts'
import { readDateTime } from './date-time.ts'
import type { FieldPath, FieldProblem } from './field-path.ts'
import { repeatedEntries } from './repeated-entries.ts'
import { createRuleChecker } from './validation-rules.ts'

/** The parts of a resource that its schema covers. */
export interface GivenResource {
  readonly metadata: { readonly name: string }
  readonly spec: unknown
}

/**
 * Checks a resource as the API server does and fills in the defaults.
 * @param former the applied version of the resource, which was checked before; undefined = the resource is new
 */
export type ResourceReader = (
  given: GivenResource,
  former?: GivenResource,
) => { readonly checked: GivenResource } | { readonly problems: readonly FieldProblem[] }

const PROBLEMS_MAX = 20

const readers = new Map<string, ResourceReader>()

/**
 * Compiles the schema of a kind from its CRD file, so that a manifest that works in a cluster works here. Each is
 * compiled once.
 * @param file names a file of `crds/`
 */
export function readerOfCrd(file: string): ResourceReader {
  const reader = readers.get(file) ?? compileCrd(file)
  readers.set(file, reader)
  return reader
}

function compileCrd(file: string): ResourceReader {
  const root = schemaOfCrd(file)
  const schema = root.properties?.spec
  if (schema === undefined) throw new Error(`${file} has no schema of spec`)
  // An API server checks our files; here that would take as long as to compile one of them.
  const ours = { meta: false, validateSchema: false }
  const ajv = new Ajv({ ...ours, allErrors: true, verbose: true, useDefaults: true, strictTypes: false })
  ajv.addFormat('date-time', (text) => readDateTime(text) !== null)
  ajv.addFormat(HIDDEN, true)
  const validate = ajv.compile(toJsonSchema(schema))
  const brokenRules = createRuleChecker(root)
  return ({ metadata, spec: given }, former) => {
    const spec = withoutNulls(structuredClone(given), schema)
    // The rules rely on the right shape, so they run only after it was checked.
    if (!validate(spec)) return problemsOf((validate.errors ?? []).map(problemOf).map(inSpec))
    const checked = { metadata: { name: metadata.name }, spec }
    const problems = [
      ...brokenTexts(spec).map(inSpec),
      ...repeatedEntries(spec, schema).map(inSpec),
      ...brokenRules(checked, former),
    ]
    return problems.length > 0 ? problemsOf(problems) : { checked }
  }
}

function problemsOf(problems: readonly FieldProblem[]): { readonly problems: readonly FieldProblem[] } {
  return { problems: problems.slice(0, PROBLEMS_MAX) }
}

function inSpec(problem: FieldProblem): FieldProblem {
  return { ...problem, path: ['spec', ...problem.path] }
}

/** The format of a field whose value must not appear in a message. */
const HIDDEN = 'password'
const FORMATS: ReadonlySet<string | undefined> = new Set(['date-time', HIDDEN])

/**
 * Converts to JSON Schema. Unknown fields are errors, as kubectl treats them by default, and an int-or-string has two
 * types.
 */
function toJsonSchema(schema: CrdSchema): SchemaObject {
  const { properties, items, format, ...rest } = schema
  const kept = Object.entries(rest).filter(
    ([name]) => name !== 'description' && !name.startsWith('x-kubernetes-'),
  )
  return {
    ...Object.fromEntries(kept),
    ...(FORMATS.has(format) ? { format } : {}),
    ...(schema['x-kubernetes-int-or-string'] === true ? { type: ['integer', 'string'] } : {}),
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

/** Drops a null that the schema does not allow, as the API server does before it fills in defaults. */
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

/**
 * YAML can contain half of a surrogate pair, which JSON sent to an API server would lose, so such texts are problems.
 */
function brokenTexts(value: unknown): readonly FieldProblem[] {
  if (typeof value === 'string') {
    return value.isWellFormed() ? [] : [{ path: [], reason: 'must not contain half of a surrogate pair.' }]
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, field]) =>
    brokenTexts(field).map(({ path, reason }) => ({
      path: [Array.isArray(value) ? Number(name) : name, ...path],
      reason,
    })),
  )
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
      return {
        path,
        reason:
          error.parentSchema?.format === HIDDEN ? ruleText(error) : `${shown(error.data)} ${ruleText(error)}`,
      }
  }
}

function ruleText(error: ErrorObject): string {
  const { keyword, parentSchema: rule = {} } = error
  if (keyword === 'type') return `must be ${typeText(rule)}.`
  if (keyword === 'enum') return `must be one of ${(rule.enum as readonly unknown[]).join(', ')}.`
  if (keyword === 'format') return 'must be a time such as 2026-11-21T09:00:00Z.'
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

/** Converts a JSON pointer to a path, in which indexes are numbers. */
function pathOf(pointer: string): FieldPath {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^(?:0|[1-9][0-9]*)$/.test(part) ? Number(part) : part))
}

const SHOWN_CHARACTERS_MAX = 60

/** Shows the value as JSON, shortened. */
export function shown(value: unknown): string {
  return excerpt(JSON.stringify(value) ?? String(value), SHOWN_CHARACTERS_MAX)
}
