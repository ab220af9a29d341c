import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { CREATED, inputOf, useApi } from './cli-fixture.ts'

const api = useApi()

describe('push', () => {
  test('the smallest', async () => {
    expect(await api.run(['push', 'emails', 'https://example.com'])).toEqual({
      out: 'job 16 in queue 7, scheduled at 2026-11-21T10:00:00.000+00:00\n',
      err: '',
      code: 0,
    })
    expect(api.received).toMatchObject([
      {
        method: 'POST',
        url: '/api/jobs',
        headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
        body: '{"queue":"emails","url":"https://example.com"}',
      },
    ])
    expect(api.received[0]?.headers).not.toHaveProperty('idempotency-key')
  })

  test('every option', async () => {
    const payload = '{"n": 12345678901234567890}'
    const args =
      'push emails https://e.com --method put --header X-A:1 --header X-B:a:b --delay 5 --callback-url https://c.com --tag a=b=c --tag A=d --idempotency-key k -o json'
    expect((await api.run([...args.split(' '), '--payload', payload])).out).toBe(`${CREATED}\n`)
    expect(api.received[0]?.body).toBe(
      `{"queue":"emails","url":"https://e.com","method":"PUT","headers":{"X-A":"1","X-B":"a:b"},` +
        `"callback_url":"https://c.com","delay":5,"tags":{"a":"b=c","A":"d"},"payload":${payload}}`,
    )
    expect(api.received[0]?.headers['idempotency-key']).toBe('k')
    await api.run(['push', 'q', 'https://e.com', '--run-at', '2026-12-24T18:00:00+01:00'])
    expect(JSON.parse(api.received[1]?.body ?? '')).toMatchObject({ run_at: '2026-12-24T18:00:00+01:00' })
  })

  test('a payload from a file and from standard input', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'punctual-client-'))
    const file = join(folder, 'payload.json')
    writeFileSync(file, '{"from": "file"}\n')
    await api.run(['push', 'q', 'https://e.com', '--payload', `@${file}`])
    rmSync(folder, { recursive: true })
    await api.run(['push', 'q', 'https://e.com', '--payload', '-'], { stdin: inputOf('{"from":"stdin"}') })
    expect(api.received.map(({ body }) => body.slice(body.indexOf('"payload"')))).toEqual([
      '"payload":{"from": "file"}}',
      '"payload":{"from":"stdin"}}',
    ])
  })

  test.each([
    [['--payload', '{"a":'], /^punctual: --payload is not JSON: .*\n$/],
    [['--payload', '@/nowhere/at/all'], /^punctual: @\/nowhere\/at\/all cannot be read: ENOENT.*\n$/],
    [['--header', 'nocolon'], /^punctual: --header nocolon must be name:value\n$/],
    [['--tag', '=x'], /^punctual: --tag =x must be name=value\n$/],
    [['--header', ' : x'], /^punctual: --header {2}: x must be name:value\n$/],
    [['--header', 'X-A: 1', '--header', 'x-a : 2'], /^punctual: --header x-a is given more than once\n$/],
    [['--tag', 'a=1', '--tag', 'b=1', '--tag', 'a=2'], /^punctual: --tag a is given more than once\n$/],
    [
      ['--delay', '1.5'],
      /^punctual: --delay "1\.5" is neither a whole number of seconds nor a span such as .*\n$/,
    ],
    [
      ['--server', 'ftp://x'],
      /^punctual: "ftp:\/\/x" is not an http address \(--server, PUNCTUAL_SERVER\)\n$/,
    ],
    [['--server', ''], /^punctual: "" is not an http address \(--server, PUNCTUAL_SERVER\)\n$/],
    [
      ['--server', 'http://me:pass@127.0.0.1'],
      /^punctual: the address of the API must have no user, password, query or fragment \(--server, PUNCTUAL_SERVER\)\n$/,
    ],
    [['--server', 'http://127.0.0.1/?team=a'], /must have no user, password, query or fragment/],
    [
      ['--token', 'tök€n'],
      /^punctual: the token must be visible ASCII characters \(--token, PUNCTUAL_TOKEN\)\n$/,
    ],
    [['--idempotency-key', 'ключ'], /^punctual: --idempotency-key must be visible ASCII characters\n$/],
    [['--idempotency-key', 'a\nb'], /^punctual: --idempotency-key must be visible ASCII characters\n$/],
  ])('%j is a misuse', async (args, message) => {
    const ran = await api.run(['push', 'q', 'https://e.com', ...args])
    expect(ran).toMatchObject({ out: '', code: 2 })
    expect(ran.err).toMatch(message)
    expect(api.received).toEqual([])
  })

  test('with --wait it shows the job at its end', async () => {
    api.firstAnswers = [api.answer]
    api.answer = { status: 200, body: JSON.stringify({ ...ended, calls: [] }) }
    const ran = await api.run('push emails https://example.com --wait 3'.split(' '))
    expect(ran).toMatchObject({ err: '', code: 0 })
    expect(ran.out).toMatch(/^job 16 in queue 7, .*\njob 16 {2}u\n/)
    expect(api.received.map(({ url }) => url)).toEqual(['/api/jobs', '/api/jobs/16'])
  })

  test.each([
    ['dead_lettered', 'punctual: job 16 ended as dead_lettered: The target answered 503.\n'],
    ['retrying', 'punctual: job 16 is retrying after 1 s: The target answered 503.\n'],
  ])('with --wait it shows a job that is %s too, then fails', async (finalStatus, err) => {
    const body = JSON.stringify({ ...ended, final_status: finalStatus, calls: [] })
    const wait = async (...format: readonly string[]) => {
      api.firstAnswers = [{ status: 201, body: CREATED }]
      api.answer = {
        status: 200,
        body: body.replace('"calls"', '"payload":{"n":12345678901234567890},"calls"'),
      }
      const sleep = async () => undefined
      return api.run(['push', 'emails', 'https://example.com', '--wait', '1', ...format], { sleep })
    }
    const asText = await wait()
    expect(asText).toMatchObject({ err, code: 1 })
    expect(asText.out).toMatch(new RegExp(`\njob 16 {2}u\n(?:.*\n)+failed, ${finalStatus}\n`))
    expect(asText.out).toContain('503     12 ms  http_server_error: The target answered 503.\n')
    expect(await wait('-o', 'json')).toEqual({ out: `${CREATED}\n${api.answer.body}\n`, err, code: 1 })
  })

  test('a --wait that is no number pushes nothing', async () => {
    const ran = await api.run('push q https://e.com --wait long'.split(' '))
    expect(ran).toMatchObject({ out: '', code: 2 })
    expect(ran.err).toContain('--wait "long" is neither a whole number of seconds nor a span')
    expect(api.received).toEqual([])
  })

  test('a fault of the program is not told as one of the answer', async () => {
    api.firstAnswers = [api.answer]
    api.answer = { status: 200, body: JSON.stringify({ ...ended, final_status: null, calls: [] }) }
    await expect(api.run('push q https://e.com --wait 1'.split(' '))).rejects.toThrow('nothing to wait for')
  })

  test('standard input that cannot be read is told as that', async () => {
    const stdin = new Readable({
      read() {
        this.destroy(new Error('EIO: i/o error, read'))
      },
    })
    expect(await api.run('push q https://e.com --payload -'.split(' '), { stdin })).toEqual({
      out: '',
      err: 'punctual: standard input cannot be read: EIO: i/o error, read\n',
      code: 2,
    })
  })

  test.each(['', ' \n'])('no token (%j) is a misuse', async (tokenDefault) => {
    expect(await api.run(['jobs'], { tokenDefault })).toEqual({
      out: '',
      err: 'punctual: no token given (--token, PUNCTUAL_TOKEN; no standalone runs in .punctual, PUNCTUAL_DATA_DIR)\n',
      code: 2,
    })
  })
})

describe('the API', () => {
  test.each(['/base', '/base/', '/base//'])('may be below a path (%s)', async (path) => {
    api.answer = { status: 200, body: '{"jobs":[],"next_cursor":null}' }
    await api.run(['jobs', '--server', `${api.address}${path}`, '--limit', '1'])
    expect(api.received.map(({ url }) => url)).toEqual(['/base/api/jobs?limit=1'])
  })

  test.each([['jobs'], ['push', 'q', 'https://e.com'], ['crons'], ['crons', 'preview', '* * * * *']])(
    'may be elsewhere (%s)',
    async (...args) => {
      api.answer = { status: 404, body: '{"error":"Not found"}' }
      expect(await api.run(args)).toEqual({
        out: '',
        err: `punctual: Not found: ${api.address} has no such path (--server, PUNCTUAL_SERVER)\n`,
        code: 3,
      })
    },
  )

  test('gets a token without the white space around it', async () => {
    api.answer = { status: 200, body: '{"jobs":[],"next_cursor":null}' }
    expect(await api.run(['jobs'], { tokenDefault: ' secret\r\n' })).toMatchObject({ code: 0 })
    expect(api.received[0]?.headers.authorization).toBe('Bearer secret')
  })
})

describe('failures are one line and have an exit code', () => {
  test.each([
    [
      4,
      401,
      '{"error":"Invalid authorization token"}',
      'Invalid authorization token (--token, PUNCTUAL_TOKEN)',
    ],
    [4, 403, '{"error":"Needs operate"}', 'Needs operate'],
    [3, 404, '{"error":"Not found"}', 'Not found: the team of this token has no such job'],
    [1, 409, '{"error":"In flight"}', 'In flight'],
    [
      1,
      422,
      '{"message":"a.","errors":{"queue":["The queue field is required."],"url":["The url field must be a valid URL."]}}',
      'The queue field is required. The url field must be a valid URL.',
    ],
    [5, 429, '{"error":"Slow down"}', 'Slow down'],
    [5, 503, '{"error":"The job store is full"}', 'The job store is full'],
    [
      1,
      502,
      '<html>bad gateway</html>',
      'SERVER answered 502 and is not Punctual (--server, PUNCTUAL_SERVER)',
    ],
    [
      1,
      422,
      '{"message":"no","errors":null}',
      'SERVER answered 422 and is not Punctual (--server, PUNCTUAL_SERVER)',
    ],
    [1, 302, '', 'SERVER answered 302 and is not Punctual (--server, PUNCTUAL_SERVER)'],
    [1, 200, '<html>hello</html>', 'the answer is not from Punctual'],
  ])('%i for %i %s', async (code, status, body, message) => {
    api.answer = { status, body, headers: { location: 'http://127.0.0.1:1/' } }
    expect(await api.run(['job', '16'])).toEqual({
      out: '',
      err: `punctual: ${message.replace('SERVER', api.address)}\n`,
      code,
    })
  })

  test.each([
    ['null', ''],
    [CREATED, 'null'],
    [CREATED, '{"final_status":"dead_lettered"}'],
  ])('a push answered with %s, then %s', async (pushed, looked) => {
    api.firstAnswers = [{ status: 201, body: pushed }]
    api.answer = { status: 200, body: looked }
    expect(await api.run('push q https://e.com --wait 1'.split(' '))).toMatchObject({
      err: 'punctual: the answer is not from Punctual\n',
      code: 1,
    })
  })

  test('what was answered steers no terminal', async () => {
    api.answer = { status: 409, body: JSON.stringify({ error: 'no\u001b[2J more' }) }
    expect(await api.run(['jobs'])).toEqual({ out: '', err: 'punctual: no\\x1b[2J more\n', code: 1 })
  })

  test('nobody listens', async () => {
    const gone = await new Promise<string>((resolve) => {
      const free = createServer().listen(0, '127.0.0.1', () => {
        const { port } = free.address() as AddressInfo
        free.close(() => resolve(`http://127.0.0.1:${port}`))
      })
    })
    expect(await api.run(['jobs', '--server', gone])).toEqual({
      out: '',
      err: `punctual: cannot reach ${gone}: connection refused\n`,
      code: 5,
    })
  })

  test('a port that fetch refuses is told as that', async () => {
    expect(await api.run(['whoami', '--server', 'http://127.0.0.1:1'])).toEqual({
      out: '',
      err: 'punctual: cannot reach http://127.0.0.1:1: fetch refuses this port (bad port)\n',
      code: 5,
    })
  })
})

const summary = {
  job_id: 16,
  uuid: 'u',
  original_job_id: 16,
  queue_id: 7,
  queue: 'emails',
  url: 'https://example.com',
  method: 'POST',
  callback_url: null,
  tags: {},
  status: 'failed',
  final_status: 'retrying',
  attempt_number: 1,
  is_retry: false,
  has_pending_retry: true,
  scheduled_at: '2026-11-21T10:00:00.000+00:00',
  created_at: '2026-11-21T10:00:00.000+00:00',
  started_at: null,
  completed_at: null,
  dead_lettered_at: null,
  failure_reason: 'http_server_error',
  error_message: 'The target answered 503.',
  response_status: 503,
  duration_ms: 12.4,
  replayed_as: null,
  cron_id: null,
}

const ended = { ...summary, headers: {}, final_status: 'success', chain: [summary] }

describe('jobs', () => {
  test('as a table', async () => {
    api.answer = { status: 200, body: JSON.stringify({ jobs: [summary], next_cursor: 'abc' }) }
    const ran = await api.run('jobs --queue emails --status failed --limit 5 --cursor c'.split(' '))
    expect(api.received[0]).toMatchObject({
      method: 'GET',
      url: '/api/jobs?queue=emails&status=failed&limit=5&cursor=c',
    })
    expect(ran.out).toBe(
      'JOB  QUEUE   STATUS  FINAL     ATTEMPT  SCHEDULED             TARGET\n' +
        '16   emails  failed  retrying  1        2026-11-21T10:00:00Z  POST https://example.com\n' +
        'next page: --cursor abc\n',
    )
  })

  test('by every filter', async () => {
    const flags = [
      '--final-status',
      'retrying',
      '--failure-reason',
      'timeout',
      '--response-status',
      '503',
      '--host',
      'a.example',
      '--tag',
      'a=b:c',
      '--cron',
      '7',
      '--text',
      'é&',
      ...['created', 'scheduled', 'ended'].flatMap((time) => [
        `--${time}-after`,
        '2026-11-21T10:00:00Z',
        `--${time}-before`,
        '15m',
      ]),
    ]
    await api.run(['jobs', ...flags])
    expect(Object.fromEntries(new URL(`http://h${api.received[0]?.url}`).searchParams)).toEqual({
      final_status: 'retrying',
      failure_reason: 'timeout',
      response_status: '503',
      host: 'a.example',
      tag: 'a:b:c',
      cron_id: '7',
      text: 'é&',
      created_after: '2026-11-21T10:00:00Z',
      created_before: '15m',
      scheduled_after: '2026-11-21T10:00:00Z',
      scheduled_before: '15m',
      ended_after: '2026-11-21T10:00:00Z',
      ended_before: '15m',
    })
    expect(await api.run(['jobs', '--response-status', '5xx'])).toMatchObject({ code: 2 })
  })

  test('as JSON, exactly as answered', async () => {
    api.answer = { status: 200, body: '{"jobs":[],"next_cursor":null}' }
    expect((await api.run(['jobs', '-o', 'json'])).out).toBe(`${api.answer.body}\n`)
    expect(api.received[0]?.url).toBe('/api/jobs')
  })

  test('another format is a misuse', async () => {
    const ran = await api.run(['jobs', '-o', 'text'])
    expect(ran.code).not.toBe(0)
    expect(ran.err).toMatch(/Allowed choices are table, wide, json, yaml, name/)
  })
})

describe('job', () => {
  const job = {
    ...summary,
    headers: {},
    payload: null,
    chain: [
      summary,
      {
        ...summary,
        job_id: 17,
        attempt_number: 2,
        status: 'pending',
        final_status: null,
        response_status: null,
        duration_ms: null,
        failure_reason: null,
        error_message: null,
      },
    ],
    calls: [
      {
        attempt_number: 1,
        started_at: '2026-11-21T10:00:00.010+00:00',
        duration_ms: 12.4,
        request: {
          method: 'POST',
          url: 'https://example.com',
          headers: [{ name: 'X-A', value: '1' }],
          body: '{"id":1}',
          body_truncated: false,
        },
        response: {
          status: 503,
          headers: [{ name: 'Server', value: 'x\u001b[2J' }],
          body: 'one\ntwo\u0007',
          body_truncated: true,
          protocol_notes: ['Lines of the head end in LF alone.'],
        },
        failure_reason: 'http_server_error',
        error_message: 'The target answered 503.',
        timings: {},
      },
    ],
  }

  test('as a page, in which what a target sent steers no terminal', async () => {
    api.answer = { status: 200, body: JSON.stringify(job) }
    const { out } = await api.run(['job', '16'])
    expect(api.received[0]?.url).toBe('/api/jobs/16')
    expect(out).toBe(
      [
        'job 16  u',
        'queue emails (7)',
        'POST https://example.com',
        'failed, retrying',
        '',
        'ATTEMPT  JOB  STATUS   SCHEDULED                      ANSWER  TOOK   ERROR',
        '1        16   failed   2026-11-21T10:00:00.000+00:00  503     12 ms  http_server_error: The target answered 503.',
        '2        17   pending  2026-11-21T10:00:00.000+00:00  -       -',
        '',
        'last call of job 16, 2026-11-21T10:00:00.010+00:00, 12 ms',
        '> POST https://example.com',
        '> X-A: 1',
        '>',
        '> {"id":1}',
        '< 503',
        '< Server: x\\x1b[2J',
        '<',
        '< one',
        '< two\\x07',
        '< (truncated)',
        '< (against HTTP/1.1: Lines of the head end in LF alone.)',
        '',
      ].join('\n'),
    )
  })

  const begun = job.chain.map((one) => ({ ...one, started_at: '2026-11-21T10:00:00.000+00:00' }))
  const retried = { ...job, chain: begun }
  const answerOf = (body: object) => ({ status: 200, body: JSON.stringify(body) })
  const newestOf = (status: number) => {
    const [call] = job.calls
    const calls = [{ ...call, response: { ...call?.response, status, headers: [], body: 'at last' } }]
    return { ...retried, job_id: 17, is_retry: true, attempt_number: 2, calls }
  }

  test('that was retried shows the last call of the newest attempt', async () => {
    api.firstAnswers = [answerOf(retried)]
    api.answer = answerOf(newestOf(504))
    const { out } = await api.run(['job', '16'])
    expect(api.received.map(({ url }) => url)).toEqual(['/api/jobs/16', '/api/jobs/17'])
    expect(out).toMatch(/^job 16 {2}u$/m)
    expect(out).toMatch(/^last call of job 17, .* ms$/m)
    expect(out).toMatch(/^< 504$/m)
    expect(out).not.toMatch(/^< 503$/m)
  })

  test('that was retried shows all calls of both with -o wide', async () => {
    api.firstAnswers = [answerOf(retried)]
    api.answer = answerOf(newestOf(504))
    const { out } = await api.run(['job', '16', '-o', 'wide'])
    expect(out.match(/^< 50[34]$/gm)).toEqual(['< 503', '< 504'])
  })

  test('that was retried shows its own last call once the newest attempt is gone or has none', async () => {
    for (const answer of [
      { status: 404, body: '{"error":"Not found"}' },
      answerOf({ ...newestOf(504), calls: [] }),
    ]) {
      api.firstAnswers = [answerOf(retried)]
      api.answer = answer
      expect((await api.run(['job', '16'])).out).toMatch(
        /^last call of job 16, .* \(attempt 2: punctual job 17\)$/m,
      )
    }
  })

  test('that is a retry shows its own call, and a program gets the answer as it came', async () => {
    api.answer = answerOf({ ...retried, is_retry: true })
    expect((await api.run(['job', '16'])).out).toMatch(/^< 503$/m)
    api.answer = answerOf(retried)
    expect((await api.run(['job', '16', '-o', 'json'])).out).toBe(`${api.answer.body}\n`)
    expect(api.received.map(({ url }) => url)).toEqual(['/api/jobs/16', '/api/jobs/16'])
  })

  test('says where the end of a chain is told', async () => {
    const told = { ...ended, callback_url: 'https://example.com/done', calls: [], next_purge_at: null }
    api.answer = { status: 200, body: JSON.stringify(told) }
    expect((await api.run(['job', '16'])).out).toMatch(/^callback to https:\/\/example\.com\/done$/m)
    api.answer = { status: 200, body: JSON.stringify({ ...told, callback_url: null }) }
    expect((await api.run(['job', '16'])).out).not.toContain('callback')
  })

  test('says what a replayed letter became', async () => {
    api.answer = answerOf({ ...job, replayed_as: 99 })
    expect((await api.run(['job', '16'])).out).toMatch(/^replayed as job 99 \(punctual job 99\)$/m)
    api.answer = answerOf(job)
    expect((await api.run(['job', '16'])).out).not.toContain('replayed')
  })

  test('keeps the table of its chain to the width of the terminal', async () => {
    const chain = [{ ...summary, error_message: 'x'.repeat(500) }]
    api.answer = answerOf({ ...job, chain, calls: [] })
    let out = ''
    await api.run(['job', '16'], { stdout: { width: 100, write: (text) => (out += text) } })
    expect(out.split('\n').find((line) => line.startsWith('1 '))).toMatch(/^.{99}…$/)
  })

  test('without an answer', async () => {
    const [call] = job.calls
    api.answer = {
      status: 200,
      body: JSON.stringify({ ...job, calls: [{ ...call, response: null, error_message: 'timed out' }] }),
    }
    expect((await api.run(['job', '16'])).out).toMatch(/< no answer: timed out\n$/)
  })

  test('as JSON, exactly as answered; the id cannot leave its place', async () => {
    api.answer = { status: 200, body: '{"payload":{"n":12345678901234567890}}' }
    expect((await api.run(['job', '../queues?x', '-o', 'json'])).out).toBe(`${api.answer.body}\n`)
    expect(api.received[0]?.url).toBe('/api/jobs/..%2Fqueues%3Fx')
  })
})
