/** A namespace that is deleted and made again, on a real API server: it inherits nothing. */
import { hash } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { NAMESPACES_KEY, SECRETS_KEY, TEAMS_KEY, TOKENS_KEY } from '../../../src/redis/base/layout/keys.ts'
import { newNamespace } from '../../support/cluster/kubernetes-api.ts'
import { newJob } from '../../support/engine/engine.ts'
import { until } from '../../support/until.ts'
import { API_VERSION, openControllerWorld, type ControllerWorld } from '../controller/controller-world.ts'
import { queuePages } from '../../support/engine/lists/queue-pages.ts'

const GONE_TIMEOUT_MS = 60_000
/** Kubernetes takes its time to delete a namespace. */
const TIMEOUT = { timeout: 180_000 }

let world: ControllerWorld
let team: string

beforeEach(async () => {
  world = await openControllerWorld()
  team = await newNamespace(world.api)
})
afterEach(() => world.close())

const start = () => world.start({ PUNCTUAL_WATCH_NAMESPACES: `${world.namespace},${team}` })
const path = () => `/api/v1/namespaces/${team}`
const uid = async () => (await world.api.send('GET', path())).metadata.uid
async function apply(kind: string, name: string, spec: object): Promise<void> {
  await world.api.apply(
    JSON.stringify({ apiVersion: API_VERSION, kind, spec, metadata: { name, namespace: team } }),
  )
}
const reconciled = (kind: string, name: string) =>
  until(
    `${kind} ${name} is reconciled`,
    async () => {
      const { status } = await world.api.get({ apiVersion: API_VERSION, kind, name, namespace: team })
      const conditions = (status?.['conditions'] ?? []) as { reason: string }[]
      return conditions.some(({ reason }) => reason === 'Reconciled')
    },
    60_000,
  )
async function makeAnew(): Promise<void> {
  const former = await uid()
  await world.api.send('DELETE', path())
  const isGone = () =>
    world.api.send('GET', path()).then(
      () => false,
      () => true,
    )
  await until('the namespace is gone', isGone, GONE_TIMEOUT_MS)
  await world.api.send('POST', '/api/v1/namespaces', { metadata: { name: team } })
  expect(await uid()).not.toBe(former)
}
const queues = async () => {
  const page = await queuePages(world.engine.engine)({ team, limit: 100, cursor: null })
  return page === 'bad_cursor' ? [] : page.queues
}
const fields = (key: string) => world.engine.engine.runner.read((redis) => redis.hgetall(key))

test(
  'pushed queues, jobs, tokens and settings of a former namespace are gone before the new one is served',
  TIMEOUT,
  async () => {
    const first = await start()
    await apply('HttpQueue', 'mails', {})
    await apply('TeamSettings', 'team', { egress: { allow: ['10.0.0.0/8'] } })
    await apply('ApiToken', 'ci', { sha256: hash('sha256', `the token of ${team}`, 'hex') })
    for (const [kind, name] of [
      ['HttpQueue', 'mails'],
      ['TeamSettings', 'team'],
      ['ApiToken', 'ci'],
    ] as const) {
      await reconciled(kind, name)
    }
    expect((await fields(NAMESPACES_KEY))[team]).toContain(await uid())
    // While no controller runs: nobody sees the deletion, and finalizers are taken off as by hand.
    first.signal('SIGTERM')
    await first.exited
    for (const queue of ['mails', 'pushed']) {
      await world.engine.intake.push(newJob({ team, queue, start: { delaySeconds: 3_600 } }))
    }
    const metadata = { finalizers: null }
    const resource = `/apis/${API_VERSION}/namespaces/${team}/httpqueues/mails`
    await world.api.send('PATCH', resource, { metadata }, 'application/merge-patch+json')
    await makeAnew()
    expect((await queues()).map(({ name }) => name)).toEqual(['mails', 'pushed'])

    await apply('HttpQueue', 'mails', { maxParallelism: 3 })
    const second = await start()
    await reconciled('HttpQueue', 'mails')
    expect(await queues()).toMatchObject([
      { name: 'mails', settings: { maxParallelism: 3 }, counts: { delayed: 0, pending: 0 } },
    ])
    expect((await fields(NAMESPACES_KEY))[team]).toContain(await uid())
    expect((await fields(TEAMS_KEY))[team]).toBeUndefined()
    const names = [...Object.keys(await fields(TOKENS_KEY)), ...Object.keys(await fields(SECRETS_KEY))]
    expect(names.filter((field) => field.includes(team))).toEqual([])
    const { revoked, queuesAndCrons } = await second.logged('What a deleted namespace had left was removed')
    expect({ revoked, queuesAndCrons }).toEqual({ revoked: 1, queuesAndCrons: 2 })
  },
)

test(
  'a namespace that is made anew while a controller runs is served at once when nothing was left',
  TIMEOUT,
  async () => {
    const controller = await start()
    await apply('HttpQueue', 'mails', {})
    await reconciled('HttpQueue', 'mails')
    await makeAnew()
    await apply('HttpQueue', 'mails', {})
    await reconciled('HttpQueue', 'mails')
    await until('it has the namespace of now', async () =>
      String((await fields(NAMESPACES_KEY))[team]).includes(String(await uid())),
    )
    expect(controller.log.map(({ msg }) => msg)).not.toContain(
      'What a deleted namespace had left was removed',
    )
  },
)
