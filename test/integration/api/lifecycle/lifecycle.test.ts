import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startInstallation, type Installation } from '../../../support/engine/installation.ts'
import { latch, statuses } from '../../../support/targets/target.ts'
import { until } from '../../../support/until.ts'

let here: Installation
let url: string

beforeAll(async () => {
  here = await startInstallation()
  url = here.target.url
})
afterAll(() => here.close())

/** A path of the target that no other test uses. */
let paths = 0
const newPath = () => `/job-${(paths += 1)}`

const callbackBodies = (path: string) =>
  here.target.arrivals(path).map((arrival) => JSON.parse(arrival.body) as Record<string, unknown>)

describe.concurrent('a job', () => {
  test('that succeeds is completed and called back once, with exactly the fields of the contract', async () => {
    const path = newPath()
    const { job_id: id } = await here.client.push({
      queue: 'success',
      url: url + path,
      callback_url: `${url}${path}-cb`,
      tags: { customer: '77' },
    })
    const job = await here.client.ended(id)
    expect(job).toMatchObject({
      status: 'completed',
      final_status: 'success',
      attempt_number: 1,
      is_retry: false,
      has_pending_retry: false,
      response_status: 200,
      failure_reason: null,
      error_message: null,
      dead_lettered_at: null,
      tags: { customer: '77' },
    })
    expect(job.calls).toHaveLength(1)
    const [callback] = await here.target.arrived(`${path}-cb`)
    expect(callback).toMatchObject({ method: 'POST', webhookId: `${job.uuid}_cb`, jobId: null })
    expect(callback?.headers['content-type']).toBe('application/json')
    expect(callbackBodies(`${path}-cb`)).toEqual([
      {
        type: 'job_execution',
        job_id: job.uuid,
        job_number: id,
        status: 'success',
        response_status: 200,
        duration_ms: expect.any(Number) as number,
        error_message: null,
        attempt_number: 1,
        completed_at: job.completed_at,
      },
    ])
    expect(here.target.arrivals(path)).toMatchObject([{ jobId: id, attempt: 1, webhookId: job.uuid }])
  })

  test('in flight is processing, and its final status is open', async () => {
    const path = newPath()
    const held = latch()
    here.target.route(path, held.answering)
    const { job_id: id } = await here.client.push({ queue: 'processing', url: url + path })
    await here.target.arrived(path)
    expect(await here.client.job(id)).toMatchObject({
      status: 'processing',
      final_status: null,
      started_at: expect.any(String) as string,
      completed_at: null,
    })
    held.open()
    expect(await here.client.ended(id)).toMatchObject({ status: 'completed' })
  })

  test('that fails once is retried as a new job, and the chain ends in success', async () => {
    const path = newPath()
    here.target.route(path, statuses(503, 200))
    const { job_id: id } = await here.client.push({
      queue: 'retry-success',
      url: url + path,
      // Time to see it wait.
      retry_delays: [4, 60],
      callback_url: `${url}${path}-cb`,
    })
    const waiting = await here.client.jobThat(id, 'failed', (job) => job.status === 'failed')
    expect(waiting).toMatchObject({
      final_status: 'retrying',
      has_pending_retry: true,
      failure_reason: 'http_server_error',
      response_status: 503,
      // Those of the push, and for the rest those of the queue.
      settings: { retry_delays: [4, 60], retries_enabled: true, timeout_seconds: 30 },
      expires_at: null,
      trace_id: null,
    })
    const done = await here.client.jobThat(id, 'succeeded', (job) => job.final_status === 'success')
    expect(done).toMatchObject({
      status: 'failed',
      has_pending_retry: false,
      attempt_number: 1,
      settings: null,
    })
    expect(done.chain).toMatchObject([
      { job_id: id, attempt_number: 1, is_retry: false, status: 'failed' },
      {
        attempt_number: 2,
        is_retry: true,
        status: 'completed',
        final_status: 'success',
        original_job_id: id,
      },
    ])
    const [first, second] = done.chain
    const waitedMs = Date.parse(second?.scheduled_at ?? '') - Date.parse(first?.completed_at ?? '')
    expect(waitedMs).toBeGreaterThanOrEqual(4000)
    const retry = await here.client.job(second?.job_id ?? 0)
    expect(retry).toMatchObject({ is_retry: true, has_pending_retry: false, calls: [{ attempt_number: 2 }] })
    await here.target.arrived(`${path}-cb`)
    expect(callbackBodies(`${path}-cb`)).toMatchObject([
      { job_id: done.uuid, job_number: id, status: 'success', attempt_number: 2 },
    ])
    const ids = here.target.arrivals(path).map((arrival) => arrival.webhookId)
    expect(ids).toEqual([done.uuid, done.uuid])
  })

  test('whose retries are used up is dead-lettered, kept as long as the queue says, and called back', async () => {
    const path = newPath()
    here.target.route(path, statuses(500))
    const queueId = await here.client.makeQueue('dead', { dlq_retention_days: 3 })
    const { job_id: id } = await here.client.push({
      queue: 'dead',
      url: url + path,
      retry_delays: [1, 1],
      callback_url: `${url}${path}-cb`,
    })
    const dead = await here.client.ended(id)
    expect(dead).toMatchObject({
      status: 'failed',
      final_status: 'dead_lettered',
      has_pending_retry: false,
      dead_lettered_at: dead.chain[2]?.completed_at,
      settings: { retry_delays: [1, 1] },
    })
    expect(dead.chain.map((each) => [each.attempt_number, each.final_status])).toEqual([
      [1, 'dead_lettered'],
      [2, 'failed_with_retries'],
      [3, 'failed_with_retries'],
    ])
    await here.target.arrived(`${path}-cb`)
    expect(callbackBodies(`${path}-cb`)).toMatchObject([
      { job_id: dead.uuid, status: 'dead_lettered', response_status: 500, attempt_number: 3 },
    ])
    const { jobs } = await here.client.jobs({ queue: 'dead', status: 'dead_lettered' })
    expect(jobs.map((job) => job.job_id)).toEqual([id])
    expect(await here.client.queueNamed('dead')).toMatchObject({ queue_id: queueId, counts: { dead: 1 } })
    const keys = await here.redis.client.keys('punctual:*:x:*')
    const scores = await Promise.all(keys.map((key) => here.redis.client.zscore(key, String(id))))
    const purgeAtMs = Number(scores.find((score) => score !== null))
    expect(Date.parse(dead.expires_at ?? '')).toBe(purgeAtMs)
    const keptDays = (purgeAtMs - Date.parse(dead.dead_lettered_at ?? '')) / 86_400_000
    expect(keptDays).toBeCloseTo(3, 3)
    expect(here.target.arrivals(path).map((arrival) => arrival.attempt)).toEqual([1, 2, 3])
  })

  test('fails for good when the queue has retries off, or the job itself', async () => {
    const path = newPath()
    here.target.route(path, statuses(404))
    await here.client.makeQueue('no-retries', { retries_enabled: false })
    const ofQueue = await here.client.push({
      queue: 'no-retries',
      url: url + path,
      callback_url: `${url}${path}-cb`,
    })
    const ofJob = await here.client.push({ queue: 'with-retries', url: url + path, retries_enabled: false })
    for (const { job_id: id } of [ofQueue, ofJob]) {
      expect(await here.client.ended(id)).toMatchObject({
        status: 'failed',
        final_status: 'failed_no_retries',
        failure_reason: 'http_client_error',
        has_pending_retry: false,
        dead_lettered_at: null,
        chain: [{ attempt_number: 1 }],
      })
    }
    await here.target.arrived(`${path}-cb`)
    expect(callbackBodies(`${path}-cb`)).toMatchObject([{ status: 'failed_no_retries', attempt_number: 1 }])
    expect(here.target.arrivals(path)).toHaveLength(2)
  })

  test('may ask for a callback after every attempt', async () => {
    const path = newPath()
    here.target.route(path, statuses(500))
    const { job_id: id } = await here.client.push({
      queue: 'every-attempt',
      url: url + path,
      retry_delays: [1, 1],
      callback_url: `${url}${path}-cb`,
      callback_events: 'every_attempt',
    })
    const { uuid } = await here.client.ended(id)
    const callbacks = await here.target.arrived(`${path}-cb`, 3)
    const told = callbacks.map(({ body, webhookId }) => {
      const { attempt_number: attempt, status } = JSON.parse(body) as Record<string, unknown>
      return [attempt, status, webhookId]
    })
    // Each is a job of its own, and may come after the next.
    expect(told.toSorted(([one], [other]) => Number(one) - Number(other))).toEqual([
      [1, 'retrying', `${uuid}_cb_1`],
      [2, 'failed_with_retries', `${uuid}_cb_2`],
      [3, 'dead_lettered', `${uuid}_cb`],
    ])
  })

  test('is not harmed by a callback that fails', async () => {
    const path = newPath()
    here.target.route(`${path}-cb`, statuses(500))
    const { job_id: id } = await here.client.push({
      queue: 'callback-fails',
      url: url + path,
      callback_url: `${url}${path}-cb`,
    })
    expect(await here.client.ended(id)).toMatchObject({ final_status: 'success' })
    const [callback] = await here.target.arrived(`${path}-cb`)
    await until('its exchange is over', () => callback?.closedAtMs)
    expect(await here.client.job(id)).toMatchObject({ final_status: 'success', calls: [{}] })
    expect(here.target.arrivals(`${path}-cb`)).toHaveLength(1)
  })

  test('with a delay never starts early, by the time of Redis', async () => {
    const redisNowMs = async () => {
      const [seconds, micros] = await here.redis.client.time()
      return Number(seconds) * 1000 + Number(micros) / 1000
    }
    const path = newPath()
    const seen: Array<{ id: number | null; atMs: number }> = []
    here.target.route(path, async ({ jobId, arrivedAtMs }) => {
      // What passed between the arrival and the read is taken off again. The read's own way is not: taken off, a slow
      // reply would make a call look early that was not. The two whole milliseconds are good to one.
      const passedMs = Date.now() - arrivedAtMs
      seen.push({ id: jobId, atMs: (await redisNowMs()) - passedMs + 1 })
      return {}
    })
    const askedAtMs = await redisNowMs()
    const pushes = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        here.client.push({ queue: `delay-${i % 8}`, url: url + path, delay: 1 + (i % 2) }),
      ),
    )
    for (const [i, { scheduled_at: at }] of pushes.entries()) {
      expect(Date.parse(at)).toBeGreaterThanOrEqual(Math.floor(askedAtMs) + 1000 + (i % 2) * 1000)
    }
    await until('each call has been seen', () => seen.length >= 40)
    const dueMs = new Map(pushes.map((push) => [push.job_id, Date.parse(push.scheduled_at)]))
    for (const { id, atMs } of seen) expect(atMs).toBeGreaterThanOrEqual(dueMs.get(id ?? 0) ?? Infinity)
    expect(new Set(seen.map(({ id }) => id)).size).toBe(40)
  })

  test('with a run_at in the past starts at once, in the future waits', async () => {
    const path = newPath()
    const past = await here.client.push({ queue: 'run-at', url: url + path, run_at: '2020-01-01T00:00:00Z' })
    const future = new Date(Date.now() + 3_600_000).toISOString()
    const later = await here.client.push({ queue: 'run-at', url: url + path, run_at: future })
    expect(await here.client.ended(past.job_id)).toMatchObject({ final_status: 'success' })
    const job = await here.client.job(later.job_id)
    expect(job).toMatchObject({ status: 'pending', started_at: null })
    expect(Date.parse(job.scheduled_at)).toBe(Date.parse(future))
    expect((await here.client.send('DELETE', `/api/jobs/${later.job_id}`)).status).toBe(204)
  })

  test('in a dead-letter queue is replayed once, under the settings of now', async () => {
    const path = newPath()
    here.target.route(path, statuses(500))
    const queueId = await here.client.makeQueue('replayed', { retry_delays: [1] })
    const { job_id: id } = await here.client.push({
      queue: 'replayed',
      url: url + path,
      payload: { order: 1 },
      tags: { a: 'b' },
    })
    const dead = await here.client.ended(id)
    await here.client.send('PATCH', `/api/queues/${queueId}`, { retries_enabled: false })
    const replay = await here.client.send<{ job_id: number }>('POST', `/api/jobs/${dead.uuid}/replay`)
    expect(replay).toMatchObject({ status: 201, body: { success: true, queue_id: queueId } })
    const again = await here.client.ended(replay.body.job_id)
    expect(again).toMatchObject({ final_status: 'failed_no_retries', attempt_number: 1, tags: { a: 'b' } })
    expect(again.uuid).not.toBe(dead.uuid)
    expect(here.target.arrivals(path).map((arrival) => arrival.body)).toEqual(Array(3).fill('{"order":1}'))
    expect(await here.client.job(id)).toMatchObject({ replayed_as: replay.body.job_id })
    const second = await here.client.send('POST', `/api/jobs/${id}/replay`)
    expect(second).toMatchObject({
      status: 409,
      body: { error: `The job was already retried or replayed, as job ${replay.body.job_id}` },
    })
    expect((await here.client.send('POST', `/api/jobs/${replay.body.job_id}/replay`)).status).toBe(409)
    expect(await here.client.queueNamed('replayed')).toMatchObject({ counts: { dead: 0 } })
  })

  test('can be deleted while it waits and once it has ended', async () => {
    const path = newPath()
    const held = latch()
    here.target.route(path, held.answering)
    const waiting = await here.client.push({ queue: 'cancel', url: url + path, delay: 3600 })
    const running = await here.client.push({ queue: 'cancel', url: url + path })
    await here.target.arrived(path)
    const cancel = (id: number | string) => here.client.send('DELETE', `/api/jobs/${id}`)
    expect((await cancel(waiting.job_id)).status).toBe(204)
    expect((await cancel(waiting.job_id)).status).toBe(404)
    expect((await here.client.send('GET', `/api/jobs/${waiting.job_id}`)).status).toBe(404)
    expect(await cancel(running.job_id)).toMatchObject({
      status: 409,
      body: { error: 'The job is in flight and cannot be deleted' },
    })
    held.open()
    await here.client.ended(running.job_id)
    expect((await cancel(running.job_id)).status).toBe(204)
    expect((await here.client.send('GET', `/api/jobs/${running.job_id}`)).status).toBe(404)
    expect((await cancel('4503599627370495')).status).toBe(404)
    expect(here.target.arrivals(path)).toHaveLength(1)
  })

  test('pushed twice under one key is one job; another body under it is refused', async () => {
    const path = newPath()
    const body = { queue: 'idempotent', url: url + path, payload: { a: 1 } }
    const key = { 'idempotency-key': 'order-1042' }
    const pushes = await Promise.all([1, 2, 3, 4].map(() => here.client.push(body, key)))
    expect(new Set(pushes.map((push) => JSON.stringify(push))).size).toBe(1)
    await here.client.ended(pushes[0]?.job_id ?? 0)
    expect(await here.client.push(body, key)).toEqual(pushes[0])
    const other = await here.client.send('POST', '/api/jobs', { ...body, payload: { a: 2 } }, key)
    const text = 'The idempotency key field was already used with another request.'
    expect(other.status).toBe(422)
    expect(Object.values((other.body as { errors: object }).errors)).toEqual([[text]])
    expect(here.target.arrivals(path)).toHaveLength(1)
  })
})
