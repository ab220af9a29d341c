/** The client against a server that answers as it is told, by real sockets. */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, expectTypeOf, test } from 'vitest'
import {
  ApiError,
  type ClientOptions,
  createClient,
  type Job,
  JsonText,
  UnreachableError,
} from '../src/client.ts'
import { OPERATIONS } from '../src/generated/operations.ts'

type Reply = (response: ServerResponse) => void

const reply =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (response) =>
    void response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
const cut: Reply = (response) => void response.destroy()
const PUSHED = reply(201, { success: true, job_id: 16 })

let server: Server
let address = ''
let received: Array<{ line: string; headers: IncomingHttpHeaders; body: string }> = []
let replies: Reply[] = []
let slept: number[] = []

beforeEach(async () => {
  received = []
  slept = []
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      received.push({ line: `${request.method} ${request.url}`, headers: request.headers, body })
      const next = replies.length > 1 ? replies.shift() : replies[0]
      next?.(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterEach(() => {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(resolve))
})

const client = (change: Partial<ClientOptions> = {}) =>
  createClient({
    server: address,
    token: 'secret',
    sleep: async (milliseconds) => void slept.push(milliseconds),
    ...change,
  })

describe('a request', () => {
  test('has path, query, body and token in their places', async () => {
    replies = [reply(200, { jobs: [], next_cursor: null })]
    await client({ server: `${address}/below/` }).listJobs({ queue: 'a b&c', limit: 5, status: undefined })
    replies = [reply(200, { warnings: [] })]
    await client().editQueue({ queue_id: 7, body: { max_parallelism: 5 } })
    expect(received).toMatchObject([
      {
        line: 'GET /below/api/jobs?queue=a+b%26c&limit=5',
        body: '',
        headers: { authorization: 'Bearer secret' },
      },
      {
        line: 'PATCH /api/queues/7',
        body: '{"max_parallelism":5}',
        headers: { 'content-type': 'application/json' },
      },
    ])
    expect(received[0]?.headers).not.toHaveProperty('content-type')
  })

  test('answers with the body of the operation, undefined for none', async () => {
    replies = [reply(200, { job_id: 16 }), reply(204, '')]
    const job = await client().readJob({ job_id: 16 })
    expectTypeOf(job).toEqualTypeOf<Job>()
    expect(job).toEqual({ job_id: 16 })
    expect(await client().deleteJob({ job_id: 'a/b' })).toBe(undefined)
    expect(received[1]?.line).toBe('DELETE /api/jobs/a%2Fb')
  })

  test('keeps digits both ways', async () => {
    replies = [reply(201, '{"job_id":12345678901234567890}')]
    const { text } = await client().send('pushJob', { body: new JsonText('{"n":1.0}') })
    expect([received[0]?.body, text]).toEqual(['{"n":1.0}', '{"job_id":12345678901234567890}'])
  })

  test.each(['', '.', '..'])('for the id %j is never sent', async (id) => {
    await expect(client().deleteCron({ cron_id: id })).rejects.toThrow(TypeError)
    expect(received).toEqual([])
  })

  test('leads to no other host', async () => {
    replies = [reply(302, '', { location: `${address}/elsewhere` })]
    await expect(client().readTeam()).rejects.toMatchObject({ status: 302, isPunctual: false })
    expect(received).toHaveLength(1)
  })

  test('is made for every operation', () => {
    const methods = Object.keys(client()).filter((name) => name !== 'send' && name !== 'each')
    expect(methods).toEqual(Object.keys(OPERATIONS))
  })
})

describe('an answer that refuses', () => {
  test('is an error with its mistakes', async () => {
    const errors = { queue: ['The queue field is required.'] }
    replies = [reply(422, { message: 'The queue field is required.', errors })]
    const fault = await client()
      .pushJob({ body: { queue: '', url: '' } })
      .catch((thrown: unknown) => thrown)
    expect(fault).toBeInstanceOf(ApiError)
    expect(fault).toMatchObject({
      message: 'The queue field is required.',
      status: 422,
      errors,
      isPunctual: true,
    })
    expect(received).toHaveLength(1)
  })

  test('of a 429 is waited out as the server asks, with one key for all tries', async () => {
    replies = [
      reply(429, { error: 'slow' }, { 'retry-after': '7' }),
      reply(503, { error: 'away' }, { 'retry-after': '2' }),
      cut,
      PUSHED,
    ]
    expect(await client().pushJob({ body: { queue: 'q', url: 'https://e.com' } })).toMatchObject({
      job_id: 16,
    })
    expect(slept.slice(0, 2)).toEqual([7000, 2000])
    expect(slept[2]).toBeGreaterThanOrEqual(500)
    expect(slept[2]).toBeLessThanOrEqual(1000)
    const keys = received.map(({ headers }) => headers['idempotency-key'])
    expect(keys).toHaveLength(4)
    expect([keys[0]?.length, new Set(keys).size]).toEqual([36, 1])
  })

  test('is final after so many tries, after a long Retry-After, and where none was asked for', async () => {
    replies = [reply(503, { error: 'away' })]
    await expect(client().readTeam()).rejects.toMatchObject({ status: 503 })
    expect(received).toHaveLength(4)
    await expect(client({ retriesMax: 0 }).readTeam()).rejects.toThrow('away')
    replies = [reply(429, { error: 'slow' }, { 'retry-after': '61' })]
    await expect(client().readTeam()).rejects.toMatchObject({ retryAfterMs: 61_000 })
    expect(received).toHaveLength(6)
  })

  test.each([
    ['a lost answer', cut, UnreachableError],
    ['a 503', reply(503, { error: 'away' }), ApiError],
  ])('is not tried again after %s where a second try could do harm', async (_what, refusal, kind) => {
    replies = [refusal]
    await expect(client().runCron({ cron_id: 7 })).rejects.toThrow(kind)
    expect(received).toHaveLength(1)
  })

  test('makes no key of its own without retries', async () => {
    replies = [PUSHED]
    await client({ retriesMax: 0 }).pushJob({ body: { queue: 'q', url: 'u' } })
    await client().pushJob({ body: { queue: 'q', url: 'u' }, idempotency_key: 'mine' })
    expect(received.map(({ headers }) => headers['idempotency-key'])).toEqual([undefined, 'mine'])
  })
})

describe('without an answer', () => {
  test('the time runs out', async () => {
    replies = [() => undefined]
    const fault = await client({ timeoutMs: 20, retriesMax: 0 })
      .readTeam()
      .catch((thrown: unknown) => thrown)
    expect(fault).toMatchObject({ isTimeout: true, message: 'no answer within 0.02 seconds' })
  })

  test('a signal ends it, and ends a pause', async () => {
    const abort = new AbortController()
    replies = [() => abort.abort(new Error('enough'))]
    await expect(client().readTeam(undefined, { signal: abort.signal })).rejects.toThrow('enough')
    replies = [reply(503, { error: 'away' }, { 'retry-after': '30' })]
    const during = new AbortController()
    const waiting = createClient({ server: address, token: 'secret' }).readTeam({}, { signal: during.signal })
    setImmediate(() => during.abort(new Error('enough')))
    await expect(waiting).rejects.toThrow('enough')
  })
})

describe('each', () => {
  test('reads page after page, and no page that nobody wants', async () => {
    replies = [
      reply(200, { jobs: [{ job_id: 1 }, { job_id: 2 }], next_cursor: 'a' }),
      reply(200, { jobs: [{ job_id: 3 }], next_cursor: null }),
    ]
    const ids: number[] = []
    for await (const job of client().each('listJobs', { queue: 'q' })) ids.push(job.job_id)
    expect(ids).toEqual([1, 2, 3])
    expect(received.map(({ line }) => line)).toEqual([
      'GET /api/jobs?queue=q',
      'GET /api/jobs?queue=q&cursor=a',
    ])
    replies = [reply(200, { jobs: [{ job_id: 1 }], next_cursor: 'a' })]
    for await (const job of client().each('listJobs')) {
      expect(job.job_id).toBe(1)
      break
    }
    expect(received).toHaveLength(3)
  })

  test('ends with a fault where a cursor leads to itself', async () => {
    replies = [reply(200, { jobs: [], next_cursor: 'a' })]
    const all = async () => {
      for await (const job of client().each('listJobs')) expect(job).toBe(null)
    }
    await expect(all()).rejects.toThrow('its own cursor')
    expect(received).toHaveLength(2)
  })
})
