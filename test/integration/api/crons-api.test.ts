import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type {
  CreatedCron,
  Cron,
  CronList,
  CronRunList,
  StartedRun,
} from '../../../clients/typescript/src/generated/wire.ts'
import { startInstallation, type Installation } from '../../support/engine/installation.ts'
import { latch } from '../../support/targets/target.ts'
import { until } from '../../support/until.ts'

let here: Installation
let url: string

beforeAll(async () => {
  here = await startInstallation()
  url = here.target.url
})
afterAll(() => here.close())

/** A path of the target that no other test uses. */
let paths = 0
const newPath = () => `/cron-${(paths += 1)}`

/** Never due while a test runs. */
const YEARLY = '0 0 1 1 *'

async function create(change: Readonly<Record<string, unknown>> = {}): Promise<CreatedCron> {
  const body = { name: 'Report', url: url + newPath(), cron_expression: YEARLY, ...change }
  const answer = await here.client.send<CreatedCron>('POST', '/api/crons', body)
  expect(answer).toMatchObject({ status: 201 })
  return answer.body
}
const read = async (id: number) => (await here.client.send<Cron>('GET', `/api/crons/${id}`)).body
const runs = async (id: number) =>
  (await here.client.send<CronRunList>('GET', `/api/crons/${id}/runs`)).body.runs
const run = (id: number) => here.client.send<StartedRun>('POST', `/api/crons/${id}/run`)

describe.concurrent('a cron', () => {
  test('is made with its next run, and read with all that was given', async () => {
    const given = {
      url: `${url}/x`,
      method: 'PUT',
      headers: { 'X-B': '2', 'X-A': '1' },
      payload: 'as it is',
      callback_url: `${url}/done`,
      timeout_seconds: 12,
      alert_threshold: 2,
      success_assertions: [{ type: 'body_contains', value: 'ok' }],
      is_active: true,
      time_zone: 'Europe/Berlin',
      concurrency_policy: 'forbid',
      missed_run_policy: 'skip',
      starting_deadline_seconds: 60,
      jitter_seconds: 0,
      queue: 'reports',
      record_responses: 'none',
    }
    const made = await create(given)
    expect(made).toEqual({
      id: expect.any(Number) as number,
      name: 'Report',
      cron_expression: YEARLY,
      // Midnight in Berlin, by its winter time.
      next_run_at: expect.stringMatching(/^\d{4}-12-31T23:00:00\.000\+00:00$/) as string,
      is_active: true,
    })
    expect(await read(made.id)).toEqual({
      ...given,
      id: made.id,
      name: 'Report',
      cron_expression: YEARLY,
      description: expect.any(String) as string,
      next_run_at: made.next_run_at,
      last_run: null,
      last_success_at: null,
      consecutive_failures: 0,
      managed_by: null,
      warnings: [],
    })
  })

  test('has a name that others may have too', async () => {
    const [one, other] = await Promise.all([create({ name: 'Twin' }), create({ name: 'Twin' })])
    expect(one.id).not.toBe(other.id)
  })

  test('is one under its key, while it lives', async () => {
    const body = { name: 'Keyed', url: `${url}/keyed`, cron_expression: YEARLY }
    const under = (change: object = {}) =>
      here.client.send<CreatedCron>(
        'POST',
        '/api/crons',
        { ...body, ...change },
        { 'idempotency-key': 'k-1' },
      )
    const answers = await Promise.all([under(), under(), under()])
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201])
    const ids = new Set(answers.map((answer) => answer.body.id))
    expect(ids.size).toBe(1)
    expect(await under({ time_zone: 'Asia/Tokyo' })).toMatchObject({
      status: 422,
      body: { message: 'The idempotency key field was already used with another request.' },
    })
    // Another team's key is another key.
    const other = await here.clientOfTeam('keyed')
    const theirs = await other.send<CreatedCron>('POST', '/api/crons', body, { 'idempotency-key': 'k-1' })
    expect([theirs.status, ids.has(theirs.body.id)]).toEqual([201, false])
    const [id] = ids
    expect((await here.client.send('DELETE', `/api/crons/${id}`)).status).toBe(204)
    const anew = await under({ time_zone: 'Asia/Tokyo' })
    expect([anew.status, ids.has(anew.body.id)]).toEqual([201, false])
  })

  test('is changed, paused and resumed from now on', async () => {
    const { id } = await create()
    const path = `/api/crons/${id}`
    expect(
      await here.client.send('PATCH', path, { cron_expression: '0 12 * * *', name: 'Noon', queue: 'noon' }),
    ).toMatchObject({
      status: 200,
      body: {
        name: 'Noon',
        queue: 'noon',
        next_run_at: expect.stringContaining('T12:00:00.000+00:00') as string,
      },
    })
    expect(await here.client.send('POST', `${path}/pause`)).toMatchObject({
      status: 200,
      body: { is_active: false, next_run_at: null },
    })
    expect(await here.client.send('PATCH', path, { queue: null })).toMatchObject({ body: { queue: null } })
    expect(await here.client.send('POST', `${path}/resume`)).toMatchObject({
      status: 200,
      body: { is_active: true, next_run_at: expect.stringContaining('T12:00:00.000+00:00') as string },
    })
    expect(await read(id)).toMatchObject({ name: 'Noon', queue: null })
  })

  test('runs by hand, paused too; its runs are listed newest first', async () => {
    const path = newPath()
    const codes = [200, 500]
    here.target.route(path, () => ({ status: codes.shift() ?? 200 }))
    const { id } = await create({ url: url + path, is_active: false, payload: { n: 1 } })
    const first = await run(id)
    expect(first).toMatchObject({ status: 201, body: { cron_id: id } })
    await until('the run has ended', async () => (await read(id)).last_run?.result === 'succeeded')
    const second = await run(id)
    await until('the second run has ended', async () => (await read(id)).last_run?.result === 'failed')
    expect(await runs(id)).toMatchObject([
      { result: 'failed', job_id: second.body.job_id, is_manual: true, ticks: 1 },
      { result: 'succeeded', job_id: first.body.job_id, is_manual: true, ticks: 1 },
    ])
    expect(await read(id)).toMatchObject({ consecutive_failures: 1, next_run_at: null })
    expect(await here.client.job(second.body.job_id)).toMatchObject({
      cron_id: id,
      queue_id: null,
      queue: null,
      payload: '{"n":1}',
      final_status: 'failed_no_retries',
    })
    expect(here.target.arrivals(path)).toMatchObject([{ body: '{"n":1}' }, { body: '{"n":1}' }])
  })

  test('shows no hidden queue under its id, and lets none be changed', async () => {
    const { id } = await create()
    await run(id)
    await until('the run has ended', async () => (await read(id)).last_run?.result === 'succeeded')
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/pause'],
      ['POST', '/resume'],
    ] as const) {
      const body = method === 'PATCH' ? { timeout_seconds: 5 } : undefined
      expect((await here.client.send(method, `/api/queues/${id}${path}`, body)).status).toBe(404)
    }
    expect((await here.client.queues()).queues.map(({ name }) => name)).not.toContain('')
    expect(await run(id)).toMatchObject({ status: 201 })
  })

  test('that forbids it runs once at a time', async () => {
    const path = newPath()
    const held = latch()
    here.target.route(path, held.answering)
    const { id } = await create({ url: url + path, concurrency_policy: 'forbid' })
    const first = await run(id)
    await here.target.arrived(path)
    expect(await run(id)).toMatchObject({
      status: 409,
      body: { error: `Job ${first.body.job_id}, a run of this cron, has not ended` },
    })
    held.open()
    await until('the run has ended', async () => (await read(id)).last_run?.result === 'succeeded')
    expect(await run(id)).toMatchObject({ status: 201 })
    await until('the next has ended', async () =>
      (await runs(id)).every(({ result }) => result === 'succeeded'),
    )
  })

  test('that is deleted is gone', async () => {
    const { id } = await create()
    expect((await here.client.send('DELETE', `/api/crons/${id}`)).status).toBe(204)
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/run'],
      ['POST', '/pause'],
      ['POST', '/resume'],
      ['GET', '/runs'],
    ] as const) {
      const body = method === 'PATCH' ? {} : undefined
      expect((await here.client.send(method, `/api/crons/${id}${path}`, body)).status).toBe(404)
    }
  })

  test('is nobody’s but its team’s', async () => {
    const { id } = await create()
    const other = await here.clientOfTeam('strangers')
    expect((await other.send('GET', `/api/crons/${id}`)).status).toBe(404)
    expect((await other.send('PATCH', `/api/crons/${id}`, { is_active: false })).status).toBe(404)
    expect((await other.send('POST', `/api/crons/${id}/run`)).status).toBe(404)
    expect((await other.send('DELETE', `/api/crons/${id}`)).status).toBe(404)
    expect(await read(id)).toMatchObject({ is_active: true })
  })

  test('is refused with the field and the text when it is wrong, and nothing is made', async () => {
    const lister = await here.clientOfTeam('refused')
    const text = 'The cron expression field never comes: none of its months has a day 31.'
    const body = { name: 'Never', url, cron_expression: '0 0 31 2 *' }
    expect(await lister.send('POST', '/api/crons', body)).toMatchObject({
      status: 422,
      body: { message: text, errors: { cron_expression: [text] } },
    })
    expect(await lister.send('GET', '/api/crons')).toMatchObject({ body: { crons: [] } })
  })
})

test('crons are listed page by page, each once', async () => {
  const team = await here.clientOfTeam('listing')
  const names = Array.from({ length: 7 }, (_, index) => `Cron ${index}`)
  for (const name of names) {
    await team.send('POST', '/api/crons', { name, url, cron_expression: YEARLY })
  }
  const found: string[] = []
  let cursor: string | null = null
  do {
    const query: string = cursor === null ? '' : `&cursor=${cursor}`
    const { body }: { body: CronList } = await team.send<CronList>('GET', `/api/crons?limit=3${query}`)
    found.push(...body.crons.map(({ name }) => name))
    cursor = body.next_cursor
  } while (cursor !== null)
  expect(found).toEqual(names)
})

test('an outage of Redis is a 503 with Retry-After, and makes nothing', async () => {
  const own = await startInstallation({ executors: 0 })
  const made = await own.client.send<CreatedCron>('POST', '/api/crons', {
    name: 'Kept',
    url,
    cron_expression: YEARLY,
  })
  own.redis.process.kill('SIGSTOP')
  const answer = await own.client.send('POST', '/api/crons', { name: 'Lost', url, cron_expression: YEARLY })
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2'])
  own.redis.process.kill('SIGCONT')
  await until('the API answers', async () => (await own.client.send('GET', '/api/crons')).status === 200)
  const { crons } = (await own.client.send<CronList>('GET', '/api/crons')).body
  expect(crons.map(({ id }) => id)).toEqual([made.body.id])
  await own.close()
})

test('a team at its quotas is refused runs by hand, replays and new crons, by an API that has them', async () => {
  const path = newPath()
  here.target.route(path, () => ({ status: 500 }))
  const { job_id: dead } = await here.client.push({ queue: 'over', url: url + path, retry_delays: [1] })
  const { id } = await create()
  expect(await here.client.ended(dead)).toMatchObject({ final_status: 'dead_lettered' })
  const { client } = await here.startApi({ PUNCTUAL_QUOTA_JOBS_PER_MONTH: '0', PUNCTUAL_QUOTA_CRONS: '0' })
  const monthly = { error: "The team's quota of 0 jobs per month is used up (jobsPerMonth)" }
  expect(await client.send('POST', `/api/crons/${id}/run`)).toMatchObject({ status: 429, body: monthly })
  expect(await client.send('POST', `/api/jobs/${dead}/replay`)).toMatchObject({ status: 429, body: monthly })
  const cron = { name: 'One more', url: `${url}/x`, cron_expression: YEARLY }
  expect(await client.send('POST', '/api/crons', cron)).toMatchObject({
    status: 429,
    body: { error: "The team's quota of 0 crons is used up (crons)" },
  })
  expect(await here.client.send('POST', `/api/jobs/${dead}/replay`)).toMatchObject({ status: 201 })
})
