import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  BEARER,
  call,
  GOOD,
  OTHER_TOKEN,
  push,
  rawExchange,
  ROUTES,
  type RunningApi,
  startApi,
  TOKEN,
} from './api-fixture.ts'

let api: RunningApi
beforeEach(async () => {
  api = await startApi()
})
afterEach(() => api.close())

describe('401', () => {
  test.each([...ROUTES, ['GET', '/api/unknown'] as const])('%s %s', async (method, path) => {
    for (const headers of [
      {},
      { authorization: 'Basic abc' },
      { authorization: 'Bearer ' },
      { authorization: TOKEN },
    ]) {
      const answer = await call(api.port, path, { method, headers })
      expect(answer).toMatchObject({ status: 401, text: '{"error":"Missing authorization token"}' })
      expect(answer.headers['www-authenticate']).toBe('Bearer')
    }
    const wrong = await call(api.port, path, { method, headers: { authorization: 'Bearer wrong' } })
    expect(wrong).toMatchObject({ status: 401, text: '{"error":"Invalid authorization token"}' })
  })

  test('the scheme is read in any case', async () => {
    expect((await push(api.port, GOOD, { authorization: `bearer ${TOKEN}` })).status).toBe(201)
  })

  test('comes before everything else, even for a huge body', async () => {
    const body = Buffer.alloc(5 * 1024 * 1024, 'x')
    const answer = await call(api.port, '/api/jobs', { method: 'POST', body })
    expect(answer.status).toBe(401)
    expect(api.pushed).toEqual([])
  })
})

describe('404', () => {
  test.each([
    ['GET', '/api/jobs/999999'],
    ['GET', '/api/jobs/abc'],
    ['GET', '/api/jobs/-1'],
    ['GET', '/api/jobs/9007199254740993'],
    ['GET', '/api/jobs/18'],
    ['DELETE', '/api/jobs/999999'],
    ['DELETE', '/api/jobs/1.0'],
    ['POST', '/api/jobs/999999/replay'],
    ['POST', '/api/jobs/x/replay'],
    ['GET', '/api/queues/8'],
    ['GET', '/api/queues/emails'],
    ['GET', '/api/queues/07'],
    ['DELETE', '/api/queues/8'],
    ['POST', '/api/queues/8/pause'],
    ['POST', '/api/queues/8/resume'],
    ['GET', '/api/jobs/'],
    ['GET', '/API/jobs'],
    ['GET', '/api'],
    ['GET', '/'],
    ['GET', '/api/jobs/16/nothing'],
  ])('%s %s', async (method, path) => {
    const answer = await call(api.port, path, { method, headers: BEARER })
    expect(answer).toMatchObject({ status: 404, text: '{"error":"Not found"}' })
  })

  test('PATCH of an unknown queue', async () => {
    const answer = await call(api.port, '/api/queues/8', {
      method: 'PATCH',
      headers: { ...BEARER, 'content-type': 'application/json' },
      body: '{}',
    })
    expect(answer.status).toBe(404)
  })

  test.each(ROUTES.filter(([, path]) => /\d/.test(path)))(
    'what another team has: %s %s',
    async (method, path) => {
      const answer = await call(api.port, path, {
        method,
        headers: { authorization: `Bearer ${OTHER_TOKEN}`, 'content-type': 'application/json' },
        ...(method === 'PATCH' && { body: '{}' }),
      })
      expect(answer).toMatchObject({ status: 404, text: '{"error":"Not found"}' })
    },
  )
})

describe('405', () => {
  test.each([
    ['PUT', '/api/jobs', 'GET, HEAD, POST'],
    ['OPTIONS', '/api/jobs', 'GET, HEAD, POST'],
    ['PATCH', '/api/jobs/16', 'GET, HEAD, DELETE'],
    ['GET', '/api/jobs/16/replay', 'POST'],
    ['PUT', '/api/queues', 'GET, HEAD, POST'],
    ['PUT', '/api/queues/7', 'GET, HEAD, PATCH, DELETE'],
    ['GET', '/api/queues/7/pause', 'POST'],
    ['DELETE', '/api/queues/7/resume', 'POST'],
    ['POST', '/api/openapi.json', 'GET, HEAD'],
  ])('%s %s', async (method, path, allow) => {
    const answer = await call(api.port, path, { method, headers: BEARER })
    expect(answer).toMatchObject({ status: 405, text: '{"error":"Method not allowed"}' })
    expect(answer.headers.allow).toBe(allow)
  })
})

describe('409', () => {
  const jobs = (change: object) => ({
    get: () => Promise.resolve(null),
    list: () => Promise.reject(new Error()),
    ...change,
  })
  test.each<readonly [method: string, path: string, change: object, error: string]>([
    [
      'DELETE',
      '/api/jobs/16',
      { remove: () => Promise.resolve({ status: 'in_flight' }) },
      'The job is in flight and cannot be deleted',
    ],
    [
      'DELETE',
      '/api/jobs/16',
      { remove: () => Promise.resolve({ status: 'not_ended', jobId: 17 }) },
      'The chain of the job has not ended: delete its retry, job 17, and the whole chain goes',
    ],
    ...(
      [
        ['due', 'The job is already due and waits for its turn'],
        ['in_flight', 'The job is in flight'],
        ['ended', 'The job has ended'],
        ['damaged', 'The record of the job is damaged'],
      ] as const
    ).map(
      ([status, text]) =>
        ['POST', '/api/jobs/16/fire', { fire: () => Promise.resolve({ status }) }, text] as const,
    ),
    ...(
      [
        [
          { status: 'sent' },
          'The job may already have been sent, and waits for another attempt: delete it instead (DELETE)',
        ],
        [{ status: 'in_flight' }, 'The job is in flight'],
        [{ status: 'ended' }, 'The job has ended'],
        [{ status: 'damaged' }, 'The record of the job is damaged'],
        [
          { status: 'not_ended', jobId: 17 },
          'The job has been sent and has failed; its retry is job 17, and DELETE removes that with the whole chain',
        ],
      ] as const
    ).map(
      ([end, text]) => ['POST', '/api/jobs/16/cancel', { cancel: () => Promise.resolve(end) }, text] as const,
    ),
    ...(
      [
        [{ status: 'not_failed' }, 'The job has succeeded; it can be duplicated'],
        [{ status: 'not_ended', jobId: 17 }, 'The chain of the job has not ended; its open job is 17'],
        [{ status: 'already_made', jobId: 32 }, 'The job was already retried or replayed, as job 32'],
        [
          { status: 'not_kept', fields: ['payload'] },
          'The payload of the job is no longer kept; duplicate the job and give it in the body',
        ],
        [
          { status: 'not_kept', fields: ['headers', 'payload'] },
          'The headers and payload of the job are no longer kept; duplicate the job and give them in the body',
        ],
        [
          { status: 'queue_draining', queue: 'emails' },
          'The queue "emails" is draining and takes no new jobs; resume it to push again (POST /api/queues/{queue_id}/resume)',
        ],
      ] as const
    ).map(
      ([made, text]) => ['POST', '/api/jobs/16/retry', { retry: () => Promise.resolve(made) }, text] as const,
    ),
    [
      'POST',
      '/api/jobs/16/replay',
      { replay: () => Promise.resolve({ status: 'not_dead_lettered' }) },
      'The job is not in the dead-letter queue',
    ],
    [
      'POST',
      '/api/jobs/16/replay',
      { replay: () => Promise.resolve({ status: 'already_made', jobId: 32 }) },
      'The job was already retried or replayed, as job 32',
    ],
  ])('%s %s', async (method, path, change, error) => {
    const own = await startApi({ jobs: jobs(change) as never })
    expect(await call(own.port, path, { method, headers: BEARER })).toMatchObject({
      status: 409,
      text: JSON.stringify({ error }),
    })
    await own.close()
  })
})

describe('413', () => {
  const LIMIT = 1024 * 1024
  const error = '{"error":"The request body must not be larger than 1048576 bytes"}'
  const sized = (bytes: number) => {
    const frame = JSON.stringify({ ...GOOD, payload: { a: '' } }).length
    return JSON.stringify({ ...GOOD, payload: { a: 'x'.repeat(bytes - frame) } })
  }

  test('one byte more than a mebibyte, declared and chunked', async () => {
    expect((await push(api.port, sized(LIMIT))).status).toBe(201)
    expect(await push(api.port, sized(LIMIT + 1))).toMatchObject({ status: 413, text: error })
    const chunked = await push(api.port, sized(LIMIT + 1), { 'transfer-encoding': 'chunked' })
    expect(chunked).toMatchObject({ status: 413, text: error })
    expect(api.pushed).toHaveLength(1)
  })

  test('is answered before the body has come, and the connection goes on when it has', async () => {
    const huge = 8 * LIMIT
    const first =
      `POST /api/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\n` +
      `Content-Type: text/plain\r\nContent-Length: ${huge}\r\n\r\n`
    const second = `GET /api/queues HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close\r\n\r\n`
    const received = await rawExchange(api.port, first + 'x'.repeat(huge) + second)
    expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200'])
  })

  test('a client that asks first does not get to send it', async () => {
    const received = await rawExchange(
      api.port,
      `POST /api/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\n` +
        `Expect: 100-continue\r\nContent-Length: ${LIMIT + 1}\r\n\r\n`,
    )
    expect(received).toMatch(/^HTTP\/1\.1 413 /)
    expect(received).toMatch(/Connection: close/i)
  })

  test('PATCH has the same bound', async () => {
    const answer = await call(api.port, '/api/queues/7', {
      method: 'PATCH',
      headers: { ...BEARER, 'content-type': 'application/json' },
      body: sized(LIMIT + 1),
    })
    expect(answer).toMatchObject({ status: 413, text: error })
  })
})

describe('415', () => {
  test.each([
    [{ 'content-type': 'application/x-www-form-urlencoded' }, 'The content type must be application/json'],
    [{ 'content-type': 'text/json' }, 'The content type must be application/json'],
    [{ 'content-type': 'application/jsonx' }, 'The content type must be application/json'],
    [{ 'content-type': 'application/json; charset=latin1' }, 'The charset of the content must be utf-8'],
    [{ 'content-type': 'application/json;a=b;Charset="utf-16"' }, 'The charset of the content must be utf-8'],
    [{ 'content-encoding': 'gzip' }, 'The content must not be encoded'],
  ])('%j', async (headers, error) => {
    expect(await push(api.port, '{"broken', headers)).toMatchObject({
      status: 415,
      text: JSON.stringify({ error }),
    })
  })

  test('no content type at all', async () => {
    const answer = await call(api.port, '/api/jobs', { method: 'POST', headers: BEARER, body: '{}' })
    expect(answer.status).toBe(415)
  })

  test.each([
    'application/json;charset=utf-8',
    'Application/JSON; charset="UTF-8"',
    'application/json;',
    'application/json ; odata=verbose; charset=utf8',
    'application/json; v="1; charset=x"',
  ])('%j does no harm', async (type) => {
    expect((await push(api.port, GOOD, { 'content-type': type })).status).toBe(201)
  })
})

describe('400 and 422', () => {
  test('a byte order mark before the JSON is passed over, once', async () => {
    expect((await push(api.port, `\ufeff${JSON.stringify(GOOD)}`)).status).toBe(201)
    expect(await push(api.port, `\ufeff\ufeff${JSON.stringify(GOOD)}`)).toMatchObject({
      status: 400,
      text: '{"error":"Malformed JSON at position 0 (line 1, column 1)."}',
    })
  })

  test('malformed JSON comes before wrong fields', async () => {
    expect(await push(api.port, '{"queue":""')).toMatchObject({
      status: 400,
      text: '{"error":"Malformed JSON at position 11 (line 1, column 12): the body ends early."}',
    })
    expect((await push(api.port, '{"queue":""}')).json).toEqual({
      message: 'The queue field is required.',
      errors: { queue: ['The queue field is required.'], url: ['The url field is required.'] },
    })
  })

  test('a blocked target names no address', async () => {
    const answer = await push(api.port, { ...GOOD, callback_url: 'http://169.254.169.254/latest' })
    expect(answer.text).toBe(
      '{"message":"The callback url field must not point to a blocked address.","errors":{"callback_url":["The callback url field must not point to a blocked address."]}}',
    )
  })

  test('the same checks stand in an edit', async () => {
    const patch = (body: string) =>
      call(api.port, '/api/queues/7', {
        method: 'PATCH',
        headers: { ...BEARER, 'content-type': 'application/json' },
        body,
      })
    expect((await patch('{')).status).toBe(400)
    expect((await patch('{"timeout_seconds":0}')).json).toEqual({
      message: 'The timeout seconds field must be between 1 and 300.',
      errors: { timeout_seconds: ['The timeout seconds field must be between 1 and 300.'] },
    })
  })

  test('a key used with another request', async () => {
    const own = await startApi({
      intake: { push: () => Promise.resolve({ status: 'idempotency_conflict' }) },
    })
    const text = 'The idempotency key field was already used with another request.'
    expect(await push(own.port, GOOD, { 'idempotency-key': 'k' })).toMatchObject({
      status: 422,
      json: { message: text, errors: { idempotency_key: [text] } },
    })
    await own.close()
  })

  test.each(['/api/jobs', '/api/queues', '/api/crons', '/api/crons/7/runs'])(
    'an empty or a repeated parameter of %s',
    async (path) => {
      const own = await startApi({})
      const texts = [
        ['limit=', 'limit', 'The limit field must have a value.'],
        ['limit=5&cursor', 'cursor', 'The cursor field must have a value.'],
        ['limit=5&limit=5', 'limit', 'The limit field must be given only once.'],
      ] as const
      for (const [query, field, text] of texts) {
        expect(await call(own.port, `${path}?${query}`, { headers: BEARER })).toMatchObject({
          status: 422,
          json: { message: text, errors: { [field]: [text] } },
        })
      }
      await own.close()
    },
  )

  test('a cursor that is not ours', async () => {
    const own = await startApi({
      jobs: { list: () => Promise.resolve('bad_cursor') } as never,
      queueLists: { list: () => Promise.resolve('bad_cursor') } as never,
    })
    for (const path of ['/api/jobs?cursor=x', '/api/queues?cursor=x']) {
      expect((await call(own.port, path, { headers: BEARER })).json).toEqual({
        message: 'The cursor field must be the next_cursor of this list under the same filters.',
        errors: { cursor: ['The cursor field must be the next_cursor of this list under the same filters.'] },
      })
    }
    await own.close()
  })

  test('a path with broken percent-encoding', async () => {
    const answer = await call(api.port, '/api/jobs/%zz', { headers: BEARER })
    expect(answer).toMatchObject({ status: 400, text: '{"error":"The path is not valid percent-encoding"}' })
    expect(api.logged).toEqual([])
  })
})
