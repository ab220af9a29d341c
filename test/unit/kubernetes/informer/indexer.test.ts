import { beforeEach, describe, expect, test } from 'vitest'
import { Indexer } from '../../../../src/kubernetes/informer/indexer.ts'
import type { KubeObject } from '../../../../src/ports/resource-store.ts'
import { quietLogger } from '../../../support/quiet.ts'

interface Queue extends KubeObject {
  readonly spec: { readonly secrets: readonly string[] }
}

let store: Indexer<Queue>
/** Key and the versions before and after. */
let changes: Array<[string, string | undefined, string | undefined]>

beforeEach(() => {
  store = new Indexer<Queue>(quietLogger, {
    bySecret: ({ spec }) => spec.secrets,
    byName: ({ metadata }) => [metadata.name],
  })
  changes = []
  store.onChange((key, before, after) => {
    changes.push([key, before?.metadata.resourceVersion, after?.metadata.resourceVersion])
  })
})

function queue(resourceVersion: string, { name = 'one', uid = 'first', secrets = ['x'] } = {}): Queue {
  const metadata = { name, namespace: 'a', uid, resourceVersion, creationTimestamp: '2026-11-21T00:00:00Z' }
  return { apiVersion: 'punctual.dev/v1alpha1', kind: 'HttpQueue', metadata, spec: { secrets } }
}

const named = (index: string, value: string) =>
  store.byIndex(index, value).map(({ metadata }) => metadata.name)

describe('versions', () => {
  test('an older event changes nothing, whatever its number of digits', () => {
    store.put(queue('100'))
    store.put(queue('99'))
    store.put(queue('100'))
    expect(changes).toEqual([['a/one', undefined, '100']])
  })

  test('versions that are no numbers are taken in the order they come', () => {
    store.put(queue('b'))
    store.put(queue('a'))
    store.put(queue('a'))
    expect(changes).toEqual([
      ['a/one', undefined, 'b'],
      ['a/one', 'b', 'a'],
    ])
  })

  test('an object made again is another one: the first goes, the second comes', () => {
    store.put(queue('1'))
    store.put(queue('2', { uid: 'second' }))
    expect(changes.slice(1)).toEqual([
      ['a/one', '1', undefined],
      ['a/one', undefined, '2'],
    ])
  })

  test('the late end of a former life does not remove its successor', () => {
    store.put(queue('3', { uid: 'second' }))
    store.delete(queue('2'))
    expect(store.get('a/one')?.metadata.uid).toBe('second')
    store.put(queue('1'))
    expect(store.get('a/one')?.metadata.uid).toBe('second')
  })

  test('a duplicate deletion, or one of an unknown object, is reported at most once', () => {
    store.put(queue('1'))
    store.delete(queue('2'))
    store.delete(queue('2'))
    store.delete(queue('9', { name: 'never' }))
    expect(changes).toHaveLength(2)
  })

  test('a list of older versions is taken: the API server was restored to an earlier state', () => {
    store.put(queue('100', { secrets: ['x'] }))
    store.put(queue('101', { name: 'two' }))
    store.replace(null, [queue('90', { secrets: ['y'] }), queue('80', { name: 'two', uid: 'before' })])
    expect(named('bySecret', 'y')).toEqual(['one'])
    expect(store.get('a/two')?.metadata.uid).toBe('before')
    store.put(queue('91', { secrets: ['z'] }))
    expect(named('bySecret', 'z')).toEqual(['one'])
  })

  test('an object that is listed again unchanged stays the same, and is not reported', () => {
    const first = queue('1')
    store.put(first)
    store.replace(null, [queue('1')])
    expect(store.get('a/one')).toBe(first)
    expect(changes).toHaveLength(1)
  })
})

describe('indexes', () => {
  test('follow every change', () => {
    store.put(queue('1', { secrets: ['x', 'y'] }))
    store.put(queue('2', { name: 'two', uid: 'other', secrets: ['y'] }))
    expect([named('bySecret', 'x'), named('bySecret', 'y')]).toEqual([['one'], ['one', 'two']])
    store.put(queue('3', { secrets: ['z'] }))
    expect(['x', 'y', 'z'].map((value) => named('bySecret', value))).toEqual([[], ['two'], ['one']])
    store.delete(queue('4'))
    store.replace(null, [])
    expect([named('bySecret', 'y'), named('bySecret', 'z'), named('byName', 'one')]).toEqual([[], [], []])
  })

  test('are up to date when a change is reported', () => {
    const found: string[][] = []
    store.onChange(() => void found.push(named('bySecret', 'x')))
    store.put(queue('1'))
    store.put(queue('2', { secrets: [] }))
    expect(found).toEqual([['one'], []])
  })

  test('one that was not named is a mistake', () => {
    expect(() => store.byIndex('byMood', 'good')).toThrow('there is no index byMood')
  })
})

test('a listener that has left hears nothing more', () => {
  let heard = 0
  const leave = store.onChange(() => void (heard += 1))
  store.put(queue('1'))
  leave()
  store.put(queue('2'))
  expect(heard).toBe(1)
})

test('an object that cannot be indexed is listed with all others, and goes again', () => {
  const bad = { ...queue('1', { name: 'bad', uid: 'b' }), spec: null } as unknown as Queue
  store.replace(null, [bad, queue('2')])
  expect([...store.all()].map(({ metadata }) => metadata.name)).toEqual(['bad', 'one'])
  expect([named('bySecret', 'x'), named('byName', 'bad')]).toEqual([['one'], ['bad']])
  store.delete(bad)
  expect([...store.all()].map(({ metadata }) => metadata.name)).toEqual(['one'])
})
