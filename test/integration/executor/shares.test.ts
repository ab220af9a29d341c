import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { ApiClient } from '../../support/servers/api-client.ts'
import { startInstallation } from '../../support/engine/installation.ts'
import { latch } from '../../support/targets/target.ts'
import { until } from '../../support/until.ts'
import { SeededRandom } from '../../simulation/story/seeded-random.ts'

const LONG = { timeout_seconds: 300, retries_enabled: false }

interface Pushes {
  readonly client: ApiClient
  readonly queue: string
  readonly url: string
  readonly count: number
  readonly payload?: Record<string, unknown>
  readonly atOnce?: number
}

/** Repeated as the API asks: on a busy disk Redis may stand still for longer than a push waits. */
async function pushUntilTaken(client: ApiClient, body: object): Promise<number> {
  const headers = { 'idempotency-key': randomUUID() }
  return until('the push is taken', async () => {
    const answer = await client.send<{ job_id?: number }>('POST', '/api/jobs', body, headers)
    if (answer.status !== 503) expect(answer.status).toBeOneOf([200, 201])
    return answer.body.job_id
  })
}

async function pushAll({ client, queue, url, count, payload, atOnce = 50 }: Pushes): Promise<number[]> {
  const ids: number[] = []
  const body = payload === undefined ? {} : { payload }
  while (ids.length < count) {
    const pushes = Array.from({ length: Math.min(atOnce, count - ids.length) }, () =>
      pushUntilTaken(client, { queue, url, ...LONG, ...body }),
    )
    ids.push(...(await Promise.all(pushes)))
  }
  return ids
}

describe.concurrent('the slots of an executor', () => {
  test('are shared equally by four queues in four shards when all are used', async () => {
    const here = await startInstallation({ executorEnv: { PUNCTUAL_EXECUTOR_CONCURRENCY: '20' } })
    const seed = randomInt(2 ** 31)
    const random = new SeededRandom(seed)
    // One in each shard.
    const queues = ['q4', 'q0', 'q5', 'q1']
    const ids = await Promise.all(queues.map((queue) => here.client.makeQueue(queue, { is_active: false })))
    for (const queue of queues) {
      here.target.route(`/${queue}`, () => sleep(random.between(30, 60), {}))
      await pushAll({ client: here.client, queue, url: `${here.target.url}/${queue}`, count: 300 })
    }
    await Promise.all(ids.map((id) => here.client.send('POST', `/api/queues/${id}/resume`)))
    await until('most have started', () => here.target.arrivals().length >= 1_000)
    // The queue that was resumed first took all slots at first.
    const started = here.target.arrivals().slice(100, 1_000)
    const counts = queues.map((queue) => started.filter(({ path }) => path === `/${queue}`).length)
    for (const count of counts)
      expect(Math.abs(count - 225), `${counts.join(' ')} with seed ${seed}`).toBeLessThanOrEqual(0.05 * 225)
    await here.close()
  })

  test('remain for another team, and for other queues of the same team, beside queues that hang', async () => {
    const here = await startInstallation({ executorEnv: { PUNCTUAL_EXECUTOR_CONCURRENCY: '50' } })
    const { target, client } = here
    const other = await here.clientOfTeam('other')
    const hung = latch()
    target.route('/hung', hung.answering)
    // One queue alone, then its siblings, then the rest of the team's queues hang too.
    await pushAll({ client, queue: 'hung', url: `${target.url}/hung`, count: 100 })
    await until('the queue has its share', () => target.openNow() >= 50)
    const healthy = await pushAll({ client, queue: 'healthy', url: `${target.url}/healthy`, count: 30 })
    for (const id of healthy) await client.ended(id)
    for (let queue = 0; queue < 20; queue += 1) {
      await pushAll({ client, queue: `a${queue}`, url: `${target.url}/hung`, count: 10 })
    }
    await until('the team has its share', () => target.openNow() >= 51)
    const ids = await pushAll({ client: other, queue: 'b', url: `${target.url}/b`, count: 10 })
    for (const id of ids) await other.ended(id)
    const arrivals = target.arrivals('/b')
    expect(arrivals).toHaveLength(10)
    expect(target.openNow()).toBeLessThan(59)
    hung.open()
    await until('all have ended', () => target.arrivals('/hung').length === 300)
    await here.close()
  })

  test('remain for the callbacks of a team beside another one whose receivers hang', async () => {
    const here = await startInstallation({ executorEnv: { PUNCTUAL_EXECUTOR_CONCURRENCY: '20' } })
    const { target, client } = here
    const other = await here.clientOfTeam('other')
    const hung = latch()
    target.route('/hung', hung.answering)
    const push = (of: ApiClient, callback: string, count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, i) =>
          of.push({ queue: `q${i % 8}`, url: `${target.url}/job`, callback_url: `${target.url}${callback}` }),
        ),
      )
    await push(client, '/hung', 120)
    await until('they have their share', () => target.openNow() >= 15)
    await push(other, '/notified', 12)
    await until('the other team is notified', () => target.arrivals('/notified').length === 12)
    // A single callback queue for all teams would have delivered it last.
    expect(target.arrivals('/hung').length).toBeLessThan(120)
    hung.open()
    await until('all are notified', () => target.arrivals('/hung').length === 120)
    await here.close()
  })

  test('a queue that begins to hang leaves healthy ones their share', async () => {
    const here = await startInstallation({ executorEnv: { PUNCTUAL_EXECUTOR_CONCURRENCY: '20' } })
    const { target, client } = here
    const hung = latch()
    target.route('/hung', hung.answering)
    const healthy = (count: number) =>
      Promise.all(
        ['h1', 'h2', 'h3'].map((queue) => pushAll({ client, queue, url: `${target.url}/healthy`, count })),
      )
    await healthy(10)
    await pushAll({ client, queue: 'hung', url: `${target.url}/hung`, count: 60 })
    await until('it has what it may have', () => target.openNow() >= 15)
    for (const ids of await healthy(20)) for (const id of ids) await client.ended(id)
    expect(target.openNow()).toBeLessThanOrEqual(22)
    hung.open()
    await until('all have ended', () => target.arrivals('/hung').length === 60)
    await here.close()
  })
})

test('an executor with little memory survives large jobs whose target never answers', async () => {
  const here = await startInstallation({ executorEnv: { NODE_OPTIONS: '--max-old-space-size=256' } })
  const { target, client } = here
  const [executor] = here.executors
  const other = await here.clientOfTeam('other')
  const hung = latch()
  target.route('/hung', hung.answering)
  const large = {
    client,
    queue: 'large',
    url: `${target.url}/hung`,
    payload: { text: 'x'.repeat(1_000_000) },
    atOnce: 8,
  }
  await pushAll({ ...large, count: 160 })
  await until('the budget is used', () => target.openNow() >= 50)
  await pushAll({ ...large, count: 60 })
  const ids = await pushAll({ client: other, queue: 'small', url: `${target.url}/small`, count: 10 })
  for (const id of ids)
    expect(await other.ended(id)).toMatchObject({ final_status: 'success', attempt_number: 1 })
  expect(target.openNow()).toBeLessThanOrEqual(90)
  expect(executor?.isRunning()).toBe(true)
  hung.open()
  await until('all have ended', () => target.arrivals('/hung').length === 220, 60_000)
  await here.close()
})
