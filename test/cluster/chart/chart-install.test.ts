import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { applyChart, helm, helmObstacle } from '../../support/cluster/chart.ts'
import { type ControlPlane, startControlPlane } from '../../support/cluster/control-plane.ts'
import {
  type AnyObject,
  type KubernetesApi,
  openKubernetesApi,
} from '../../support/cluster/kubernetes-api.ts'

const FIND = fileURLToPath(new URL('../../../scripts/control-plane.sh', import.meta.url))
const NAMESPACE = 'punctual'
const EXECUTOR = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/punctual-executor`

// A control plane of its own: the shared one has the definitions already, and by another hand than helm's.
let plane: ControlPlane
let api: KubernetesApi
let home: string

beforeAll(async () => {
  const binaries = execFileSync(FIND, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
  plane = await startControlPlane({ binaries, controllerManager: false })
  api = openKubernetesApi(plane.access)
  home = mkdtempSync(join(tmpdir(), 'punctual-helm-'))
})
beforeEach(({ skip }) => {
  const obstacle = helmObstacle()
  skip(obstacle !== null, obstacle ?? '')
})
afterAll(async () => {
  await api?.close()
  await plane?.stop()
  if (home !== undefined) rmSync(home, { recursive: true, force: true })
})

const where = () => ({ home, kubeconfig: plane.kubeconfig, namespace: NAMESPACE })

async function secretData(): Promise<Record<string, unknown>> {
  const list = await api.send('GET', `/api/v1/namespaces/${NAMESPACE}/secrets`)
  const secrets = (list['items'] as AnyObject[]).filter(({ type }) => type === 'Opaque')
  return Object.fromEntries(secrets.map(({ metadata, data }) => [metadata.name, data]))
}

async function definitions(): Promise<string[]> {
  const list = await api.send('GET', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions')
  return (list['items'] as AnyObject[]).map(({ metadata }) => metadata.name)
}

/** @param what a verb, and the group, the resource and the subresource that it is for */
async function isAllowed(component: string, what: string, name: string, namespace = NAMESPACE) {
  const [verb, path = ''] = what.split(' ')
  const [group, resource, subresource = ''] = path.split('/')
  const review = await api.send('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    spec: {
      user: `system:serviceaccount:${NAMESPACE}:punctual-${component}`,
      groups: ['system:serviceaccounts', 'system:authenticated'],
      resourceAttributes: { verb, group, resource, subresource, name, namespace },
    },
  })
  return review.status?.['allowed']
}

describe('a release, on a cluster that has seen nothing of it', () => {
  let made: Record<string, unknown>

  test('is installed at once, definitions included', async () => {
    await api.send('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } })
    await applyChart('install', where())
    expect(await definitions()).toEqual(
      expect.arrayContaining(['apitokens.punctual.dev', 'httpqueues.punctual.dev']),
    )
  })

  test('has no Secret of its own, and leaves alone those that the controller makes', async () => {
    expect(await secretData()).toEqual({})
    for (const name of ['punctual-key', 'punctual-redis', 'punctual-token']) {
      await api.send('POST', `/api/v1/namespaces/${NAMESPACE}/secrets`, {
        metadata: { name },
        stringData: { any: name },
      })
    }
    made = await secretData()
  })

  test.each([
    ['controller', true, 'patch apps/deployments/scale', 'punctual-executor', NAMESPACE],
    ['controller', false, 'patch apps/deployments/scale', 'punctual-api', NAMESPACE],
    ['controller', false, 'patch apps/deployments/scale', 'punctual-executor', 'default'],
    ['controller', false, 'patch apps/deployments', 'punctual-executor', NAMESPACE],
    ['controller', true, 'get /secrets', 'signing', 'default'],
    ['controller', true, 'create /secrets', '', NAMESPACE],
    ['controller', false, 'create /secrets', '', 'default'],
    ['controller', false, 'list /secrets', '', 'default'],
    ['controller', true, 'patch punctual.dev/httpqueues/status', 'emails', 'default'],
    ['api', true, 'create punctual.dev/httpqueues', '', 'default'],
    ['api', false, 'patch punctual.dev/httpqueues/status', 'emails', 'default'],
    ['api', true, 'get punctual.dev/apitokens', 'first-token', NAMESPACE],
    ['api', false, 'patch punctual.dev/apitokens', 'first-token', NAMESPACE],
    ['api', true, 'create /secrets', '', NAMESPACE],
    ['api', false, 'get /secrets', 'punctual-key', NAMESPACE],
    ['api', true, 'create authentication.k8s.io/tokenreviews', '', ''],
    ['api', true, 'create authorization.k8s.io/subjectaccessreviews', '', ''],
    ['executor', false, 'create authentication.k8s.io/tokenreviews', '', ''],
    ['executor', false, 'get punctual.dev/httpqueues', 'emails', NAMESPACE],
    ['executor', false, 'get /pods', 'punctual-api', NAMESPACE],
  ])('lets %s: %s, %s %s in %s', async (component, allowed, what, name, namespace) => {
    expect(await isAllowed(component, what, name, namespace)).toBe(allowed)
  })

  test('keeps its secrets and the number of executors over an upgrade', async () => {
    const scale = { spec: { replicas: 4 } }
    const manager = 'fieldManager=punctual-controller'
    await api.send('PATCH', `${EXECUTOR}/scale?${manager}`, scale, 'application/merge-patch+json')
    await applyChart('upgrade', { ...where(), set: ['logLevel=debug', 'executor.concurrency=500'] })
    expect(await secretData()).toEqual(made)
    const { spec } = await api.send('GET', EXECUTOR)
    expect(spec).toMatchObject({ replicas: 4 })
    expect(JSON.stringify(spec)).toContain('{"name":"PUNCTUAL_EXECUTOR_CONCURRENCY","value":"500"}')
  })

  test('goes to a Redis of yours and back, whose Secrets are not those of the bundled one', async () => {
    await applyChart('upgrade', { ...where(), set: ['redis.external.url=redis://redis.test:6379'] })
    expect(await secretData()).toMatchObject({ ...made, 'punctual-redis-url': expect.anything() })
    await applyChart('upgrade', { ...where(), set: ['redis.external.url='] })
    expect(await secretData()).toEqual(made)
  })

  test('sets the number itself when it is fixed', async () => {
    await applyChart('upgrade', {
      ...where(),
      set: ['executor.scaling.mode=fixed', 'executor.scaling.fixed=3'],
    })
    expect((await api.send('GET', EXECUTOR)).spec).toMatchObject({ replicas: 3 })
  })

  test('leaves the number to an autoscaler of yours, over an upgrade too', async () => {
    const external = 'executor.scaling.mode=external'
    await applyChart('upgrade', { ...where(), set: [external] })
    const scale = { spec: { replicas: 5 } }
    const manager = 'fieldManager=horizontal-pod-autoscaler'
    await api.send('PATCH', `${EXECUTOR}/scale?${manager}`, scale, 'application/merge-patch+json')
    await applyChart('upgrade', { ...where(), set: [external, 'executor.concurrency=700'] })
    const { spec } = await api.send('GET', EXECUTOR)
    expect(spec).toMatchObject({ replicas: 5 })
    expect(JSON.stringify(spec)).toContain('{"name":"PUNCTUAL_EXECUTOR_CONCURRENCY","value":"700"}')
    expect(await isAllowed('controller', 'patch apps/deployments/scale', 'punctual-executor')).toBe(false)
    expect(await isAllowed('controller', 'get apps/deployments/scale', 'punctual-executor')).toBe(true)
  })

  test('never takes the test clock up later, and never lays it down', async () => {
    const testClock = ['testClock=true']
    const refused = /testClock is true and this release began with false: it is fixed at the first start/
    await expect(applyChart('upgrade', { ...where(), set: testClock })).rejects.toThrow(refused)
    expect(JSON.stringify((await api.send('GET', EXECUTOR)).spec)).not.toContain('PUNCTUAL_TEST_CLOCK')
    const place = { ...where(), namespace: 'for-tests' }
    await api.send('POST', '/api/v1/namespaces', { metadata: { name: place.namespace } })
    const beside = ['crds.enabled=false', 'admissionPolicy.enabled=false', 'fullnameOverride=for-tests']
    await applyChart('install', { ...place, set: [...beside, ...testClock] })
    await applyChart('upgrade', { ...place, set: [...beside, ...testClock, 'logLevel=debug'] })
    await expect(applyChart('upgrade', { ...place, set: beside })).rejects.toThrow(/began with true/)
    for (const role of ['controller', 'api', 'executor']) {
      const path = `/apis/apps/v1/namespaces/for-tests/deployments/for-tests-${role}`
      const given = JSON.stringify((await api.send('GET', path)).spec)
      expect(given).toContain('{"name":"PUNCTUAL_TEST_CLOCK","value":"true"}')
    }
  })

  test('leaves definitions, resources and secrets when it is uninstalled, and takes them up again', async () => {
    const queue = {
      apiVersion: 'punctual.dev/v1alpha1',
      kind: 'HttpQueue',
      metadata: { name: 'emails' },
      spec: {},
    }
    await api.apply(JSON.stringify(queue), { namespace: NAMESPACE })
    // Its hook is a Job, and there is no node to run it: another test is about what it does.
    await helm(['uninstall', 'punctual', '--no-hooks', '--namespace', NAMESPACE], where())
    await expect(api.send('GET', EXECUTOR)).rejects.toMatchObject({ code: 404 })
    expect(await definitions()).toContain('httpqueues.punctual.dev')
    const name = { apiVersion: queue.apiVersion, kind: queue.kind, name: 'emails', namespace: NAMESPACE }
    expect(await api.get(name)).toMatchObject({ kind: 'HttpQueue' })
    await applyChart('install', where())
    expect(await secretData()).toEqual(made)
  })
})
