/** "Removing everything" of docs/install.md, and what can be installed after: plain YAML, and a release that is new. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { Job } from '../../../clients/typescript/src/generated/wire.ts'
import type { KindCluster } from '../../support/cluster/kind-cluster.ts'
import { createApiClient } from '../../support/servers/api-client.ts'
import { until } from '../../support/until.ts'
import { leftovers } from '../support/leftovers.ts'
import { openOnlyRelease } from '../support/open-release.ts'
import { pushMany } from '../support/pushes.ts'
import { apiAnswers, firstToken, installRelease, removeEverything } from '../support/release.ts'

const ROOT = join(import.meta.dirname, '../../..')
/** Two at a time, they need longer than any removal takes. */
const JOBS = 400
const BEGUN_TIMEOUT_MS = 60_000
const ENDED_TIMEOUT_MS = 60_000
/** Volumes go last. */
const GONE_TIMEOUT_MS = 60_000
/** That of config/default. */
const PLAIN_NAMESPACE = 'punctual'

let cluster: KindCluster
const folder = mkdtempSync(join(tmpdir(), 'punctual-plain-'))
const inPlain = (...given: string[]) => cluster.kubectl('--namespace', PLAIN_NAMESPACE, ...given)

/** Resources of every kind, in the namespace of the release and in another. */
async function applyAll(): Promise<void> {
  const apiVersion = 'punctual.dev/v1alpha1'
  const [start, end] = ['2090-01-01T00:00:00Z', '2090-01-01T01:00:00Z']
  const cron = { cronExpression: '* * * * *', url: cluster.target.url('of-removed-crons') }
  const of = (kind: string, name: string, spec: object, namespace = cluster.namespace) =>
    cluster.kubernetes.apply(JSON.stringify({ apiVersion, kind, metadata: { name, namespace }, spec }))
  await of('HttpCron', 'leaving', { ...cron, queue: 'leaving' })
  await of('HttpCron', 'leaving', cron, 'targets')
  await of('HttpQueue', 'leaving', { maxParallelism: 2 })
  await of('HttpQueue', 'leaving', {}, 'targets')
  await of('MaintenanceWindow', 'leaving', { start, end, resource: { kind: 'HttpQueue', name: 'leaving' } })
  await of('TeamSettings', 'team', {}, 'targets')
  const all = ['wait', 'hq,hc', '--all', '--for=condition=Ready', '--timeout=30s']
  await cluster.kubectl('--namespace', 'targets', ...all)
}

/** `config/default` as a kustomization of one's own, for the images that were loaded. */
function plainYaml(): string {
  const base = relative(folder, join(ROOT, 'config/default'))
  const images = Object.entries({ punctual: 'e2e', redis: '7.2' })
  const kustomization = { resources: [base], images: images.map(([name, newTag]) => ({ name, newTag })) }
  writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization))
  return folder
}

async function rolledOut(): Promise<void> {
  for (const role of ['controller', 'api']) {
    await inPlain('rollout', 'status', `deployment/punctual-${role}`, '--timeout=110s')
  }
}

/** The command line in a pod of the API. */
async function punctual(...given: string[]): Promise<string> {
  const secret = await inPlain('get', 'secret', 'punctual-token', '--output', 'jsonpath={.data.token}')
  const token = Buffer.from(secret, 'base64').toString()
  const where = ['--server', 'http://127.0.0.1:8080', '--token', token]
  return inPlain('exec', 'deployment/punctual-api', '--container=api', '--', 'punctual', ...given, ...where)
}

export function removal(): void {
  beforeAll(async () => {
    cluster = await openOnlyRelease(inject('kindAccess').releases)
  })
  afterAll(async () => {
    await cluster.close()
    rmSync(folder, { recursive: true })
  })

  test('leaves nothing, whatever is under way', async () => {
    await applyAll()
    const url = cluster.target.url('leaving', { delayMs: 5_000 })
    await pushMany(cluster.punctual, JOBS, { queue: 'leaving', url })
    const areCalled = async () => (await cluster.target.report('leaving')).inFlight === 2
    await until('calls are under way', areCalled, BEGUN_TIMEOUT_MS)
    await removeEverything(cluster)

    await expect.poll(() => leftovers(cluster, cluster.namespace), { timeout: GONE_TIMEOUT_MS }).toEqual([])
    const { arrivals, inFlight } = await cluster.target.report('leaving')
    expect(arrivals).toBeLessThan(JOBS)
    expect(inFlight).toBe(0)
  })

  test('leaves nothing of plain YAML, which kustomize installs and which tries a job', async () => {
    await cluster.kubectl('apply', '--server-side', '--kustomize', plainYaml())
    await rolledOut()
    const pushed = await punctual('push', 'hello', 'https://example.com/', '--output', 'name')
    const id = pushed.trim().replace('job/', '')
    const isTried = async () =>
      (JSON.parse(await punctual('job', id, '--output', 'json')) as Job).calls.length > 0
    // Whether the Internet can be reached is the machine's affair; that an executor tried is ours.
    await until('the job was tried', isTried, ENDED_TIMEOUT_MS)

    await inPlain('scale', 'deployment', 'punctual-api', '--replicas=0')
    await cluster.kubectl('delete', 'httpcrons', '--all', '--all-namespaces')
    await cluster.kubectl('delete', 'httpqueues', '--all', '--all-namespaces')
    await cluster.kubectl('delete', '--kustomize', folder, '--ignore-not-found')

    await expect.poll(() => leftovers(cluster, PLAIN_NAMESPACE), { timeout: GONE_TIMEOUT_MS }).toEqual([])
  })

  test('makes a release that is installed after a new one', async () => {
    const { apiUrl } = cluster
    await installRelease(cluster)
    const token = await firstToken(cluster)
    const statuses = await apiAnswers({ apiUrl, token })
    const api = createApiClient(apiUrl, token)
    const { job_id: id } = await api.push({ queue: 'new', url: cluster.target.url('new') })
    await api.ended(id, ENDED_TIMEOUT_MS)

    expect(token).not.toBe(cluster.token)
    expect(statuses).not.toContain(401)
    expect((await api.queues()).queues.map(({ name }) => name)).toEqual(['new'])
    const { metadata } = await cluster.queueResource('new')
    await cluster.ready(`hq/${metadata.name}`)
    // As it would say if it took the empty Redis for one that was lost.
    const lost = 'jsonpath={.items[*].status.conditions[?(@.type=="JobsLost")].reason}'
    expect(await cluster.kubectl('get', 'hq', '--all-namespaces', '--output', lost)).toBe('')
  })
}
