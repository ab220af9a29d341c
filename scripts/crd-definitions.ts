/** A structural schema and the rest of a CRD as JSON Schema for the compiler of types. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue }

interface CrdSchema {
  readonly type?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, CrdSchema>>
  readonly items?: CrdSchema
  readonly required?: readonly string[]
  readonly enum?: readonly JsonValue[]
  readonly default?: JsonValue
  readonly nullable?: boolean
  readonly 'x-kubernetes-int-or-string'?: boolean
}

export interface CrdDocument {
  readonly spec: {
    readonly names: { readonly kind: string }
    readonly versions: ReadonlyArray<{ readonly schema: { readonly openAPIV3Schema: CrdSchema } }>
  }
}

/** Schemas that several kinds share, by the field whose entries they describe. */
const SHARED: Readonly<Record<string, string>> = {
  conditions: 'Condition',
  successAssertions: 'AssertionSpec',
  secretRefs: 'SecretRef',
  secretRef: 'SecretRef',
  members: 'MemberSpec',
  channels: 'ChannelSpec',
  recurring: 'RecurringSpec',
  headers: 'HeaderSpec',
  resource: 'ResourceRef',
  counts: 'JobCounts',
}

/**
 * Definitions named after kind and half: `HttpQueueSpec`, `HttpQueueStatus`.
 * @throws when two kinds describe a shared schema in two ways
 */
export function crdDefinitions(crds: readonly CrdDocument[]): JsonValue {
  const definitions: Record<string, JsonValue> = {}
  const written = new Map<string, string>()
  const define = (name: string, schema: CrdSchema): JsonValue => {
    // As it is written: the rules and bounds of a shared schema have to be alike, not only its types.
    const text = JSON.stringify(schema)
    if ((written.get(name) ?? text) !== text) {
      throw new Error(`${name} is described in two ways; let both take it from definitions/shared.yaml`)
    }
    written.set(name, text)
    definitions[name] = toTypeSchema(schema, define)
    return { $ref: `#/definitions/${name}` }
  }
  for (const { spec } of crds) {
    const properties = spec.versions[0]?.schema.openAPIV3Schema.properties ?? {}
    for (const half of ['spec', 'status'] as const) {
      const schema = properties[half]
      if (schema === undefined) throw new Error(`${spec.names.kind} has no ${half}`)
      define(`${spec.names.kind}${half === 'spec' ? 'Spec' : 'Status'}`, schema)
    }
  }
  return definitions
}

type Define = (name: string, schema: CrdSchema) => JsonValue

/** What stands in a resource that the API server has answered: defaults filled in, fields not given left out. */
function toTypeSchema(schema: CrdSchema, define: Define): JsonValue {
  const { description, type, items, properties, nullable } = schema
  return {
    ...(description === undefined ? {} : { description }),
    ...(schema['x-kubernetes-int-or-string'] === true ? { type: ['integer', 'string'] } : {}),
    ...(schema.enum === undefined ? {} : { enum: schema.enum }),
    ...(type === undefined ? {} : { type: nullable === true ? [type, 'null'] : type }),
    ...(items === undefined ? {} : { items: toTypeSchema(items, define) }),
    ...(properties === undefined ? {} : objectSchema(schema, properties, define)),
  }
}

function objectSchema(
  schema: CrdSchema,
  properties: Readonly<Record<string, CrdSchema>>,
  define: Define,
): Readonly<Record<string, JsonValue>> {
  const given = Object.entries(properties).filter(([, property]) => property.default !== undefined)
  return {
    additionalProperties: false,
    required: [...new Set([...(schema.required ?? []), ...given.map(([name]) => name)])],
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, sharedOrOwn(name, property, define)]),
    ),
  }
}

function sharedOrOwn(name: string, property: CrdSchema, define: Define): JsonValue {
  const shared = SHARED[name]
  if (shared === undefined) return toTypeSchema(property, define)
  const { items, ...list } = property
  if (items === undefined) return define(shared, property)
  return { ...(toTypeSchema(list, define) as object), items: define(shared, items) }
}
