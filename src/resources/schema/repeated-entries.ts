import type { CrdSchema } from './crd-file.ts'
import type { FieldPath, FieldProblem } from './field-path.ts'

/** Finds repeated entries of sets and of lists with map keys. */
export function repeatedEntries(value: unknown, schema: CrdSchema, path: FieldPath = []): FieldProblem[] {
  if (Array.isArray(value)) {
    const { items = {} } = schema
    return [
      ...repeatedIn(value, schema, path),
      ...value.flatMap((item, index) => repeatedEntries(item, items, [...path, index])),
    ]
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, field]) =>
    repeatedEntries(field, schema.properties?.[name] ?? {}, [...path, name]),
  )
}

function repeatedIn(list: readonly unknown[], schema: CrdSchema, path: FieldPath): FieldProblem[] {
  const listType = schema['x-kubernetes-list-type'] ?? 'atomic'
  if (listType === 'atomic') return []
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const identities = list.map((item) => JSON.stringify(listType === 'set' ? item : pick(item, keys)))
  return identities.flatMap((identity, index) =>
    identities.indexOf(identity) === index
      ? []
      : [{ path: [...path, index], reason: `${identity} is a duplicate.` }],
  )
}

function pick(item: unknown, keys: readonly string[]): unknown {
  const fields = item as Readonly<Record<string, unknown>>
  return Object.fromEntries(keys.map((key) => [key, fields[key]]))
}
