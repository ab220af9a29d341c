import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { createManifestReader } from '../../src/resources/manifests/manifest-reader.ts'
import { INVALID, KINDS, manifestOf, VALID } from '../samples/all.ts'
import { oddSamples } from '../samples/odd-values.ts'
import type { Sample } from '../samples/sample.ts'
import {
  type AnyObject,
  ApiRefusal,
  newNamespace,
  openKubernetesApi,
} from '../support/cluster/kubernetes-api.ts'

const VERSION = '/apis/punctual.dev/v1alpha1'
const AT_ONCE = 8

const api = openKubernetesApi(inject('clusterAccess'))
const reader = createManifestReader('default')
let namespace: string

beforeAll(async () => {
  namespace = await newNamespace(api)
})

afterAll(() => api.close())

/** What the API server makes of a sample: the object as it would be stored, or a refusal. */
async function judge(sample: Sample): Promise<AnyObject> {
  const plural = KINDS.find(({ kind }) => kind === sample.kind)?.crd.split('.')[0] ?? ''
  const path = `${VERSION}/namespaces/${namespace}/${plural}`
  const query = 'dryRun=All&fieldValidation=Strict'
  if (sample.former === undefined) {
    return api.send('POST', `${path}?${query}`, manifestOf(sample, sample.spec))
  }
  const former = await api.send('POST', path, manifestOf(sample, sample.former))
  try {
    const next = { ...manifestOf(sample, sample.spec), metadata: former.metadata }
    return await api.send('PUT', `${path}/${sample.name}?${query}`, next)
  } finally {
    await api.send('DELETE', `${path}/${sample.name}`)
  }
}

describe('the API server takes, with the defaults of the folder,', () => {
  test.each(VALID)('$kind: $title', async (sample) => {
    const stored = await judge(sample)
    const { resources } = reader.read('a.json', JSON.stringify(manifestOf(sample, sample.spec)))

    expect(stored.spec).toEqual(resources[0]?.checked?.spec)
  })
})

describe('the API server refuses', () => {
  test.each(INVALID)('$kind: $title', async (sample) => {
    const said = expect.stringMatching(messagePattern(sample))

    await expect(judge(sample)).rejects.toMatchObject({ message: said })
  })
})

test.each(KINDS)('API server and folder agree on odd values anywhere in $kind', async (kind) => {
  const samples = oddSamples(kind)
  const verdicts = await Promise.all(
    batchesOf(samples, AT_ONCE).map(async (batch) => {
      const differing: string[] = []
      for (const sample of batch)
        if (!(await isAgreed(sample, kind.strictFields ?? []))) differing.push(sample.title)
      return differing
    }),
  )

  expect(samples.length).toBeGreaterThan(100)
  expect(verdicts.flat()).toEqual([])
})

/** @param strictFields of which the folder may refuse what the API server takes */
async function isAgreed(sample: Sample, strictFields: readonly string[]): Promise<boolean> {
  const { problems } = reader.read('a.json', JSON.stringify(manifestOf(sample, sample.spec)))
  const isTaken = await judge(sample).then(
    () => true,
    (error: unknown) => {
      if (error instanceof ApiRefusal) return false
      throw error
    },
  )
  if (!isTaken) return problems.length > 0
  return problems.every(
    ({ field }) => field !== null && strictFields.includes(field.replaceAll(/\[\d+\]/g, '[]')),
  )
}

function batchesOf<T>(all: readonly T[], count: number): readonly T[][] {
  return Array.from({ length: count }, (_, batch) => all.filter((_item, index) => index % count === batch))
}

/** The field, as an unknown one or as one with a fault; then the words of the rule. */
function messagePattern({ field, rule }: (typeof INVALID)[number]): RegExp {
  const place = `(?:${RegExp.escape(field)}: |unknown field "${RegExp.escape(field)}[."])`
  return new RegExp(`${place}${rule === undefined ? '' : `[^]*${RegExp.escape(rule)}`}`)
}
