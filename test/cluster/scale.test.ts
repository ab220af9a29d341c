import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { newNamespace, openKubernetesApi } from '../support/cluster/kubernetes-api.ts'

const MERGE = 'application/merge-patch+json'

const api = openKubernetesApi(inject('clusterAccess'))
let queues: string

beforeAll(async () => {
  queues = `/apis/punctual.dev/v1alpha1/namespaces/${await newNamespace(api)}/httpqueues`
})

afterAll(() => api.close())

async function makeQueue(name: string, spec: object): Promise<string> {
  await api.send('POST', queues, {
    apiVersion: 'punctual.dev/v1alpha1',
    kind: 'HttpQueue',
    metadata: { name },
    spec,
  })
  return `${queues}/${name}`
}

describe('the scale of a queue', () => {
  test('is its limit, and its calls in flight', async () => {
    const path = await makeQueue('limited', { maxParallelism: 3 })
    const counts = { pending: 7, delayed: 0, processing: 2, dead: 0 }
    await api.send('PATCH', `${path}/status`, { status: { counts } }, MERGE)

    expect(await api.send('GET', `${path}/scale`)).toMatchObject({
      spec: { replicas: 3 },
      status: { replicas: 2 },
    })
  })

  test.each([
    ['with-a-limit', { maxParallelism: 3 }],
    ['without-one', {}],
    ['with-null', { maxParallelism: null }],
  ])('sets the limit of one %s', async (name, spec) => {
    const path = await makeQueue(name, spec)
    await api.send('PATCH', `${path}/scale`, { spec: { replicas: 4 } }, MERGE)

    expect(await api.send('GET', path)).toMatchObject({ spec: { maxParallelism: 4 } })
  })

  test('cannot be 0: a queue is paused by active', async () => {
    const path = await makeQueue('never-zero', { maxParallelism: 3 })

    await expect(api.send('PATCH', `${path}/scale`, { spec: { replicas: 0 } }, MERGE)).rejects.toMatchObject({
      code: 422,
      message: expect.stringContaining('spec.maxParallelism'),
    })
  })
})
