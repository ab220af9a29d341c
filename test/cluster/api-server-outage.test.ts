/** An informer during an outage of the API server, on a separate control plane. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadKubeconfig } from '../../src/kubernetes/client/kubeconfig.ts'
import { SharedInformer } from '../../src/kubernetes/informer/shared-informer.ts'
import { ApiResourceWriter } from '../../src/kubernetes/resources/resource-writer.ts'
import { createTransport, type Transport } from '../../src/kubernetes/client/transport.ts'
import type { KubeObject } from '../../src/ports/resource-store.ts'
import { systemClock } from '../../src/telemetry/system-clock.ts'
import { startControlPlane, type ControlPlane } from '../support/cluster/control-plane.ts'
import { applyDefinitions, newNamespace, openKubernetesApi } from '../support/cluster/kubernetes-api.ts'
import { quietClusterMetrics, quietLogger } from '../support/quiet.ts'
import { until } from '../support/until.ts'

const KIND = { apiVersion: 'punctual.dev/v1alpha1', kind: 'HttpQueue', plural: 'httpqueues' }
const pathTo = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

let controlPlane: ControlPlane
let transport: Transport
let namespace: string

beforeAll(async () => {
  const binaries = execFileSync(pathTo('scripts/control-plane.sh'), { encoding: 'utf8' }).trim()
  controlPlane = await startControlPlane({ binaries, controllerManager: false })
  const api = openKubernetesApi(controlPlane.access)
  await applyDefinitions(api, readFileSync(pathTo('crds/httpqueues.punctual.dev.yaml'), 'utf8'))
  namespace = await newNamespace(api)
  await api.close()
  const config = loadKubeconfig(controlPlane.kubeconfig)
  transport = createTransport({
    config,
    clock: systemClock,
    metrics: quietClusterMetrics,
    userAgent: 'punctual/test',
  })
})

afterAll(async () => {
  await transport?.close()
  await controlPlane?.stop()
})

test('the copy stays readable, and later changes are reported', async () => {
  const writer = new ApiResourceWriter<KubeObject>({
    transport,
    kind: KIND,
    fieldManager: 'punctual-controller',
  })
  const make = (name: string) => writer.create({ metadata: { name, namespace }, spec: {} })
  await make('before')
  const informer = new SharedInformer({
    clock: systemClock,
    logger: quietLogger,
    metrics: quietClusterMetrics,
    transport,
    random: Math.random,
    kind: KIND,
    namespaces: null,
    indexes: {},
  })
  informer.start()
  await informer.whenSynced(AbortSignal.timeout(10_000))
  const names = () => [...informer.all()].map(({ metadata }) => metadata.name).sort()

  await controlPlane.stopApiServer()
  await expect(make('meanwhile')).rejects.toMatchObject({ fault: 'unavailable' })
  expect([names(), informer.isSynced()]).toEqual([['before'], true])

  await controlPlane.startApiServer()
  await make('after')
  await until('the object', () => names().includes('after'), 60_000)
  expect(names()).toEqual(['after', 'before'])
  await informer.stop()
})
