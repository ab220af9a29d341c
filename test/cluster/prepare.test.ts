import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, inject, test } from 'vitest'
import { helmObstacle, renderChart } from '../support/cluster/chart.ts'
import {
  type AnyObject,
  documentsOf,
  newNamespace,
  newServiceAccount,
  openKubernetesApi,
} from '../support/cluster/kubernetes-api.ts'
import { podEnvironment, writeAccount } from '../support/cluster/pod-environment.ts'
import { runProgram } from '../support/servers/processes.ts'

const access = inject('clusterAccess')
const api = openKubernetesApi(access)
const folder = mkdtempSync(join(tmpdir(), 'punctual-prepare-'))
let namespace: string
/** The variables and the rights that the chart gives to `prepare`. */
let env: Record<string, string>

beforeEach(async ({ skip }) => {
  const obstacle = helmObstacle()
  skip(obstacle !== null, obstacle ?? '')
  namespace = await newNamespace(api)
  env = await placeInCluster()
})
afterAll(async () => {
  await api.close()
  rmSync(folder, { recursive: true, force: true })
})

async function placeInCluster(): Promise<Record<string, string>> {
  const objects = documentsOf(await renderChart({ namespace }))
  const token = await newServiceAccount(api, namespace, 'punctual-controller')
  const ofOwn = objects.filter(
    ({ kind, metadata }) => /^Role(?:Binding)?$/.test(kind) && metadata.name === 'punctual-own',
  )
  expect(ofOwn).toHaveLength(2)
  for (const object of ofOwn) await api.apply(JSON.stringify(object))
  const controller = objects.find(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'punctual-controller',
  ) as unknown as { spec: { template: { spec: { initContainers: Container[] } } } }
  const [prepare] = controller.spec.template.spec.initContainers
  const given = prepare?.env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])) ?? []
  return {
    ...(Object.fromEntries(given) as Record<string, string>),
    PUNCTUAL_POD_NAMESPACE: namespace,
    ...podEnvironment(access, writeAccount({ ...access, token }, join(folder, namespace))),
  }
}

interface Container {
  readonly env: readonly { name: string; value?: string }[]
}

async function secrets(): Promise<Record<string, Record<string, string>>> {
  const list = await api.send('GET', `/api/v1/namespaces/${namespace}/secrets`)
  return Object.fromEntries(
    (list['items'] as (AnyObject & { data: Record<string, string> })[]).map(({ metadata, data }) => [
      metadata.name,
      Object.fromEntries(
        Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]),
      ),
    ]),
  )
}

async function prepared(): Promise<{ code: number | null; errors: readonly string[] }> {
  const program = runProgram(['prepare'], env)
  const { code } = await program.exited
  return { code, errors: program.errorLines }
}

test('two at once make each Secret once, with values that the program takes, and a third changes nothing', async () => {
  expect(await Promise.all([prepared(), prepared()])).toEqual([
    { code: 0, errors: [] },
    { code: 0, errors: [] },
  ])
  const made = await secrets()
  expect(made).toEqual({
    'punctual-token': { token: expect.stringMatching(/^pk_[A-Za-z0-9]{38}$/) },
    'punctual-key': { 'secrets-key': expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/) },
    'punctual-redis-api': { password: expect.stringMatching(/^[0-9a-f]{48}$/) },
    'punctual-redis-executor': { password: expect.stringMatching(/^[0-9a-f]{48}$/) },
    'punctual-redis': { password: expect.stringMatching(/^[0-9a-f]{48}$/) },
  })
  expect(await prepared()).toEqual({ code: 0, errors: [] })
  expect(await secrets()).toEqual(made)
})

test('what it makes is no part of an application in the eyes of Argo CD', async () => {
  await prepared()
  const list = await api.send('GET', `/api/v1/namespaces/${namespace}/secrets`)
  const labels = (list['items'] as AnyObject[]).map(({ metadata }) => metadata.labels)
  expect(labels).toHaveLength(5)
  for (const one of labels) {
    expect(one).toEqual({ 'app.kubernetes.io/name': 'punctual', 'app.kubernetes.io/managed-by': 'punctual' })
  }
})

test('a Secret without its key is left alone, and named', async () => {
  await api.send('POST', `/api/v1/namespaces/${namespace}/secrets`, {
    metadata: { name: 'punctual-key' },
    stringData: { other: 'x' },
  })
  const message = `punctual: The Secret ${namespace}/punctual-key has no value for the key secrets-key. Put back the one that secrets in Redis are sealed under. Do not delete the Secret: `
  expect(await prepared()).toEqual({ code: 2, errors: [expect.stringContaining(message)] })
  expect((await secrets())['punctual-key']).toEqual({ other: 'x' })
})

test('without the right to make them it ends, and says which', async () => {
  await api.send(
    'DELETE',
    `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings/punctual-own`,
  )
  const { code, errors } = await prepared()
  expect(code).toBe(1)
  expect(errors).toEqual([
    expect.stringMatching(/^punctual: The Secrets of .+ could not be made: .*punctual-token/),
  ])
})
