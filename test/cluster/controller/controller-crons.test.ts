import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CreatedCron, Cron } from '../../../clients/typescript/src/generated/wire.ts'
import { createCronStore } from '../../../src/redis/crons/cron-store.ts'
import { createApiClient, type ApiClient } from '../../support/servers/api-client.ts'
import { until } from '../../support/until.ts'
import { openControllerWorld, type ControllerWorld } from './controller-world.ts'

/** Not due while a test runs. */
const YEARLY = { url: 'https://target.test/', cronExpression: '0 0 1 1 *' }
const SYNC_MS = 40_000

let world: ControllerWorld
let controller: Awaited<ReturnType<ControllerWorld['start']>>
let api: ApiClient

beforeAll(async () => {
  world = await openControllerWorld()
  controller = await world.start()
  const { url, token } = await world.startApi()
  api = createApiClient(url, token)
})

afterAll(() => world.close())

const inEngine = (name: string) => createCronStore(world.engine.engine).getByName(world.namespace, name)
const statusOf = async (name: string) => (await world.get('HttpCron', name)).status ?? {}

/** The API does not show it: people know crons by their ids. */
async function nameOf(cronId: number): Promise<string> {
  const store = createCronStore(world.engine.engine)
  return (await store.get(world.namespace, cronId))?.name ?? ''
}

describe('a resource', () => {
  test('is applied, shows when it runs next, and takes its cron with it', async () => {
    await world.apply('HttpCron', 'yearly', { ...YEARLY, timeZone: 'Europe/Berlin' })
    await world.reason('HttpCron', 'yearly', 'Scheduled', 'Scheduled')
    expect(await world.condition('HttpCron', 'yearly', 'Ready')).toMatchObject({ status: 'True' })
    const cron = await inEngine('yearly')
    expect(await statusOf('yearly')).toMatchObject({
      id: cron?.cronId,
      nextRunTime: expect.stringMatching(/-12-31T23:00:00Z$/) as string,
    })
    await world.apply('HttpCron', 'yearly', { ...YEARLY, active: false })
    await world.reason('HttpCron', 'yearly', 'Paused', 'Scheduled')
    expect(await statusOf('yearly')).not.toHaveProperty('nextRunTime')
    await world.remove('HttpCron', 'yearly')
    await until('the resource is deleted', async () => (await world.find('HttpCron', 'yearly')) === null)
    expect(await inEngine('yearly')).toBeNull()
  })

  test.each([
    ['never', { cronExpression: '0 0 31 2 *' }, 'ImpossibleSchedule', 'never comes'],
    ['nowhere', { timeZone: 'Mars/Base' }, 'UnknownTimeZone', '"Mars/Base" is none'],
  ])('called %s reports what the rules of the CRD could not', async (name, spec, reason, text) => {
    await world.apply('HttpCron', name, { ...YEARLY, ...spec })
    const scheduled = await world.reason('HttpCron', name, reason, 'Scheduled')
    expect(scheduled).toMatchObject({ status: 'False', message: expect.stringContaining(text) as string })
    expect(await world.condition('HttpCron', name, 'Ready')).toMatchObject({ reason: 'InvalidSpec' })
    expect(await inEngine(name)).toBeNull()
  })

  test('reports a run within a sync', async () => {
    await world.apply('HttpCron', 'by-hand', YEARLY)
    await world.reason('HttpCron', 'by-hand', 'Reconciled')
    const { id } = await statusOf('by-hand')
    expect((await api.send('POST', `/api/crons/${String(id)}/run`)).status).toBe(201)
    const isReported = async () => (await statusOf('by-hand'))['lastRunResult'] === 'Running'
    await until('the run is reported', isReported, SYNC_MS)
  })
})

describe('the API', () => {
  test('makes, changes and deletes resources', async () => {
    const body = { name: 'Nightly mail', url: YEARLY.url, cron_expression: '0 3 * * *', payload: { n: 1 } }
    const made = await api.send<CreatedCron>('POST', '/api/crons', body)
    expect(made).toMatchObject({ status: 201, body: { name: 'Nightly mail', is_active: true } })
    const path = `/api/crons/${made.body.id}`
    const name = await nameOf(made.body.id)
    expect(name).toMatch(/^nightly-mail-[0-9a-f]{8}$/)
    await world.reason('HttpCron', name, 'Reconciled')
    expect(await statusOf(name)).toMatchObject({ id: made.body.id })

    const change = { cron_expression: '0 4 * * *', queue: 'mail', payload: null }
    expect(await api.send<Cron>('PATCH', path, change)).toMatchObject({ status: 200, body: change })
    const { spec } = await world.get('HttpCron', name)
    expect(spec).toMatchObject({ cronExpression: '0 4 * * *', queue: 'mail' })
    expect(spec).not.toHaveProperty('payload')
    expect((await api.send('POST', `${path}/pause`)).body).toMatchObject({ is_active: false })
    expect((await world.get('HttpCron', name)).spec).toMatchObject({ active: false })

    expect((await api.send('DELETE', path)).status).toBe(204)
    await until('the resource is deleted', async () => (await world.find('HttpCron', name)) === null)
    expect((await api.send('GET', path)).status).toBe(404)
  })
})

test('a cron whose resource went by force goes too', async () => {
  for (const name of ['forced', 'stays']) {
    await world.apply('HttpCron', name, YEARLY)
    await world.reason('HttpCron', name, 'Reconciled')
  }
  await world.force('HttpCron', 'forced')
  await until('the cron is removed', async () => (await inEngine('forced')) === null, SYNC_MS)
  expect(await inEngine('stays')).not.toBeNull()
})

test('a wiped Redis gives a cron the id that people know', async () => {
  await world.apply('HttpCron', 'kept', YEARLY)
  await world.reason('HttpCron', 'kept', 'Reconciled')
  const { id } = await statusOf('kept')
  await world.redis.client.flushall()
  // It exits, because it has loaded names that no longer exist; the next one starts from the emptied Redis.
  await controller.exited
  await world.start()
  await until('it is applied again', async () => (await inEngine('kept')) !== null, SYNC_MS)
  expect((await inEngine('kept'))?.cronId).toBe(id)
})
