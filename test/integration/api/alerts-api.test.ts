import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type {
  Alert,
  AlertList,
  CreatedCron,
  DeletedAlerts,
  UnreadAlerts,
  UpdatedAlerts,
} from '../../../clients/typescript/src/generated/wire.ts'
import { startInstallation, type Installation } from '../../support/engine/installation.ts'
import type { ApiClient } from '../../support/servers/api-client.ts'
import { until } from '../../support/until.ts'

let here: Installation

beforeAll(async () => {
  here = await startInstallation()
  here.target.route('/bad', () => ({ status: 500 }))
})
afterAll(() => here.close())

/** A team of its own, whose queue `loud` raises alerts and has no retries. */
async function aTeam(name: string): Promise<ApiClient> {
  const client = await here.clientOfTeam(name)
  await client.makeQueue('loud', { alerts_enabled: true, retries_enabled: false })
  return client
}
async function fail(client: ApiClient, queue = 'loud'): Promise<number> {
  const { job_id: id } = await client.push({ queue, url: `${here.target.url}/bad` })
  await client.ended(id)
  return id
}
const list = async (client: ApiClient, search = '') =>
  (await client.send<AlertList>('GET', `/api/alerts${search}`)).body.alerts
const counts = async (client: ApiClient) =>
  (await client.send<UnreadAlerts>('GET', '/api/alerts/counts')).body

describe.concurrent('alerts', () => {
  test('of a job can be read as soon as it has ended, marked and deleted', async () => {
    const client = await aTeam('one')
    const id = await fail(client)
    const [failure, warning] = await list(client)
    const queue = await client.queueNamed('loud')
    expect(failure).toMatchObject({
      type: 'failure',
      reason: 'http_server_error',
      job_id: id,
      count: 1,
      read: false,
      resource: { kind: 'queue', id: queue?.queue_id, name: 'loud' },
    })
    expect(warning).toMatchObject({ type: 'warning', job_id: id })
    expect(await counts(client)).toMatchObject({ unread: 2, by_type: { warning: 1, failure: 1 } })

    const path = `/api/alerts/${failure?.id}`
    const shown = await client.send<Alert>('GET', path)
    expect([shown.status, shown.body]).toEqual([200, failure])
    expect((await client.send('POST', `${path}/read`)).body).toEqual({ ...failure, read: true })
    expect((await counts(client)).unread).toBe(1)
    // What was read counts no further: the next one is a new record.
    await fail(client)
    expect((await list(client, '?type=failure')).map(({ count, read }) => [count, read])).toEqual([
      [1, false],
      [1, true],
    ])
    expect((await client.send('DELETE', path)).status).toBe(204)
    expect((await client.send('GET', path)).status).toBe(404)
    expect(await list(client, '?type=failure')).toHaveLength(1)
  })

  test('of several queues are marked and deleted by filter, page after page', async () => {
    const client = await aTeam('many')
    const queues = ['a', 'b', 'c', 'd', 'e']
    for (const queue of queues) {
      await client.makeQueue(queue, { alerts_enabled: true, retries_enabled: false })
    }
    for (const queue of queues) await fail(client, queue)
    const found: Alert[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const search: string = `?type=failure&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`
      const { body }: { body: AlertList } = await client.send<AlertList>('GET', `/api/alerts${search}`)
      found.push(...body.alerts)
      cursor = body.next_cursor
    }
    expect(found.map(({ resource }) => resource.name)).toEqual(queues.toReversed())
    const queueId = found[0]?.resource.id
    const selection = { resource_kind: 'queue', resource_id: queueId }
    const marked = await client.send<UpdatedAlerts>('POST', '/api/alerts/read', selection)
    expect(marked).toMatchObject({ status: 200, body: { updated: 2 } })
    expect(await client.send<DeletedAlerts>('DELETE', '/api/alerts?read=true')).toMatchObject({
      status: 200,
      body: { deleted: 2 },
    })
    expect((await client.send('DELETE', '/api/alerts')).status).toBe(422)
    expect(await counts(client)).toMatchObject({ unread: 8 })
    expect((await client.send('POST', '/api/alerts/read', {})).body).toEqual({ updated: 8 })
    expect((await client.send('DELETE', '/api/alerts?all=true')).body).toEqual({ deleted: 8 })
    expect(await list(client)).toEqual([])
  })

  test('of another team are not found', async () => {
    const [client, other] = await Promise.all([aTeam('mine'), aTeam('theirs')])
    await fail(client)
    const [alert] = await list(client)
    const path = `/api/alerts/${alert?.id}`
    for (const [method, of] of [
      ['GET', path],
      ['POST', `${path}/read`],
      ['DELETE', path],
    ] as const) {
      expect((await other.send(method, of)).status, method).toBe(404)
    }
    expect(await list(other)).toEqual([])
    expect((await other.send('DELETE', '/api/alerts?all=true')).body).toEqual({ deleted: 0 })
    expect((await counts(client)).unread).toBe(2)
  })

  test('of a cron tell of its failure once, and of its recovery', async () => {
    const client = await here.clientOfTeam('crons')
    let status = 500
    here.target.route('/moody', () => ({ status }))
    const cron = { name: 'Moody', url: `${here.target.url}/moody`, cron_expression: '0 0 1 1 *' }
    const { body: made } = await client.send<CreatedCron>('POST', '/api/crons', {
      ...cron,
      alert_threshold: 2,
    })
    const types = async () => (await list(client)).map(({ type, count }) => `${type} ${count}`).toReversed()
    const run = async (alerts: readonly string[]): Promise<void> => {
      expect((await client.send('POST', `/api/crons/${made.id}/run`)).status).toBe(201)
      await until(`alerts ${alerts.join()}`, async () => (await types()).join() === alerts.join())
    }
    await run(['warning 1'])
    await run(['warning 1', 'failure 1'])
    status = 200
    await run(['warning 1', 'failure 1', 'recovery 1'])
    const [recovery] = await list(client, '?resource_kind=cron&type=recovery')
    expect(recovery).toMatchObject({
      reason: 'http_server_error',
      resource: { kind: 'cron', id: made.id, name: 'Moody' },
    })
  })
})
