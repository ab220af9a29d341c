/** Transport, informer and writer against a real API server, which the fake only imitates. */
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { ANSWER_BYTES_MAX } from '../../src/kubernetes/client/round-tripper.ts'
import { loadKubeconfig } from '../../src/kubernetes/client/kubeconfig.ts'
import { HTTP_CRONS } from '../../src/kubernetes/resources/own-kinds.ts'
import { watchObjects } from '../../src/kubernetes/informer/reflector-watch.ts'
import { SharedInformer } from '../../src/kubernetes/informer/shared-informer.ts'
import { ApiResourceWriter } from '../../src/kubernetes/resources/resource-writer.ts'
import { collectionPath } from '../../src/kubernetes/client/resource-path.ts'
import { createTransport } from '../../src/kubernetes/client/transport.ts'
import type { KubeObject, ObjectRef } from '../../src/ports/resource-store.ts'
import { systemClock } from '../../src/telemetry/system-clock.ts'
import { newNamespace, openKubernetesApi } from '../support/cluster/kubernetes-api.ts'
import { quietClusterMetrics, quietLogger } from '../support/quiet.ts'
import { until } from '../support/until.ts'

interface Queue extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>
  readonly status?: { readonly counts?: unknown; readonly conditions?: readonly object[] }
}

const KIND = { apiVersion: 'punctual.dev/v1alpha1', kind: 'HttpQueue', plural: 'httpqueues' }
const FINALIZER = 'punctual.dev/queue'
/** 1 MiB: a character outside of the basic plane has four bytes. */
const LONGEST_PAYLOAD = '𝄞'.repeat(262_144)
const LARGE_CRONS = Math.ceil(ANSWER_BYTES_MAX / 2 ** 20)

const api = openKubernetesApi(inject('clusterAccess'))
const config = loadKubeconfig(inject('kubeconfig'))
const transport = createTransport({
  config,
  clock: systemClock,
  metrics: quietClusterMetrics,
  userAgent: 'punctual/test',
})
const writer = new ApiResourceWriter<Queue>({ transport, kind: KIND, fieldManager: 'punctual-controller' })
let namespace: string

beforeAll(async () => {
  namespace = await newNamespace(api)
})

afterAll(async () => {
  await transport.close()
  await api.close()
})

function make(name: string): Promise<Queue> {
  return writer.create({ metadata: { name, namespace }, spec: {} })
}

function refOf({ apiVersion, kind, metadata: { name, uid } }: Queue): ObjectRef {
  return { apiVersion, kind, namespace, name, uid }
}

const refusal = (fault: string) => expect.objectContaining({ fault }) as unknown

describe('a writer', () => {
  test('makes, reads and removes, each as often as it likes', async () => {
    const one = await make('plain')
    expect(await writer.read(namespace, 'plain')).toEqual(one)
    await expect(make('plain')).rejects.toEqual(refusal('conflict'))
    await writer.remove(refOf(one))
    await writer.remove(refOf(one))
    expect(await writer.read(namespace, 'plain')).toBeNull()
  })

  test('reports what is wrong with a spec', async () => {
    const one = await make('invalid')
    const error = await writer
      .patchSpec(refOf(one), { timeoutSeconds: 100_000 }, null)
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      fault: 'invalid',
      message: expect.stringContaining('spec.timeoutSeconds') as string,
    })
  })

  test('applies a status that leaves the spec alone, and the same one again without a write', async () => {
    const one = await make('status')
    const status = { observedGeneration: 1, conditions: [condition('True')] }
    const first = await writer.applyStatus(refOf(one), status)
    expect([first.spec, first.status]).toEqual([one.spec, expect.objectContaining(status)])
    const second = await writer.applyStatus(refOf(one), status)
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion)
    const bare = await writer.applyStatus(refOf(one), { observedGeneration: 1 })
    expect(bare.status?.conditions ?? []).toEqual([])
  })

  test('loses against a change that came between', async () => {
    const one = await make('version')
    await writer.patchSpec(refOf(one), { active: false }, one.metadata.resourceVersion)
    const late = writer.patchSpec(refOf(one), { active: true }, one.metadata.resourceVersion)
    await expect(late).rejects.toEqual(refusal('conflict'))
    await expect(writer.setFinalizer(one, FINALIZER, true)).rejects.toEqual(refusal('conflict'))
  })

  test('holds a deleted object by its finalizer', async () => {
    const one = await writer.setFinalizer(await make('held'), FINALIZER, true)
    await writer.remove(refOf(one))
    const held = await writer.read(namespace, 'held')
    expect(held?.metadata.deletionTimestamp).toBeDefined()
    await writer.setFinalizer(held!, FINALIZER, false)
    expect(await writer.read(namespace, 'held')).toBeNull()
  })

  test.each<[string, (one: Queue) => Promise<unknown>]>([
    ['patchSpec', (one) => writer.patchSpec(refOf(one), { active: false }, null)],
    ['setFinalizer', (one) => writer.setFinalizer(one, FINALIZER, true)],
  ])('%s does not touch a successor of the same name', async (method, write) => {
    const { one, again } = await makeTwice(`successor-${method.toLowerCase()}`, write)
    await expect(write(one)).rejects.toEqual(refusal('conflict'))
    await writer.remove(refOf(one))
    expect(await writer.read(namespace, one.metadata.name)).toEqual(again)
  })

  test('applyStatus cannot but touch a successor, and says so', async () => {
    const write = (one: Queue) => writer.applyStatus(refOf(one), { observedGeneration: 9 })
    const { one } = await makeTwice('successor-status', write)
    await expect(write(one)).rejects.toEqual(refusal('conflict'))
  })
})

/** In between, when there is none of that name, `write` finds none. */
async function makeTwice(
  name: string,
  write: (one: Queue) => Promise<unknown>,
): Promise<{ readonly one: Queue; readonly again: Queue }> {
  const one = await make(name)
  await writer.remove(refOf(one))
  await expect(write(one)).rejects.toEqual(refusal('not_found'))
  return { one, again: await make(name) }
}

describe('an informer', () => {
  let informer: SharedInformer<Queue>
  let changes: string[]

  beforeEach(async () => {
    const own = await newNamespace(api)
    changes = []
    informer = new SharedInformer<Queue>({
      clock: systemClock,
      logger: quietLogger,
      metrics: quietClusterMetrics,
      transport,
      random: Math.random,
      kind: KIND,
      namespaces: [own],
      indexes: {},
    })
    informer.onChange((key, before, after) => {
      changes.push(`${before === undefined ? '+' : after === undefined ? '-' : '~'}${key.split('/')[1]}`)
    })
    namespace = own
    return () => informer.stop()
  })

  test('lists more than one page, then reports what is created, updated and deleted', async () => {
    const names = Array.from({ length: 501 }, (_unused, index) => `queue-${index}`)
    await Promise.all(names.map(make))
    informer.start()
    await informer.whenSynced(AbortSignal.timeout(10_000))
    expect([...informer.all()]).toHaveLength(501)
    changes = []
    const one = await make('one')
    await writer.patchSpec(refOf(one), { active: false }, null)
    await writer.remove(refOf(one))
    await until('the changes', () => changes.length === 3)
    expect(changes).toEqual(['+one', '~one', '-one'])
  })

  test('lists more than what is read of one answer', { timeout: 120_000 }, async () => {
    const crons = new ApiResourceWriter({ transport, kind: HTTP_CRONS, fieldManager: 'punctual-controller' })
    const spec = { url: 'https://example.com/', cronExpression: '0 0 1 1 *', payload: LONGEST_PAYLOAD }
    const metadata = (index: number) => ({ name: `cron-${index}`, namespace })
    for (let index = 0; index < LARGE_CRONS; index += 1) {
      await crons.create({ metadata: metadata(index), spec })
    }
    const path = collectionPath(HTTP_CRONS, namespace)
    try {
      await expect(transport.request({ method: 'GET', path })).rejects.toEqual(refusal('too_large'))
      expect(await crons.readAll(namespace)).toHaveLength(LARGE_CRONS)
    } finally {
      await api.send('DELETE', path)
    }
  })

  test('reports that an old version has expired', async () => {
    const options = {
      clock: systemClock,
      logger: quietLogger,
      metrics: quietClusterMetrics,
      transport,
      random: Math.random,
      kind: KIND,
      namespace,
      store: {
        get: () => undefined,
        replace: () => undefined,
        put: () => undefined,
        delete: () => undefined,
      },
    }
    const story = await watchObjects<Queue>(options, '1', AbortSignal.timeout(10_000))
    expect(story).toMatchObject({ end: 'expired', events: 0, error: { fault: 'gone' } })
  })

  test('stays as the API server is after hundreds of writes', async () => {
    informer.start()
    await informer.whenSynced(AbortSignal.timeout(10_000))
    const made = await Promise.all(Array.from({ length: 40 }, (_unused, index) => make(`queue-${index}`)))
    await Promise.all(
      made.map(async (one, index) => {
        for (let edit = 1; edit <= 8; edit += 1)
          await writer.patchSpec(refOf(one), { timeoutSeconds: edit }, null)
        if (index % 2 === 0) await writer.remove(refOf(one))
      }),
    )
    const list = await transport.request<{ items: Queue[] }>({
      method: 'GET',
      path: `/apis/${KIND.apiVersion}/namespaces/${namespace}/httpqueues`,
    })
    const versions = (objects: Iterable<Queue>) =>
      [...objects].map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`).sort()
    await until('the copy', () => String(versions(informer.all())) === String(versions(list.items)))
    expect(list.items).toHaveLength(20)
  })
})

function condition(status: 'True' | 'False'): object {
  return {
    type: 'Ready',
    status,
    reason: 'Reconciled',
    message: 'In force.',
    lastTransitionTime: '2026-11-21T00:00:00Z',
    observedGeneration: 1,
  }
}
