/** From the release before to this checkout, with the command of docs/install.md, while jobs and crons run. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { parse } from 'yaml'
import type { CreatedCron, CronRun, CronRunList } from '../../../src/contract/generated/wire.ts'
import { openKindCluster, RELEASE_NAMESPACE } from '../../support/cluster/kind-cluster.ts'
import type { AnyObject } from '../../support/cluster/kubernetes-api.ts'
import { until } from '../../support/until.ts'
import { installReleaseBefore } from '../support/release-before.ts'
import {
  apiAnswers,
  CHART,
  firstToken,
  helm,
  RELEASE,
  removeEverything,
  restoreRelease,
} from '../support/release.ts'
import { pushMany, startPushing } from '../support/pushes.ts'

const MINUTE_MS = 60_000
const TICKED_TIMEOUT_MS = 2 * MINUTE_MS
const ARRIVAL_TIMEOUT_MS = 2 * MINUTE_MS
const SLOW_JOBS = 40
const SECRETS = ['punctual-token', 'punctual-key', 'punctual-redis']

const access = inject('kindAccess')
let cluster = openKindCluster(access)
const inNamespace = (...given: string[]) => cluster.kubectl('--namespace', RELEASE_NAMESPACE, ...given)

beforeAll(async () => {
  await removeEverything(access.kubeconfig)
  await installReleaseBefore(access.kubeconfig)
  await cluster.close()
  const token = await firstToken(access.kubeconfig)
  cluster = openKindCluster({ ...access, token })
  await apiAnswers({ ...access, token })
})
afterAll(async () => {
  await restoreRelease(access)
  await cluster.close()
})

async function secrets(): Promise<unknown[]> {
  const { items } = JSON.parse(await inNamespace('get', 'secret', ...SECRETS, '--output', 'json')) as {
    items: AnyObject[]
  }
  return items.map(({ data }) => data)
}

/** Oldest first. */
async function runsOf(id: number): Promise<CronRun[]> {
  const { body } = await cluster.punctual.send<CronRunList>('GET', `/api/crons/${id}/runs`)
  return body.runs.toReversed()
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

test('an upgrade from the release before loses no job, tick, token or push, and calls nothing twice', async () => {
  const cron = await minutely()
  await cluster.applyQueue('slow', { maxParallelism: 4 })
  await cluster.applyQueue('paused', { active: false })
  const push = (queue: string, more: object = {}) =>
    cluster.punctual.push({ queue, url: cluster.target.url(queue), ...more })
  const { job_id: paused } = await push('paused')
  const { job_id: delayed } = await push('delayed', { delay: 60 })
  const slow = cluster.target.url('slow', { delayMs: 5_000 })
  await pushMany(cluster.punctual, SLOW_JOBS, { queue: 'slow', url: slow })
  await until('it has ticked', async () => (await runsOf(cron)).length > 0, TICKED_TIMEOUT_MS)
  const before = { secrets: await secrets(), queue: await cluster.punctual.queueNamed('paused') }
  const pushes = startPushing(cluster.punctual, 10, { queue: 'steady', url: cluster.target.url('steady') })

  const kept = ['--reset-then-reuse-values', '--set', 'image.tag=e2e,redis.bundled.image.tag=7.2', '--wait']
  await helm(access.kubeconfig, 'upgrade', RELEASE, CHART, ...kept)
  await inNamespace('rollout', 'status', 'deployment/punctual-executor', '--timeout=110s')
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
    const runs = await runsOf(cron)
    const last = runs.at(-1)
    return Date.parse(last?.scheduled_at ?? '') > upgradedAt && last?.result !== 'running' ? runs : null
  }
  const runs = await until('it ticks on', hasTicked, TICKED_TIMEOUT_MS)
  const ticks = runs.map(({ scheduled_at: tick }) => Date.parse(tick))
  expect(ticks).toEqual(ticks.map((_, index) => (ticks[0] ?? 0) + index * MINUTE_MS))
  expect(runs.map(({ result }) => result)).toEqual(runs.map(() => 'succeeded'))
})

test('an upgrade brings the definitions of the new chart', async () => {
  const served = await definitions()
  const files = globSync(join(CHART, 'files/crds/*.yaml'))
  expect(files.length).toBeGreaterThan(0)
  for (const file of files) {
    const { metadata, spec } = parse(readFileSync(file, 'utf8')) as AnyObject
    expect(served.get(metadata.name)).toMatchObject(spec?.['versions'] as object)
  }
})
