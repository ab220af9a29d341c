import { describe, expect, test } from 'vitest'
import { needsReconcile } from '../../../../src/kubernetes/workqueue/predicates.ts'
import type { ObjectMeta } from '../../../../src/ports/kubernetes.ts'
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

describe('a turn follows', () => {
  test.each<[string, Partial<ObjectMeta>]>([
    ['a new spec', { generation: 4 }],
    ['another object of the name', { uid: 'other' }],
    ['a deletion', { deletionTimestamp: '2026-11-21T10:00:00Z' }],
    ['a finalizer gone', { finalizers: [] }],
    ['a finalizer in place of another', { finalizers: ['x/y'] }],
    ['a label changed', { labels: { app: 'b' } }],
    ['a label under another name', { labels: { application: 'a' } }],
    ['an annotation more', { annotations: { note: 'x', more: '' } }],
  ])('%s', (_what, changes) => {
    expect(needsReconcile(before, changed(changes))).toBe(true)
  })

  test('an object that came, and one that went', () => {
    expect(needsReconcile(undefined, before)).toBe(true)
    expect(needsReconcile(before, undefined)).toBe(true)
  })

  test('any change of a kind without generations', () => {
    const [was, is] = ['1', '2'].map((resourceVersion) => kubeObject({ resourceVersion }))
    expect(needsReconcile(was, is)).toBe(true)
  })
})

describe('no turn follows', () => {
  test('a change of the status alone', () => {
    expect(needsReconcile(before, changed({}))).toBe(false)
  })

  test('a finalizer more, for our own are new in the middle of a turn', () => {
    expect(needsReconcile(before, changed({ finalizers: ['x/y', 'punctual.dev/queue'] }))).toBe(false)
  })

  test('the same version again', () => {
    expect(needsReconcile(before, before)).toBe(false)
  })
})
