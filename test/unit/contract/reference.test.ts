/** The pages of the API tell each field, in the order of its errors, with its bounds, choices and default. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { contract, resolve } from '../../support/rules/contract-document.ts'

interface Schema {
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly propertyNames?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly properties?: Readonly<Record<string, Schema>>
}

/** Rows that say in words whose bounds they have. */
const AS_OTHERS = new Set(['JobPush callback_url', 'CronCreate callback_url', 'CronCreate headers'])
/** Whatever is longer is no zone, and refused as that. */
const NO_BOUND = new Set(['CronCreate time_zone'])

function fieldsOf(name: string): ReadonlyArray<readonly [string, Schema]> {
  const schema = contract.components['schemas']?.[name] as Schema
  return Object.entries(schema.properties ?? {}).map(([field, given]) => [
    field,
    resolve(given as never) as Schema,
  ])
}

function factsOf(given: Schema): readonly unknown[] {
  const schema = resolve(given as never) as Schema
  const { minimum, maximum, maxLength, minItems, maxItems, maxProperties } = schema
  const own = [minimum, maximum, maxLength, minItems, maxItems, maxProperties, ...(schema.enum ?? [])]
  const { items, propertyNames, additionalProperties, oneOf = [] } = schema
  const inner = [items, propertyNames, additionalProperties].filter((one) => typeof one === 'object')
  return [
    ...own.filter((fact) => fact !== undefined && fact !== null),
    ...[...inner, ...oneOf].flatMap(factsOf),
  ]
}

/** A number may be written `262144`, `262,144` or `256 KiB`. */
function isTold(row: string, fact: unknown): boolean {
  const spellings =
    typeof fact === 'number'
      ? [`${fact}`, fact.toLocaleString('en-US'), `${fact / 1024} KiB`]
      : [String(fact)]
  return spellings.some((text) => new RegExp(`(?<![\\w,])${text}(?![\\w]|,\\d)`).test(row))
}

test.each([
  ['JobPush', 'docs/reference/api.md'],
  ['CronCreate', 'docs/reference/crons.md'],
])('%s, in %s', (name, path) => {
  const page = readFileSync(join(import.meta.dirname, '../../..', path), 'utf8')
  const table = /^\| Field .*?\n\n/ms.exec(page)?.[0] ?? ''
  const rows = new Map([...table.matchAll(/^\| `(\w+)` .*$/gm)].map(([row, field]) => [field, row]))
  const fields = fieldsOf(name)
  expect([...rows.keys()]).toEqual(fields.map(([field]) => field))
  const missing = fields.flatMap(([field, schema]) => {
    const place = `${name} ${field}`
    const facts = AS_OTHERS.has(place) || NO_BOUND.has(place) ? [] : factsOf(schema)
    const initial = schema.default === undefined ? [] : [schema.default]
    return [...facts, ...initial]
      .filter((fact) => !isTold(rows.get(field) ?? '', fact))
      .map((fact) => `${field}: ${String(fact)}`)
  })
  expect(missing).toEqual([])
})
