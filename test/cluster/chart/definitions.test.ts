import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { bindRole } from '../../support/cluster/bind-role.ts'
import { helmObstacle, renderChart } from '../../support/cluster/chart.ts'
import {
  documentsOf,
  newNamespace,
  newServiceAccount,
  openKubernetesApi,
} from '../../support/cluster/kubernetes-api.ts'

const API_VERSION = 'punctual.dev/v1alpha1'
const DEFINITIONS = new URL('../../../crds/', import.meta.url)

const api = openKubernetesApi(inject('clusterAccess'))
let namespace: string

beforeAll(async () => {
  namespace = await newNamespace(api)
})

afterAll(() => api.close())

function httpQueue(name: string, spec: object): string {
  return JSON.stringify({ apiVersion: API_VERSION, kind: 'HttpQueue', metadata: { name }, spec })
}

async function apply(manifest: string) {
  const [object] = await api.apply(manifest, { namespace })
  return object
}

describe('the definitions in crds/', () => {
  test('are all served', async () => {
    const { resources } = (await api.send('GET', `/apis/${API_VERSION}`)) as unknown as {
      resources: { name: string }[]
    }
    const files = readdirSync(DEFINITIONS).filter((name) => name.endsWith('.yaml'))

    expect(files).not.toEqual([])
    for (const file of files) {
      const plural = file.slice(0, file.indexOf('.'))
      expect(resources.map(({ name }) => name)).toContain(plural)
      expect(resources.map(({ name }) => name)).toContain(`${plural}/status`)
    }
  })

  test('are open to nobody without a grant', async () => {
    const stranger = api.as(await newServiceAccount(api, namespace, 'stranger'))
    const path = `/apis/${API_VERSION}/namespaces/${namespace}/httpqueues`

    await expect(stranger.send('GET', path)).rejects.toMatchObject({ code: 403, reason: 'Forbidden' })
    await stranger.close()
  })
})

test('a MaintenanceWindow gets its defaults, and is refused by the rule that it breaks', async () => {
  const manifest = (name: string, spec: object) =>
    JSON.stringify({ apiVersion: API_VERSION, kind: 'MaintenanceWindow', metadata: { name }, spec })
  const schedule = { cronExpression: '0 1 * * *', durationSeconds: 3_600 }

  expect(await apply(manifest('one-night', { recurring: [schedule] }))).toMatchObject({
    spec: { action: 'Mute', recurring: [{ ...schedule, timeZone: 'UTC' }] },
    status: { observedGeneration: -1 },
  })
  const long = { start: '2026-12-01T22:00:00Z', end: '2028-12-01T22:00:00Z' }
  await expect(apply(manifest('too-long', long))).rejects.toMatchObject({
    message: expect.stringContaining('must be within 366 days of start'),
  })
})

describe('an HttpQueue', () => {
  test('gets every default, and a status that says nobody looked yet', async () => {
    const queue = await apply(httpQueue('plain', {}))

    expect(queue?.spec).toEqual({
      active: true,
      timeoutSeconds: 30,
      retriesEnabled: true,
      retryDelays: [60, 1800, 10_800],
      noRetryStatuses: [],
      retryJitterPercent: 0,
      successAssertions: [],
      alertsEnabled: false,
      respectRetryAfter: false,
      dlqRetentionDays: 14,
      callbackEvents: 'Terminal',
      recordResponses: 'All',
      strictParallelism: false,
      draining: false,
      signing: { secretRefs: [] },
    })
    expect(queue?.status).toEqual({ observedGeneration: -1 })
  })

  test('is refused with the message of the rule it breaks', async () => {
    const successAssertions = [{ type: 'BodyContains', value: 200 }]

    await expect(apply(httpQueue('quoteless', { successAssertions }))).rejects.toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: expect.stringContaining('put quotes around a number'),
    })
  })

  test('is refused when a field is unknown', async () => {
    await expect(apply(httpQueue('mistyped', { timeoutSecond: 5 }))).rejects.toMatchObject({
      message: expect.stringContaining('timeoutSecond'),
    })
  })

  test('keeps the name that jobs are pushed to', async () => {
    await apply(httpQueue('named', { queueName: 'orders' }))

    await expect(apply(httpQueue('named', { queueName: 'orders-2' }))).rejects.toMatchObject({
      code: 422,
      message: expect.stringMatching(/spec.queueName.*cannot be changed/),
    })
  })
})

test('a namespace that is deleted takes its queues with it', async () => {
  const doomed = await newNamespace(api)
  await api.apply(httpQueue('doomed', {}), { namespace: doomed })
  await api.delete({ apiVersion: 'v1', kind: 'Namespace', name: doomed })

  await expect
    .poll(() => api.send('GET', `/api/v1/namespaces/${doomed}`).catch((error: unknown) => error), {
      timeout: 30_000,
    })
    .toMatchObject({ code: 404 })
})

test('whoever may view may list every kind of the category but crons, and these if the chart says so', async ({
  skip,
}) => {
  const obstacle = helmObstacle()
  skip(obstacle !== null, obstacle ?? '')
  const stranger = await newServiceAccount(api, namespace, 'viewer')
  const { resources } = (await api.send('GET', `/apis/${API_VERSION}`)) as unknown as {
    resources: { name: string; categories?: readonly string[] }[]
  }
  const listed = resources.flatMap(({ name, categories }) =>
    categories?.includes('punctual') === true ? [name] : [],
  )
  expect(listed.toSorted()).toEqual(['httpcrons', 'httpqueues', 'maintenancewindows', 'teamsettings'])
  const isViewer = (kind: string, name: string) => kind === 'Role' && name === 'punctual-viewer'
  const objects = documentsOf(await renderChart({ set: [`watchNamespaces={${namespace}}`] }))
  const role = objects.find(({ kind, metadata }) => isViewer(kind, metadata.name))
  await api.apply(JSON.stringify(role))
  await bindRole(api, {
    namespace,
    account: { namespace, name: 'viewer' },
    role: { kind: 'Role', name: 'punctual-viewer' },
    right: { group: 'punctual.dev', verb: 'list', resource: 'httpqueues' },
  })
  const viewer = api.as(stranger)
  const list = (name: string) => viewer.send('GET', `/apis/${API_VERSION}/namespaces/${namespace}/${name}`)
  for (const name of listed.filter((one) => one !== 'httpcrons')) await list(name)
  // Their payloads and header values are in plain text.
  await expect(list('httpcrons')).rejects.toMatchObject({ code: 403 })
  const tokens = viewer.send('GET', `/apis/${API_VERSION}/namespaces/${namespace}/apitokens`)
  await expect(tokens).rejects.toMatchObject({ code: 403 })
  const seeing = documentsOf(
    await renderChart({ set: [`watchNamespaces={${namespace}}`, 'rbac.viewersSeeCrons=true'] }),
  )
  await api.apply(JSON.stringify(seeing.find(({ kind, metadata }) => isViewer(kind, metadata.name))))
  await expect.poll(() => list('httpcrons').then(() => 'listed', String), { timeout: 30_000 }).toBe('listed')
  await viewer.close()
})
