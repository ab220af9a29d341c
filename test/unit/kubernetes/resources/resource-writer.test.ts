import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ApiResourceWriter } from '../../../../src/kubernetes/resources/resource-writer.ts'
import { createTransport, type Transport } from '../../../../src/kubernetes/client/transport.ts'
import type { ResourceWriter } from '../../../../src/ports/kubernetes.ts'
import type { KubeObject, ObjectRef } from '../../../../src/ports/resource-store.ts'
import { startFakeApiServer, type FakeApiServer } from '../../../support/fake-api/fake-api-server.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { quietClusterMetrics } from '../../../support/quiet.ts'

interface Queue extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>
  readonly status?: unknown
}

const KIND = { apiVersion: 'punctual.dev/v1alpha1', kind: 'HttpQueue', plural: 'httpqueues' }
const ONE = '/apis/punctual.dev/v1alpha1/namespaces/a/httpqueues/one'
const FINALIZER = 'punctual.dev/queue'

let server: FakeApiServer
let transport: Transport
let writer: ResourceWriter<Queue>
let one: Queue

beforeEach(async () => {
  server = await startFakeApiServer()
  const clock = createFakeClock()
  transport = createTransport({
    config: server.config,
    clock,
    metrics: quietClusterMetrics,
    userAgent: 'punctual/test',
  })
  writer = new ApiResourceWriter<Queue>({ transport, kind: KIND, fieldManager: 'punctual-controller' })
  one = await writer.create({
    metadata: { name: 'one', namespace: 'a' },
    spec: { queueName: 'one', parallelism: 3 },
  })
})

afterEach(async () => {
  await transport.close()
  await server.close()
})

function refOf({ apiVersion, kind, metadata }: Queue): ObjectRef {
  const { namespace, name, uid } = metadata
  return { apiVersion, kind, namespace, name, uid }
}

/** One of that name was deleted and made again since. */
async function makeAgain(): Promise<Queue> {
  server.remove(ONE)
  return writer.create({ metadata: { name: 'one', namespace: 'a' }, spec: { queueName: 'again' } })
}

const refusal = (fault: string) => expect.objectContaining({ fault }) as unknown
const writes = () => server.requests.filter(({ verb }) => verb !== 'get').length

describe('read', () => {
  test('answers the object as it stands, or null', async () => {
    expect(await writer.read('a', 'one')).toEqual(one)
    expect(await writer.read('b', 'one')).toBeNull()
    server.faults.add({ effect: { do: 'answer', code: 403 } })
    await expect(writer.read('a', 'one')).rejects.toEqual(refusal('forbidden'))
  })
})

test('readAll answers what the namespace has, of others nothing', async () => {
  await writer.create({ metadata: { name: 'other', namespace: 'b' }, spec: {} })
  expect(await writer.readAll('a')).toEqual([one])
  expect(await writer.readAll('none')).toEqual([])
  server.faults.add({ effect: { do: 'answer', code: 403 } })
  await expect(writer.readAll('a')).rejects.toEqual(refusal('forbidden'))
})

test('readAll answers what is known where nothing has changed since', async () => {
  const two = await writer.create({ metadata: { name: 'two', namespace: 'a' }, spec: {} })
  await writer.patchSpec(refOf(two), { parallelism: 4 }, null)
  const known = (key: string) => (key === 'a/one' ? one : two)
  const ours = { transport, kind: KIND, fieldManager: 'punctual-controller', known }
  const all = await new ApiResourceWriter<Queue>(ours).readAll('a')
  expect(all.map((object) => [object === one, object.spec['parallelism']])).toEqual([
    [true, 3],
    [false, 4],
  ])
})

describe('create', () => {
  test('makes an object of the kind under our field manager', () => {
    expect(one).toMatchObject({
      apiVersion: KIND.apiVersion,
      kind: KIND.kind,
      spec: { parallelism: 3 },
    })
    expect(server.requests[0]).toMatchObject({
      verb: 'create',
      query: { fieldManager: 'punctual-controller' },
    })
  })

  test('does not take a name twice', async () => {
    const again = writer.create({ metadata: { name: 'one', namespace: 'a' }, spec: {} })
    await expect(again).rejects.toEqual(refusal('conflict'))
  })
})

describe('patchSpec', () => {
  test('changes the fields it names and no other', async () => {
    server.put(ONE, { ...KIND, spec: { queueName: 'one', parallelism: 3, fromTheFuture: { deep: 1 } } })
    const patched = await writer.patchSpec(refOf(one), { parallelism: null, paused: true }, null)
    expect(patched.spec).toEqual({ queueName: 'one', fromTheFuture: { deep: 1 }, paused: true })
  })

  test('is refused when the version is another by now', async () => {
    server.put(ONE, { ...KIND, spec: { parallelism: 4 } })
    const late = writer.patchSpec(refOf(one), { paused: true }, one.metadata.resourceVersion)
    await expect(late).rejects.toEqual(refusal('conflict'))
    expect(server.get(ONE)).toMatchObject({ spec: { parallelism: 4 } })
  })
})

describe('applyStatus', () => {
  test('trap: goes as an apply patch, which needs its content type, and forces its fields', async () => {
    const applied = await writer.applyStatus(refOf(one), { pending: 3, running: 1 })
    expect(applied).toMatchObject({ spec: one.spec, status: { pending: 3, running: 1 } })
    expect(server.requests.at(-1)).toMatchObject({
      path: `${ONE}/status`,
      query: { fieldManager: 'punctual-status', force: 'true' },
      contentType: 'application/apply-patch+yaml',
    })
  })

  test('writes the whole status: what is left out goes', async () => {
    await writer.applyStatus(refOf(one), { pending: 3, oldest: 9 })
    expect((await writer.applyStatus(refOf(one), { pending: 4 })).status).toEqual({ pending: 4 })
  })

  test('the same status again changes nothing', async () => {
    const first = await writer.applyStatus(refOf(one), { pending: 3 })
    const second = await writer.applyStatus(refOf(one), { pending: 3 })
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion)
  })

  test('of a deleted object creates none', async () => {
    server.remove(ONE)
    await expect(writer.applyStatus(refOf(one), { pending: 3 })).rejects.toEqual(refusal('not_found'))
    expect(server.get(ONE)).toBeUndefined()
  })
})

describe('setFinalizer', () => {
  test('adds and removes ours and leaves the others', async () => {
    const other = await writer.setFinalizer(one, 'example.com/other', true)
    const both = await writer.setFinalizer(other, FINALIZER, true)
    expect(both.metadata.finalizers).toEqual(['example.com/other', FINALIZER])
    const left = await writer.setFinalizer(both, FINALIZER, false)
    expect(left.metadata.finalizers).toEqual(['example.com/other'])
  })

  test('writes nothing when it is so already', async () => {
    const before = writes()
    expect(await writer.setFinalizer(one, FINALIZER, false)).toBe(one)
    const held = await writer.setFinalizer(one, FINALIZER, true)
    expect(await writer.setFinalizer(held, FINALIZER, true)).toBe(held)
    expect(writes()).toBe(before + 1)
  })

  test('trap: does not drop a finalizer that another has added since', async () => {
    await writer.setFinalizer(one, 'example.com/other', true)
    await expect(writer.setFinalizer(one, FINALIZER, true)).rejects.toEqual(refusal('conflict'))
    expect(server.get(ONE)?.metadata.finalizers).toEqual(['example.com/other'])
  })

  test('the last one to go lets a deleted object go', async () => {
    await writer.setFinalizer(one, FINALIZER, true)
    await writer.remove(refOf(one))
    const held = await writer.read('a', 'one')
    expect(held?.metadata.deletionTimestamp).toBeDefined()
    await writer.setFinalizer(held!, FINALIZER, false)
    expect(await writer.read('a', 'one')).toBeNull()
  })
})

describe('remove', () => {
  test('removes, and succeeds when it does not exist', async () => {
    await writer.remove(refOf(one))
    expect(server.get(ONE)).toBeUndefined()
    await writer.remove(refOf(one))
  })

  test('a conflict about the same object is thrown', async () => {
    server.faults.add({ verb: 'delete', effect: { do: 'answer', code: 409, reason: 'Conflict' } })
    await expect(writer.remove(refOf(one))).rejects.toEqual(refusal('conflict'))
  })
})

describe('trap: a successor of the same name', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['patchSpec', () => writer.patchSpec(refOf(one), { paused: true }, null)],
    ['setFinalizer', () => writer.setFinalizer(one, FINALIZER, true)],
  ])('%s does not touch it', async (_method, write) => {
    const again = await makeAgain()
    await expect(write()).rejects.toEqual(refusal('conflict'))
    expect(await writer.read('a', 'one')).toEqual(again)
  })

  test('applyStatus cannot but touch it, and says so', async () => {
    await makeAgain()
    await expect(writer.applyStatus(refOf(one), { pending: 3 })).rejects.toEqual(refusal('conflict'))
  })

  test('remove leaves it, and succeeds because the object meant is deleted', async () => {
    const again = await makeAgain()
    await writer.remove(refOf(one))
    expect(await writer.read('a', 'one')).toEqual(again)
  })
})
