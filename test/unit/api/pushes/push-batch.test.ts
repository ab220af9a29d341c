import { afterEach, describe, expect, test } from 'vitest'
import { CostGate } from '../../../../src/domain/shares/cost-gate.ts'
import { StorageFullError, StoreUnavailableError } from '../../../../src/domain/errors.ts'
import { BATCH_BODY_BYTES_MAX, REQUEST_BODY_BYTES_MAX } from '../../../../src/domain/limits.ts'
import type { JobIntake, NewJob, PushResult } from '../../../../src/ports/jobs.ts'
import { aPrincipal } from '../../../support/principals.ts'
import { BEARER, call, GOOD, NOW_MS, type RunningApi, startApi } from '../api-fixture.ts'

let api: RunningApi
afterEach(() => api.close())

const HEADERS = { ...BEARER, 'content-type': 'application/json' }
const post = async (body: unknown, headers: object = {}) =>
  call(api.port, '/api/jobs/batch', {
    method: 'POST',
    headers: { ...HEADERS, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
const results = (answer: { json: unknown }) =>
  (answer.json as { results: Array<Record<string, unknown>> }).results

/** Answers by the queue of the push. */
const BY_QUEUE: Readonly<Record<string, PushResult>> = {
  conflict: { status: 'idempotency_conflict' },
  full: { status: 'too_many_queues' },
  over: { status: 'over_quota', quota: 'pendingJobs' },
  draining: { status: 'queue_draining', queue: 'draining' },
}
const intake = {
  push: async ({ queue }: NewJob): Promise<PushResult> => {
    if (queue === 'down') throw new StoreUnavailableError('gone')
    if (queue === 'disk') throw new StorageFullError()
    return BY_QUEUE[queue] ?? { status: 'created', jobId: Number(queue), queueId: 7, scheduledAtMs: NOW_MS }
  },
}

describe('a batch of pushes', () => {
  test('is answered push by push, in order', async () => {
    api = await startApi({ intake })
    const of = (queue: string, change: object = {}) => ({ ...GOOD, queue, ...change })
    const jobs = [
      of('16'),
      of('32', { url: 'nowhere', delay: -1 }),
      'no object',
      ...['conflict', 'full', 'over', 'draining', 'down', 'disk'].map((queue) => of(queue)),
      of('48', { idempotency_key: 'k 1' }),
      of('64', { idempotency_key: 'k-1', surprise: 1 }),
      of('80'),
    ]
    const answer = await post({ jobs })
    expect(answer.status).toBe(200)
    expect(results(answer).map(({ status, job_id }) => job_id ?? status)).toEqual([
      16, 422, 422, 422, 429, 429, 409, 503, 503, 422, 422, 80,
    ])
    const [made, invalid, noObject, conflict, full, , , down] = results(answer)
    expect(made).toEqual({
      status: 201,
      success: true,
      queue_id: 7,
      job_id: 16,
      scheduled_at: '2026-11-21T10:00:00.000+00:00',
      message: 'Scheduled successfully',
    })
    expect(invalid).toEqual({
      status: 422,
      message: 'The url field must be a valid URL.',
      errors: {
        url: ['The url field must be a valid URL.'],
        delay: ['The delay field must be between 0 and 86400.'],
      },
    })
    expect(noObject).toMatchObject({ errors: { 'jobs.2': ['The jobs.2 field must be an object.'] } })
    expect(conflict).toMatchObject({ errors: { idempotency_key: [expect.any(String)] } })
    expect(full).toMatchObject({ errors: {}, retry_after: 60 })
    expect(down).toMatchObject({ retry_after: 2, message: 'The job store is unavailable, try again' })
  })

  test('passes on what a push passes on, with its key', async () => {
    api = await startApi()
    const source = '{"n":1.10,"2":0,"1":0}'
    const body = `{"jobs":[{"queue":"q","url":"https://example.com","payload":${source},"idempotency_key":"k-1"},
      {"queue":"q","url":"https://example.com","payload":${source}}]}`
    await post(body)
    const alone = await call(api.port, '/api/jobs', {
      method: 'POST',
      headers: { ...HEADERS, 'idempotency-key': 'k-1' },
      body: `{"queue":"q","url":"https://example.com","payload":${source}}`,
    })
    expect(alone.status).toBe(201)
    const [keyed, bare, single] = api.pushed
    expect(keyed).toEqual(single)
    expect(keyed?.request.payload).toBe(source)
    expect(bare).toEqual({ ...single, idempotency: null })
  })

  test.each([
    ['malformed', '{"jobs":[{}', 400],
    ['another value', '[]', 400],
    ['without jobs', '{}', 422],
    ['with no job', '{"jobs":[]}', 422],
    ['with 1,001 jobs', JSON.stringify({ jobs: Array(1_001).fill(GOOD) }), 422],
    ['with another field', JSON.stringify({ jobs: [GOOD], queue: 'q' }), 422],
    ['with a job of more than a mebibyte', `{"jobs":[{"x":"${'x'.repeat(REQUEST_BODY_BYTES_MAX)}"}]}`, 422],
    ['too large', 'x'.repeat(BATCH_BODY_BYTES_MAX + 1), 413],
  ])('is refused as a whole when it is %s', async (_, body, status) => {
    api = await startApi()
    expect((await post(body)).status).toBe(status)
    expect(api.pushed).toEqual([])
  })

  test('of 1,000 jobs is taken whole', async () => {
    api = await startApi()
    const answer = await post({ jobs: Array(1_000).fill(GOOD) })
    expect(results(answer)).toHaveLength(1_000)
    expect(api.pushed).toHaveLength(1_000)
  })

  test('of which nothing could be stored is a 503', async () => {
    api = await startApi({ intake })
    const answer = await post({
      jobs: [
        { ...GOOD, queue: 'down' },
        { ...GOOD, queue: 'down' },
      ],
    })
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '2'])
  })

  test('of which the intake loses pushes gives no job the id of another', async () => {
    const pushAll: JobIntake['pushAll'] = async (jobs) => {
      // A hole, and nothing at the end.
      const ends = Array<PushResult>(jobs.length - 1)
      for (const place of [0, 2]) ends[place] = await intake.push(jobs[place] as NewJob)
      return ends
    }
    api = await startApi({ intake: { ...intake, pushAll } })
    const answer = await post({ jobs: ['16', '32', '48', '64'].map((queue) => ({ ...GOOD, queue })) })
    expect(results(answer).map(({ status, job_id }) => job_id ?? status)).toEqual([16, 503, 48, 503])
    expect(api.logged.filter(([text]) => text === 'a push failed')).toHaveLength(2)
  })

  test('needs the permission push, and keeps to the queues of a token', async () => {
    const principals = new Map([
      ['none-0123456789abcdef', aPrincipal('default', { permissions: new Set(['read']) })],
      ['few-0123456789abcdef0', aPrincipal('default', { queues: new Set(['16']) })],
    ])
    api = await startApi({ intake, tokens: { principalOf: (token) => principals.get(token) ?? null } })
    const jobs = ['16', '32'].map((queue) => ({ ...GOOD, queue }))
    const as = (token: string) => post({ jobs }, { authorization: `Bearer ${token}` })
    expect((await as('none-0123456789abcdef')).status).toBe(403)
    expect(results(await as('few-0123456789abcdef0')).map(({ status }) => status)).toEqual([201, 403])
  })

  test('lets others have a turn while it is checked', async () => {
    let nowMs = 0
    let turns = 0
    const gate = new CostGate({
      // Each look at the clock takes half a millisecond.
      monotonicMs: () => (nowMs += 0.5),
      nextTurn: (run) => {
        turns += 1
        setImmediate(run)
      },
    })
    api = await startApi({ gate })
    await post({ jobs: Array(100).fill(GOOD) })
    // A turn after two looks, of 100 items.
    expect(turns).toBeGreaterThanOrEqual(100 / 2)
  })
})
