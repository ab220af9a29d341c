import { expect, test } from 'vitest'
import { received } from '../../../../src/kubernetes/client/received-object.ts'

const KIND = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets' }

test('an object is kept without what is kept of it twice, with its kind, and frozen to its depth', () => {
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{"spec":{}}', note: 'c' }
  const object = received(
    {
      metadata: { name: 'one', labels: { a: 'b' }, annotations, managedFields: [] },
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

test('of who wrote what, only who wrote the spec last is kept', () => {
  const spec = { 'f:spec': {} }
  const managedFields = [
    { manager: 'kubectl-edit', time: '2026-11-21T09:00:01Z', fieldsV1: spec },
    { manager: 'helm', time: '2026-11-21T09:00:00Z', fieldsV1: spec },
    { manager: 'labeller', time: '2026-11-21T09:00:02Z', fieldsV1: { 'f:metadata': {} } },
    { manager: 'scaler', time: '2026-11-21T09:00:03Z', fieldsV1: spec, subresource: 'scale' },
  ]
  const object = received({ metadata: { name: 'one', managedFields } }, KIND)
  expect(object.metadata).toEqual({ name: 'one', specManager: 'kubectl-edit' })
})

test('of those who applied the spec, only the last one is kept', () => {
  const spec = { 'f:spec': {} }
  const managedFields = [
    { manager: 'kustomize-controller', operation: 'Apply', time: '2026-11-21T09:00:01Z', fieldsV1: spec },
    {
      manager: 'kubectl-client-side-apply',
      operation: 'Update',
      time: '2026-11-21T09:00:00Z',
      fieldsV1: spec,
    },
    { manager: 'punctual-api', operation: 'Update', time: '2026-11-21T09:00:02Z', fieldsV1: spec },
    {
      manager: 'punctual-controller',
      operation: 'Apply',
      time: '2026-11-21T09:00:03Z',
      fieldsV1: { 'f:status': {} },
      subresource: 'status',
    },
  ]
  const object = received({ metadata: { name: 'one', managedFields } }, KIND)
  expect(object.metadata).toEqual({
    name: 'one',
    specManager: 'punctual-api',
    specApplier: 'kustomize-controller',
  })
})

function everyPart(value: unknown): object[] {
  return typeof value === 'object' && value !== null
    ? [value, ...Object.values(value).flatMap(everyPart)]
    : []
}
