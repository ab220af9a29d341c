import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { nameOfPushedQueue } from '../../../src/resources/manifests/queue-manifest.ts'
import { newJob } from '../../support/engine/engine.ts'
import { newServiceAccount } from '../../support/cluster/kubernetes-api.ts'
import type { Program } from '../../support/servers/processes.ts'
import { until } from '../../support/until.ts'
import { openControllerWorld, type ControllerWorld } from './controller-world.ts'

/** The rights that the chart grants for some namespaces; another test compares them with the templates. */
const GOLDEN = new URL('../chart/golden/rights-of-some-namespaces.yaml', import.meta.url)

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
  controller = await world.start({ KUBECONFIG: kubeconfigWith(token) })
})

afterAll(async () => {
  await world.close()
  rmSync(folder, { recursive: true, force: true })
})

async function grant(role: Role | undefined): Promise<void> {
  if (role === undefined) throw new Error('the chart gives no such role')
  const { name, rules } = role
  const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${world.namespace}`
  await world.api.send('POST', `${path}/roles`, { metadata: { name }, rules })
  await world.api.send('POST', `${path}/rolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name: 'controller', namespace: world.namespace }],
  })
}

function kubeconfigWith(token: string): string {
  const config = parse(readFileSync(inject('kubeconfig'), 'utf8')) as {
    users: ReadonlyArray<{ readonly name: string }>
  }
  const users = config.users.map(({ name }) => ({ name, user: { token } }))
  const path = join(folder, 'kubeconfig')
  writeFileSync(path, stringify({ ...config, users }))
  return path
}

test('the chart gives no rights in the whole cluster', () => {
  const all = parse(readFileSync(GOLDEN, 'utf8')) as readonly Role[]
  expect(all.map(({ kind }) => kind)).not.toContain('ClusterRole')
})

test('the rights of the chart are enough for everything a controller does', async () => {
  await world.api.apply(
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'signing', namespace: world.namespace },
      stringData: { current: 'whsec_c2VjcmV0' },
    }),
  )
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
  expect(controller.log.filter((line) => JSON.stringify(line).includes('forbidden'))).toEqual([])
})
