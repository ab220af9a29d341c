import { beforeEach, expect, test } from 'vitest'
import { Indexer } from '../../../../src/kubernetes/informer/indexer.ts'
import { BY_PLACE, SelectedInformer } from '../../../../src/kubernetes/informer/selected-informer.ts'
import type { Informer } from '../../../../src/ports/kubernetes.ts'
import type { KubeObject } from '../../../../src/ports/resource-store.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { kubeObject } from '../kube-objects.ts'

const ofName = { name: ({ metadata }: KubeObject) => [metadata.name] }
const never = new AbortController().signal

/** Of all namespaces; synced when the test says so. */
class All extends Indexer<KubeObject> implements Informer<KubeObject> {
  readonly synced = Promise.withResolvers<void>()
  isListed = false
  isSynced = () => this.isListed
  whenSynced = () => this.synced.promise
}

let all: All
let selected: Set<string>
let namespaces: { isListed: boolean; synced: PromiseWithResolvers<void> }
let change: (namespace: string, isSelected: boolean) => void
let informer: SelectedInformer<KubeObject>
let seen: string[]

beforeEach(() => {
  all = new All(quietLogger, { [BY_PLACE]: ({ metadata }) => [metadata.namespace] })
  selected = new Set(['shop'])
  namespaces = { isListed: false, synced: Promise.withResolvers<void>() }
  informer = new SelectedInformer<KubeObject>({
    all,
    indexes: ofName,
    logger: quietLogger,
    namespaces: {
      isKnown: (namespace) => selected.has(namespace),
      isSynced: () => namespaces.isListed,
      whenSynced: () => namespaces.synced.promise,
      onChange: (listener) => {
        change = (namespace, isSelected) => {
          if (isSelected) selected.add(namespace)
          else selected.delete(namespace)
          listener(namespace, isSelected)
        }
        return () => undefined
      },
    },
  })
  seen = []
  informer.onChange((key, before, after) => {
    const what = before === undefined ? 'new' : after === undefined ? 'gone' : 'changed'
    seen.push(`${what} ${key}`)
  })
})

const put = (namespace: string, resourceVersion = '1') =>
  all.put(kubeObject({ namespace, uid: `uid-${namespace}`, resourceVersion }))

test('has what is in selected namespaces alone', () => {
  put('shop')
  put('mail')
  put('shop', '2')
  expect([...informer.all()].map(({ metadata }) => metadata.namespace)).toEqual(['shop'])
  expect(informer.get('mail/q')).toBeUndefined()
  expect(informer.byIndex('name', 'q')).toHaveLength(1)
  all.delete(kubeObject({ namespace: 'shop', uid: 'uid-shop', resourceVersion: '3' }))
  expect(seen).toEqual(['new shop/q', 'changed shop/q', 'gone shop/q'])
})

test('what is in a namespace comes when it joins, as it is then, and goes when it leaves', () => {
  put('mail')
  put('mail', '2')
  change('mail', true)
  expect(informer.get('mail/q')?.metadata.resourceVersion).toBe('2')
  change('mail', false)
  put('mail', '3')
  expect(informer.byIndex('name', 'q')).toEqual([])
  change('mail', true)
  expect(informer.get('mail/q')?.metadata.resourceVersion).toBe('3')
  expect(seen).toEqual(['new mail/q', 'gone mail/q', 'new mail/q'])
})

test('follows an API server that was restored to older versions', () => {
  put('shop', '9')
  all.replace(null, [kubeObject({ namespace: 'shop', uid: 'uid-shop', resourceVersion: '4' })])
  expect(informer.get('shop/q')?.metadata.resourceVersion).toBe('4')
})

test('is synced once objects and namespaces are', async () => {
  const synced = informer.whenSynced(never).then(() => seen.push('synced'))
  all.isListed = true
  all.synced.resolve()
  expect(informer.isSynced()).toBe(false)
  namespaces.isListed = true
  expect(seen).toEqual([])
  namespaces.synced.resolve()
  await synced
  expect(informer.isSynced()).toBe(true)
  expect(seen).toEqual(['synced'])
})

test('waits no longer than it is asked to', async () => {
  await expect(informer.whenSynced(AbortSignal.abort(new Error('over')))).rejects.toThrow('over')
})
