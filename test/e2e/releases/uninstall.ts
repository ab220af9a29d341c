import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import type { KindCluster } from '../../support/cluster/kind-cluster.ts'
import { until } from '../../support/until.ts'
import { openOnlyRelease } from '../support/open-release.ts'
import { apiAnswers, installRelease, renderedWithHooks, uninstallRelease } from '../support/release.ts'

const PODS_GONE_TIMEOUT_MS = 60_000
const ARRIVAL_TIMEOUT_MS = 60_000
/** A lease of a lost executor runs out, and its jobs start again. */
const RESCUE_TIMEOUT_MS = 180_000
const YEARLY = '0 0 1 1 *'
/** What the Job before an uninstall is made of. */
const HOOK = 'job,serviceaccount,role,rolebinding,clusterrole,clusterrolebinding'

let cluster: KindCluster

async function applyCron(name: string): Promise<void> {
  const cron = { apiVersion: 'punctual.dev/v1alpha1', kind: 'HttpCron', metadata: { name } }
  const spec = { cronExpression: YEARLY, url: cluster.target.url(name) }
  await cluster.kubernetes.apply(JSON.stringify({ ...cron, spec }), { namespace: cluster.namespace })
  await cluster.ready(`hc/${name}`)
}

async function uninstalled(): Promise<void> {
  await uninstallRelease(cluster)
  const noPods = async () => (await cluster.inNamespace('get', 'pods', '--output', 'name')).trim() === ''
  await until('no pod is left', noPods, PODS_GONE_TIMEOUT_MS)
}

const finalizers = () =>
  cluster.inNamespace('get', 'hq,hc', '--output', 'jsonpath={.items[*].metadata.finalizers}')

/** As a tool does it that knows no hooks, but for the definitions, which `kubectl apply` cannot hold. */
async function applyRendering(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'punctual-rendering-'))
  try {
    const objects = (await renderedWithHooks('crds.keep=false')).filter(
      ({ kind }) => kind !== 'CustomResourceDefinition',
    )
    const file = join(folder, 'rendering.json')
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
    // Each object names its namespace, and one is in another.
    await cluster.kubectl('apply', '--filename', file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export function uninstall(): void {
  beforeAll(async () => {
    cluster = await openOnlyRelease(inject('kindAccess').releases)
  })
  afterAll(() => cluster.close())

  test('whose hooks a tool applies as ordinary objects touches nothing', async () => {
    await cluster.applyQueue('rendered', {})
    await applyCron('rendered')
    // The test of the chart, which is applied as well, pushes to a queue of its own.
    const ours = () =>
      cluster.inNamespace(
        'get',
        'hq/rendered',
        'hc/rendered',
        '--output',
        'jsonpath={.items[*].metadata.finalizers}',
      )
    const before = await ours()
    onTestFinished(async () => {
      await cluster.inNamespace('delete', 'pod,service', 'punctual-test', '--ignore-not-found')
    })
    await applyRendering()
    const hasFailed = async () =>
      Number(
        await cluster.inNamespace(
          'get',
          'job',
          'punctual-uninstall',
          '--output',
          'jsonpath={.status.failed}',
        ),
      ) > 0
    await until('the Job has run', hasFailed, ARRIVAL_TIMEOUT_MS)

    const failed = ['--selector', 'job-name=punctual-uninstall', '--field-selector', 'status.phase=Failed']
    const [pod = ''] = (await cluster.inNamespace('get', 'pods', ...failed, '--output', 'name')).split('\n')
    expect(await cluster.inNamespace('logs', pod)).toContain('Nothing was touched.')
    expect(await ours()).toBe(before)
    expect(before).toContain('punctual.dev/queue')
    const replicas = [
      'deployment',
      'punctual-api',
      'punctual-controller',
      '--output',
      'jsonpath={.items[*].spec.replicas}',
    ]
    expect(await cluster.inNamespace('get', ...replicas)).toBe('2 2')
    const url = cluster.target.url('rendered')
    const { job_id: id } = await cluster.punctual.push({ queue: 'rendered', url })
    await cluster.punctual.ended(id, ARRIVAL_TIMEOUT_MS)
    // The next scenario uninstalls the release, whose hook replaces these objects by its own.
  })

  test('keeps definitions, queues and jobs, and the next install goes on with them', async () => {
    await cluster.applyQueue('outliving', { active: false, maxParallelism: 2 })
    await applyCron('outliving')
    await applyCron('not-outliving')
    const job = await cluster.punctual.push({ queue: 'outliving', url: cluster.target.url('outliving') })
    const before = await cluster.punctual.queueNamed('outliving')
    // Under way when the executors are told to go.
    const url = cluster.target.url('under-way', { delayMs: 10_000 })
    const { job_id: underWay } = await cluster.punctual.push({ queue: 'under-way', url })
    const isCalled = async () => (await cluster.target.report('under-way')).inFlight === 1
    await until('a call is under way', isCalled, ARRIVAL_TIMEOUT_MS)
    await uninstalled()

    // Its Secrets, its volume and the record of what Redis holds stay as well.
    expect(await cluster.inNamespace('get', 'all', '--output', 'name')).toBe(
      'service/punctual-from-outside\n',
    )
    expect(
      await cluster.kubectl('get', HOOK, '-A', '-l', 'app.kubernetes.io/name=punctual', '-o', 'name'),
    ).toBe('')
    expect(await cluster.inNamespace('get', 'lease', '--output', 'name')).toBe('')
    expect(await cluster.inNamespace('get', 'configmap', 'punctual-state', '--output', 'name')).not.toBe('')
    expect((await cluster.queueResource('outliving')).spec).toMatchObject({
      active: false,
      maxParallelism: 2,
    })
    // Nothing that stays waits for a controller.
    expect(await finalizers()).toBe('')
    await cluster.inNamespace('delete', 'hc', 'not-outliving', '--timeout=30s')

    await installRelease(cluster)
    await apiAnswers(cluster)

    // The same token opens the same queue, with its job.
    expect(await cluster.punctual.queueNamed('outliving')).toEqual(before)
    expect((await cluster.target.report('outliving')).arrivals).toBe(0)

    // The call ended, but nobody could write that into a Redis that had gone as well.
    await cluster.punctual.ended(underWay, RESCUE_TIMEOUT_MS)
    expect((await cluster.target.report('under-way')).arrivals).toBeLessThanOrEqual(2)

    await cluster.ready('hc/outliving')
    expect(await finalizers()).toContain('punctual.dev/cron')
    await cluster.applyQueue('outliving', { active: true, maxParallelism: 2 })
    await cluster.punctual.ended(job.job_id, ARRIVAL_TIMEOUT_MS)

    expect((await cluster.target.report('outliving')).arrivals).toBe(1)
  })

  test('after the controller went leaves nothing that hangs either', async () => {
    await cluster.applyQueue('orphaned', {})
    await applyCron('orphaned')
    await cluster.inNamespace('delete', 'deployment', 'punctual-controller', '--timeout=60s')
    await uninstalled()

    expect(await finalizers()).toBe('')
    await cluster.inNamespace('delete', 'hc/orphaned', 'hq/orphaned', '--timeout=30s')

    await installRelease(cluster)
    await apiAnswers(cluster)
    const { job_id: id } = await cluster.punctual.push({ queue: 'anew', url: cluster.target.url('anew') })
    await cluster.punctual.ended(id, ARRIVAL_TIMEOUT_MS)
  })
}
