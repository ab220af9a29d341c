import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { type CrdDocument, crdDefinitions } from '../../../scripts/crd-definitions.ts'
import { readSharedSchemas, referencesIn, withSharedSchemas } from '../../../scripts/shared-schemas.ts'

const FOLDER = join(import.meta.dirname, '../../../definitions')
const read = (file: string) => readFileSync(join(FOLDER, file), 'utf8')
const FILES = readdirSync(FOLDER)
const SHARED_TEXT = read('shared.yaml')

/** A definition with what it takes from shared.yaml, here from another text of it. */
const definitionOf = (kind: string, sharedText = SHARED_TEXT) =>
  parse(withSharedSchemas(read(`${kind}.punctual.dev.yaml`), readSharedSchemas(sharedText))) as CrdDocument
const specOf = (kind: string, sharedText?: string) =>
  definitionOf(kind, sharedText).spec.versions[0]?.schema.openAPIV3Schema.properties?.['spec']?.properties

const SHARED = readSharedSchemas(`# What it is.

# A word.
Word:
  type: string
  # Long enough.
  maxLength: 9
  pattern: '^a'

Words:
  type: array
  items:
    $ref: shared.yaml#/Word

Loop:
  $ref: shared.yaml#/Loop
`)

test('a schema is put in where it is named, with its comments', () => {
  const text = withSharedSchemas(
    'spec:\n  word:\n    $ref: shared.yaml#/Word\n  other:\n    type: object\n',
    SHARED,
  )
  expect(text).toBe(`spec:
  word:
    type: string
    # Long enough.
    maxLength: 9
    pattern: '^a'
  other:
    type: object
`)
})

test('a schema may take another one', () => {
  expect(parse(withSharedSchemas('a:\n  $ref: shared.yaml#/Words', SHARED))).toEqual({
    a: { type: 'array', items: { type: 'string', maxLength: 9, pattern: '^a' } },
  })
})

test.each([
  ['after', '  $ref: shared.yaml#/Word\n  maxLength: 5\n  description: D\n'],
  ['before', '  description: D\n  maxLength: 5\n  $ref: shared.yaml#/Word\n'],
])('keys %s the reference replace those of the schema, and only in their own mapping', (_, own) => {
  const text = `a:\n${own}b:\n  pattern: '^b'\n  items:\n    pattern: '^c'\n    $ref: shared.yaml#/Word\n`
  expect(parse(withSharedSchemas(text, SHARED))).toEqual({
    a: { type: 'string', maxLength: 5, pattern: '^a', description: 'D' },
    b: { pattern: '^b', items: { type: 'string', maxLength: 9, pattern: '^c' } },
  })
})

test.each([
  ['a:\n  $ref: shared.yaml#/Nothing', 'shared.yaml has no Nothing'],
  ['a:\n  $ref: shared.yaml#/Loop', 'Loop of shared.yaml leads to itself, or too deep'],
  ['a:\n  $ref: "shared.yaml#/Word"', '"$ref: "shared.yaml#/Word"" is not $ref: shared.yaml#/Name'],
  ['a:\n  - $ref: shared.yaml#/Word', '"- $ref: shared.yaml#/Word" is not $ref: shared.yaml#/Name'],
  ['a:\n  $ref: other.yaml#/Word', '"$ref: other.yaml#/Word" is not $ref: shared.yaml#/Name'],
])('%j is refused', (text, message) => {
  expect(() => withSharedSchemas(text, SHARED)).toThrow(message)
})

test('a name that stands in shared.yaml twice is refused', () => {
  expect(() => readSharedSchemas('A:\n  type: string\nA:\n  type: array\n')).toThrow(
    'shared.yaml has A twice',
  )
})

test('each shared schema is shared', () => {
  const named = FILES.flatMap((file) => referencesIn(read(file)))
  for (const name of readSharedSchemas(SHARED_TEXT).keys()) {
    expect({ name, places: named.filter((one) => one === name).length }).toEqual({
      name,
      places: expect.toSatisfy((places: number) => places >= 2),
    })
  }
})

/** Rules, patterns and lists of values below a node, as texts. */
function constraintsIn(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(constraintsIn)
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([key, value]) => {
    const isConstraint =
      (['rule', 'pattern'].includes(key) && typeof value === 'string') ||
      (key === 'enum' && Array.isArray(value))
    return isConstraint ? [`${key}: ${JSON.stringify(value)}`] : constraintsIn(value)
  })
}

test('each rule, pattern and list of values is written once', () => {
  const written = FILES.flatMap((file) => constraintsIn(parse(read(file))))
  expect(written.length).toBeGreaterThan(50)
  expect(written.filter((one, index) => written.indexOf(one) !== index)).toEqual([])
})

test('a rule that is added to the assertions is one of queues and of crons', () => {
  const rule = "self.type != 'BodyContains' || self.value != 'maybe'"
  const [before, after] = SHARED_TEXT.split("      - rule: >-\n          self.type != 'ResponseTimeUnderMs'")
  const changed = `${before}      - rule: "${rule}"\n        message: 'must be sure'\n      - rule: >-\n          self.type != 'ResponseTimeUnderMs'${after}`
  for (const kind of ['httpqueues', 'httpcrons']) {
    expect(JSON.stringify(specOf(kind))).not.toContain(rule)
    expect(specOf(kind, changed)?.['successAssertions']?.items).toMatchObject({
      'x-kubernetes-validations': expect.arrayContaining([{ rule, message: 'must be sure' }]),
    })
  }
})

test('two schemas of one name in the code are refused', () => {
  const queue = definitionOf('httpqueues')
  const cron = JSON.parse(
    JSON.stringify(definitionOf('httpcrons')).replace('"maxLength":4096', '"maxLength":4095'),
  ) as CrdDocument
  expect(crdDefinitions([queue, definitionOf('httpcrons')])).toHaveProperty('AssertionSpec')
  expect(() => crdDefinitions([queue, cron])).toThrow(
    'AssertionSpec is described in two ways; let both take it from definitions/shared.yaml',
  )
})
