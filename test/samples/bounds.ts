import { schemaOfCrd } from '../../src/resources/schema/crd-file.ts'
import type { CrdSchema } from '../../src/resources/schema/crd-file.ts'
import { fieldName } from '../../src/resources/schema/field-path.ts'
import type { FieldPath } from '../../src/resources/schema/field-path.ts'
import type { InvalidSample, KindSamples, Sample } from './sample.ts'
import { valueAt, withValueAt } from './value-at.ts'

/** Samples made of a schema: every bound at its last valid value and one beyond, every type mistaken. */
export interface BoundSamples {
  readonly valid: readonly Sample[]
  readonly invalid: readonly InvalidSample[]
}

export function boundSamples(kind: KindSamples): BoundSamples {
  const spec = schemaOfCrd(kind.crd).properties?.['spec'] ?? {}
  const changes = placesOf(spec, ['spec']).flatMap(({ schema, path }) =>
    changesAt(schema, { path, full: fullAt(kind, path), padding: paddingOf(kind, path) }),
  )
  const { name } = kind
  const sampleOf = ({ title, path, value, full }: Change): Sample => ({
    title: `${fieldName(path)} ${title}`,
    kind: kind.kind,
    name,
    spec: withValueAt(full.spec, path.slice(1), value),
  })
  return {
    valid: changes
      .filter(({ isValid, path }) => isValid && kind.deciding?.includes(patternOf(path)) !== true)
      .map(sampleOf),
    invalid: changes
      .filter((change) => !change.isValid)
      .map((change) => ({ ...sampleOf(change), field: fieldName(change.path) })),
  }
}

function paddingOf({ padding }: KindSamples, path: FieldPath): string | null {
  const found = padding?.[patternOf(path)]
  return found === undefined ? 'x' : found
}

/** Every field below a schema, lists by their first entry. */
function placesOf(
  schema: CrdSchema,
  path: FieldPath,
): ReadonlyArray<{ readonly schema: CrdSchema; readonly path: FieldPath }> {
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
    placesOf(property, [...path, name]),
  )
  const items = schema.items === undefined ? [] : placesOf(schema.items, [...path, 0])
  return [{ schema, path }, ...below, ...items]
}

/** `spec.egress.allow[]`. */
function patternOf(path: FieldPath): string {
  return fieldName(path).replaceAll('[0]', '[]')
}

interface Full {
  readonly spec: unknown
  readonly value: unknown
}

function fullAt({ full, kind }: KindSamples, path: FieldPath): Full {
  for (const spec of full) {
    const value = valueAt(spec, path.slice(1))
    if (value !== undefined) return { spec, value }
  }
  throw new Error(`no full sample of ${kind} has ${fieldName(path)}`)
}

interface Place {
  readonly path: FieldPath
  readonly full: Full
  readonly padding: string | null
}

interface Change {
  readonly title: string
  readonly path: FieldPath
  readonly full: Full
  /** Absent when undefined. */
  readonly value: unknown
  readonly isValid: boolean
}

function changesAt(schema: CrdSchema, place: Place): readonly Change[] {
  const { path, full } = place
  const change =
    (isValid: boolean) =>
    ([title, value]: Titled): Change => ({ title, path, full, value, isValid })
  const absent = (schema.required ?? []).map((name) => ({
    ...change(false)(['absent', undefined]),
    path: [...path, name],
  }))
  const unknown =
    schema.properties === undefined
      ? []
      : [{ ...change(false)(['unknown', 1]), path: [...path, 'unknownField'] }]
  return [
    ...withinBounds(schema, place).map(change(true)),
    ...beyondBounds(schema, place).map(change(false)),
    ...wrongTypes(schema).map(change(false)),
    ...absent,
    ...unknown,
  ]
}

type Titled = readonly [title: string, value: unknown]

function withinBounds(schema: CrdSchema, place: Place): readonly Titled[] {
  const { minimum, maximum, minLength, maxLength, minItems = 0, maxItems } = schema
  return [
    ...(minimum === undefined ? [] : [['at its minimum', minimum] as const]),
    ...(maximum === undefined ? [] : [['at its maximum', maximum] as const]),
    ...(minLength === undefined ? [] : [['shortest', 'x'.repeat(minLength)] as const]),
    ...(maxLength === undefined || place.padding === null
      ? []
      : [['longest', padded(place, maxLength)] as const]),
    ...(maxItems === undefined ? [] : [['fewest', entries(schema, place, minItems)] as const]),
    ...(maxItems === undefined ? [] : [['most', entries(schema, place, maxItems)] as const]),
    ...(schema.enum ?? []).map((value) => [String(value), value] as const),
    ...(schema.nullable === true ? [['null', null] as const] : []),
  ]
}

function beyondBounds(schema: CrdSchema, place: Place): readonly Titled[] {
  const { minimum, maximum, minLength, maxLength, minItems = 0, maxItems } = schema
  return [
    ...(minimum === undefined ? [] : [['below its minimum', minimum - 1] as const]),
    ...(maximum === undefined ? [] : [['above its maximum', maximum + 1] as const]),
    ...(minLength === undefined ? [] : [['too short', 'x'.repeat(minLength - 1)] as const]),
    ...(maxLength === undefined ? [] : [['too long', padded(place, maxLength + 1)] as const]),
    ...(minItems === 0 ? [] : [['too few', entries(schema, place, minItems - 1)] as const]),
    ...(maxItems === undefined ? [] : [['too many', entries(schema, place, maxItems + 1)] as const]),
    ...(schema.enum === undefined
      ? []
      : [['none of its values', schema.type === 'integer' ? 5 : 'Else'] as const]),
  ]
}

const WRONG: Readonly<Record<string, readonly unknown[]>> = {
  string: [7, true],
  integer: ['7', 1.5, true],
  boolean: ['true', 1],
  array: ['x', {}],
  object: ['x', []],
}

function wrongTypes(schema: CrdSchema): readonly Titled[] {
  const values = schema.type === undefined ? [true, 1.5, []] : (WRONG[schema.type] ?? [])
  return values.map((value) => [`as ${JSON.stringify(value)}`, value])
}

/** The full value, made longer; in characters. */
function padded({ full, padding: given }: Place, length: number): string {
  const padding = given ?? 'x'
  const text = String(full.value)
  const missing = length - [...text].length
  const odd = 'x'.repeat(missing % padding.length)
  return `${text}${odd}${padding.repeat(Math.floor(missing / padding.length))}`
}

/** So many entries like the first one; where none may stand twice, each with a number. */
function entries(schema: CrdSchema, { full }: Place, count: number): readonly unknown[] {
  const [first] = full.value as readonly unknown[]
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  return Array.from({ length: count }, (_, index) => {
    if (schema['x-kubernetes-list-type'] === 'set' && typeof first === 'number') return first + index
    if (schema['x-kubernetes-list-type'] === 'set') return `${String(first)}${index}`
    const own = keys.map((key) => [key, `${String((first as Record<string, unknown>)[key])}${index}`])
    return keys.length === 0 ? first : { ...(first as object), ...Object.fromEntries(own) }
  })
}
