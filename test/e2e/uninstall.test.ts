import { afterAll, expect, inject, test } from 'vitest'
import { openKindCluster, RELEASE_NAMESPACE } from '../support/cluster/kind-cluster.ts'
import { until } from '../support/until.ts'
import { apiAnswers, installRelease, uninstallRelease } from './support/release.ts'

const PODS_GONE_TIMEOUT_MS = 60_000
const ARRIVAL_TIMEOUT_MS = 60_000

const access = inject('kindAccess')
const cluster = openKindCluster(access)
const inNamespace = (...given: string[]) => cluster.kubectl('--namespace', RELEASE_NAMESPACE, ...given)

afterAll(() => cluster.close())

test('an uninstall keeps definitions, queues and jobs, and the next install goes on with them', async () => {
  await cluster.applyQueue('outliving', { active: false, maxParallelism: 2 })
  const job = await cluster.punctual.push({ queue: 'outliving', url: cluster.target.url('outliving') })
  const before = await cluster.punctual.queueNamed('outliving')
  await uninstallRelease(access.kubeconfig)
  const noPods = async () => (await inNamespace('get', 'pods', '--output', 'name')).trim() === ''
  await until('no pod is left', noPods, PODS_GONE_TIMEOUT_MS)

  expect(await inNamespace('get', 'all', '--output', 'name')).toBe('service/punctual-from-outside\n')
  expect((await cluster.queueResource('outliving')).spec).toMatchObject({ active: false, maxParallelism: 2 })

  await installRelease(access.kubeconfig)
  await apiAnswers(access)

  // The same token opens the same queue, with its job.
  expect(await cluster.punctual.queueNamed('outliving')).toEqual(before)
  expect((await cluster.target.report('outliving')).arrivals).toBe(0)

  await cluster.applyQueue('outliving', { active: true, maxParallelism: 2 })
  await cluster.punctual.ended(job.job_id, ARRIVAL_TIMEOUT_MS)

  expect((await cluster.target.report('outliving')).arrivals).toBe(1)
})
