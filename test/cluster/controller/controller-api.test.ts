import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { nameOfPushedQueue } from '../../../src/resources/manifests/queue-manifest.ts'
import { freePort } from '../../support/servers/redis-server.ts'
import { until } from '../../support/until.ts'
import { openControllerWorld, type ControllerApi, type ControllerWorld } from './controller-world.ts'

let world: ControllerWorld
let call: Call

type Call = (method: string, path: string, body?: object) => Promise<Response>

beforeAll(async () => {
  world = await openControllerWorld()
  await world.start()
  call = await callTo(world.startApi())
})

afterAll(() => world.close())

async function callTo(api: Promise<ControllerApi>): Promise<Call> {
  const { url, token } = await api
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return (method, path, body) =>
    fetch(`${url}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
}

async function queueIdOf(name: string): Promise<number> {
  const { status } = await world.get('HttpQueue', name)
  return Number(status?.['queueId'])
}

test('an edit changes the resource, and is applied when it is answered', async () => {
  await world.apply('HttpQueue', 'edited', { timeoutSeconds: 5 })
  await world.reason('HttpQueue', 'edited', 'Reconciled')
  const path = `/api/queues/${await queueIdOf('edited')}`
  const answer = await call('PATCH', path, { max_parallelism: 3 })
  expect(answer.status).toBe(200)
  expect(await answer.json()).toMatchObject({ max_parallelism: 3, timeout_seconds: 5 })
  expect(await (await call('GET', path)).json()).toMatchObject({ max_parallelism: 3 })
  expect((await world.get('HttpQueue', 'edited')).spec).toMatchObject({
    maxParallelism: 3,
    timeoutSeconds: 5,
  })
  await call('PATCH', path, { max_parallelism: null })
  expect((await world.get('HttpQueue', 'edited')).spec).not.toHaveProperty('maxParallelism')
})

test('a pushed queue is edited as its resource, whether it is there yet or not', async () => {
  const pushed = await call('POST', '/api/jobs', {
    queue: 'Pushed',
    url: 'https://target.test/',
    delay: 3600,
  })
  expect(pushed.status).toBe(201)
  const { queues } = (await (await call('GET', '/api/queues')).json()) as {
    queues: { queue_id: number; name: string }[]
  }
  const { queue_id: queueId } = queues.find(({ name }) => name === 'Pushed') ?? { queue_id: 0 }
  expect((await call('POST', `/api/queues/${queueId}/pause`)).status).toBe(200)
  const name = nameOfPushedQueue('Pushed')
  expect((await world.get('HttpQueue', name)).spec).toMatchObject({ queueName: 'Pushed', active: false })
})

test('what others apply or track has a manager, what we made has none', async () => {
  await world.apply('HttpQueue', 'applied', {})
  await world.reason('HttpQueue', 'applied', 'Reconciled')
  const path = `/api/queues/${await queueIdOf('applied')}`
  const managedBy = async (at: string): Promise<unknown> =>
    ((await (await call('GET', at)).json()) as { managed_by: unknown }).managed_by
  const manager = { tool: 'other', name: 'test', read_only: false }
  expect(await managedBy(path)).toEqual(manager)
  const edited = await (await call('PATCH', path, { max_parallelism: 3 })).json()
  expect(edited).toMatchObject({ warnings: [expect.stringMatching(/^test keeps this as a manifest/)] })
  expect(await managedBy(path)).toEqual(manager)
  const { metadata } = await world.get('HttpQueue', 'applied')
  const tracking = `mail:punctual.dev/HttpQueue:${metadata.namespace}/applied`
  const annotations = { 'argocd.argoproj.io/tracking-id': tracking }
  await world.api.send(
    'PATCH',
    await world.api.pathOf({ apiVersion: 'punctual.dev/v1alpha1', kind: 'HttpQueue', ...metadata }),
    { metadata: { annotations } },
    'application/merge-patch+json',
  )
  await until('the API knows it', async () => JSON.stringify(await managedBy(path)).includes('argo_cd'))
  expect(await managedBy(path)).toEqual({ ...manager, tool: 'argo_cd', name: 'mail' })
  const { manifest } = (await (await call('GET', `${path}/manifest`)).json()) as { manifest: string }
  expect(manifest).toContain('name: applied\n')
  const cron = { url: 'https://target.test/', cronExpression: '0 3 * * *' }
  await world.apply('HttpCron', 'applied', cron)
  await world.reason('HttpCron', 'applied', 'Reconciled')
  const { status } = await world.get('HttpCron', 'applied')
  expect(await managedBy(`/api/crons/${Number(status?.['id'])}`)).toEqual(manager)
  const wanted = { name: 'Ours', url: 'https://target.test/', cron_expression: '0 3 * * *' }
  const made = (await (await call('POST', '/api/crons', wanted)).json()) as { id: number }
  expect(await managedBy(`/api/crons/${made.id}`)).toBe(null)
  for (const id of [Number(status?.['id']), made.id]) await call('DELETE', `/api/crons/${id}`)
})

test('a team may have what was applied read-only for the API, and change its mind', async () => {
  await world.apply('HttpQueue', 'from-git', {})
  await world.reason('HttpQueue', 'from-git', 'Reconciled')
  const path = `/api/queues/${await queueIdOf('from-git')}`
  const isReadOnly = async (): Promise<boolean> =>
    ((await (await call('GET', path)).json()) as { managed_by: { read_only: boolean } }).managed_by.read_only
  await world.apply('TeamSettings', 'team', { appliedResources: 'ReadOnly' })
  await until('the API knows it', isReadOnly)
  for (const [method, at, body] of [
    ['PATCH', path, { max_parallelism: 3 }],
    ['POST', `${path}/pause`, undefined],
    ['DELETE', path, undefined],
  ] as const) {
    const refused = await call(method, at, body)
    expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining('managed by test')])
  }
  expect((await world.get('HttpQueue', 'from-git')).spec).not.toHaveProperty('maxParallelism')
  await world.remove('TeamSettings', 'team')
  await until('the API knows it', async () => !(await isReadOnly()))
  expect((await call('POST', `${path}/pause`)).status).toBe(200)
})

test('a deleted queue has no resource', async () => {
  await world.apply('HttpQueue', 'deleted', {})
  await world.reason('HttpQueue', 'deleted', 'Reconciled')
  const path = `/api/queues/${await queueIdOf('deleted')}`
  expect((await call('DELETE', path)).status).toBe(204)
  await until('the resource is deleted', async () => (await world.find('HttpQueue', 'deleted')) === null)
  expect((await call('GET', path)).status).toBe(404)
})

test('while the API server is away pushes go on, and edits are refused for a while', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'punctual-kubeconfig-'))
  const dead = join(folder, 'kubeconfig')
  const port = await freePort()
  const config = readFileSync(inject('kubeconfig'), 'utf8')
  writeFileSync(dead, config.replaceAll(/https:\/\/[^\s"']+/g, `https://127.0.0.1:${port}`))
  try {
    const away = await callTo(world.startApi({ KUBECONFIG: dead }))
    const pushed = await away('POST', '/api/jobs', { queue: 'new', url: 'https://target.test/', delay: 3600 })
    expect(pushed.status).toBe(201)
    await world.apply('HttpQueue', 'unreached', {})
    await world.reason('HttpQueue', 'unreached', 'Reconciled')
    const edit = await away('PATCH', `/api/queues/${await queueIdOf('unreached')}`, { is_active: false })
    expect(edit.status).toBe(503)
    expect(edit.headers.get('retry-after')).toBe('2')
    const cron = { name: 'Never made', url: 'https://target.test/', cron_expression: '0 3 * * *' }
    const made = await away('POST', '/api/crons', cron)
    expect([made.status, made.headers.get('retry-after')]).toEqual([503, '2'])
    expect(await (await away('GET', '/api/crons')).json()).toMatchObject({ crons: [] })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
