/** The elector over real connections to an API server that misbehaves. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LeaderElector } from '../../../../src/kubernetes/leader-election/leader-elector.ts'
import { createLeaseLock } from '../../../../src/kubernetes/leader-election/lease-lock.ts'
import { createTransport, type Transport } from '../../../../src/kubernetes/client/transport.ts'
import { systemClock } from '../../../../src/telemetry/system-clock.ts'
import { startFakeApiServer, type FakeApiServer } from '../../../support/fake-api/fake-api-server.ts'
import { quietClusterMetrics, quietLogger, quietReconcileMetrics } from '../../../support/quiet.ts'
import { until } from '../../../support/until.ts'

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/ops/leases/punctual-controller'

let server: FakeApiServer
let transport: Transport
let elector: LeaderElector

beforeEach(async () => {
  server = await startFakeApiServer()
  transport = createTransport({
    config: server.config,
    clock: systemClock,
    metrics: quietClusterMetrics,
    userAgent: 'punctual/test',
  })
  elector = new LeaderElector({
    lock: createLeaseLock(transport, { namespace: 'ops', name: 'punctual-controller' }),
    identity: 'pod-0',
    clock: systemClock,
    logger: quietLogger,
    metrics: quietReconcileMetrics,
    random: () => 0,
  })
})

afterEach(async () => {
  server.faults.clear()
  await elector.stop()
  await transport.close()
  await server.close()
})

const holder = () => (server.get(LEASE)?.spec as { holderIdentity?: string } | undefined)?.holderIdentity

test('leads while every other request hangs, and a thousand more wait', async () => {
  server.faults.add({ path: '/httpqueues', times: Number.POSITIVE_INFINITY, effect: { do: 'hang' } })
  const path = '/apis/punctual.dev/v1alpha1/namespaces/a/httpqueues'
  const others = Array.from({ length: 1_000 }, () => transport.request({ method: 'GET', path }))
  const ends = Promise.allSettled(others)
  await until('requests hang', () => server.requests.length >= 4)
  elector.start()
  // Requests that hang are abandoned after 30 s.
  await until('it leads', () => elector.isLeader(), 10_000)
  expect(holder()).toBe('pod-0')
  await transport.close()
  await ends
})

test('leads when the answer to its first write is lost', async () => {
  server.faults.add({ verb: 'create', effect: { do: 'lose-answer' } })
  elector.start()
  await until('the write is done', () => holder() === 'pod-0')
  expect(elector.isLeader()).toBe(false)
  // Its own Lease would be past after 15 s.
  await until('it leads', () => elector.isLeader(), 10_000)
  expect(server.get(LEASE)?.spec).toMatchObject({ leaseTransitions: 0 })
})

test('releases the Lease when it stops, and no longer leads', async () => {
  elector.start()
  await until('it leads', () => elector.isLeader())
  await elector.stop()
  expect(elector.isLeader()).toBe(false)
  expect(holder()).toBe('')
})
