/** The scaling of a real Deployment by what is in a real Redis; there are no nodes, so its pods never run. */
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { Scaling, type ScalingOptions } from '../../../src/controller/scaling/scaling.ts'
import { loadKubeconfig } from '../../../src/kubernetes/client/kubeconfig.ts'
import { DeploymentFleet } from '../../../src/kubernetes/fleet/deployment-fleet.ts'
import { createTransport } from '../../../src/kubernetes/client/transport.ts'
import type { ResourceEvent } from '../../../src/ports/kubernetes.ts'
import { createBacklogReader } from '../../../src/redis/jobs/queues/backlog-reader.ts'
import { connectRedis } from '../../../src/redis/base/client/connection.ts'
import { executorIdOf } from '../../../src/redis/base/layout/executor-id.ts'
import { RedisJobSource } from '../../../src/redis/jobs/execute/job-source.ts'
import { createQueueStore } from '../../../src/redis/jobs/queues/queue-store.ts'
import { subscribeToWakeHints } from '../../../src/redis/base/client/wake-hints.ts'
import { systemClock } from '../../../src/telemetry/system-clock.ts'
import { newJob, openEngine, type TestEngine } from '../../support/engine/engine.ts'
import { newNamespace, openKubernetesApi } from '../../support/cluster/kubernetes-api.ts'
import { quietClusterMetrics, quietLogger } from '../../support/quiet.ts'
import { startRedis, type TestRedis } from '../../support/servers/redis-server.ts'
import { until } from '../../support/until.ts'
import { grantOf } from '../../support/engine/claim-grant.ts'

const NAME = 'punctual-executor'
const DOWN_MS = 5_000
/** How long before a change the last check may have been, on a busy machine. */
const SLOW_MS = 3_000

const api = openKubernetesApi(inject('clusterAccess'))
const transport = createTransport({
  config: loadKubeconfig(inject('kubeconfig')),
  clock: systemClock,
  metrics: quietClusterMetrics,
  userAgent: 'punctual/test',
})
let redis: TestRedis
let engine: TestEngine
let hints: Awaited<ReturnType<typeof connectRedis>>

beforeAll(async () => {
  redis = await startRedis({ settings: ['--appendonly', 'no'] })
  engine = await openEngine(redis.url)
  hints = await connectRedis({
    url: redis.url,
    name: 'hints',
    commandTimeoutMs: 5_000,
    clock: systemClock,
    logger: quietLogger,
  })
})

afterAll(async () => {
  hints.disconnect()
  engine.close()
  await redis.stop()
  await transport.close()
  await api.close()
})

const deployment = (namespace: string) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: NAME, namespace },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: NAME } },
    template: {
      metadata: { labels: { app: NAME } },
      spec: { containers: [{ name: 'executor', image: 'punctual' }] },
    },
  },
})

const autoscaler = (namespace: string) => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: 'mine', namespace },
  spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: NAME }, maxReplicas: 3 },
})

/** A fleet that a leader scales, and the events about it. */
async function startScaling(options: { isAutoscaled?: boolean } = {}) {
  const namespace = await newNamespace(api)
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments`
  const autoscalers = `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`
  await api.send('POST', path, deployment(namespace))
  if (options.isAutoscaled === true) await api.send('POST', autoscalers, autoscaler(namespace))
  const events: ResourceEvent[] = []
  let aheadMs = 0
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs }
  const parts: ScalingOptions = {
    backlog: createBacklogReader(engine.engine),
    callQuotaOf: () => null,
    fleet: new DeploymentFleet({ transport, clock, logger: quietLogger, namespace, deployment: NAME }),
    hints: await subscribeToWakeHints(hints),
    leadership: { isLeader: () => true },
    events: { record: (event) => events.push(event) },
    metrics: {
      executorReplicas: () => undefined,
      scalingActive: () => undefined,
      scalingLimited: () => undefined,
      scalingEnded: () => undefined,
    },
    clock: systemClock,
    logger: quietLogger,
    settings: { mode: 'builtin', min: 0, max: 5, callsPerPod: 10, downMs: DOWN_MS },
  }
  const leading = new AbortController()
  const atRest = new Scaling(parts, leading.signal).run()
  const read = async () => (await api.send('GET', `${path}/${NAME}`)) as unknown as Deployment
  return {
    namespace,
    events,
    replicas: async () => (await read()).spec.replicas,
    /** Rises with every change of what is wanted. */
    generation: async () => (await read()).metadata.generation,
    podNames: async () => {
      const { items } = await api.send('GET', `/api/v1/namespaces/${namespace}/pods`)
      const living = (items as Pod[]).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      return living.map(({ metadata }) => metadata.name).toSorted()
    },
    removeAutoscaler: async () => {
      await api.send('DELETE', `${autoscalers}/mine`)
      // Other scalers are looked up once a minute.
      aheadMs += 60_000
    },
    stop: async () => {
      leading.abort()
      await atRest
    },
  }
}

interface Deployment {
  readonly metadata: { readonly generation: number }
  readonly spec: { readonly replicas: number }
}

interface Pod {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string }
}

const queues = () => createQueueStore(engine.engine)

async function push(count: number, queue = 'emails'): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => engine.intake.push(newJob({ queue }))))
}

/** Takes jobs as an executor of this name does. */
async function claim(name: string, count: number): Promise<void> {
  let left = count
  for (const { shard } of engine.engine.shards) {
    const source = new RedisJobSource(engine.engine, shard, executorIdOf(name, { nonce: 'test', slots: 32 }))
    await source.beat(true)
    const answer = await source.claim(grantOf(Math.max(1, left)))
    if (answer.status === 'claimed') left -= answer.work.length
    if (left <= 0) return
  }
}

describe('a fleet', () => {
  const started: Array<{ stop(): Promise<void> }> = []
  const start = async (options?: Parameters<typeof startScaling>[0]) => {
    const here = await startScaling(options)
    started.push(here)
    return here
  }

  afterEach(async () => {
    await Promise.all(started.splice(0).map((one) => one.stop()))
    await redis.client.flushall()
    engine.close()
    engine = await openEngine(redis.url)
  })

  test('goes from none to as many as needed and back, and is written only for a change', async () => {
    const here = await start()
    await until('the first check', async () => (await here.replicas()) === 0)
    await push(1)
    await until('one is wanted', async () => (await here.replicas()) === 1)

    await push(99)
    await until('as many as allowed are wanted', async () => (await here.replicas()) === 5)
    const before = await here.generation()
    await until('the limit is reported', () => here.events.some(({ reason }) => reason === 'TooManyReplicas'))
    await queues().remove('default', 'emails')
    const emptyAtMs = performance.now()
    await until('none is wanted', async () => (await here.replicas()) === 0)
    expect(performance.now() - emptyAtMs).toBeGreaterThan(DOWN_MS - SLOW_MS)
    expect(await here.generation()).toBe(before + 1)
    const reasons = ['ScaledUp', 'ScaledUp', 'TooManyReplicas', 'ScaledDown']
    expect(here.events.map(({ reason }) => reason)).toEqual(reasons)
    expect(here.events.at(-1)).toMatchObject({
      regarding: { kind: 'Deployment', namespace: here.namespace, name: NAME },
      note: 'From 5 to 0 executors: nothing is ready, in flight or due soon.',
    })
  })

  test('loses its idle pods first', async () => {
    const here = await start()
    await push(12)
    await until('two pods exist', async () => (await here.podNames()).length === 2)
    const oldest = await here.podNames()
    await push(30, 'other')
    await until('five pods exist', async () => (await here.podNames()).length === 5)
    // Without deletion costs the youngest are removed first.
    const busy = (await here.podNames()).filter((name) => !oldest.includes(name)).slice(1)
    await queues().remove('default', 'other')
    for (const name of busy) await claim(name, 6)
    await until('two pods are left', async () => (await here.podNames()).length === 2)
    expect(await here.podNames()).toEqual(busy)
  })

  test('is left to an autoscaler for as long as there is one', async () => {
    const here = await start({ isAutoscaled: true })
    await push(1)
    await until('the conflict is reported', () =>
      here.events.some(({ reason }) => reason === 'ScalerConflict'),
    )
    expect(await here.replicas()).toBe(0)
    await here.removeAutoscaler()
    await until('one is wanted', async () => (await here.replicas()) === 1)
  })
})
