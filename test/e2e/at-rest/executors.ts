import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KindCluster } from '../../support/cluster/kind-cluster.ts'
import { until } from '../../support/until.ts'
import { openOwnRelease } from '../support/open-release.ts'
import { pushMany } from '../support/pushes.ts'

/** As in values.yaml. */
const EXECUTORS_MAX = 4
const SCALING_TIMEOUT_MS = 90_000
const DRAIN_TIMEOUT_MS = 180_000
const BURST = 5_000

let cluster: KindCluster

/** Nor one that is going: until it is told so, it takes jobs. */
async function noExecutors(): Promise<void> {
  const pods = ['get', 'pods', '--selector', 'app.kubernetes.io/component=executor', '--output', 'name']
  const none = async () =>
    (await cluster.executors()).wanted === 0 && (await cluster.inNamespace(...pods)) === ''
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

export function executors(): void {
  beforeAll(async () => {
    cluster = await openOwnRelease('at-rest')
  })

  afterAll(() => cluster.close())

  test('a limit of 3 holds over 4 executor pods', async () => {
    await cluster.applyQueue('wide', { maxParallelism: 80 })
    await cluster.applyQueue('narrow', { maxParallelism: 3 })
    // Enough for 80 calls at once, four pods' worth, until the narrow queue is done.
    const wideUrl = cluster.target.url('wide', { delayMs: 2000 })
    await pushMany(cluster.punctual, 2000, { queue: 'wide', url: wideUrl })
    await until(
      'four executors are ready',
      async () => (await cluster.executors()).ready === EXECUTORS_MAX,
      SCALING_TIMEOUT_MS,
    )
    const narrowUrl = cluster.target.url('narrow', { delayMs: 200 })
    await pushMany(cluster.punctual, 60, { queue: 'narrow', url: narrowUrl })
    const narrow = await arrived('narrow', 60)

    expect(narrow.mostInFlight).toBe(3)
    expect(Object.keys(narrow.calls)).toHaveLength(60)

    const wide = await cluster.target.report('wide')
    expect(wide.mostInFlight).toBeLessThanOrEqual(80)
    expect(wide.mostInFlight).toBeGreaterThan(60)

    // The jobs that wait go with their queue.
    await cluster.inNamespace('delete', 'hq', 'wide', '--timeout=60s')
  })

  test(`executors come for a burst of ${BURST} jobs and go after it`, async () => {
    await noExecutors()
    const job = { queue: 'burst', url: cluster.target.url('burst') }
    await cluster.punctual.push(job)
    await until('executors are asked for', async () => (await cluster.executors()).wanted > 0)
    await pushMany(cluster.punctual, BURST - 1, job)
    await until(
      'several executors are ready',
      async () => (await cluster.executors()).ready > 1,
      SCALING_TIMEOUT_MS,
    )
    const burst = await arrived('burst', BURST)

    expect(burst.arrivals).toBe(BURST)
    expect(Object.values(burst.calls).every((times) => times === 1)).toBe(true)

    await noExecutors()
  })
}
