import { expect, test } from 'vitest'
import type { ApiRequest, Transport } from '../../../../src/kubernetes/client/transport.ts'
import {
  removeResources,
  type RemovalOptions,
} from '../../../../src/kubernetes/resources/leaving-resources.ts'
import type { KubeObject } from '../../../../src/ports/resource-store.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { kubeObject } from '../kube-objects.ts'

const NAMESPACES = '/api/v1/namespaces'
const ALL_QUEUES = '/apis/punctual.dev/v1alpha1/httpqueues'
const ALL_CRONS = '/apis/punctual.dev/v1alpha1/httpcrons'
const queuesOf = (namespace: string) => `/apis/punctual.dev/v1alpha1/namespaces/${namespace}/httpqueues`
const UNTIL_MS = 100_000

/** An API server with queues; a selector has those of the namespaces `a` and `z` at first. */
function world(options: Partial<RemovalOptions> = {}) {
  const clock = createFakeClock()
  const queues = new Set<KubeObject>()
  const selected = new Set(['a', 'z'])
  const deleted: string[] = []
  let reads: string[] = []
  const listed = (path: string): readonly KubeObject[] => {
    if (path === NAMESPACES) return [...selected].map((name) => kubeObject({ name, uid: name }))
    if (path === ALL_QUEUES) return [...queues]
    return [...queues].filter(({ metadata }) => path === queuesOf(metadata.namespace))
  }
  const request = async ({ method, path, query = {} }: ApiRequest): Promise<unknown> => {
    if (method === 'DELETE') return deleted.push(path.slice(path.lastIndexOf('/') + 1))
    reads.push(query['limit'] === 1 ? `first of ${path}` : path)
    const items = listed(path)
    return { metadata: { resourceVersion: '1' }, items: query['limit'] === 1 ? items.slice(0, 1) : items }
  }
  const transport = { request } as Partial<Transport> as Transport
  const put = (namespace: string, name: string): KubeObject => {
    const queue = kubeObject({ namespace, name, uid: `${namespace}/${name}` })
    queues.add(queue)
    return queue
  }
  const removing = () =>
    removeResources({
      transport,
      clock,
      untilMs: UNTIL_MS,
      hasController: async () => true,
      namespaces: null,
      labelSelector: null,
      ownNamespace: 'own',
      ...options,
    })
  /** What was read since the last time. */
  const newReads = (): readonly string[] => {
    const now = reads
    reads = []
    return now
  }
  return { clock, queues, selected, put, deleted, removing, newReads }
}

test('whoever waits for them lists nothing but one of the last namespace', async () => {
  const { clock, queues, put, deleted, removing, newReads } = world()
  const [a, z] = [put('a', 'mails'), put('z', 'mails')]
  const removed = removing()
  await clock.advance(999)
  expect([deleted, newReads()]).toEqual([
    ['mails', 'mails'],
    [ALL_CRONS, ALL_QUEUES],
  ])
  await clock.advance(3_001)
  expect(newReads()).toEqual(Array.from({ length: 4 }, () => `first of ${queuesOf('z')}`))
  queues.delete(z)
  await clock.advance(2_000)
  expect(newReads()).toEqual([
    `first of ${queuesOf('z')}`,
    ALL_CRONS,
    ALL_QUEUES,
    `first of ${queuesOf('a')}`,
  ])
  queues.delete(a)
  await clock.advance(1_000)
  newReads()
  await clock.advance(5_000)
  expect(newReads()).toEqual([ALL_CRONS, ALL_QUEUES])
  expect(await removed).toBe(2)
})

test('those that are made meanwhile go too', async () => {
  const { clock, queues, put, deleted, removing } = world()
  const first = put('a', 'first')
  const removed = removing()
  await clock.advance(1_500)
  const second = put('a', 'second')
  queues.delete(first)
  await clock.advance(1_000)
  queues.delete(second)
  await clock.advance(1_500)
  const third = put('b', 'third')
  await clock.advance(5_000)
  expect(deleted).toEqual(['first', 'second', 'third'])
  queues.delete(third)
  await clock.advance(7_000)
  expect(await removed).toBe(3)
})

test('the namespaces of a selector are read once a round, and those of others stay', async () => {
  const { clock, queues, put, deleted, removing, newReads } = world({ labelSelector: 'team' })
  const mine = put('a', 'mine')
  put('other', 'theirs')
  const removed = removing()
  await clock.advance(500)
  expect(newReads()).toEqual([NAMESPACES, ALL_CRONS, ALL_QUEUES])
  queues.delete(mine)
  await clock.advance(6_000)
  expect(await removed).toBe(1)
  expect(deleted).toEqual(['mine'])
})

test('those of a namespace that is not served any longer are not waited for', async () => {
  const { clock, selected, put, removing } = world({ labelSelector: 'team' })
  put('a', 'mine')
  const removed = removing()
  await clock.advance(1_500)
  selected.delete('a')
  await clock.advance(35_000)
  expect(await removed).toBe(1)
})

test('those that do not go in time are counted', async () => {
  const { clock, put, removing } = world()
  put('a', 'mails')
  put('z', 'mails')
  const failed = removing().catch((error: unknown) => String(error))
  await clock.advance(UNTIL_MS + 1_000)
  expect(await failed).toContain('2 resources are not gone yet')
})
