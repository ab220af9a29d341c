/** Namespaces that an installation begins to serve, and ceases to, by a selector or by a list. */
import { hash } from 'node:crypto'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { createTransport } from '../../../src/kubernetes/client/transport.ts'
import { releaseResources } from '../../../src/kubernetes/resources/leaving-resources.ts'
import { systemClock } from '../../../src/telemetry/system-clock.ts'
import { createAuditLog } from '../../../src/redis/ledger/audit-log/audit-log.ts'
import { createQueueStore } from '../../../src/redis/jobs/queues/queue-store.ts'
import { TOKENS_KEY } from '../../../src/redis/base/layout/keys.ts'
import { QUEUE_FINALIZER } from '../../../src/resources/finalizers.ts'
import { newNamespace } from '../../support/cluster/kubernetes-api.ts'
import { newJob } from '../../support/engine/engine.ts'
import { quietClusterMetrics } from '../../support/quiet.ts'
import type { Program } from '../../support/servers/processes.ts'
import { until } from '../../support/until.ts'
import { API_VERSION, openControllerWorld, type ControllerWorld } from '../controller/controller-world.ts'

let world: ControllerWorld
let team: string
/** Of one test alone: others run on the same API server. */
let selector: string

beforeEach(async () => {
  world = await openControllerWorld()
  team = await newNamespace(world.api)
  selector = `test.punctual.dev/of=${world.namespace}`
})
afterEach(() => world.close())

/** Controllers start several times, and Kubernetes takes its time to delete a namespace. */
const TIMEOUT = { timeout: 180_000 }

const nameOf = (kind: string, name: string, namespace = team) => ({
  apiVersion: API_VERSION,
  kind,
  name,
  namespace,
})
async function apply(kind: string, name: string, spec: object, namespace = team): Promise<void> {
  await world.api.apply(
    JSON.stringify({ apiVersion: API_VERSION, kind, spec, metadata: { name, namespace } }),
  )
}
async function isReconciled(kind: string, name: string, namespace = team): Promise<boolean> {
  const { metadata, status } = await world.api.get(nameOf(kind, name, namespace))
  const conditions = (status?.['conditions'] ?? []) as { reason: string; observedGeneration?: number }[]
  return conditions.some(
    (one) => one.reason === 'Reconciled' && one.observedGeneration === metadata['generation'],
  )
}
const reconciled = (kind: string, name: string, namespace = team) =>
  until(`${kind} ${name} is reconciled`, () => isReconciled(kind, name, namespace), 30_000)
async function label(isSet: boolean, namespace = team): Promise<void> {
  const [key = '', value] = selector.split('=')
  const patch = { metadata: { labels: { [key]: isSet ? value : null } } }
  await world.api.send('PATCH', `/api/v1/namespaces/${namespace}`, patch, 'application/merge-patch+json')
}
const queue = (name: string, namespace = team) =>
  createQueueStore(world.engine.engine).getByName(namespace, name)
const tokens = async () =>
  Object.keys(await world.engine.engine.runner.read((redis) => redis.hgetall(TOKENS_KEY))).filter((field) =>
    field.includes(team),
  )
const auditOf = async () => {
  const filter = {
    actor: null,
    action: null,
    resourceKind: null,
    resource: null,
    afterMs: null,
    beforeMs: null,
  }
  const page = await createAuditLog(world.engine.engine).list({ team, limit: 50, cursor: null, filter })
  return page === 'bad_cursor' ? [] : page.records.map(({ action, resource }) => `${action} ${resource.name}`)
}

async function applyTeam(): Promise<void> {
  await apply('HttpQueue', 'mails', { maxParallelism: 2 })
  await apply('ApiToken', 'ci', { sha256: hash('sha256', `the token of ${team}`, 'hex') })
  await apply('HttpCron', 'yearly', { url: 'https://target.test/', cronExpression: '0 0 1 1 *' })
  for (const [kind, name] of [
    ['HttpQueue', 'mails'],
    ['ApiToken', 'ci'],
    ['HttpCron', 'yearly'],
  ] as const) {
    await reconciled(kind, name)
  }
  await world.engine.intake.push(newJob({ team, queue: 'mails', start: { delaySeconds: 3_600 } }))
}

/** Whatever was to happen has happened once what was asked for later is done. */
async function settled(name: string): Promise<void> {
  await world.apply('HttpQueue', name, {})
  await reconciled('HttpQueue', name, world.namespace)
}

/** While nobody serves the team: its queue is edited, its token is deleted. */
async function changeUnserved(): Promise<void> {
  await apply('HttpQueue', 'mails', { maxParallelism: 7 })
  await apply('HttpQueue', 'late', {})
  await world.api.delete(nameOf('ApiToken', 'ci'))
  await settled('own')
  expect(await queue('mails')).toMatchObject({ settings: { maxParallelism: 2 }, counts: { delayed: 1 } })
  expect(await queue('late')).toBeNull()
  expect(await tokens()).toHaveLength(1)
  const { metadata } = await world.api.get(nameOf('HttpQueue', 'mails'))
  expect(metadata['finalizers']).toContain(QUEUE_FINALIZER)
}

/** Once the team is served again, all of it is applied, and nothing was lost. */
async function expectCaughtUp(queueId: number): Promise<void> {
  for (const name of ['mails', 'late']) await reconciled('HttpQueue', name)
  expect(await queue('mails')).toMatchObject({
    queueId,
    settings: { maxParallelism: 7 },
    counts: { delayed: 1 },
  })
  await until('the deleted token is revoked', async () => (await tokens()).length === 0, 30_000)
}

test(
  'a namespace is served while its labels match, and what was applied of it stays meanwhile',
  TIMEOUT,
  async () => {
    const controller: Program = await world.start({
      PUNCTUAL_WATCH_NAMESPACES: '',
      PUNCTUAL_NAMESPACE_SELECTOR: selector,
    })
    const elsewhere = await newNamespace(world.api)
    await apply('HttpQueue', 'never', {}, elsewhere)
    await apply('HttpQueue', 'mails', {})
    await settled('first')
    expect([await queue('never', elsewhere), await queue('mails')]).toEqual([null, null])

    await label(true)
    await applyTeam()
    const { queueId = 0 } = (await queue('mails')) ?? {}
    await label(false)
    await controller.logged(
      'A namespace is no longer served: its labels differ, or it was deleted; its applied settings stay',
    )
    await changeUnserved()
    const audit = await auditOf()
    expect(audit).not.toContain('delete mails')
    expect(audit).not.toContain('delete ci')

    const after = controller.log.length
    await label(true)
    await controller.logged('A namespace is served from now on', { after })
    await expectCaughtUp(queueId)
    expect((await auditOf()).filter((entry) => entry === 'create mails')).toEqual([])
    expect(await queue('never', elsewhere)).toBeNull()
  },
)

test(
  'a namespace that leaves the list keeps what was applied as well, and catches up when it is back',
  TIMEOUT,
  async () => {
    const lists = { with: `${world.namespace},${team}`, without: world.namespace }
    const restarted = async (list: string, former?: Program) => {
      former?.signal('SIGTERM')
      await former?.exited
      return world.start({ PUNCTUAL_WATCH_NAMESPACES: list })
    }
    const first = await restarted(lists.with)
    await applyTeam()
    const { queueId = 0 } = (await queue('mails')) ?? {}
    const second = await restarted(lists.without, first)
    await changeUnserved()
    await restarted(lists.with, second)
    await expectCaughtUp(queueId)
    expect((await auditOf()).filter((entry) => entry === 'delete mails')).toEqual([])
  },
)

test('the deletion of a namespace is carried out while its labels match', TIMEOUT, async () => {
  await world.start({ PUNCTUAL_WATCH_NAMESPACES: '', PUNCTUAL_NAMESPACE_SELECTOR: selector })
  await label(true)
  await applyTeam()
  await world.api.send('DELETE', `/api/v1/namespaces/${team}`)
  const isGone = () =>
    world.api.send('GET', `/api/v1/namespaces/${team}`).then(
      () => false,
      () => true,
    )
  await until('the namespace is gone', isGone, 60_000)
  expect(await queue('mails')).toBeNull()
})

test('an uninstall lets go of what is served, and of nothing else', TIMEOUT, async () => {
  const controller = await world.start({ PUNCTUAL_WATCH_NAMESPACES: `${world.namespace},${team}` })
  await applyTeam()
  await settled('own')
  controller.signal('SIGTERM')
  await controller.exited
  const access = inject('clusterAccess')
  const transport = createTransport({
    config: {
      server: access.url,
      access: async () => ({
        headers: { authorization: `Bearer ${access.token}` },
        tls: { ca: access.caPem },
      }),
      renew: () => undefined,
    },
    clock: systemClock,
    metrics: quietClusterMetrics,
    userAgent: 'punctual/test',
  })
  const options = { transport, namespaces: null, labelSelector: selector, clock: systemClock }
  const release = () => releaseResources({ ...options, ownNamespace: world.namespace })
  expect(await release()).toBe(1)
  const { metadata } = await world.api.get(nameOf('HttpQueue', 'mails'))
  expect(metadata['finalizers']).toContain(QUEUE_FINALIZER)
  await label(true)
  expect(await release()).toBe(2)
  await transport.close()
})

test('the API pushes for a team that is not served, edits nothing of it, and says why', TIMEOUT, async () => {
  await world.start()
  const env = { PUNCTUAL_WATCH_NAMESPACES: '', PUNCTUAL_NAMESPACE_SELECTOR: selector }
  const place = { PUNCTUAL_POD_NAMESPACE: team }
  const { url, token } = await world.startApi({ ...env, ...place })
  const call = (method: string, path: string, body: object) =>
    fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const job = { queue: 'pushed', url: 'https://target.test/', delay: 3600 }
  expect((await call('POST', '/api/jobs', job)).status).toBe(201)
  const { queueId = 0 } = (await queue('pushed', world.namespace)) ?? {}
  const edited = () => call('PATCH', `/api/queues/${queueId}`, { max_parallelism: 3 })
  const refused = await until('the namespaces are known', async () => {
    const answer = await edited()
    return answer.status === 503 ? null : answer
  })
  expect(refused.status).toBe(409)
  expect(await refused.text()).toContain('PUNCTUAL_NAMESPACE_SELECTOR')
  await label(true, world.namespace)
  await until('it may be edited', async () => (await edited()).status === 200)
})
