import { afterAll, expect, inject, test } from 'vitest'
import { openKindCluster, RELEASE_NAMESPACE } from '../support/cluster/kind-cluster.ts'
import { until } from '../support/until.ts'
import { pushMany } from './support/pushes.ts'

/** As in values.yaml. */
const EXECUTORS_MAX = 4
const SCALING_TIMEOUT_MS = 90_000
const DRAIN_TIMEOUT_MS = 180_000

const cluster = openKindCluster(inject('kindAccess'))

afterAll(() => cluster.close())

/** Nor one that is going: until it is told so, it takes jobs. */
async function noExecutors(): Promise<void> {
  const pods = ['get', 'pods', '--selector', 'app.kubernetes.io/component=executor', '--output', 'name']
  const none = async () =>
    (await cluster.executors()).wanted === 0 &&
    (await cluster.kubectl('--namespace', RELEASE_NAMESPACE, ...pods)) === ''
  await until('no executor is left', none, SCALING_TIMEOUT_MS)
}

async function arrived(label: string, count: number) {
  await until(
    `${count} jobs arrived`,
    async () => (await cluster.target.report(label)).arrivals >= count,
    DRAIN_TIMEOUT_MS,
  )
  return cluster.target.report(label)
}

test('a limit of 3 holds over 4 executor pods', async () => {
  await cluster.applyQueue('wide', { maxParallelism: 80 })
  await cluster.applyQueue('narrow', { maxParallelism: 3 })
  // Enough for 80 calls at once, four pods' worth, until the narrow queue is done.
  await pushMany(cluster.punctual, 2000, {
    queue: 'wide',
    url: cluster.target.url('wide', { delayMs: 2000 }),
  })
  await until(
    'four executors are ready',
    async () => (await cluster.executors()).ready === EXECUTORS_MAX,
    SCALING_TIMEOUT_MS,
  )
  await pushMany(cluster.punctual, 60, {
    queue: 'narrow',
    url: cluster.target.url('narrow', { delayMs: 200 }),
  })
  const narrow = await arrived('narrow', 60)

  expect(narrow.mostInFlight).toBe(3)
  expect(Object.keys(narrow.calls)).toHaveLength(60)
  const wide = await arrived('wide', 2000)

  expect(wide.mostInFlight).toBeLessThanOrEqual(80)
  expect(wide.mostInFlight).toBeGreaterThan(60)
})

test('executors come for a burst of 20000 jobs and go after it', async () => {
  await noExecutors()
  const startedAt = Date.now()
  await cluster.punctual.push({ queue: 'burst', url: cluster.target.url('burst') })
  await until('executors are asked for', async () => (await cluster.executors()).wanted > 0)
  const askedAfterMs = Date.now() - startedAt
  await pushMany(cluster.punctual, 19_999, { queue: 'burst', url: cluster.target.url('burst') })
  await until(
    'several executors are ready',
    async () => (await cluster.executors()).ready > 1,
    SCALING_TIMEOUT_MS,
  )
  const burst = await arrived('burst', 20_000)

  expect(askedAfterMs).toBeLessThan(2000)
  expect((burst.firstArrivalMs ?? Infinity) - startedAt).toBeLessThan(15_000)
  expect(burst.arrivals).toBe(20_000)
  expect(Object.values(burst.calls).every((times) => times === 1)).toBe(true)

  await noExecutors()
})
