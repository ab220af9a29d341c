import { expect, test } from 'vitest'
import { ResourceApiError } from '../../../../src/domain/errors.ts'
import { errorOfSize } from '../../../../src/kubernetes/client/api-errors.ts'
import {
  LIST_OBJECTS_MAX,
  LIST_PAGE_OBJECTS,
  LIST_PAGE_OBJECTS_MIN,
  listObjects,
} from '../../../../src/kubernetes/informer/reflector-list.ts'
import type { ApiRequest, Transport } from '../../../../src/kubernetes/client/transport.ts'
import { kubeObject } from '../kube-objects.ts'

const KIND = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets' }
const { signal } = new AbortController()

/** Answers pages by a rule. */
function pagesBy(rule: (page: number) => object): { transport: Transport; requests: ApiRequest[] } {
  const requests: ApiRequest[] = []
  const request = async (sent: ApiRequest) => {
    requests.push(sent)
    return rule(requests.length)
  }
  return { transport: { request } as unknown as Transport, requests }
}

test('trap: a list that never ends is a fault, not a loop', async () => {
  const { transport, requests } = pagesBy(() => ({
    metadata: { resourceVersion: '1', continue: 'more' },
    items: [],
  }))
  const list = listObjects({ transport, kind: KIND, namespace: null }, signal)
  await expect(list).rejects.toThrow('a list of secrets has no end')
  expect(requests).toHaveLength(LIST_OBJECTS_MAX / LIST_PAGE_OBJECTS)
})

test('a first page that is refused as expired is a fault, not an unpaged list', async () => {
  const { transport, requests } = pagesBy(() => {
    throw new ResourceApiError('gone', 'too old')
  })
  const list = listObjects({ transport, kind: KIND, namespace: null }, signal)
  await expect(list).rejects.toMatchObject({ fault: 'gone' })
  expect(requests).toHaveLength(1)
})

test('the version is that of the first page, and objects of built-in kinds get their kind', async () => {
  const { transport } = pagesBy((page) =>
    page === 1
      ? { metadata: { resourceVersion: '7', continue: 'more' }, items: [{ metadata: { name: 'one' } }] }
      : { metadata: { resourceVersion: '9', continue: '' }, items: null },
  )
  const { version, objects } = await listObjects({ transport, kind: KIND, namespace: 'a' }, signal)
  expect(version).toBe('7')
  expect(objects).toEqual([{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'one' } }])
})

/** An API server with a number of objects, and a limit of how many fit into one answer, everywhere or before an index. */
function objectsThatFit(count: number, fitting: (from: number) => number) {
  const asked: Array<readonly [from: number, limit: number]> = []
  const request = async ({ query = {} }: ApiRequest) => {
    const from = Number(query['continue'] ?? 0)
    const limit = Number(query['limit'] ?? count)
    asked.push([from, limit])
    const to = Math.min(count, from + limit)
    if (to - from > fitting(from)) throw errorOfSize(1)
    const items = Array.from({ length: to - from }, (_, at) => ({ metadata: { name: `o${from + at}` } }))
    return { metadata: { resourceVersion: '1', ...(to < count ? { continue: String(to) } : {}) }, items }
  }
  return { transport: { request } as unknown as Transport, asked }
}

test('a page that is too large is asked for again with fewer objects, and the next ones grow', async () => {
  const { transport, asked } = objectsThatFit(1_000, (from) => (from < 100 ? 8 : 500))
  const { objects } = await listObjects({ transport, kind: KIND, namespace: null }, signal)
  expect(objects.map(({ metadata }) => metadata.name)).toEqual(
    Array.from({ length: 1_000 }, (_, at) => `o${at}`),
  )
  expect(asked.slice(0, 5)).toEqual([
    [0, 500],
    [0, 50],
    [0, 5],
    [5, 10],
    [5, 5],
  ])
  expect(asked.at(-1)?.[1]).toBeGreaterThan(100)
})

test('objects of which not even a few fit are a fault', async () => {
  const { transport, asked } = objectsThatFit(100, () => LIST_PAGE_OBJECTS_MIN - 1)
  const list = listObjects({ transport, kind: KIND, namespace: null }, signal)
  await expect(list).rejects.toMatchObject({ fault: 'too_large' })
  expect(asked).toHaveLength(3)
})

test('small pages end a list no sooner than large ones', async () => {
  const { transport } = objectsThatFit(5_000, () => LIST_PAGE_OBJECTS_MIN)
  const { objects } = await listObjects({ transport, kind: KIND, namespace: null }, signal)
  expect(objects).toHaveLength(5_000)
})

test('of what has not changed since, the list has the known object and no second copy', async () => {
  const [same, changed, again, other] = ['same', 'changed', 'again', 'new'].map((name) =>
    kubeObject({ name }),
  )
  const known = new Map([same, changed, again].map((object) => [`default/${object?.metadata.name}`, object]))
  const items = structuredClone([
    same,
    kubeObject({ name: 'changed', resourceVersion: '2' }),
    kubeObject({ name: 'again', uid: 'uid-2' }),
    other,
  ])
  const { transport } = pagesBy(() => ({ metadata: { resourceVersion: '9' }, items }))
  const kind = { ...KIND, apiVersion: 'punctual.dev/v1alpha1', kind: 'HttpQueue' }
  const list = { transport, kind, namespace: null, known: (key: string) => known.get(key) }
  const { objects } = await listObjects(list, signal)
  expect(objects).toEqual(items)
  expect(objects.map((object) => [...known.values()].includes(object))).toEqual([true, false, false, false])
})
