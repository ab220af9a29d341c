import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { parse } from 'yaml'
import { readOwnAddresses } from '../../../src/redis/control/compiled/own-addresses.ts'
import { nameOfPushedQueue } from '../../../src/resources/manifests/queue-manifest.ts'
import { newJob } from '../../support/engine/engine.ts'
import { newServiceAccount, writeTokenConfig } from '../../support/cluster/kubernetes-api.ts'
import type { Program } from '../../support/servers/processes.ts'
import { until } from '../../support/until.ts'
import { openControllerWorld, type ControllerWorld } from './controller-world.ts'

/** The rights that the chart grants for some namespaces; another test compares them with the templates. */
const GOLDEN = new URL('../chart/golden/rights-of-some-namespaces.yaml', import.meta.url)

const WIDER = new URL('../chart/golden/rights-of-all-namespaces.yaml', import.meta.url)

interface Role {
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  readonly rules: readonly object[]
}

const folder = mkdtempSync(join(tmpdir(), 'punctual-kubeconfig-'))
let world: ControllerWorld
let controller: Program

beforeAll(async () => {
  world = await openControllerWorld()
  const token = await newServiceAccount(world.api, world.namespace, 'controller')
  const all = parse(readFileSync(GOLDEN, 'utf8')) as readonly Role[]
  // Its own namespace is also the watched one here.
  for (const wanted of ['punctual-own', 'punctual-controller']) {
    await grant(all.find(({ kind, name }) => kind === 'Role' && name === wanted))
  }
  const kubeconfig = writeTokenConfig({ from: inject('kubeconfig'), token, to: join(folder, 'kubeconfig') })
  controller = await world.start({ KUBECONFIG: kubeconfig, PUNCTUAL_REDIS_URL: await redisUser() })
})

afterAll(async () => {
  await world.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The URL of Redis as the user that docs/install.md gives to controllers. */
async function redisUser(): Promise<string> {
  const page = readFileSync(new URL('../../../docs/install.md', import.meta.url), 'utf8')
  const [, rules = ''] = /^user punctual-controller (.+)$/m.exec(page) ?? []
  await world.redis.client.call('ACL', 'SETUSER', 'punctual-controller', ...rules.split(' '))
  return `redis://punctual-controller:first@127.0.0.1:${world.redis.port}`
}

async function grant(role: Role | undefined, namespace = world.namespace): Promise<void> {
  if (role === undefined) throw new Error('the chart gives no such role')
  const { rules } = role
  const name = `${world.namespace}-${role.name}`
  const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`
  await world.api.send('POST', `${path}/roles`, { metadata: { name }, rules })
  await world.api.send('POST', `${path}/rolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name: 'controller', namespace: world.namespace }],
  })
}

test('the chart gives no rights in the whole cluster', () => {
  const all = parse(readFileSync(GOLDEN, 'utf8')) as readonly Role[]
  expect(all.map(({ kind }) => kind)).not.toContain('ClusterRole')
})

test('the rights of the chart are enough for everything a controller does', async () => {
  const type = 'punctual.dev/signing-secret'
  await world.putSecret('signing', { current: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }, { type })
  await world.apply('TeamSettings', 'team', {
    signing: { secretRefs: [{ name: 'signing', key: 'current' }] },
  })
  await world.apply('ApiToken', 'ci', { sha256: 'c'.repeat(64) })
  await world.apply('HttpQueue', 'emails', {})
  await world.engine.intake.push(
    newJob({ team: world.namespace, queue: 'Pushed', start: { delaySeconds: 3600 } }),
  )
  await world.reason('TeamSettings', 'team', 'Reconciled')
  await world.reason('ApiToken', 'ci', 'Reconciled')
  await world.reason('HttpQueue', 'emails', 'Reconciled')
  await world.reason('HttpQueue', nameOfPushedQueue('Pushed'), 'Reconciled')

  await world.apply('HttpQueue', 'rival', { queueName: 'emails' })
  await world.reason('HttpQueue', 'rival', 'NameTaken')
  const path = `/apis/events.k8s.io/v1/namespaces/${world.namespace}/events`
  await until('the event is there', async () => {
    const { items } = (await world.api.send('GET', path)) as unknown as { items: { reason: string }[] }
    return items.some(({ reason }) => reason === 'NameTaken')
  })
  await world.remove('HttpQueue', 'emails')
  await until('it is deleted', async () => (await world.find('HttpQueue', 'emails')) === null)
  const [apiServers, pod] = await Promise.all([addressesOfApiServers(), runPod('10.7.7.7')])
  const told = () => readOwnAddresses(world.engine.connection)
  await until('our own addresses are told', async () => (await told()).includes('10.7.7.7'))
  expect(await told()).toEqual([...apiServers, '10.7.7.7'])
  await world.api.send('DELETE', `${pod}?gracePeriodSeconds=0`)
  await until('the pod is forgotten', async () => !(await told()).includes('10.7.7.7'))
  expect(controller.log.filter((line) => JSON.stringify(line).includes('forbidden'))).toEqual([])
  expect(await world.redis.client.call('ACL', 'LOG')).toEqual([])
})

test('with the Role in default, the addresses of all API servers are found', async () => {
  const all = parse(readFileSync(WIDER, 'utf8')) as readonly Role[]
  await grant(
    all.find(({ kind, namespace }) => kind === 'Role' && namespace === 'default'),
    'default',
  )
  // A single API server without a reconciler says nothing, so the test does.
  const slice = {
    metadata: { name: 'kubernetes', labels: { 'kubernetes.io/service-name': 'kubernetes' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['192.0.2.1'] }, { addresses: ['192.0.2.2'] }],
  }
  await world.api.send('POST', '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', slice)
  const told = () => readOwnAddresses(world.engine.connection)
  await until('they are told', async () => (await told()).includes('192.0.2.1'))
  expect(await told()).toEqual(['192.0.2.1', '192.0.2.2'])
})

/** As the API server that answers says of itself: nothing may be read in `default`. */
async function addressesOfApiServers(): Promise<readonly string[]> {
  const { serverAddressByClientCIDRs: told } = (await world.api.send('GET', '/api')) as unknown as {
    serverAddressByClientCIDRs: ReadonlyArray<{ serverAddress: string }>
  }
  return told.map(({ serverAddress }) => serverAddress.replace(/:\d+$/, ''))
}

/** A pod of ours as a kubelet would report it; answers its path. */
async function runPod(ip: string): Promise<string> {
  const pods = `/api/v1/namespaces/${world.namespace}/pods`
  const metadata = { name: 'executor', labels: { 'app.kubernetes.io/name': 'punctual' } }
  const spec = { serviceAccountName: 'controller', containers: [{ name: 'main', image: 'punctual' }] }
  await world.api.send('POST', pods, { metadata, spec })
  const status = { phase: 'Running', podIP: ip, podIPs: [{ ip }] }
  await world.api.send('PATCH', `${pods}/executor/status`, { status }, 'application/merge-patch+json')
  return `${pods}/executor`
}
