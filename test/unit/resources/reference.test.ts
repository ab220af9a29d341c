import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { schemaOfCrd } from '../../../src/resources/schema/crd-file.ts'
import type { CrdSchema } from '../../../src/resources/schema/crd-file.ts'
import { createManifestReader } from '../../../src/resources/manifests/manifest-reader.ts'
import { KINDS } from '../../samples/all.ts'

const ROOT = join(import.meta.dirname, '../../..')
const page = readFileSync(join(ROOT, 'docs/reference/resources.md'), 'utf8')

interface Field {
  readonly kind: string
  readonly path: string
  readonly schema: CrdSchema
  readonly required: boolean
}

const FIELDS = KINDS.flatMap(({ kind, crd }) =>
  fieldsBelow(schemaOfCrd(crd).properties?.['spec'] ?? {}, '').map((field): Field => ({ kind, ...field })),
)

/** Fields with a row of their own; an assertion has a table. */
function fieldsBelow(schema: CrdSchema, prefix: string): ReadonlyArray<Omit<Field, 'kind'>> {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const path = `${prefix}${name}`
    const own = { path, schema: property, required: schema.required?.includes(name) === true }
    if (property.type === 'object') {
      const isSection = property.default !== undefined
      return [...(isSection ? [] : [own]), ...fieldsBelow(property, `${path}.`)]
    }
    const items = property.items === undefined || name === 'successAssertions' ? {} : property.items
    return [own, ...fieldsBelow(items, `${path}[].`)]
  })
}

function boundsOf(schema: CrdSchema): readonly string[] {
  const { minimum, maximum, maxLength, minItems, maxItems } = schema
  const numbers = [minimum, maximum, maxLength, minItems, maxItems]
  return [...numbers.filter((bound) => bound !== undefined), ...(schema.enum ?? [])].map(String)
}

function sectionOf(kind: string): readonly string[] {
  const start = page.indexOf(`\n## ${kind}\n`)
  return page.slice(start, page.indexOf('\n## ', start + 1)).split('\n')
}

describe('the reference of resources', () => {
  it.each([...page.matchAll(/```yaml\n([^]*?)```/g)].map((match) => match[1] ?? ''))(
    'has a valid example %#',
    (text) => {
      const { resources, problems } = createManifestReader('default').read('example.yaml', text)
      expect(problems).toEqual([])
      expect(resources.length).toBeGreaterThan(0)
    },
  )

  it.each(FIELDS)('tells $kind $path with its bounds and its default', ({ kind, path, schema, required }) => {
    const row = sectionOf(kind).find((line) => line.startsWith(`| \`${path}\``)) ?? 'no row'
    const [, , type = '', initial = ''] = row.split('|').map((cell) => cell.replaceAll('`', '').trim())
    for (const bound of boundsOf(schema)) expect(type).toContain(bound)
    if (required) expect(initial).toBe('required')
    if (schema.default !== undefined && schema.type !== 'object') {
      expect(initial).toBe(JSON.stringify(schema.default).replaceAll('"', '').replaceAll(',', ', '))
    }
    expect(row).not.toBe('no row')
  })

  it('tells every reason the controller gives, as does the page of scaling', () => {
    // Conditions of scaling are written nowhere: of these two sides all is well, and of a Deployment the log tells.
    const untold = ['LeftToOthers', 'MetricAvailable', 'WithinBounds', 'DeploymentNotFound']
    const folder = join(ROOT, 'src/controller')
    const sources = globSync('**/*.ts', { cwd: folder }).map((file) =>
      readFileSync(join(folder, file), 'utf8'),
    )
    const reasons = /reason: (?:\w+ \? '(\w+)' : )?'(\w+)'|handsOff\(\s*'(\w+)'/g
    const given = sources.flatMap((text) =>
      [...text.matchAll(reasons)].flatMap(([, ...words]) => words.filter((word) => word !== undefined)),
    )
    expect(given).toEqual(expect.arrayContaining(['CronLeftBehind', 'ScaledDown', 'TooManyPushedQueues']))
    const pages = page + readFileSync(join(ROOT, 'docs/scaling.md'), 'utf8')
    const missing = given.filter((word) => !untold.includes(word) && !pages.includes(`\`${word}\``))
    expect(missing).toEqual([])
  })

  it('tells every condition and every reason', () => {
    const source = readFileSync(join(ROOT, 'src/resources/conditions.ts'), 'utf8')
    const reasons = source.slice(
      source.indexOf('interface SharedReasons'),
      source.indexOf('export type ReconciledKind'),
    )
    const words = [...reasons.matchAll(/readonly (\w+):|'(\w+)'/g)].map((match) => match[1] ?? match[2] ?? '')
    expect(words).toContain('NameTaken')
    for (const word of words) expect(page).toContain(`\`${word}\``)
  })
})
