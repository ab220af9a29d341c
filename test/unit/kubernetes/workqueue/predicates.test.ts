import { describe, expect, test } from 'vitest'
import { needsReconcile } from '../../../../src/kubernetes/workqueue/predicates.ts'
import type { ObjectMeta } from '../../../../src/ports/resource-store.ts'
import { kubeObject } from '../kube-objects.ts'

const before = kubeObject({
  generation: 3,
  resourceVersion: '10',
  labels: { app: 'a' },
  annotations: { note: 'x' },
  finalizers: ['punctual.dev/queue'],
})

const changed = (changes: Partial<ObjectMeta>) =>
  kubeObject({ ...before.metadata, resourceVersion: '11', ...changes })

describe('a reconcile is needed after', () => {
  test.each<[string, Partial<ObjectMeta>]>([
    ['a new spec', { generation: 4 }],
    ['another object of the name', { uid: 'other' }],
    ['a deletion', { deletionTimestamp: '2026-11-21T10:00:00Z' }],
    ['a finalizer removed', { finalizers: [] }],
    ['a finalizer in place of another', { finalizers: ['x/y'] }],
    ['a label changed', { labels: { app: 'b' } }],
    ['a label under another name', { labels: { application: 'a' } }],
    ['an annotation more', { annotations: { note: 'x', more: '' } }],
  ])('%s', (_what, changes) => {
    expect(needsReconcile(before, changed(changes))).toBe(true)
  })

  test('a creation and a deletion', () => {
    expect(needsReconcile(undefined, before)).toBe(true)
    expect(needsReconcile(before, undefined)).toBe(true)
  })

  test('any change of a kind without generations', () => {
    const [was, is] = ['1', '2'].map((resourceVersion) => kubeObject({ resourceVersion }))
    expect(needsReconcile(was, is)).toBe(true)
  })
})

describe('no reconcile is needed after', () => {
  test('a change of the status alone', () => {
    expect(needsReconcile(before, changed({}))).toBe(false)
  })

  test('an added finalizer, for our own are added by a running reconcile', () => {
    expect(needsReconcile(before, changed({ finalizers: ['x/y', 'punctual.dev/queue'] }))).toBe(false)
  })

  test('the same version again', () => {
    expect(needsReconcile(before, before)).toBe(false)
  })
})
