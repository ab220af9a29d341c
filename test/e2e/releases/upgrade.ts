/** From the release before to this checkout, with the command of docs/install.md, while jobs and crons run. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { parse } from 'yaml'
import type { CreatedCron } from '../../../clients/typescript/src/generated/wire.ts'
import { RELEASE_NAMESPACE, type KindCluster } from '../../support/cluster/kind-cluster.ts'
import type { AnyObject } from '../../support/cluster/kubernetes-api.ts'
import { until } from '../../support/until.ts'
import { MINUTE_MS, runsOf } from '../support/crons.ts'
import { openInstalled } from '../support/open-release.ts'
import { pushMany, startPushing } from '../support/pushes.ts'
import { redisUsersOf } from '../support/redis-users.ts'
import { installReleaseBefore } from '../support/release-before.ts'
import { CHART, helm, isInstalled, RELEASE, removeEverything } from '../support/release.ts'

const TICKED_TIMEOUT_MS = 2 * MINUTE_MS
const ARRIVAL_TIMEOUT_MS = 2 * MINUTE_MS
const SLOW_JOBS = 40
const SECRETS = ['punctual-token', 'punctual-key', 'punctual-redis']

let cluster: KindCluster

async function secrets(): Promise<unknown[]> {
  const { items } = JSON.parse(
    await cluster.inNamespace('get', 'secret', ...SECRETS, '--output', 'json'),
  ) as {
    items: AnyObject[]
  }
  return items.map(({ data }) => data)
}

async function minutely(): Promise<number> {
  const cron = { name: 'minutely', cron_expression: '* * * * *', url: cluster.target.url('minutely') }
  const { body } = await cluster.punctual.send<CreatedCron>('POST', '/api/crons', cron)
  return body.id
}

/** As `kubectl explain` shows them. */
async function definitions(): Promise<Map<string, unknown>> {
  const listed = await cluster.kubectl('get', 'crd', '--output', 'json')
  const { items } = JSON.parse(listed) as { items: AnyObject[] }
  return new Map(items.map(({ metadata, spec }) => [metadata.name, spec?.['versions']]))
}

export function upgrade(): void {
  beforeAll(async () => {
    const access = inject('kindAccess').releases
    const place = { kubeconfig: access.kubeconfig, namespace: RELEASE_NAMESPACE }
    // On a cluster that was kept.
    if (await isInstalled(place)) await removeEverything(place)
    await installReleaseBefore(place)
    cluster = await openInstalled(access, RELEASE_NAMESPACE)
  })
  afterAll(() => cluster.close())

  test('from the release before loses no job, tick, token or push, and calls nothing twice', async () => {
    const cron = await minutely()
    await cluster.applyQueue('slow', { maxParallelism: 4 })
    await cluster.applyQueue('paused', { active: false })
    const push = (queue: string, more: object = {}) =>
      cluster.punctual.push({ queue, url: cluster.target.url(queue), ...more })
    const { job_id: paused } = await push('paused')
    const { job_id: delayed } = await push('delayed', { delay: 60 })
    const slow = cluster.target.url('slow', { delayMs: 5_000 })
    await pushMany(cluster.punctual, SLOW_JOBS, { queue: 'slow', url: slow })
    await until('it has ticked', async () => (await runsOf(cluster, cron)).length > 0, TICKED_TIMEOUT_MS)
    const before = { secrets: await secrets(), queue: await cluster.punctual.queueNamed('paused') }
    const pushes = startPushing(cluster, 10, { queue: 'steady', url: cluster.target.url('steady') })

    const kept = ['--reset-then-reuse-values', '--set', 'image.tag=e2e,redis.bundled.image.tag=7.2', '--wait']
    await helm(cluster, 'upgrade', RELEASE, CHART, ...kept)
    await cluster.inNamespace('rollout', 'status', 'deployment/punctual-executor', '--timeout=110s')
    const upgradedAt = Date.now()

    const { accepted, failures } = await pushes.stop()
    expect(failures).toEqual([])
    expect(await secrets()).toEqual(before.secrets)
    expect(await cluster.punctual.queueNamed('paused')).toMatchObject({
      queue_id: before.queue?.queue_id,
      is_active: false,
    })

    await cluster.applyQueue('paused', { active: true })
    await Promise.all([paused, delayed].map((id) => cluster.punctual.ended(id, ARRIVAL_TIMEOUT_MS)))
    const counts = { slow: SLOW_JOBS, steady: accepted, paused: 1, delayed: 1 }
    for (const [label, count] of Object.entries(counts)) {
      const arrived = async () => {
        const { calls, inFlight } = await cluster.target.report(label)
        return Object.keys(calls).length >= count && inFlight === 0
      }
      await until(`${count} jobs of ${label} arrived`, arrived, ARRIVAL_TIMEOUT_MS)
      const { arrivals, calls } = await cluster.target.report(label)
      expect({ label, arrivals, jobs: Object.keys(calls).length }).toEqual({
        label,
        arrivals: count,
        jobs: count,
      })
    }

    const hasTicked = async () => {
      const runs = await runsOf(cluster, cron)
      const last = runs.at(-1)
      return Date.parse(last?.scheduled_at ?? '') > upgradedAt && last?.result !== 'running' ? runs : null
    }
    const runs = await until('it ticks on', hasTicked, TICKED_TIMEOUT_MS)
    const ticks = runs.map(({ scheduled_at: tick }) => Date.parse(tick))
    expect(ticks).toEqual(ticks.map((_, index) => (ticks[0] ?? 0) + index * MINUTE_MS))
    expect(runs.map(({ result }) => result)).toEqual(runs.map(() => 'succeeded'))
  })

  test('has the API and the executors log in to Redis as users of their own', async () => {
    for (const component of ['api', 'executor']) {
      const isAlone = async () => {
        const users = await redisUsersOf(cluster, component)
        return users.every((user) => user === `punctual-${component}`)
      }
      await until(`${component} has its user`, isAlone, ARRIVAL_TIMEOUT_MS)
    }
    expect(await redisUsersOf(cluster, 'api')).toEqual(['punctual-api'])
  })

  test('brings the definitions of the new chart', async () => {
    const served = await definitions()
    const files = globSync(join(CHART, 'files/crds/*.yaml'))
    expect(files.length).toBeGreaterThan(0)
    for (const file of files) {
      const { metadata, spec } = parse(readFileSync(file, 'utf8')) as AnyObject
      expect(served.get(metadata.name)).toMatchObject(spec?.['versions'] as object)
    }
  })
}
