import type { Environment } from '@marcbachmann/cel-js'
import { createCelEnvironment } from './cel-environment.ts'
import type { CrdRule, CrdSchema } from './crd-file.ts'
import { readDateTime } from './date-time.ts'
import type { FieldPath, FieldProblem } from './field-path.ts'

/**
 * Finds the rules that a value of the right shape breaks.
 * @param former the applied version of the value; without one, rules about changes do not apply
 */
export type RuleChecker = (value: unknown, former: unknown) => readonly FieldProblem[]

/** Compiles every `x-kubernetes-validations` of a schema, as the API server does. */
export function createRuleChecker(schema: CrdSchema): RuleChecker {
  const root = compileNode(schema, createCelEnvironment())
  return (value, former) => (root === null ? [] : [...brokenIn(root, { value, former, path: [] })])
}

interface Rule {
  holds(values: { readonly self: unknown; readonly oldSelf?: unknown }): boolean
  readonly isTransition: boolean
  readonly message: string
  readonly fieldPath: FieldPath
}

interface RuleNode {
  readonly schema: CrdSchema
  readonly rules: readonly Rule[]
  readonly properties: ReadonlyArray<readonly [string, RuleNode]>
  readonly items: RuleNode | null
}

/** null = there is no rule at or below the schema. */
function compileNode(schema: CrdSchema, environment: Environment): RuleNode | null {
  const properties = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const node = compileNode(property, environment)
    return node === null ? [] : [[name, node] as const]
  })
  const items = schema.items === undefined ? null : compileNode(schema.items, environment)
  const rules = (schema['x-kubernetes-validations'] ?? []).map((rule) => compileRule(rule, environment))
  if (rules.length === 0 && properties.length === 0 && items === null) return null
  return { schema, rules, properties, items }
}

function compileRule({ rule, message, fieldPath = '' }: CrdRule, environment: Environment): Rule {
  const evaluate = environment.parse(rule)
  return {
    holds: (values) => {
      try {
        return evaluate(values) === true
      } catch {
        // The API server refuses a value when its rule fails to evaluate.
        return false
      }
    },
    isTransition: /\boldSelf\b/.test(rule),
    message,
    fieldPath: fieldPath.split('.').slice(1),
  }
}

interface Checked {
  readonly value: unknown
  readonly former: unknown
  readonly path: FieldPath
}

function* brokenIn(node: RuleNode, { value, former, path }: Checked): Generator<FieldProblem> {
  if (value === undefined || value === null) return
  const self = celValue(value, node.schema)
  const oldSelf = former === undefined ? undefined : celValue(former, node.schema)
  for (const rule of node.rules) {
    if (rule.isTransition && oldSelf === undefined) continue
    if (rule.holds(rule.isTransition ? { self, oldSelf } : { self })) continue
    yield { path: [...path, ...rule.fieldPath], reason: `${rule.message}.` }
  }
  for (const [name, property] of node.properties) {
    yield* brokenIn(property, {
      value: fieldOf(value, name),
      former: fieldOf(former, name),
      path: [...path, name],
    })
  }
  if (node.items === null || !Array.isArray(value)) return
  for (const [index, item] of value.entries()) {
    // Entries at the same index of two versions need not belong together.
    yield* brokenIn(node.items, { value: item, former: undefined, path: [...path, index] })
  }
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Readonly<Record<string, unknown>>)[name]
}

/** Converts to the types of CEL: integers are bigint, timestamps are dates. */
function celValue(value: unknown, schema: CrdSchema): unknown {
  if (typeof value === 'number') return schema.type === 'number' ? value : BigInt(value)
  if (typeof value === 'string') return schema.format === 'date-time' ? readDateTime(value) : value
  if (Array.isArray(value)) return value.map((item) => celValue(item, schema.items ?? {}))
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([name, field]) => [
    name,
    celValue(field, schema.properties?.[name] ?? {}),
  ])
  return Object.fromEntries(fields)
}
