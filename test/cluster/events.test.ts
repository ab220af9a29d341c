/** Events as a real API server takes them: it is strict about names, times and series. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { loadKubeconfig } from '../../src/kubernetes/client/kubeconfig.ts'
import { SeriesRecorder } from '../../src/kubernetes/events/series-recorder.ts'
import { createTransport } from '../../src/kubernetes/client/transport.ts'
import type { ResourceEvent } from '../../src/ports/kubernetes.ts'
import { systemClock } from '../../src/telemetry/system-clock.ts'
import { newNamespace, openKubernetesApi, type AnyObject } from '../support/cluster/kubernetes-api.ts'
import { quietClusterMetrics, quietLogger, quietReconcileMetrics } from '../support/quiet.ts'
import { until } from '../support/until.ts'

const api = openKubernetesApi(inject('clusterAccess'))
const transport = createTransport({
  config: loadKubeconfig(inject('kubeconfig')),
  clock: systemClock,
  metrics: quietClusterMetrics,
  userAgent: 'punctual/test',
})
const dropped = { count: 0 }
let namespace: string
let ids = 0

beforeAll(async () => {
  namespace = await newNamespace(api)
})

afterAll(async () => {
  await transport.close()
  await api.close()
})

function newRecorder(): SeriesRecorder {
  return new SeriesRecorder({
    transport,
    source: { controller: 'punctual.dev/controller', instance: 'punctual-controller-abc' },
    clock: systemClock,
    logger: quietLogger,
    metrics: { ...quietReconcileMetrics, eventsDropped: (count) => (dropped.count += count) },
    random: Math.random,
    newId: () => `id${(ids += 1)}`,
  })
}

function about(name: string, note = 'There is no Secret.'): ResourceEvent {
  const regarding = {
    apiVersion: 'punctual.dev/v1alpha1',
    kind: 'HttpQueue',
    namespace,
    name,
    uid: `uid-${name}`,
  }
  return { regarding, type: 'Warning', reason: 'SecretNotFound', action: 'CompileSettings', note }
}

async function eventsAbout(name: string): Promise<readonly AnyObject[]> {
  const { items } = await api.send('GET', `/apis/events.k8s.io/v1/namespaces/${namespace}/events?limit=500`)
  return (items as AnyObject[]).filter((event) => (event['regarding'] as { name: string }).name === name)
}

test('1,000 equal events are one object with a series', async () => {
  const recorder = newRecorder()
  for (let n = 0; n < 500; n += 1) recorder.record(about('many'))
  await until('the first is sent', async () => (await eventsAbout('many')).length > 0)
  for (let n = 0; n < 500; n += 1) recorder.record(about('many'))
  await recorder.stop()
  const events = await eventsAbout('many')
  expect(events).toHaveLength(1)
  expect(events[0]).toMatchObject({
    reason: 'SecretNotFound',
    reportingController: 'punctual.dev/controller',
    series: { count: 1_000, lastObservedTime: expect.stringMatching(/\.\d{6}Z$/) as unknown },
  })
  expect(dropped.count).toBe(0)
})

test('an event that comes twice becomes a series', async () => {
  const recorder = newRecorder()
  recorder.record(about('twice'))
  await until('the first is sent', async () => (await eventsAbout('twice')).length > 0)
  recorder.record(about('twice'))
  const counted = async () => (await eventsAbout('twice'))[0]?.['series']
  expect(await until('the series is sent', counted)).toMatchObject({ count: 2 })
  await recorder.stop()
})

test.each([
  ['a note at the bound', 'note', 'é'.repeat(3_000)],
  ['the longest of names', `${'a'.repeat(240)}.b-c.d-e-f-g-h`.slice(0, 253), 'A note.'],
])('%s is taken', async (_what, name, note) => {
  const recorder = newRecorder()
  recorder.record(about(name, note))
  await recorder.stop()
  expect(await eventsAbout(name)).toHaveLength(1)
  expect(dropped.count).toBe(0)
})
