import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { type CrdDocument, crdDefinitions } from '../../../scripts/crd-definitions.ts'

const ROOT = join(import.meta.dirname, '../../..')
const textOf = (kind: string) => readFileSync(join(ROOT, `crds/${kind}.punctual.dev.yaml`), 'utf8')
const [queue, cron] = [textOf('httpqueues'), textOf('httpcrons')]
const definitionsOf = (...texts: readonly string[]) =>
  crdDefinitions(texts.map((text) => parse(text) as CrdDocument))

test.each([
  ['in a rule', 'self.value >= 100 && self.value <= 599', 'self.value >= 100 && self.value <= 699'],
  ['in the message of a rule', 'must be a status from 100 to 599', 'must be a status'],
  ['in a bound', 'maxLength: 4096', 'maxLength: 4095'],
])('assertions of queues and crons that differ %s are refused', (_, given, other) => {
  expect(definitionsOf(queue, cron)).toHaveProperty('AssertionSpec')
  expect(cron).toContain(given)
  expect(() => definitionsOf(queue, cron.replace(given, other))).toThrow(
    'AssertionSpec is described in two ways; let the CRDs say the same',
  )
})

test('a cron may call back where it may call', () => {
  const { versions } = (parse(cron) as CrdDocument).spec
  const { url, callbackUrl } = versions[0]?.schema.openAPIV3Schema.properties?.['spec']?.properties ?? {}
  const rulesOf = (schema: unknown) =>
    (schema as Readonly<Record<string, unknown>> | undefined)?.['x-kubernetes-validations']
  expect(rulesOf(url)).toHaveLength(3)
  expect(rulesOf(callbackUrl)).toEqual(rulesOf(url))
})
