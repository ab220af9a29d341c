import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { runCommand, type KindCluster } from '../../support/cluster/kind-cluster.ts'
import { until } from '../../support/until.ts'
import { openOnlyRelease } from '../support/open-release.ts'
import { pushMany, startPushing } from '../support/pushes.ts'

const ROLES = ['api', 'controller', 'executor'] as const
/** All but Redis, whose volume stays where it is. */
const OURS = `app.kubernetes.io/name=punctual,app.kubernetes.io/component in (${ROLES.join(', ')})`
const TAINT = 'node-role.kubernetes.io/control-plane'
const JOBS = 60
const AT_ONCE = 40
const CALL_MS = 10_000
const DRAIN_TIMEOUT_MS = 180_000
const ARRIVAL_TIMEOUT_MS = 120_000
const LOOK_EVERY_MS = 200

let cluster: KindCluster

async function nodeNames(): Promise<{ readonly worker: string; readonly other: string }> {
  const names = (
    await cluster.kubectl('get', 'nodes', '--output', 'jsonpath={.items[*].metadata.name}')
  ).split(' ')
  const worker = names.find((name) => name.endsWith('-worker')) ?? ''
  return { worker, other: names.find((name) => name !== worker) ?? '' }
}

/** For the next run on this cluster: on the node where the API server is, none of our pods are wanted. */
async function backToTheWorker(): Promise<void> {
  const { worker, other } = await nodeNames()
  await cluster.kubectl('uncordon', worker)
  await cluster.kubectl('taint', 'node', other, `${TAINT}=:NoSchedule`, '--overwrite')
  await cluster.inNamespace('rollout', 'restart', 'deployment')
}

/** Looks on and on how many pods of a role are ready, until its test ends. Answers the fewest. */
function watchReady(role: string): { fewest(): number } {
  const looking = new AbortController()
  let fewest = Infinity
  const look = async () => {
    while (!looking.signal.aborted) {
      const path = `/apis/apps/v1/namespaces/${cluster.namespace}/deployments/punctual-${role}`
      const { status } = await cluster.kubernetes.send('GET', path)
      fewest = Math.min(fewest, Number(status?.['availableReplicas'] ?? 0))
      await sleep(LOOK_EVERY_MS)
    }
  }
  const looked = look()
  onTestFinished(async () => {
    looking.abort()
    await looked
  })
  return { fewest: () => fewest }
}

async function nodesOfOurs(): Promise<string[]> {
  const nodes = ['--output', 'jsonpath={.items[*].spec.nodeName}']
  const names = await cluster.inNamespace('get', 'pods', '--selector', OURS, ...nodes)
  return [...new Set(names.split(' '))]
}

export function drain(): void {
  beforeAll(async () => {
    cluster = await openOnlyRelease(inject('kindAccess').alone)
  })
  afterAll(async () => {
    await backToTheWorker()
    await cluster.close()
  })

  test('fails no push and ends no call early, and someone is always ready', async () => {
    const { worker, other } = await nodeNames()
    expect(await nodesOfOurs()).toEqual([worker])
    await cluster.applyQueue('drained', { maxParallelism: AT_ONCE })
    const url = cluster.target.url('drained', { delayMs: CALL_MS })
    await pushMany(cluster.punctual, JOBS, { queue: 'drained', url })
    const areCalled = async () => (await cluster.target.report('drained')).inFlight === AT_ONCE
    await until('calls are under way', areCalled, ARRIVAL_TIMEOUT_MS)
    const pushes = startPushing(cluster, 10, {
      queue: 'meantime',
      url: cluster.target.url('meantime'),
    })
    const watched = ['api', 'controller'].map(watchReady)

    // The control plane takes pods for once: there is no third node.
    await cluster.kubectl('taint', 'node', other, `${TAINT}:NoSchedule-`)
    const given = ['--pod-selector', OURS, '--delete-emptydir-data', `--timeout=${DRAIN_TIMEOUT_MS / 1000}s`]
    const drain = ['--kubeconfig', cluster.kubeconfig, 'drain', worker, ...given]
    await runCommand('kubectl', drain, { timeoutMs: DRAIN_TIMEOUT_MS + 10_000 })

    const { accepted, failures } = await pushes.stop()
    const isDone = async () => {
      const [drained, meantime] = await Promise.all(['drained', 'meantime'].map(cluster.target.report))
      const known = [drained, meantime].map((report) => Object.keys(report?.calls ?? {}).length)
      return known[0] === JOBS && drained?.inFlight === 0 && (known[1] ?? 0) >= accepted
    }
    await until('all jobs have ended', isDone, ARRIVAL_TIMEOUT_MS)

    expect(failures).toEqual([])
    // An executor that the controller had sent home before the drain ends its calls first, and the drain does not wait for it.
    const isElsewhere = async () => (await nodesOfOurs()).every((node) => node === other)
    await until('no pod of ours is left on the drained node', isElsewhere, ARRIVAL_TIMEOUT_MS)
    for (const ready of watched) {
      expect(ready.fewest()).toBeGreaterThan(0)
      expect(ready.fewest()).toBeLessThan(Infinity)
    }
    for (const label of ['drained', 'meantime']) {
      const { calls } = await cluster.target.report(label)
      expect(Object.values(calls).filter((times) => times !== 1)).toEqual([])
    }
  })
}
