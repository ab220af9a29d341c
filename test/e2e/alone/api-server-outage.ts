import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { runCommand, type KindCluster } from '../../support/cluster/kind-cluster.ts'
import { until } from '../../support/until.ts'
import { restartsOf } from '../support/kills.ts'
import { openOnlyRelease } from '../support/open-release.ts'
import { startPushing } from '../support/pushes.ts'
import { reaches } from '../support/reach.ts'

/** The leader's Lease, which lasts 15 s, is long past by then, and so is what is remembered of people's rights. */
const API_SERVER_AWAY_MS = 35_000
/** What the resources promise after an outage. */
const CATCH_UP_MS = 15_000
const RECOVERY_TIMEOUT_MS = 120_000
const MANIFEST = '/etc/kubernetes/manifests/kube-apiserver.yaml'
const MANIFEST_ASIDE = '/etc/kubernetes/kube-apiserver.yaml'

let cluster: KindCluster

/** Commands of the machine that is the node of the API server. */
async function onNode(...command: string[]): Promise<void> {
  const context = await cluster.kubectl('config', 'current-context')
  await runCommand('docker', ['exec', `${context.trim().replace(/^kind-/, '')}-control-plane`, ...command])
}

/** Ready comes first: kinds of our own are served some seconds later. */
async function servesQueues(): Promise<boolean> {
  const listed = cluster.kubernetes.send('GET', '/apis/punctual.dev/v1alpha1/httpqueues')
  return listed.then(
    () => true,
    () => false,
  )
}

/** The cluster itself takes up to half a minute to lead its pods there again. */
async function podsReachApiServer(): Promise<boolean> {
  const apiServer = { host: 'kubernetes.default.svc.cluster.local', port: 443 }
  const target = { namespace: 'targets', workload: 'deployment/target' }
  return reaches(cluster, target, apiServer).catch(() => false)
}

/** Those that make pods and place them lose their Leases in an outage, end, and are started anew. */
async function clusterIsWhole(): Promise<void> {
  for (const name of ['kube-controller-manager', 'kube-scheduler']) {
    const renewed = async () => {
      const path = `/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/${name}`
      const { spec } = await cluster.kubernetes.send('GET', path)
      return String(spec?.['renewTime'])
    }
    const before = await renewed()
    await until(`${name} leads`, async () => (await renewed()) !== before, RECOVERY_TIMEOUT_MS)
  }
}

function arrives(label: string): Promise<true> {
  const hasArrived = async () => {
    const report = await cluster.target.report(label).catch(() => null)
    return (report?.arrivals ?? 0) > 0
  }
  return until(`a job of ${label} arrived`, hasArrived, RECOVERY_TIMEOUT_MS)
}

export function apiServerOutage(): void {
  beforeAll(async () => {
    cluster = await openOnlyRelease(inject('kindAccess').alone)
  })
  afterAll(() => cluster.close())

  test('pushes and calls go on, and resources catch up within 15 s after', async () => {
    const before = await restartsOf(cluster)
    const pushes = startPushing(cluster, 5, {
      queue: 'going-on',
      url: cluster.target.url('going-on'),
    })
    // One executor is up, and stays: nobody can scale it without an API server.
    await arrives('going-on')
    await onNode('mv', MANIFEST, MANIFEST_ASIDE)
    try {
      await until(
        'the API server is away',
        async () => !(await cluster.kubernetes.isReady().catch(() => false)),
        60_000,
      )
      const awayAt = performance.now()
      const meanwhile = await cluster.punctual.push({
        queue: 'meanwhile',
        url: cluster.target.url('meanwhile'),
      })
      await cluster.punctual.ended(meanwhile.job_id, API_SERVER_AWAY_MS)
      await until(
        'the time is over',
        () => performance.now() - awayAt > API_SERVER_AWAY_MS,
        API_SERVER_AWAY_MS * 2,
      )
    } finally {
      await onNode('mv', MANIFEST_ASIDE, MANIFEST)
      await until('the API server serves our kinds again', servesQueues, RECOVERY_TIMEOUT_MS)
    }
    await until('pods reach the API server again', podsReachApiServer, RECOVERY_TIMEOUT_MS)
    await Promise.all([
      cluster.applyQueue('after-the-outage', { maxParallelism: 1 }, CATCH_UP_MS),
      cluster.queueResource('meanwhile'),
    ])
    const { failures } = await pushes.stop()

    expect(failures).toEqual([])
    expect(await restartsOf(cluster)).toBe(before)

    await clusterIsWhole()
  })
}
