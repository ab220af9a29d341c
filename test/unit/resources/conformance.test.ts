import { describe, expect, it } from 'vitest'
import { egressEntryProblem } from '../../../src/domain/net/egress-list.ts'
import { createCelEnvironment } from '../../../src/resources/schema/cel-environment.ts'
import { schemaOfCrd } from '../../../src/resources/schema/crd-file.ts'
import type { CrdRule, CrdSchema } from '../../../src/resources/schema/crd-file.ts'
import { createManifestReader } from '../../../src/resources/manifests/manifest-reader.ts'
import { INVALID, KINDS, manifestOf, VALID } from '../../samples/all.ts'
import type { Sample } from '../../samples/sample.ts'
import { EGRESS_ENTRIES } from '../../samples/team-settings.ts'

const reader = createManifestReader('default')

/** What the folder says to a sample, its former version in force. test/cluster asks an API server the same. */
function judge(sample: Sample) {
  const former =
    sample.former === undefined
      ? []
      : reader.read('a.json', JSON.stringify(manifestOf(sample, sample.former))).resources
  return reader.read('a.json', JSON.stringify(manifestOf(sample, sample.spec)), former)
}

describe('the folder takes', () => {
  it.each(VALID)('$kind: $title', (sample) => {
    const { problems, resources } = judge(sample)
    expect(problems).toEqual([])
    expect(resources).toHaveLength(1)
  })
})

describe('the folder refuses', () => {
  it.each(INVALID)('$kind: $title', (sample) => {
    const { problems, resources } = judge(sample)
    expect(resources).toEqual([])
    const reason: unknown = sample.rule === undefined ? expect.any(String) : `${sample.rule}.`
    expect(problems).toContainEqual(expect.objectContaining({ field: sample.field, reason }))
  })
})

describe.each(KINDS)('the rules of $kind', ({ kind, crd }) => {
  const rules = rulesOf(schemaOfCrd(crd))

  it('are each broken by a sample', () => {
    const broken = INVALID.filter((sample) => sample.kind === kind).map(({ rule }) => rule)
    for (const { message } of rules) expect(broken).toContain(message)
  })

  it('use only what the evaluator of the folder knows', () => {
    const environment = createCelEnvironment()
    for (const { rule } of rules) expect(environment.check(rule)).toMatchObject({ valid: true })
  })

  it('judge changes outside lists only, where old and new belong together', () => {
    const inLists = rulesInLists(schemaOfCrd(crd))
    expect(inLists.filter(({ rule }) => rule.includes('oldSelf'))).toEqual([])
  })
})

it('a rule with a function that only an API server knows is found', () => {
  expect(createCelEnvironment().check('quantity(self).isInteger()').valid).toBe(false)
})

it.each(EGRESS_ENTRIES)('the egress guard understands %j, which the rules take', (entry) => {
  expect(egressEntryProblem(entry)).toBeNull()
})

function rulesOf(schema: CrdSchema): readonly CrdRule[] {
  return [
    ...(schema['x-kubernetes-validations'] ?? []),
    ...Object.values(schema.properties ?? {}).flatMap(rulesOf),
    ...(schema.items === undefined ? [] : rulesOf(schema.items)),
  ]
}

function rulesInLists(schema: CrdSchema): readonly CrdRule[] {
  return [
    ...Object.values(schema.properties ?? {}).flatMap(rulesInLists),
    ...(schema.items === undefined ? [] : rulesOf(schema.items)),
  ]
}
