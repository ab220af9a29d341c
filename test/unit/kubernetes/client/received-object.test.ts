import { expect, test } from 'vitest'
import { received } from '../../../../src/kubernetes/client/received-object.ts'

const KIND = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets' }

test('an object is kept without what is kept of it twice, with its kind, and frozen to its depth', () => {
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{"spec":{}}', note: 'c' }
  const object = received(
    {
      metadata: { name: 'one', labels: { a: 'b' }, annotations, managedFields: [{ manager: 'kubectl' }] },
      data: [{ x: 'eQ==' }],
    },
    KIND,
  )
  expect(object).toEqual({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'one', labels: { a: 'b' }, annotations: { note: 'c' } },
    data: [{ x: 'eQ==' }],
  })
  expect(everyPart(object).every((part) => Object.isFrozen(part))).toBe(true)
})

function everyPart(value: unknown): object[] {
  return typeof value === 'object' && value !== null
    ? [value, ...Object.values(value).flatMap(everyPart)]
    : []
}
