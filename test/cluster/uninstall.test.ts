/** What the chart runs before an uninstall, with the rights that it gives for that, beside a real controller. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { LATER_REVISIONS_MAX } from '../../src/kubernetes/fleet/helm-release.ts'
import { QUEUE_FINALIZER } from '../../src/resources/finalizers.ts'
import { createQueueStore } from '../../src/redis/jobs/queues/queue-store.ts'
import { helmObstacle, renderChart } from '../support/cluster/chart.ts'
import { documentsOf, newServiceAccount } from '../support/cluster/kubernetes-api.ts'
import { podEnvironment, writeAccount } from '../support/cluster/pod-environment.ts'
import { runProgram } from '../support/servers/processes.ts'
import { WITH_QUICK_CLOCK } from '../support/servers/quick-clock.ts'
import { until } from '../support/until.ts'
import { openControllerWorld, type ControllerWorld } from './controller/controller-world.ts'

const CRON = { url: 'https://target.test/', cronExpression: '0 0 1 1 *' }
const NEVER_MS = 120_000

const folder = mkdtempSync(join(tmpdir(), 'punctual-uninstall-'))
let world: ControllerWorld
/** The folder of the account that the Job has; null = it is not made yet. */
let account: string | null

beforeEach(({ skip }) => {
  const obstacle = helmObstacle()
  skip(obstacle !== null, obstacle ?? '')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function openWorld(): Promise<void> {
  account = null
  world = await openControllerWorld()
  for (const role of ['api', 'controller'])
    await world.api.apply(deployment(role), { namespace: world.namespace })
}

/** Its pods never run: there is no node. */
function deployment(role: string): string {
  const labels = { 'app.kubernetes.io/component': role }
  const spec = { containers: [{ name: 'none', image: 'none' }] }
  return JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: `punctual-${role}` },
    spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  })
}

async function replicasOf(role: string): Promise<unknown> {
  const name = `punctual-${role}`
  const found = await world.api.get({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name,
    namespace: world.namespace,
  })
  return (found as unknown as { spec: { replicas: number } }).spec.replicas
}

/** The variables and rights of the Job. */
async function jobOf(set: readonly string[]): Promise<Record<string, string>> {
  const { namespace } = world
  const values = [`watchNamespaces={${namespace}}`, ...set]
  const objects = documentsOf(await renderChart({ namespace, set: values }))
  const ofHook = objects.filter(
    ({ metadata }) =>
      (metadata.annotations as Readonly<Record<string, string>> | undefined)?.['helm.sh/hook'] ===
      'pre-delete',
  )
  const rights = ofHook.filter(({ kind }) => /^Role(?:Binding)?$/.test(kind))
  expect(rights).toHaveLength(4)
  for (const object of rights) await world.api.apply(JSON.stringify(object))
  const job = ofHook.find(({ kind }) => kind === 'Job') as unknown as {
    spec: {
      template: { spec: { containers: [{ args: string[]; env: { name: string; value?: string }[] }] } }
    }
  }
  const [{ args, env }] = job.spec.template.spec.containers
  expect(args).toEqual(['uninstall'])
  const given = env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]]))
  account ??= await newAccount()
  const inPod = podEnvironment(inject('clusterAccess'), account)
  return {
    ...(Object.fromEntries(given) as Record<string, string>),
    PUNCTUAL_POD_NAMESPACE: namespace,
    ...inPod,
    NODE_OPTIONS: `${inPod.NODE_OPTIONS} ${WITH_QUICK_CLOCK}`,
  }
}

async function newAccount(): Promise<string> {
  const token = await newServiceAccount(world.api, world.namespace, 'punctual-uninstall')
  return writeAccount({ ...inject('clusterAccess'), token }, join(folder, world.namespace))
}

/** The Secret of a revision, as Helm stores it. */
async function helmSays(status: string, revision = 1): Promise<void> {
  const name = `sh.helm.release.v1.punctual.v${revision}`
  const labels = { name: 'punctual', owner: 'helm', status, version: String(revision) }
  const secret = { apiVersion: 'v1', kind: 'Secret', type: 'helm.sh/release.v1', metadata: { name, labels } }
  await world.api.apply(JSON.stringify(secret), { namespace: world.namespace })
}

/** The controller ends when its Deployment is scaled to zero, as a pod of it would. */
async function uninstalled(
  set: readonly string[],
): Promise<{ code: number | null; errors: readonly string[] }> {
  const env = await jobOf(set)
  await helmSays('uninstalling')
  const controller = await world.start({ PUNCTUAL_INSTANCE_NAME: 'punctual' })
  await world.apply('HttpQueue', 'mails', {})
  await world.apply('HttpCron', 'yearly', CRON)
  await world.reason('HttpQueue', 'mails', 'Reconciled')
  await world.reason('HttpCron', 'yearly', 'Reconciled')
  const endPod = await startPod()
  const program = runProgram(['uninstall'], env)
  await until('the controller is to stop', async () => (await replicasOf('controller')) === 0, NEVER_MS)
  controller.signal('SIGTERM')
  await controller.exited
  await endPod()
  const { code } = await program.exited
  return { code, errors: program.errorLines }
}

/**
 * The pod in which the controller of the test would run: while it is there the Job waits, and the controller may still
 * make its Lease again.
 */
async function startPod(): Promise<() => Promise<unknown>> {
  const pods = `/api/v1/namespaces/${world.namespace}/pods`
  await world.api.send('POST', pods, {
    metadata: { name: 'of-the-test', labels: { 'app.kubernetes.io/component': 'controller' } },
    spec: { serviceAccountName: 'punctual-uninstall', containers: [{ name: 'none', image: 'none' }] },
  })
  return () => world.api.send('DELETE', `${pods}/of-the-test?gracePeriodSeconds=0`)
}

async function stopApi(): Promise<void> {
  const scale = `/apis/apps/v1/namespaces/${world.namespace}/deployments/punctual-api/scale`
  await world.api.send('PATCH', scale, { spec: { replicas: 0 } }, 'application/merge-patch+json')
  const labels = '?labelSelector=app.kubernetes.io/component%3Dapi'
  await until('the API has no pod', async () => {
    const { items } = await world.api.send('GET', `/api/v1/namespaces/${world.namespace}/pods${labels}`)
    return (items as readonly unknown[]).length === 0
  })
}

const exists = (kind: string, apiVersion: string, name: string) =>
  world.api
    .get({ apiVersion, kind, name, namespace: world.namespace })
    .then(() => true)
    .catch(() => false)
const left = async () => ({
  record: await exists('ConfigMap', 'v1', 'punctual-state'),
  lease: await exists('Lease', 'coordination.k8s.io/v1', 'punctual-controller'),
})

describe('an uninstall', () => {
  beforeEach(openWorld)
  afterEach(() => world.close())

  test('resources that stay can be deleted without a controller, and the record of their data stays', async () => {
    expect(await uninstalled([])).toEqual({ code: 0, errors: [] })
    expect(await left()).toEqual({ record: true, lease: false })
    expect(await replicasOf('api')).toBe(1)
    const queue = await world.get('HttpQueue', 'mails')
    expect(queue.metadata.finalizers ?? []).not.toContain(QUEUE_FINALIZER)
    for (const [kind, name] of [
      ['HttpQueue', 'mails'],
      ['HttpCron', 'yearly'],
    ] as const) {
      await world.remove(kind, name)
      expect(await world.find(kind, name)).toBe(null)
    }
  })

  test('with the definitions, resources and their data go too, and no record is left', async () => {
    expect(await uninstalled(['crds.keep=false'])).toEqual({ code: 0, errors: [] })
    expect(await left()).toEqual({ record: false, lease: false })
    expect(await replicasOf('api')).toBe(0)
    expect(await world.find('HttpQueue', 'mails')).toBe(null)
    expect(await world.find('HttpCron', 'yearly')).toBe(null)
    const { engine } = world.engine
    expect(await createQueueStore(engine).getByName(world.namespace, 'mails')).toBe(null)
  })

  test('resources that only a controller can let go are not waited for where none is to run', async () => {
    const env = await jobOf(['crds.keep=false'])
    await helmSays('uninstalling')
    const controller = await world.start({ PUNCTUAL_INSTANCE_NAME: 'punctual' })
    await world.apply('HttpQueue', 'mails', {})
    await world.reason('HttpQueue', 'mails', 'Reconciled')
    controller.signal('SIGTERM')
    await controller.exited
    const path = `/apis/apps/v1/namespaces/${world.namespace}/deployments/punctual-controller`
    await world.api.send('DELETE', path)
    const program = runProgram(['uninstall'], env)
    const { code } = await program.exited
    expect(code).toBe(1)
    expect(program.errorLines).toEqual([
      expect.stringMatching(/HttpQueue \S+\/mails cannot go without a controller, and none is to run/),
    ])
    expect((await world.get('HttpQueue', 'mails')).metadata.finalizers).toContain(QUEUE_FINALIZER)
  })

  test('resources that do not go in time are counted, before the Job is killed', async () => {
    const env = await jobOf(['crds.keep=false'])
    await helmSays('uninstalling')
    expect(env['PUNCTUAL_UNINSTALL_SECONDS']).toBe('225')
    const controller = await world.start({ PUNCTUAL_INSTANCE_NAME: 'punctual' })
    await world.apply('HttpQueue', 'mails', {})
    await world.reason('HttpQueue', 'mails', 'Reconciled')
    controller.signal('SIGTERM')
    await controller.exited
    // Only the resource is to be late, however busy the machine: pods of the API would be waited for as well.
    await stopApi()
    // The Deployment of the controller is to have a pod, which never comes.
    const program = runProgram(['uninstall'], { ...env, PUNCTUAL_UNINSTALL_SECONDS: '1' })
    const { code } = await program.exited
    expect(code).toBe(1)
    expect(program.errorLines).toEqual([
      expect.stringMatching(/1 resources are not gone yet: does a controller run/),
    ])
  })

  test('without the rights it ends, says what it could not do, and has changed nothing', async () => {
    const env = await jobOf([`uninstallHook.confirmed=${world.namespace}/punctual`])
    const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${world.namespace}/rolebindings/punctual-uninstall-own`
    await world.api.send('DELETE', path)
    const program = runProgram(['uninstall'], env)
    const { code } = await program.exited
    expect(code).toBe(1)
    expect(program.errorLines).toEqual([
      expect.stringMatching(/^punctual: The installation is not ready to be removed: .*punctual-controller/),
    ])
    expect(await replicasOf('controller')).toBe(1)
  })

  test('a rollback, whose hooks are those of an earlier revision, is uninstalled all the same', async () => {
    await helmSays('superseded', 1)
    await helmSays('uninstalling', LATER_REVISIONS_MAX + 1)
    const env = await jobOf([])
    expect(await runProgram(['uninstall'], env).exited).toMatchObject({ code: 0 })
    expect(await replicasOf('controller')).toBe(0)
  })

  test('a person who names the installation needs no Helm', async () => {
    const env = await jobOf([`uninstallHook.confirmed=${world.namespace}/punctual`])
    expect(await runProgram(['uninstall'], env).exited).toMatchObject({ code: 0 })
    expect(await replicasOf('controller')).toBe(0)
  })
})

describe('a Job that nobody meant to run touches nothing', () => {
  beforeAll(async () => {
    await openWorld()
    await world.start({ PUNCTUAL_INSTANCE_NAME: 'punctual' })
    await world.apply('HttpQueue', 'mails', {})
    await world.apply('HttpCron', 'yearly', CRON)
    await world.reason('HttpQueue', 'mails', 'Reconciled')
    await world.reason('HttpCron', 'yearly', 'Reconciled')
  })
  afterEach(async () => {
    const secrets = `/api/v1/namespaces/${world.namespace}/secrets`
    await world.api.send('DELETE', `${secrets}?labelSelector=status`)
  })
  afterAll(() => world.close())

  /** Runs the Job beside a controller that has applied a queue and a cron. @returns what it says */
  async function unmeant(set: readonly string[]): Promise<string> {
    const env = await jobOf(['crds.keep=false', ...set])
    const program = runProgram(['uninstall'], env)
    const { code } = await program.exited
    expect(code).toBe(1)
    expect(program.errorLines).toHaveLength(1)
    for (const [kind, name] of [
      ['HttpQueue', 'mails'],
      ['HttpCron', 'yearly'],
    ] as const) {
      const { deletionTimestamp, finalizers } = (await world.get(kind, name)).metadata
      expect(deletionTimestamp).toBeUndefined()
      expect(finalizers).toHaveLength(1)
    }
    expect([await replicasOf('api'), await replicasOf('controller')]).toEqual([1, 1])
    expect(await left()).toEqual({ record: true, lease: true })
    return program.errorLines[0] ?? ''
  }

  test('where no Helm keeps the release: a tool without hooks has applied it', async () => {
    expect(await unmeant([])).toMatch(/^punctual: No Secret of Helm .* Nothing was touched\./)
  })

  test('where Helm has the release deployed', async () => {
    await helmSays('deployed')
    expect(await unmeant([])).toMatch(/Helm says that the release is deployed, not uninstalling\./)
  })

  test('where an uninstall that failed was followed by a rollback', async () => {
    await helmSays('uninstalling', 1)
    await helmSays('deployed', 2)
    expect(await unmeant([])).toMatch(/Helm says that the release is deployed/)
  })

  test('where another installation was confirmed', async () => {
    expect(await unmeant(['uninstallHook.confirmed=elsewhere/punctual'])).toMatch(
      /The installation elsewhere\/punctual was confirmed, and this one is \S+\/punctual\./,
    )
  })

  test('where a Secret of the right name is not one of Helm', async () => {
    const name = 'sh.helm.release.v1.punctual.v1'
    const metadata = { name, labels: { status: 'uninstalling' } }
    await world.api.apply(JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata }), {
      namespace: world.namespace,
    })
    expect(await unmeant([])).toMatch(/No Secret of Helm/)
  })
})
