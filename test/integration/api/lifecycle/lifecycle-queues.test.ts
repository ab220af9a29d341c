import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JobList } from '../../../../clients/typescript/src/generated/wire.ts'
import { createShardKeys } from '../../../../src/redis/base/layout/keys.ts'
import type { ApiClient } from '../../../support/servers/api-client.ts'
import { startInstallation, type Installation } from '../../../support/engine/installation.ts'
import { latch, statuses } from '../../../support/targets/target.ts'
import { until } from '../../../support/until.ts'

/** Of an installation that does not say. */
const SHARDS = 4

let here: Installation
let url: string

beforeAll(async () => {
  here = await startInstallation()
  url = here.target.url
})
afterAll(() => here.close())

/** Of calls that are held until all is read. */
const HELD = { timeout_seconds: 300 }

/** A path of the target that no other test uses. */
let paths = 0
const newPath = () => `/job-${(paths += 1)}`

describe.concurrent('a queue', () => {
  test('that a push makes has the default settings', async () => {
    const { queue_id: id } = await here.client.push({
      queue: 'fresh  ü/queue',
      url: url + newPath(),
      delay: 600,
    })
    expect(await here.client.queueNamed('fresh  ü/queue')).toEqual({
      queue_id: id,
      name: 'fresh  ü/queue',
      is_active: true,
      is_draining: false,
      timeout_seconds: 30,
      retries_enabled: true,
      retry_delays: [60, 1800, 10_800],
      no_retry_statuses: [],
      retry_jitter_percent: 0,
      success_assertions: [],
      alerts_enabled: false,
      max_parallelism: null,
      rate_limit: null,
      respect_retry_after: false,
      circuit_breaker: null,
      dlq_retention_days: 14,
      callback_events: 'terminal',
      record_responses: 'all',
      strict_parallelism: false,
      throttled: null,
      counts: { pending: 0, delayed: 1, processing: 0, dead: 0 },
      oldest_startable_seconds: null,
      startable: 0,
      stopped: null,
      last_hour: {
        ended: 0,
        failed: 0,
        lateness_ms_p99: null,
        trend: { ended: Array(12).fill(0), failed: Array(12).fill(0) },
      },
      managed_by: null,
    })
  })

  test('that is paused starts nothing, lets calls end, and goes on when it is resumed', async () => {
    const path = newPath()
    const held = latch()
    here.target.route(`${path}/running`, held.answering)
    const running = await here.client.push({ queue: 'paused', url: `${url}${path}/running` })
    await here.target.arrived(`${path}/running`)
    const queue = `/api/queues/${running.queue_id}`
    expect(await here.client.send('POST', `${queue}/pause`, { reason: 'It moves.' })).toMatchObject({
      status: 200,
      body: { is_active: false, counts: { processing: 1 } },
    })
    const waiting = await here.client.push({ queue: 'paused', url: `${url}${path}/waiting` })
    const delayed = await here.client.push({ queue: 'paused', url: `${url}${path}/waiting`, delay: 1 })
    held.open()
    expect(await here.client.ended(running.job_id)).toMatchObject({ final_status: 'success' })
    await until('the delayed job is ready', async () => {
      return (await here.client.queueNamed('paused'))?.counts.pending === 2
    })
    expect(here.target.arrivals(`${path}/waiting`)).toEqual([])
    expect(await here.client.job(waiting.job_id)).toMatchObject({ status: 'pending' })
    expect(await here.client.send('GET', `${queue}/state`)).toMatchObject({
      body: {
        paused: { via: 'api', reason: 'It moves.' },
        draining: null,
        oldest_ready_seconds: expect.any(Number) as number,
      },
    })
    expect(await here.client.send('POST', `${queue}/resume`)).toMatchObject({ body: { is_active: true } })
    await here.client.ended(waiting.job_id)
    await here.client.ended(delayed.job_id)
  })

  test('that has stopped calling its target is told of, and calls it again when it is resumed', async () => {
    const path = newPath()
    const breaker = { failure_percent: 100, min_calls: 1, window_seconds: 60, open_seconds: 900 }
    const settings = { circuit_breaker: breaker, retries_enabled: false }
    const id = await here.client.makeQueue('broken', settings)
    here.target.route(path, statuses(500))
    const failing = await here.client.push({ queue: 'broken', url: url + path })
    expect(await here.client.ended(failing.job_id)).toMatchObject({ final_status: 'failed_no_retries' })
    const until = expect.stringMatching(/^\d{4}-/) as string
    expect(await here.client.queueNamed('broken')).toMatchObject({
      circuit_breaker: breaker,
      throttled: { reason: 'circuit_open', until },
    })
    const waiting = await here.client.push({ queue: 'broken', url: url + path })
    expect(await here.client.job(waiting.job_id)).toMatchObject({
      status: 'pending',
      waiting: { reason: 'circuit_open', until, estimated_start_at: until },
    })
    here.target.route(path, statuses(200))
    expect(await here.client.send('POST', `/api/queues/${id}/resume`)).toMatchObject({
      status: 200,
      body: { throttled: null },
    })
    expect(await here.client.ended(waiting.job_id)).toMatchObject({ final_status: 'success' })
  })

  test('never has more calls open than its limit, which can be raised and lowered', async () => {
    const path = newPath()
    const held = latch()
    here.target.route(path, held.answering)
    const id = await here.client.makeQueue('limited', { max_parallelism: 2 })
    const jobs = await Promise.all(
      Array.from({ length: 12 }, () => here.client.push({ queue: 'limited', url: url + path })),
    )
    await here.target.arrived(path, 2)
    expect(await here.client.queueNamed('limited')).toMatchObject({ counts: { processing: 2, pending: 10 } })
    await here.client.send('PATCH', `/api/queues/${id}`, { max_parallelism: 5 })
    await here.target.arrived(path, 5)
    await here.client.send('PATCH', `/api/queues/${id}`, { max_parallelism: 1 })
    const lower = latch()
    here.target.route(path, lower.answering)
    held.open()
    await here.target.arrived(path, 6)
    expect(await here.client.queueNamed('limited')).toMatchObject({ counts: { processing: 1 } })
    lower.open()
    for (const job of jobs) await here.client.ended(job.job_id)
    const after = here.target.arrivals(path).slice(5)
    const overlaps = after.filter((one, i) => i > 0 && (after[i - 1]?.closedAtMs ?? 0) > one.arrivedAtMs + 5)
    expect(here.target.mostOpen(path)).toBe(5)
    expect(overlaps).toEqual([])
    expect(after).toHaveLength(7)
  })

  test('that loses its limit starts all that wait', async () => {
    const path = newPath()
    const held = latch()
    here.target.route(path, held.answering)
    const id = await here.client.makeQueue('unlimited', { max_parallelism: 1 })
    for (let i = 0; i < 5; i += 1) await here.client.push({ queue: 'unlimited', url: url + path })
    await here.target.arrived(path)
    await here.client.send('PATCH', `/api/queues/${id}`, { max_parallelism: null })
    expect(await here.target.arrived(path, 5)).toHaveLength(5)
    held.open()
  })

  test('that is edited uses the new settings for new jobs only', async () => {
    const path = newPath()
    const held = latch({ status: 500 })
    here.target.route(`${path}/old`, (arrival, nth) => (nth === 1 ? held.answering(arrival, nth) : {}))
    here.target.route(`${path}/new`, statuses(500))
    const id = await here.client.makeQueue('edited', { retry_delays: [1] })
    const old = await here.client.push({ queue: 'edited', url: `${url}${path}/old` })
    const delayed = await here.client.push({ queue: 'edited', url: `${url}${path}/delayed`, delay: 1 })
    await here.target.arrived(`${path}/old`)
    const edit = await here.client.send('PATCH', `/api/queues/${id}`, {
      retries_enabled: false,
      success_assertions: [{ type: 'status_code_equals', value: 404 }],
    })
    expect(edit).toMatchObject({
      status: 200,
      body: {
        retries_enabled: false,
        warnings: ['success_assertions.0: only a 2xx response is a success, so status 404 can never pass.'],
      },
    })
    held.open()
    expect(await here.client.ended(old.job_id)).toMatchObject({ final_status: 'success', chain: [{}, {}] })
    expect(await here.client.ended(delayed.job_id)).toMatchObject({ final_status: 'success' })
    const fresh = await here.client.push({ queue: 'edited', url: `${url}${path}/new` })
    expect(await here.client.ended(fresh.job_id)).toMatchObject({ final_status: 'failed_no_retries' })
  })

  test('that is deleted takes all its jobs along, those in flight too', async () => {
    const path = newPath()
    const held = latch({ status: 500 })
    here.target.route(path, held.answering)
    const id = await here.client.makeQueue('deleted', { retry_delays: [1] })
    const push = (more: object = {}) =>
      here.client.push({ queue: 'deleted', url: url + path, callback_url: `${url}${path}-cb`, ...more })
    const running = await Promise.all([push(), push({ callback_events: 'every_attempt' })])
    // Not due before the queue is deleted.
    const waiting = await push({ delay: 6 })
    const late = await push({ delay: 600, payload: { large: 'x'.repeat(10_000) } })
    await here.target.arrived(path, 2)
    expect((await here.client.send('DELETE', `/api/queues/${id}`)).status).toBe(204)
    expect((await here.client.send('DELETE', `/api/queues/${id}`)).status).toBe(404)
    const again = await here.client.push({ queue: 'deleted', url: `${url}${path}-again` })
    expect(again.queue_id).not.toBe(id)
    await here.client.ended(again.job_id)
    held.open()
    for (const { job_id: jobId } of [...running, waiting, late]) {
      expect((await here.client.send('GET', `/api/jobs/${jobId}`)).status).toBe(404)
    }
    await until('no key of the queue is left', async () => (await keysOf(id)).length === 0, 30_000)
    const dueMs = Date.parse(waiting.scheduled_at)
    await until('the delayed job would have been due', () => Date.now() > dueMs)
    await until('its entry has been dropped', async () => {
      const near = await here.redis.client.zrange(createShardKeys(id % SHARDS).nearSet, '0', '-1')
      return !near.some((member) => member.endsWith(`|${waiting.job_id}`))
    })
    expect(here.target.arrivals(path)).toHaveLength(2)
    expect(here.target.arrivals(`${path}-cb`)).toEqual([])
  }, 60_000)
})

/** The keys that exist of a queue, its trash included. */
async function keysOf(queueId: number): Promise<string[]> {
  const keys = createShardKeys(queueId % SHARDS)
  const local = String(Math.floor(queueId / SHARDS))
  const all = Object.values(keys.queue(local))
  const exist = await Promise.all(all.map((key) => here.redis.client.exists(key)))
  return all.filter((_, i) => exist[i] === 1)
}

describe.concurrent('another team', () => {
  let team: ApiClient
  beforeAll(async () => {
    team = await here.clientOfTeam('others')
  })

  test('sees nothing of ours and changes nothing', async () => {
    const { job_id: id, queue_id: queueId } = await here.client.push({
      queue: 'ours',
      url: url + newPath(),
      delay: 600,
    })
    const { uuid } = await here.client.job(id)
    const paths = [
      ['GET', `/api/jobs/${id}`],
      ['GET', `/api/jobs/${uuid}`],
      ['DELETE', `/api/jobs/${id}`],
      ['POST', `/api/jobs/${id}/replay`],
      ['GET', `/api/queues/${queueId}`],
      ['PATCH', `/api/queues/${queueId}`],
      ['POST', `/api/queues/${queueId}/pause`],
      ['DELETE', `/api/queues/${queueId}`],
    ] as const
    for (const [method, path] of paths) {
      const answer = await team.send(method, path, method === 'PATCH' ? { is_active: false } : undefined)
      expect(answer, `${method} ${path}`).toMatchObject({ status: 404, body: { error: 'Not found' } })
    }
    expect((await team.jobs({ queue: 'ours' })).jobs).toEqual([])
    expect(await here.client.job(id)).toMatchObject({ status: 'pending' })
    expect(await here.client.queueNamed('ours')).toMatchObject({ is_active: true })
  })

  test('has a queue of its own under the same name', async () => {
    const ours = await here.client.push({ queue: 'shared name', url: url + newPath() })
    const theirs = await team.push({ queue: 'shared name', url: url + newPath() })
    expect(theirs.queue_id).not.toBe(ours.queue_id)
    await team.ended(theirs.job_id)
    expect((await team.jobs({ queue: 'shared name' })).jobs.map((job) => job.job_id)).toEqual([theirs.job_id])
  })
})

describe('lists', () => {
  test('find every job once, by status, by queue and page by page', async () => {
    const lister = await here.clientOfTeam('lister')
    const path = newPath()
    const held = latch()
    here.target.route(`${path}/held`, held.answering)
    here.target.route(`${path}/fails`, statuses(500))
    const expected = new Map<string, Set<number>>()
    const push = async (status: string, queue: string, job: Parameters<ApiClient['push']>[0]) => {
      const { job_id: id } = await lister.push({ queue, ...job })
      expected.set(status, (expected.get(status) ?? new Set<number>()).add(id))
      return id
    }
    const ended: number[] = []
    for (let i = 0; i < 7; i += 1) {
      const queue = `list-${i % 3}`
      await push('pending', queue, { url: url + path, delay: 900 + i })
      await push('processing', queue, { url: `${url}${path}/held`, ...HELD })
      ended.push(await push('completed', queue, { url: url + path }))
      ended.push(await push('failed', queue, { url: `${url}${path}/fails`, retries_enabled: false }))
      ended.push(await push('dead_lettered', queue, { url: `${url}${path}/fails`, retry_delays: [1] }))
    }
    await here.target.arrived(`${path}/held`, 7)
    for (const id of ended) await lister.ended(id)
    for (const [status, ids] of expected) {
      const { jobs } = await lister.jobs({ status, limit: '1000' })
      const originals = jobs.filter((job) => !job.is_retry).map((job) => job.job_id)
      if (status !== 'failed') expect(new Set(originals), status).toEqual(ids)
      else expect(originals, status).toEqual(expect.arrayContaining([...ids]))
      expect(new Set(jobs.map((job) => job.job_id)).size, status).toBe(jobs.length)
      for (const limit of ['1', '2', '1000']) {
        const paged = await allPages(lister, { status, limit })
        expect(new Set(paged), `${status} by ${limit}`).toEqual(new Set(jobs.map((job) => job.job_id)))
        expect(paged, `${status} by ${limit}`).toHaveLength(jobs.length)
      }
      const byQueue = await Promise.all(
        [0, 1, 2].map((i) => allPages(lister, { status, queue: `list-${i}`, limit: '2' })),
      )
      expect(new Set(byQueue.flat())).toEqual(new Set(jobs.map((job) => job.job_id)))
    }
    const all = await allPages(lister, { limit: '3' })
    for (const ids of expected.values()) for (const id of ids) expect(all).toContain(id)
    expect(new Set(all).size).toBe(all.length)
    const queues = await lister.queues({ limit: '2' })
    const rest = await lister.queues({ limit: '2', cursor: queues.next_cursor ?? '' })
    expect([...queues.queues, ...rest.queues].map((queue) => queue.name)).toEqual([
      'list-0',
      'list-1',
      'list-2',
    ])
    expect(rest.next_cursor).toBeNull()
    held.open()
  })

  async function allPages(client: ApiClient, query: Readonly<Record<string, string>>): Promise<number[]> {
    const ids: number[] = []
    let cursor: string | null = null
    do {
      const page: JobList = await client.jobs({ ...query, ...(cursor === null ? {} : { cursor }) })
      ids.push(...page.jobs.map((job) => job.job_id))
      cursor = page.next_cursor
    } while (cursor !== null && ids.length < 10_000)
    return ids
  }

  test('lose and repeat nothing where most jobs of a queue are of another state', async () => {
    const path = newPath()
    const held = latch()
    here.target.route(`${path}/held`, held.answering)
    const running = await Promise.all(
      Array.from({ length: 20 }, () =>
        here.client.push({ queue: 'mixed', url: `${url}${path}/held`, ...HELD }),
      ),
    )
    for (let i = 0; i < 180; i += 1) {
      await here.client.push({ queue: 'mixed', url: url + path, delay: 3600 })
    }
    await here.target.arrived(`${path}/held`, 20)
    const ids = running.map((job) => job.job_id)
    for (const limit of ['1', '3', '7']) {
      const paged = await allPages(here.client, { queue: 'mixed', status: 'processing', limit })
      expect(paged, `by ${limit}`).toHaveLength(ids.length)
      expect(new Set(paged), `by ${limit}`).toEqual(new Set(ids))
    }
    expect(await allPages(here.client, { queue: 'mixed', limit: '9' })).toHaveLength(200)
    held.open()
  })

  test('show of a request with huge headers what they show of others', async () => {
    const asked = {
      queue: 'huge',
      url: `${url}${newPath()}`,
      method: 'PUT' as const,
      headers: { 'X-Huge': 'x'.repeat(8_000) },
      payload: { n: 1 },
      tags: { customer: '42' },
      callback_url: `${url}/cb`,
      delay: 3600,
    }
    const { job_id } = await here.client.push(asked)
    const { method, tags, callback_url } = asked
    const { jobs } = await here.client.jobs({ queue: 'huge' })
    expect(jobs).toMatchObject([{ job_id, url: asked.url, method, tags, callback_url }])
    const { headers } = asked
    expect(await here.client.job(job_id)).toMatchObject({ headers, payload: { n: 1 }, tags })
  })

  test('refuse what is no cursor, no status and no limit', async () => {
    for (const query of [
      'cursor=nonsense',
      'status=done',
      'limit=0',
      'limit=1001',
      'limit=x',
      'page=2',
      'queue=',
    ]) {
      const [field] = query.split('=')
      expect(await here.client.send('GET', `/api/jobs?${query}`), query).toMatchObject({
        status: 422,
        body: { errors: { [field ?? '']: [expect.any(String)] } },
      })
    }
  })
})
