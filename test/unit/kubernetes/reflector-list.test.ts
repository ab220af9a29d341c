import { expect, test } from 'vitest'
import { LIST_PAGES_MAX } from '../../../src/kubernetes/bounds.ts'
import { listObjects } from '../../../src/kubernetes/reflector-list.ts'
import type { ApiRequest, Transport } from '../../../src/kubernetes/transport.ts'

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
  expect(requests).toHaveLength(LIST_PAGES_MAX)
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
