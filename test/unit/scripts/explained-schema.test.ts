import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { explainedDefinition } from '../../../scripts/explained-schema.ts'

interface Schema {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
}

const CRDS = join(import.meta.dirname, '../../../crds')
const definitions = readdirSync(CRDS).map((file) => readFileSync(join(CRDS, file), 'utf8'))

/** Every field, as `kubectl explain --recursive` names it. */
function fieldsOf(schema: Schema, path: string): Array<readonly [string, Schema]> {
  const inner = Object.entries(schema.properties ?? schema.items?.properties ?? {})
  return inner.flatMap(([name, field]) => [
    [`${path}.${name}`, field] as const,
    ...fieldsOf(field, `${path}.${name}`),
  ])
}

function explained(text: string) {
  const crd = parse(explainedDefinition(text)) as {
    spec: { names: { kind: string }; versions: [{ schema: { openAPIV3Schema: Schema } }] }
  }
  const { spec, status } = crd.spec.versions[0].schema.openAPIV3Schema.properties ?? {}
  const { kind } = crd.spec.names
  return [...fieldsOf(spec ?? {}, `${kind}.spec`), ...fieldsOf(status ?? {}, `${kind}.status`)]
}

const fields = new Map(definitions.flatMap(explained))

test('every field has a description', () => {
  expect(fields.size).toBeGreaterThan(100)
  expect([...fields].filter(([, { description = '' }]) => description === '').map(([path]) => path)).toEqual(
    [],
  )
})

test.each([
  ['HttpQueue.spec.timeoutSeconds', 'Default: 30. From 1 to 300.'],
  ['HttpQueue.spec.retryDelays', 'Default: 60, 1800, 10800. From 1 to 10 entries. Each from 1 to 86400.'],
  ['HttpQueue.spec.queueName', 'From 1 to 255 characters.'],
  ['HttpQueue.spec.active', 'Default: true.'],
  ['HttpCron.spec.payload', 'At most 262144 characters.'],
  ['HttpCron.spec.headers', 'At most 64 entries.'],
])('%s ends with %j', (path, text) => {
  expect(fields.get(path)?.description?.endsWith(` ${text}`)).toBe(true)
})

test('the conditions of each kind are named', () => {
  for (const [path, words] of [
    ['HttpQueue', ['Ready', 'Dispatching', 'Failing', 'CanSucceed']],
    ['HttpCron', ['Ready', 'Scheduled', 'QueueFound', 'CanSucceed']],
    ['TeamSettings', ['Ready', 'NotificationsReady', 'HeaderSecretsReady']],
  ] as const)
    for (const word of words)
      expect(fields.get(`${path}.status.conditions`)?.description).toContain(`${word} (`)
})

test('nothing but descriptions differs from the source', () => {
  const bare = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (name, inner: unknown) =>
      name === 'description' && typeof inner === 'string' ? '' : inner,
    )
  for (const text of definitions) {
    const made = explainedDefinition(text)
    expect(bare(parse(made))).toEqual(bare(parse(text)))
    expect(
      made.split('\n').filter((line) => !/description: |^ +What is true/.test(line)).length,
    ).toBeGreaterThan(50)
  }
})
