/** A standalone with a believable team in it: a shop, in the middle of an outage of one of its partners. */
import { type ApiClient, createApiClient } from '../../../support/servers/api-client.ts'
import type { StandaloneWorld } from '../../../support/servers/standalone-world.ts'
import { until } from '../../../support/until.ts'
import { deadJobs, goodJobs, openJobs, stubbornJob } from './jobs.ts'
import { writeResources } from './resources.ts'
import { type ShopTargets, startShopTargets } from './targets.ts'

export interface Shop {
  readonly url: string
  readonly folder: string
  /** Of Ada, who is an admin. */
  readonly token: string
  readonly client: ApiClient
  readonly targets: ShopTargets
  /** What the parameters of addresses stand for. */
  readonly ids: Readonly<
    Record<'queue_id' | 'job_id' | 'bulk_id' | 'cron_id' | 'alert_id' | 'issue_id', number | string>
  >
}

/** Who did what the audit log tells. */
const ADMIN = 'ada'
const DAY_MS = 86_400_000

/** @param env settings of the standalone */
export async function openShop(world: StandaloneWorld, env?: Record<string, string>): Promise<Shop> {
  const folder = world.newFolder()
  const targets = await startShopTargets(() => world.newTarget())
  writeResources(folder, targets)
  const { program, client: first } = await world.start(folder, env)
  const url = String((await program.logged('Standalone runs'))['url'])
  const { token } = await expected(first.send<{ token: string }>('POST', '/api/tokens', { name: ADMIN }))
  const client = createApiClient(url, token)
  for (const queue of ['webhooks', 'emails', 'crm-sync']) {
    await client.makeQueue(queue, { alerts_enabled: true })
  }
  const stubborn = await client.push(stubbornJob(targets))
  await pushAll(client, [...goodJobs(targets), ...deadJobs(targets), ...openJobs(targets)])
  const cron = await makeCrons(client, targets)
  await giveAccess(client)
  await client.ended(stubborn.job_id)
  await until('the shop has its dead letters', async () => (await deadLetters(client)) >= 23)
  const bulk = await mend(client)
  await openWindows(client, stubborn.queue_id)
  const alert = await until('the shop has an alert', () => newestAlert(client))
  const { issues } = await expected(client.send<{ issues: Array<{ id: string }> }>('GET', '/api/issues'))
  const ids = {
    queue_id: stubborn.queue_id,
    job_id: stubborn.job_id,
    bulk_id: bulk,
    cron_id: cron,
    alert_id: alert,
    issue_id: issues[0]?.id ?? '',
  }
  return { url, folder, token, client, targets, ids }
}

async function pushAll(client: ApiClient, jobs: readonly unknown[]): Promise<void> {
  const { results } = await expected(
    client.send<{ results: ReadonlyArray<{ status: number }> }>('POST', '/api/jobs/batch', { jobs }),
  )
  const refused = results.filter(({ status }) => status !== 201)
  if (refused.length > 0) throw new Error(`pushes were refused: ${JSON.stringify(refused)}`)
}

/** @returns the id of one that has run */
async function makeCrons(
  client: ApiClient,
  { mail, partner, search }: ShopTargets,
): Promise<number | string> {
  const make = (body: object) => expected(client.send<{ id: number }>('POST', '/api/crons', body))
  const polled = await make({
    name: 'poll-stock',
    url: `${search.url}/stock/poll`,
    cron_expression: '*/2 * * * *',
  })
  const failing = await make({
    name: 'partner-report',
    url: `${partner.url}/returns`,
    cron_expression: '15 * * * *',
  })
  await make({
    name: 'nightly-digest',
    url: `${mail.url}/v1/digest`,
    cron_expression: '30 3 * * *',
    time_zone: 'Europe/Berlin',
  })
  await make({
    name: 'weekly-newsletter',
    url: `${mail.url}/v1/newsletter`,
    cron_expression: '0 9 * * MON',
    time_zone: 'America/New_York',
    is_active: false,
  })
  for (const { id } of [polled, polled, failing]) {
    await expected(client.send('POST', `/api/crons/${id}/run`))
  }
  return polled.id
}

async function giveAccess(client: ApiClient): Promise<void> {
  for (const token of [
    {
      name: 'orders-service',
      description: 'Pushes from the checkout',
      scopes: ['push'],
      queues: ['emails', 'webhooks'],
    },
    { name: 'grafana', description: 'Dashboards', scopes: ['read'] },
    { name: 'on-call', scopes: ['operate'], expires_at: new Date(Date.now() + 30 * DAY_MS).toISOString() },
  ]) {
    await expected(client.send('POST', '/api/tokens', token))
  }
  await expected(client.send('POST', '/api/signing-secrets', {}))
}

/** What somebody did by hand so far. @returns the id of a bulk */
async function mend(client: ApiClient): Promise<number | string> {
  const queues = (await client.queues({ limit: '100' })).queues
  const idOf = (name: string) => queues.find((queue) => queue.name === name)?.queue_id ?? 0
  await expected(client.send('POST', `/api/queues/${idOf('thumbnails')}/pause`))
  await client.push({ queue: 'thumbnails', url: 'http://127.0.0.1:9/images/17' })
  await client.push({ queue: 'thumbnails', url: 'http://127.0.0.1:9/images/18' })
  await expected(client.send('PATCH', `/api/queues/${idOf('webhooks')}`, { max_parallelism: 4 }))
  const bulk = await expected(
    client.send<{ id: number }>('POST', '/api/bulk', {
      action: 'replay',
      filter: { queue: 'crm-sync', status: 'dead_lettered' },
    }),
  )
  await until('the bulk has ended', async () => {
    const { state } = await expected(client.send<{ state: string }>('GET', `/api/bulk/${bulk.id}`))
    return state !== 'running' && state !== 'planning'
  })
  return bulk.id
}

async function openWindows(client: ApiClient, queueId: number): Promise<void> {
  const fromNow = (ms: number) => new Date(Date.now() + ms).toISOString()
  for (const window of [
    {
      name: 'partner-outage',
      resource: { kind: 'queue', id: queueId },
      reason: 'The partner is down; they know.',
      start_at: fromNow(-60_000),
      end_at: fromNow(2 * 3_600_000),
    },
    {
      name: 'database-move',
      action: 'hold',
      reason: 'The database moves.',
      start_at: fromNow(2 * DAY_MS),
      end_at: fromNow(2 * DAY_MS + 5_400_000),
    },
    {
      name: 'sunday-backup',
      reason: 'Backups run.',
      recurring: [{ cron_expression: '0 2 * * SUN', time_zone: 'Europe/Berlin', duration_seconds: 7_200 }],
    },
  ]) {
    await expected(client.send('POST', '/api/maintenance-windows', window))
  }
}

async function newestAlert(client: ApiClient): Promise<number | null> {
  const { alerts } = await expected(
    client.send<{ alerts: ReadonlyArray<{ id: number }> }>('GET', '/api/alerts?limit=1'),
  )
  return alerts[0]?.id ?? null
}

async function deadLetters(client: ApiClient): Promise<number> {
  const { queues } = await client.queues({ limit: '100' })
  return queues.reduce((sum, { counts }) => sum + counts.dead, 0)
}

async function expected<Body>(
  asked: Promise<{ readonly status: number; readonly body: Body }>,
): Promise<Body> {
  const { status, body } = await asked
  if (status < 300) return body
  throw new Error(`the API answered ${status}: ${JSON.stringify(body)}`)
}
