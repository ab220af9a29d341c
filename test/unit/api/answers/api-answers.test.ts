import { request as send } from 'node:http'
import { ANY_JOB } from '../../../../src/domain/jobs/job-filter.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  aChain,
  BEARER,
  call,
  createdResult,
  JOB_IDS,
  push,
  RETRY_ID,
  ROOT_ID,
  type RunningApi,
  startApi,
  TOKEN,
} from '../api-fixture.ts'

const GOOD = { queue: 'emails', url: 'https://example.com/hook' }
const CREATED =
  '{"success":true,"queue_id":7,"job_id":16,"scheduled_at":"2026-11-21T10:00:00.000+00:00","message":"Scheduled successfully"}'

let api: RunningApi
beforeEach(async () => {
  api = await startApi()
})
afterEach(() => api.close())

describe('a push', () => {
  test('is answered 201 with the body of the contract, and nothing that gives us away', async () => {
    const answer = await push(api.port, GOOD)
    expect(answer).toMatchObject({ status: 201, text: CREATED })
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(CREATED.length),
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
    expect(Object.keys(answer.headers)).not.toEqual(expect.arrayContaining(['x-powered-by']))
    expect(Object.keys(answer.headers)).not.toEqual(expect.arrayContaining(['etag']))
  })

  test('reaches the store with its team, its payload as written and its key', async () => {
    const payload = '{ "n": 12345678901234567890.10, "ü": [] }'
    await push(api.port, `{"queue":"emails","url":"${GOOD.url}","payload":${payload},"delay":5}`, {
      'idempotency-key': '"k-1"',
    })
    expect(api.pushed).toMatchObject([
      {
        team: 'default',
        queue: 'emails',
        request: { url: GOOD.url, payload },
        start: { delaySeconds: 5 },
        idempotency: { key: 'k-1' },
      },
    ])
  })

  test('a repeat is answered as the first time', async () => {
    const own = await startApi({
      intake: { push: () => Promise.resolve({ ...createdResult(), status: 'repeated' } as never) },
    })
    expect(await push(own.port, GOOD, { 'idempotency-key': 'k' })).toMatchObject({
      status: 201,
      text: CREATED,
    })
    await own.close()
  })

  test('goes the same way with a query string, in absolute form, and in small pieces', async () => {
    const headers = { ...BEARER, 'content-type': 'application/json' }
    const body = JSON.stringify(GOOD)
    for (const path of ['/api/jobs?x=1', `http://127.0.0.1:${api.port}/api/jobs`]) {
      expect(await call(api.port, path, { method: 'POST', headers, body })).toMatchObject({ status: 201 })
    }
    const pieces = await new Promise<number | undefined>((resolve, reject) => {
      const request = send({ port: api.port, path: '/api/jobs', method: 'POST', headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      request.on('error', reject)
      const write = (at: number): void => {
        if (at === body.length) request.end()
        else request.write(body[at], () => write(at + 1))
      }
      write(0)
    })
    expect(pieces).toBe(201)
    expect(api.pushed).toHaveLength(3)
  })

  test('with Expect: 100-continue is told to go on', async () => {
    const told = await new Promise<[boolean, number | undefined]>((resolve, reject) => {
      let continued = false
      const request = send(
        {
          port: api.port,
          path: '/api/jobs',
          method: 'POST',
          headers: { ...BEARER, 'content-type': 'application/json', expect: '100-continue' },
          agent: false,
        },
        (response) => {
          response.resume()
          resolve([continued, response.statusCode])
        },
      )
      request.on('continue', () => {
        continued = true
        request.end(JSON.stringify(GOOD))
      })
      request.on('error', reject)
      request.flushHeaders()
    })
    expect(told).toEqual([true, 201])
  })
})

describe('reading a job', () => {
  test('shows the payload digit by digit, the chain, and the calls of this job alone', async () => {
    const { text, json } = await call(api.port, `/api/jobs/${ROOT_ID}`, { headers: BEARER })
    expect(text).toContain(
      `"payload":${aChain().request.payload},"body":null,"body_encoding":null,"waiting":null,"settings":null,"expires_at":null,"trace_id":null,"chain"`,
    )
    expect(json).toMatchObject({
      job_id: ROOT_ID,
      uuid: JOB_IDS.uuidOf(ROOT_ID),
      original_job_id: ROOT_ID,
      queue: 'emails',
      headers: { 'X-A': '1' },
      tags: { customer: '77' },
      status: 'failed',
      final_status: 'retrying',
      has_pending_retry: true,
      failure_reason: 'http_server_error',
      response_status: 503,
      started_at: '2026-11-21T10:00:00.010+00:00',
      chain: [
        { job_id: ROOT_ID, final_status: 'retrying' },
        { job_id: RETRY_ID, status: 'pending', final_status: null, is_retry: true },
      ],
      calls: [
        {
          attempt_number: 1,
          request: { headers: [{ name: 'Content-Type', value: 'application/json' }], body: '{"id":1}' },
          response: { status: 503, body: 'busy', body_truncated: false },
          timings: { queue_wait_ms: 1, tls_ms: null },
        },
      ],
    })
  })

  test('takes the UUID, and a retry job by its own id', async () => {
    const byUuid = await call(api.port, `/api/jobs/${JOB_IDS.uuidOf(ROOT_ID).toUpperCase()}`, {
      headers: BEARER,
    })
    expect(byUuid).toMatchObject({ status: 200, json: { job_id: ROOT_ID } })
    const retry = await call(api.port, `/api/jobs/${RETRY_ID}`, { headers: BEARER })
    expect(retry.json).toMatchObject({
      job_id: RETRY_ID,
      original_job_id: ROOT_ID,
      attempt_number: 2,
      status: 'pending',
      scheduled_at: '2026-11-21T10:01:00.023+00:00',
      calls: [],
    })
  })

  test('shows null where only a summary is kept', async () => {
    const { request } = aChain()
    const own = await startApi({
      jobs: {
        get: () =>
          Promise.resolve(
            aChain({
              request: { ...request, headers: null, payload: null },
              open: null,
              end: 'dead_lettered',
              replayedAs: 48,
            }),
          ),
      } as never,
    })
    const { json } = await call(own.port, `/api/jobs/${ROOT_ID}`, { headers: BEARER })
    expect(json).toMatchObject({
      headers: null,
      payload: null,
      final_status: 'dead_lettered',
      dead_lettered_at: '2026-11-21T10:00:00.023+00:00',
      replayed_as: 48,
    })
    await own.close()
  })

  test('of a cron’s run has the cron, no queue where that is hidden, and the body as a text', async () => {
    const { request } = aChain()
    const cron = { cronId: 3, tickMs: 0, isManual: false }
    const chain = aChain({ queueName: '', request: { ...request, payload: 'as it is', cron } })
    const own = await startApi({ jobs: { get: () => Promise.resolve(chain) } as never })
    const { json } = await call(own.port, `/api/jobs/${ROOT_ID}`, { headers: BEARER })
    expect(json).toMatchObject({
      cron_id: 3,
      queue_id: null,
      queue: null,
      payload: 'as it is',
      chain: [{ cron_id: 3, queue: null }, { cron_id: 3 }],
    })
    await own.close()
  })

  test('HEAD has the headers and no body', async () => {
    const get = await call(api.port, `/api/jobs/${ROOT_ID}`, { headers: BEARER })
    const head = await call(api.port, `/api/jobs/${ROOT_ID}`, { method: 'HEAD', headers: BEARER })
    expect(head).toMatchObject({ status: 200, text: '' })
    expect(head.headers['content-length']).toBe(get.headers['content-length'])
  })
})

describe('lists', () => {
  test('jobs are asked for as the query says', async () => {
    const asked: unknown[] = []
    const own = await startApi({
      jobs: {
        list: (query: unknown) => {
          asked.push(query)
          return Promise.resolve({
            jobs: [{ jobId: RETRY_ID, chain: aChain() }],
            nextCursor: 'n',
            searched: 7,
          })
        },
      } as never,
    })
    const answer = await call(own.port, '/api/jobs?queue=a%2Fb&status=failed&limit=5&cursor=c', {
      headers: BEARER,
    })
    const filter = { ...ANY_JOB, queue: 'a/b', status: 'failed' }
    const signal = expect.any(AbortSignal)
    expect(asked).toEqual([{ team: 'default', queues: null, filter, limit: 5, cursor: 'c', signal }])
    expect(answer.json).toMatchObject({
      jobs: [{ job_id: RETRY_ID, status: 'pending' }],
      next_cursor: 'n',
      searched: 7,
    })
    expect(answer.text).not.toMatch(/"(?:payload|headers|calls|chain)"/)
    await own.close()
  })

  test('queues with settings and counts', async () => {
    expect((await call(api.port, '/api/queues?limit=3', { headers: BEARER })).json).toEqual({
      queues: [
        {
          queue_id: 7,
          name: 'emails',
          is_active: true,
          is_draining: false,
          timeout_seconds: 30,
          retries_enabled: true,
          retry_delays: [60, 1800, 10800],
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
          counts: { pending: 1, delayed: 2, processing: 3, dead: 4 },
          managed_by: null,
          startable: 1,
          stopped: { reason: 'at_limit', jobs: 2 },
          oldest_startable_seconds: 41,
          last_hour: {
            ended: 0,
            failed: 0,
            lateness_ms_p99: null,
            trend: { ended: Array(12).fill(0), failed: Array(12).fill(0) },
          },
        },
      ],
      next_cursor: null,
      summary: null,
    })
  })

  test('queues by trouble with what all of them hold together', async () => {
    const { json } = await call(api.port, '/api/queues?sort=trouble&text=MAIL', { headers: BEARER })
    const none = { jobs: 0, queues: 0 }
    expect(json).toMatchObject({
      summary: {
        queues: 1,
        is_complete: true,
        startable: 1,
        stopped: { paused: none, held: none, throttled: none, at_limit: { jobs: 2, queues: 1 } },
        oldest_startable: { queue_id: 7, name: 'emails', milliseconds: 41_500 },
      },
    })
  })

  test.each([
    ['sort=depth', { sort: ['The selected sort is invalid.'] }],
    ['name=emails&text=mail', { text: ['The text cannot be given beside the name.'] }],
    ['name=emails&sort=oldest', { sort: ['The sort cannot be given beside the name.'] }],
    [`text=${'x'.repeat(256)}`, { text: [expect.stringContaining('255')] }],
  ])('a list of queues asked by %s says what is wrong', async (query, errors) => {
    const { status, json } = await call(api.port, `/api/queues?${query}`, { headers: BEARER })
    expect([status, json]).toEqual([422, expect.objectContaining({ errors })])
  })
})

describe('commands', () => {
  test('cancel and delete answer 204 with nothing', async () => {
    for (const path of ['/api/jobs/16', '/api/queues/7']) {
      expect(await call(api.port, path, { method: 'DELETE', headers: BEARER })).toMatchObject({
        status: 204,
        text: '',
      })
    }
  })

  test('replay answers as a push does', async () => {
    const answer = await call(api.port, '/api/jobs/16/replay', { method: 'POST', headers: BEARER })
    expect(answer).toMatchObject({ status: 201, text: CREATED.replace('"job_id":16', '"job_id":32') })
  })

  test('pause, resume and edit change what they say', async () => {
    const edits: unknown[] = []
    const own = await startApi({
      editor: {
        create: async () => 'exists' as const,
        edit: (team, queueId, change) => {
          edits.push([team, queueId, change])
          return Promise.resolve(null)
        },
        remove: () => Promise.resolve('not_found'),
      },
    })
    await call(own.port, '/api/queues/7/pause', { method: 'POST', headers: BEARER })
    await call(own.port, '/api/queues/7/resume', { method: 'POST', headers: BEARER })
    await call(own.port, '/api/queues/7', {
      method: 'PATCH',
      headers: { ...BEARER, 'content-type': 'application/json' },
      body: '{"max_parallelism":null,"timeout_seconds":5}',
    })
    expect(edits).toEqual([
      ['default', 7, { isActive: false }],
      ['default', 7, { isActive: true, isDraining: false }],
      ['default', 7, { maxParallelism: null, timeoutSeconds: 5 }],
    ])
    await own.close()
    const paused = await call(api.port, '/api/queues/7/pause', { method: 'POST', headers: BEARER })
    expect(paused.json).toMatchObject({ queue_id: 7, is_active: false })
  })

  test('an edit warns of an assertion that can never hold', async () => {
    const answer = await call(api.port, '/api/queues/7', {
      method: 'PATCH',
      headers: { ...BEARER, 'content-type': 'application/json' },
      body: '{"success_assertions":[{"type":"status_code_equals","value":404}]}',
    })
    expect(answer.json).toMatchObject({
      success_assertions: [{ type: 'status_code_equals', value: 404 }],
      warnings: ['success_assertions.0: only a 2xx response is a success, so status 404 can never pass.'],
    })
  })
})

test('what is not ours goes aside, and only that', async () => {
  const own = await startApi({ aside: () => (request, response) => response.end(`"${request.url}"`) })
  expect((await call(own.port, '/echo?fail=2')).json).toBe('/echo?fail=2')
  expect((await call(own.port, '/apiary')).json).toBe('/apiary')
  expect(await call(own.port, '/api/nothing', { headers: BEARER })).toMatchObject({ status: 404 })
  expect(await call(own.port, '/api')).toMatchObject({ status: 401 })
  expect(await push(own.port, GOOD)).toMatchObject({ status: 201 })
  await own.close()
})

test('the contract is served as JSON', async () => {
  const answer = await call(api.port, '/api/openapi.json', { headers: BEARER })
  expect(answer.json).toMatchObject({ openapi: '3.1.0', paths: { '/api/jobs': {} } })
  expect(answer.text).not.toContain(TOKEN)
})
