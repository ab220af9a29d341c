import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KindCluster } from '../../support/cluster/kind-cluster.ts'
import { until } from '../../support/until.ts'
import { EXECUTOR_PODS, killNow, leaderOf, restartsOf } from '../support/kills.ts'
import { openOwnRelease } from '../support/open-release.ts'
import { pushMany, startPushing } from '../support/pushes.ts'

/** Aimed at, and reached at least: a busy machine sends fewer. */
const PUSHES_PER_SECOND = 50
const PUSHES_PER_SECOND_MIN = 20
/** A lease of a lost executor runs out, and its jobs start again. */
const RESCUE_TIMEOUT_MS = 180_000

let cluster: KindCluster

async function allArrived(label: string, count: number) {
  const allSeen = async () => {
    const report = await cluster.target.report(label)
    return Object.keys(report.calls).length >= count && report.inFlight === 0 ? report : null
  }
  return until(`${count} jobs of ${label} arrived`, allSeen, RESCUE_TIMEOUT_MS)
}

export function lostPods(): void {
  beforeAll(async () => {
    cluster = await openOwnRelease('losses')
  })

  afterAll(() => cluster.close())

  test('a Redis pod that is deleted comes back with its jobs, and nothing of ours restarts', async () => {
    const before = await restartsOf(cluster)
    const { job_id: id } = await cluster.punctual.push({
      queue: 'kept',
      url: cluster.target.url('kept'),
      delay: 30,
    })
    await cluster.inNamespace('delete', 'pod', 'punctual-redis-0')
    const accepts = () => {
      const push = cluster.punctual.push({ queue: 'after-redis', url: cluster.target.url('after-redis') })
      return push.then(
        () => true,
        () => false,
      )
    }
    await until('pushes are accepted again', accepts, RESCUE_TIMEOUT_MS)
    await allArrived('after-redis', 1)
    await cluster.punctual.ended(id, RESCUE_TIMEOUT_MS)

    expect((await cluster.target.report('kept')).arrivals).toBe(1)
    expect(await restartsOf(cluster)).toBe(before)
  })

  test('a rolling restart of every pod fails no push and loses no job', async () => {
    const job = { queue: 'rolling', url: cluster.target.url('rolling') }
    await pushMany(cluster.punctual, 1, job)
    const pushes = startPushing(cluster, PUSHES_PER_SECOND, job)
    await cluster.inNamespace('rollout', 'restart', 'deployment')
    for (const name of ['punctual-api', 'punctual-controller', 'punctual-executor']) {
      await cluster.inNamespace('rollout', 'status', `deployment/${name}`, '--timeout=110s')
    }
    const { accepted, failures, perSecond } = await pushes.stop()
    const report = await allArrived('rolling', accepted + 1)

    expect(failures).toEqual([])
    expect(perSecond).toBeGreaterThan(PUSHES_PER_SECOND_MIN)
    expect(report.arrivals).toBe(accepted + 1)
  })

  test('executors deleted by force cost at most one more call of each job in flight', async () => {
    const [jobs, atOnce] = [120, 40]
    await cluster.applyQueue('killed', { maxParallelism: atOnce })
    // Longer than kubectl takes, and the two seconds that the kubelet leaves even then.
    const url = cluster.target.url('killed', { delayMs: 10_000 })
    await pushMany(cluster.punctual, jobs, { queue: 'killed', url })
    await until(
      'calls are in flight',
      async () => (await cluster.target.report('killed')).inFlight > 0,
      60_000,
    )
    await killNow(cluster, ...EXECUTOR_PODS)
    const report = await allArrived('killed', jobs)

    expect(report.arrivals).toBeGreaterThan(jobs)
    expect(report.arrivals).toBeLessThanOrEqual(jobs + atOnce)
    expect(Math.max(...Object.values(report.calls))).toBe(2)
  })

  test('another controller leads soon after the leader is deleted by force', async () => {
    const former = await leaderOf(cluster)
    await killNow(cluster, former)
    await until('another pod leads', async () => ![former, ''].includes(await leaderOf(cluster)), 60_000)
    // What the new one applies is in force: applyQueue waits for it.
    await cluster.applyQueue('after-the-leader', { maxParallelism: 1 })
    expect(await leaderOf(cluster)).not.toBe(former)
  })
}
