/** Electors against a real Lease. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeEach, expect, inject, test } from 'vitest'
import { LeaderElector } from '../../src/kubernetes/leader-election/leader-elector.ts'
import { createLeaseLock } from '../../src/kubernetes/leader-election/lease-lock.ts'
import { loadKubeconfig } from '../../src/kubernetes/client/kubeconfig.ts'
import { createTransport } from '../../src/kubernetes/client/transport.ts'
import { systemClock } from '../../src/telemetry/system-clock.ts'
import { newNamespace, openKubernetesApi } from '../support/cluster/kubernetes-api.ts'
import { quietClusterMetrics, quietLogger, quietReconcileMetrics } from '../support/quiet.ts'
import { QUICK_FACTOR, quickened, WITH_QUICK_CLOCK } from '../support/servers/quick-clock.ts'
import { until } from '../support/until.ts'

const PROCESS = fileURLToPath(new URL('elector-process.ts', import.meta.url))
const LEASE = 'punctual-controller'
const clock = quickened(systemClock)

const api = openKubernetesApi(inject('clusterAccess'))
const transport = createTransport({
  config: loadKubeconfig(inject('kubeconfig')),
  clock: systemClock,
  metrics: quietClusterMetrics,
  userAgent: 'punctual/test',
})
let namespace: string
let electors: LeaderElector[] = []
const children: ChildProcess[] = []

beforeEach(async () => {
  namespace = await newNamespace(api)
  electors = []
})

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await Promise.all(electors.map((elector) => elector.stop()))
})

afterAll(async () => {
  await transport.close()
  await api.close()
})

function startElector(identity: string): LeaderElector {
  const elector = new LeaderElector({
    lock: createLeaseLock(transport, { namespace, name: LEASE }),
    identity,
    clock,
    logger: quietLogger,
    metrics: quietReconcileMetrics,
    random: Math.random,
  })
  electors.push(elector)
  elector.start()
  return elector
}

async function lease(): Promise<Readonly<Record<string, unknown>>> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${LEASE}`
  return (await api.send('GET', path)).spec ?? {}
}

test('a leader that is killed is followed when its lease is past', async () => {
  const child = spawn(process.execPath, [PROCESS, inject('kubeconfig'), namespace, 'killed'], {
    env: { ...process.env, NODE_OPTIONS: WITH_QUICK_CLOCK },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  await once(child.stdout, 'data')
  const other = startElector('other')
  expect(await lease()).toMatchObject({ holderIdentity: 'killed', leaseTransitions: 0 })
  child.kill('SIGKILL')
  const { renewTime } = await lease()
  await until('the other leads', () => other.isLeader())
  const after = await lease()
  expect(after).toMatchObject({ holderIdentity: 'other', leaseTransitions: 1, leaseDurationSeconds: 15 })
  // Both are of this machine's time of day. Not before the lease of the dead was past.
  const takenAfterMs = Date.parse(String(after['acquireTime'])) - Date.parse(String(renewTime))
  expect(takenAfterMs * QUICK_FACTOR).toBeGreaterThan(14_000)
})

test('a leader that stops gives the lease away', async () => {
  const first = startElector('first')
  await until('the first leads', () => first.isLeader())
  const second = startElector('second')
  await first.stop()
  expect(first.isLeader()).toBe(false)
  await until('the second leads', () => second.isLeader(), 10_000)
  expect(await lease()).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 })
})

test('a leader whose Lease was deleted or labelled goes on with it', async () => {
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`
  const elector = startElector('only')
  let terms = 0
  elector.onLead(async () => void (terms += 1))
  await until('it leads', () => elector.isLeader())
  const labels = { metadata: { labels: { team: 'a' } } }
  const { metadata } = await api.send('PATCH', `${leases}/${LEASE}`, labels, 'application/merge-patch+json')
  const renewed = async () => {
    const now = await api.send('GET', `${leases}/${LEASE}`)
    return now.metadata.resourceVersion === metadata.resourceVersion ? null : now
  }
  expect((await until('it is renewed', renewed)).metadata).toMatchObject(labels.metadata)
  await api.send('DELETE', `${leases}/${LEASE}`)
  await until('it is created again', () =>
    lease().then(
      ({ holderIdentity }) => holderIdentity === 'only',
      () => false,
    ),
  )
  expect(elector.isLeader()).toBe(true)
  expect(terms).toBe(1)
})
