/** The fleet of executors as a real Deployment, whose pods never start: there are no nodes. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { loadKubeconfig } from '../../src/kubernetes/client/kubeconfig.ts'
import { DeploymentFleet } from '../../src/kubernetes/fleet/deployment-fleet.ts'
import { createTransport } from '../../src/kubernetes/client/transport.ts'
import type { ExecutorFleet } from '../../src/ports/kubernetes.ts'
import { systemClock } from '../../src/telemetry/system-clock.ts'
import { newNamespace, openKubernetesApi, type AnyObject } from '../support/cluster/kubernetes-api.ts'
import { quietClusterMetrics, quietLogger } from '../support/quiet.ts'
import { until } from '../support/until.ts'

const api = openKubernetesApi(inject('clusterAccess'))
const transport = createTransport({
  config: loadKubeconfig(inject('kubeconfig')),
  clock: systemClock,
  metrics: quietClusterMetrics,
  userAgent: 'punctual/test',
})
let namespace: string
let fleet: ExecutorFleet

beforeAll(async () => {
  namespace = await newNamespace(api)
  const labels = { 'app.kubernetes.io/component': 'executor' }
  const containers = [{ name: 'executor', image: 'punctual' }]
  await api.send('POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, {
    metadata: { name: 'punctual-executor' },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  })
  fleet = newFleet()
})

afterAll(async () => {
  await transport.close()
  await api.close()
})

function newFleet(deployment = 'punctual-executor'): ExecutorFleet {
  return new DeploymentFleet({ transport, clock: systemClock, logger: quietLogger, namespace, deployment })
}

async function podNames(): Promise<readonly string[]> {
  const { items } = await api.send('GET', `/api/v1/namespaces/${namespace}/pods`)
  return (items as AnyObject[])
    .filter(({ metadata }) => metadata['deletionTimestamp'] === undefined)
    .map(({ metadata }) => metadata.name)
}

async function untilThereAre(pods: number): Promise<void> {
  await until(`there are ${pods} pods`, async () => (await fleet.read())?.current === pods, 30_000)
}

test('a Deployment that does not exist is no fleet', async () => {
  expect(await newFleet('missing').read()).toBeNull()
})

test('the scale is read and written, and pods that hold calls stay', async () => {
  await fleet.scaleTo(4)
  await untilThereAre(4)
  expect(await fleet.read()).toMatchObject({ desired: 4, ready: 0, otherScaler: null })
  const busy = (await podNames()).slice(1, 3)
  await fleet.setDeletionCosts(new Map(busy.map((name) => [name, 17])), new AbortController().signal)
  await fleet.scaleTo(2)
  await untilThereAre(2)
  expect([...(await podNames())].sort()).toEqual([...busy].sort())
})

test('an HPA over the Deployment is seen', async () => {
  await api.send('POST', `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`, {
    metadata: { name: 'by-hand' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'punctual-executor' },
      maxReplicas: 3,
    },
  })
  expect(await newFleet().read()).toMatchObject({ otherScaler: 'HorizontalPodAutoscaler by-hand' })
})
