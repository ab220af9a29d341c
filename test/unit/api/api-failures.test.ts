import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  QuotaExceededError,
  ResourceApiError,
  StorageFullError,
  StoreUnavailableError,
} from '../../../src/domain/errors.ts'
import { BEARER, clock, call, GOOD, push, ROUTES, type RunningApi, startApi } from './api-fixture.ts'
import { aPrincipal } from '../../support/principals.ts'

let api: RunningApi
beforeEach(async () => {
  api = await startApi()
})
afterEach(() => api.close())

describe('429 and 503', () => {
  test.each([
    ['idempotency_full', 'The idempotency key limit of this shard is reached'],
    ['too_many_queues', 'The queue limit of this shard is reached'],
  ] as const)('%s', async (status, error) => {
    const own = await startApi({ intake: { push: () => Promise.resolve({ status }) } })
    const answer = await push(own.port, GOOD)
    expect(answer).toMatchObject({ status: 429, text: JSON.stringify({ error }) })
    expect(answer.headers['retry-after']).toBe('60')
    await own.close()
  })

  test.each([
    ['queues', "The team's quota of queues is used up (queues)", '60'],
    ['pendingJobs', "The team's quota of 20 pending jobs is used up (pendingJobs)", '60'],
    ['storedBytes', "The team's quota of stored bytes is used up (storedBytes)", '60'],
    [
      'share',
      'The team has used up its share of the memory of the job store (storedBytes): wait for jobs to end, or remove some',
      '60',
    ],
    ['jobsPerMonth', "The team's quota of jobs per month is used up (jobsPerMonth)", '3600'],
  ] as const)('a push over the quota of %s', async (quota, error, retryAfter) => {
    const own = await startApi({ intake: { push: () => Promise.resolve({ status: 'over_quota', quota }) } })
    const answer = await push(own.port, GOOD)
    expect(answer).toMatchObject({ status: 429, text: JSON.stringify({ error }) })
    expect(answer.headers['retry-after']).toBe(retryAfter)
    await own.close()
  })

  test('a push over the jobs of a month that ends soon', async () => {
    const wallMs = () => Date.UTC(2026, 11, 1) - 90_500
    const own = await startApi({
      intake: { push: () => Promise.resolve({ status: 'over_quota', quota: 'jobsPerMonth' }) },
      clock: { ...clock, wallMs },
    })
    expect((await push(own.port, GOOD)).headers['retry-after']).toBe('91')
    await own.close()
  })

  test('a cron beyond the quota', async () => {
    const create = () => Promise.reject(new QuotaExceededError('crons', 500))
    const own = await startApi({ cronEditor: { create } as never })
    const answer = await call(own.port, '/api/crons', {
      method: 'POST',
      headers: { ...BEARER, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'n', url: 'https://example.com', cron_expression: '* * * * *' }),
    })
    const error = "The team's quota of 500 crons is used up (crons)"
    expect(answer).toMatchObject({ status: 429, text: JSON.stringify({ error }) })
    expect(answer.headers['retry-after']).toBe('60')
    await own.close()
  })

  test.each([
    [null, '2'],
    [1_200, '2'],
    [0, '1'],
  ])('the Kubernetes API is away and asks for a pause of %s ms', async (retryAfterMs, seconds) => {
    const fault = new ResourceApiError('unavailable', 'no answer', { retryAfterMs })
    const away = () => Promise.reject(fault)
    const own = await startApi({ editor: { create: away, edit: away, remove: away } })
    const answer = await call(own.port, '/api/queues/7', {
      method: 'PATCH',
      headers: { ...BEARER, 'content-type': 'application/json' },
      body: '{}',
    })
    expect(answer).toMatchObject({
      status: 503,
      text: '{"error":"The Kubernetes API is unavailable, try again"}',
    })
    expect(answer.headers['retry-after']).toBe(seconds)
    await own.close()
  })

  const down = () => Promise.reject(new StoreUnavailableError('connect ECONNREFUSED 10.0.0.5:6379'))
  test.each(ROUTES.filter(([, path]) => path !== '/api/openapi.json'))(
    'the store is away: %s %s',
    async (method, path) => {
      const own = await startApi({
        intake: { push: down },
        jobs: {
          get: down,
          list: down,
          deadLetterGroups: down,
          remove: down,
          fire: down,
          cancel: down,
          retry: down,
          replay: down,
        },
        queueLists: { list: down, named: down },
        queues: { get: down, getByName: down, apply: down, unthrottle: down, remove: down },
        editor: { create: down, edit: down, remove: down },
      })
      const answer = await call(own.port, path, {
        method,
        headers: { ...BEARER, 'content-type': 'application/json' },
        ...(path === '/api/jobs' && method === 'POST' && { body: JSON.stringify(GOOD) }),
        ...(method === 'PATCH' && { body: '{}' }),
      })
      expect(answer).toMatchObject({
        status: 503,
        text: '{"error":"The job store is unavailable, try again"}',
      })
      expect(answer.headers['retry-after']).toBe('2')
      await own.close()
    },
  )

  test('the store is full', async () => {
    const own = await startApi({ intake: { push: () => Promise.reject(new StorageFullError()) } })
    const answer = await push(own.port, GOOD)
    expect(answer).toMatchObject({ status: 503, text: '{"error":"The job store is full"}' })
    expect(answer.headers['retry-after']).toBe('2')
    await own.close()
  })
})

describe('500', () => {
  test('a fault of ours is logged, and nothing of it is in the answer', async () => {
    const broken = () => Promise.reject(new TypeError('secret detail'))
    const own = await startApi({
      intake: { push: broken },
      jobs: { list: broken } as never,
      tokens: {
        principalOf: (token) => {
          if (token === 'explode') throw new Error('secret detail')
          return aPrincipal('default')
        },
      },
      editor: { create: broken, edit: broken, remove: broken },
    })
    const text = '{"error":"Internal server error"}'
    expect(await push(own.port, GOOD)).toMatchObject({ status: 500, text })
    expect(await call(own.port, '/api/jobs?cursor=abc', { headers: BEARER })).toMatchObject({
      status: 500,
      text,
    })
    const patched = await call(own.port, '/api/queues/7', {
      method: 'PATCH',
      headers: { ...BEARER, 'content-type': 'application/json' },
      body: '{}',
    })
    expect(patched).toMatchObject({ status: 500, text })
    expect(await push(own.port, GOOD, { authorization: 'Bearer explode' })).toMatchObject({
      status: 500,
      text,
    })
    expect(own.logged).toHaveLength(4)
    expect(own.logged[1]).toEqual([
      'request failed',
      expect.objectContaining({ method: 'GET', path: '/api/jobs' }),
    ])
    await own.close()
  })
})
