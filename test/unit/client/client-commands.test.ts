import { Command, CommanderError } from 'commander'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { registerClientCommands } from '../../../src/client/client-commands.ts'

const CREATED =
  '{"success":true,"queue_id":7,"job_id":16,"scheduled_at":"2026-11-21T10:00:00.000+00:00","message":"Scheduled successfully"}'

interface Received {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

let server: Server
let address: string
let received: Received[]
interface Answer {
  readonly status: number
  readonly body: string
  readonly headers?: Record<string, string>
}

let answer: Answer
/** Answers before `answer`, one a request. */
let firstAnswers: Answer[]

beforeEach(async () => {
  received = []
  answer = { status: 201, body: CREATED }
  firstAnswers = []
  const listener: RequestListener = (request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      received.push({ method: request.method, url: request.url, headers: request.headers, body })
      const { status, headers, body: text } = firstAnswers.shift() ?? answer
      response.writeHead(status, headers).end(text)
    })
  }
  server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(resolve))
})

interface Ran {
  readonly out: string
  readonly err: string
  /** 0, or the code of what was thrown. */
  readonly code: number
}

async function run(
  args: readonly string[],
  {
    serverDefault = address,
    tokenDefault = 'secret',
    input = '',
    pause = (): Promise<void> => Promise.reject(new Error('nothing to wait for')),
  } = {},
): Promise<Ran> {
  let out = ''
  let err = ''
  const program = new Command('punctual').exitOverride()
  program.configureOutput({ writeErr: (text) => (err += text), writeOut: (text) => (out += text) })
  registerClientCommands(program, {
    serverDefault,
    tokenDefault,
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    stdin: (async function* () {
      yield Buffer.from(input)
    })(),
    pause,
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return { out, err, code: 0 }
  } catch (failure) {
    if (!(failure instanceof CommanderError)) throw failure
    return { out, err, code: failure.exitCode }
  }
}

describe('push', () => {
  test('the smallest', async () => {
    expect(await run(['push', 'emails', 'https://example.com'])).toEqual({
      out: 'job 16 in queue 7, scheduled at 2026-11-21T10:00:00.000+00:00\n',
      err: '',
      code: 0,
    })
    expect(received).toMatchObject([
      {
        method: 'POST',
        url: '/api/jobs',
        headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
        body: '{"queue":"emails","url":"https://example.com"}',
      },
    ])
    expect(received[0]?.headers).not.toHaveProperty('idempotency-key')
  })

  test('every option', async () => {
    const payload = '{"n": 12345678901234567890}'
    const args =
      'push emails https://e.com --method put --header X-A:1 --header X-B:a:b --delay 5 --callback-url https://c.com --tag a=b=c --idempotency-key k -o json'
    expect((await run([...args.split(' '), '--payload', payload])).out).toBe(`${CREATED}\n`)
    expect(received[0]?.body).toBe(
      `{"queue":"emails","url":"https://e.com","method":"PUT","headers":{"X-A":"1","X-B":"a:b"},` +
        `"callback_url":"https://c.com","delay":5,"tags":{"a":"b=c"},"payload":${payload}}`,
    )
    expect(received[0]?.headers['idempotency-key']).toBe('k')
    await run(['push', 'q', 'https://e.com', '--run-at', '2026-12-24T18:00:00+01:00'])
    expect(JSON.parse(received[1]?.body ?? '')).toMatchObject({ run_at: '2026-12-24T18:00:00+01:00' })
  })

  test('a payload from a file and from standard input', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'punctual-client-'))
    const file = join(folder, 'payload.json')
    writeFileSync(file, '{"from": "file"}\n')
    await run(['push', 'q', 'https://e.com', '--payload', `@${file}`])
    rmSync(folder, { recursive: true })
    await run(['push', 'q', 'https://e.com', '--payload', '-'], { input: '{"from":"stdin"}' })
    expect(received.map(({ body }) => body.slice(body.indexOf('"payload"')))).toEqual([
      '"payload":{"from": "file"}}',
      '"payload":{"from":"stdin"}}',
    ])
  })

  test.each([
    [['--payload', '{"a":'], /^punctual: --payload is not JSON: .*\n$/],
    [['--payload', '@/nowhere/at/all'], /^punctual: --payload cannot be read: ENOENT.*\n$/],
    [['--header', 'nocolon'], /^punctual: --header nocolon lacks a name and ":"\n$/],
    [['--tag', '=x'], /^punctual: --tag =x lacks a name and "="\n$/],
    [['--delay', '1.5'], /^punctual: --delay 1\.5 is not a whole number\n$/],
    [['--server', 'ftp://x'], /^punctual: ftp:\/\/x is not an http address \(--server, PUNCTUAL_SERVER\)\n$/],
  ])('%j is a misuse', async (args, message) => {
    const ran = await run(['push', 'q', 'https://e.com', ...args])
    expect(ran).toMatchObject({ out: '', code: 2 })
    expect(ran.err).toMatch(message)
    expect(received).toEqual([])
  })

  test('with --wait it shows the job at its end', async () => {
    firstAnswers = [answer]
    answer = { status: 200, body: JSON.stringify({ ...ended, calls: [] }) }
    const ran = await run('push emails https://example.com --wait 3'.split(' '))
    expect(ran).toMatchObject({ err: '', code: 0 })
    expect(ran.out).toMatch(/^job 16 in queue 7, .*\njob 16 {2}u\n/)
    expect(received.map(({ url }) => url)).toEqual(['/api/jobs', '/api/jobs/16'])
  })

  test.each([
    ['dead_lettered', 'punctual: job 16 ended as dead_lettered: The target answered 503.\n'],
    ['retrying', 'punctual: job 16 is retrying after 1 s: The target answered 503.\n'],
  ])('with --wait it shows a job that is %s too, then fails', async (finalStatus, err) => {
    const body = JSON.stringify({ ...ended, final_status: finalStatus, calls: [] })
    const wait = async (...format: readonly string[]) => {
      firstAnswers = [{ status: 201, body: CREATED }]
      answer = { status: 200, body: body.replace('"calls"', '"payload":{"n":12345678901234567890},"calls"') }
      const pause = async () => undefined
      return run(['push', 'emails', 'https://example.com', '--wait', '1', ...format], { pause })
    }
    const asText = await wait()
    expect(asText).toMatchObject({ err, code: 1 })
    expect(asText.out).toMatch(new RegExp(`\njob 16 {2}u\n(?:.*\n)+failed, ${finalStatus}\n`))
    expect(asText.out).toContain('503     12 ms  http_server_error: The target answered 503.\n')
    expect(await wait('-o', 'json')).toEqual({ out: `${CREATED}\n${answer.body}\n`, err, code: 1 })
  })

  test('a --wait that is no number pushes nothing', async () => {
    const ran = await run('push q https://e.com --wait long'.split(' '))
    expect(ran).toEqual({ out: '', err: 'punctual: --wait long is not a whole number\n', code: 2 })
    expect(received).toEqual([])
  })

  test('no token is a misuse', async () => {
    expect(await run(['jobs'], { tokenDefault: '' })).toEqual({
      out: '',
      err: 'punctual: no token given (--token, PUNCTUAL_TOKEN; that of make run is in .punctual/token)\n',
      code: 2,
    })
  })
})

describe('failures are one line and exit code 1', () => {
  test.each([
    [401, '{"error":"Invalid authorization token"}', 'Invalid authorization token (--token, PUNCTUAL_TOKEN)'],
    [404, '{"error":"Not found"}', 'Not found: the team of this token has no such job'],
    [
      422,
      '{"message":"a.","errors":{"queue":["The queue field is required."],"url":["The url field must be a valid URL."]}}',
      'The queue field is required. The url field must be a valid URL.',
    ],
    [503, '{"error":"The job store is full"}', 'The job store is full'],
    [
      502,
      '<html>bad gateway</html>',
      'SERVER answered 502, which is no answer of Punctual (--server, PUNCTUAL_SERVER)',
    ],
    [302, '', 'SERVER answered 302, which is no answer of Punctual (--server, PUNCTUAL_SERVER)'],
    [200, '<html>hello</html>', 'the answer is not one of Punctual'],
  ])('%i %s', async (status, body, message) => {
    answer = { status, body, headers: { location: 'http://127.0.0.1:1/' } }
    expect(await run(['job', '16'])).toEqual({
      out: '',
      err: `punctual: ${message.replace('SERVER', address)}\n`,
      code: 1,
    })
  })

  test('nobody listens', async () => {
    const gone = await new Promise<string>((resolve) => {
      const free = createServer().listen(0, '127.0.0.1', () => {
        const { port } = free.address() as AddressInfo
        free.close(() => resolve(`http://127.0.0.1:${port}`))
      })
    })
    expect(await run(['jobs', '--server', gone])).toEqual({
      out: '',
      err: `punctual: cannot reach ${gone}: connection refused\n`,
      code: 1,
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
    answer = { status: 200, body: JSON.stringify({ jobs: [summary], next_cursor: 'abc' }) }
    const ran = await run('jobs --queue emails --status failed --limit 5 --cursor c'.split(' '))
    expect(received[0]).toMatchObject({
      method: 'GET',
      url: '/api/jobs?queue=emails&status=failed&limit=5&cursor=c',
    })
    expect(ran.out).toBe(
      'JOB  QUEUE   STATUS  FINAL     ATTEMPT  SCHEDULED                      TARGET\n' +
        '16   emails  failed  retrying  1        2026-11-21T10:00:00.000+00:00  POST https://example.com\n' +
        'more: --cursor abc\n',
    )
  })

  test('as JSON, exactly as answered', async () => {
    answer = { status: 200, body: '{"jobs":[],"next_cursor":null}' }
    expect((await run(['jobs', '-o', 'json'])).out).toBe(`${answer.body}\n`)
    expect(received[0]?.url).toBe('/api/jobs')
  })

  test('another format is a misuse', async () => {
    const ran = await run(['jobs', '-o', 'yaml'])
    expect(ran.code).not.toBe(0)
    expect(ran.err).toMatch(/Allowed choices are json, table/)
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
        },
        failure_reason: 'http_server_error',
        error_message: 'The target answered 503.',
        timings: {},
      },
    ],
  }

  test('as a page, in which what a target sent steers no terminal', async () => {
    answer = { status: 200, body: JSON.stringify(job) }
    const { out } = await run(['job', '16'])
    expect(received[0]?.url).toBe('/api/jobs/16')
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
        '< (cut)',
        '',
      ].join('\n'),
    )
  })

  test('says where the calls of a later attempt are', async () => {
    const chain = job.chain.map((one) => ({ ...one, started_at: '2026-11-21T10:00:00.000+00:00' }))
    answer = { status: 200, body: JSON.stringify({ ...job, chain }) }
    expect((await run(['job', '16'])).out).toMatch(
      /^last call of job 16, .* \(attempt 2: punctual job 17\)$/m,
    )
  })

  test('without an answer', async () => {
    const [call] = job.calls
    answer = {
      status: 200,
      body: JSON.stringify({ ...job, calls: [{ ...call, response: null, error_message: 'timed out' }] }),
    }
    expect((await run(['job', '16'])).out).toMatch(/< no answer: timed out\n$/)
  })

  test('as JSON, exactly as answered; the id cannot leave its place', async () => {
    answer = { status: 200, body: '{"payload":{"n":12345678901234567890}}' }
    expect((await run(['job', '../queues?x', '-o', 'json'])).out).toBe(`${answer.body}\n`)
    expect(received[0]?.url).toBe('/api/jobs/..%2Fqueues%3Fx')
  })
})

describe('crons', () => {
  const last = {
    scheduled_at: '2026-11-21T03:00:00.000+00:00',
    result: 'failed',
    job_id: 16,
    is_manual: false,
    ticks: 1,
  }
  const cron = {
    id: 3,
    name: 'Nightly \u001b[2J',
    url: 'https://example.com',
    method: 'POST',
    cron_expression: '0 3 * * *',
    time_zone: 'UTC',
    is_active: true,
    queue: 'reports',
    next_run_at: '2026-11-22T03:00:00.000+00:00',
    last_run: last,
    consecutive_failures: 2,
    warnings: ['success_assertions.0: never.'],
  }
  const paused = { ...cron, queue: null, is_active: false, next_run_at: null, last_run: null }
  const page = [
    'cron 3  Nightly \\x1b[2J',
    'POST https://example.com',
    '0 3 * * *  UTC',
    'through queue reports',
    'next 2026-11-22T03:00:00.000+00:00',
    'last 2026-11-21T03:00:00.000+00:00: failed, job 16',
    'failed 2 in a row',
    'success_assertions.0: never.',
    '',
  ].join('\n')

  test.each([
    ['crons --limit 5 --cursor c', '/api/crons?limit=5&cursor=c'],
    ['crons list', '/api/crons'],
  ])('%s is a table', async (args, url) => {
    answer = {
      status: 200,
      body: JSON.stringify({ crons: [{ ...cron, name: 'Nightly' }], next_cursor: 'abc' }),
    }
    const ran = await run(args.split(' '))
    expect(received[0]).toMatchObject({ method: 'GET', url })
    expect(ran.out).toBe(
      'CRON  NAME     EXPRESSION  ZONE  STATE   NEXT                           LAST    TARGET\n' +
        '3     Nightly  0 3 * * *   UTC   active  2026-11-22T03:00:00.000+00:00  failed  POST https://example.com\n' +
        'more: --cursor abc\n',
    )
  })

  test('as JSON, exactly as answered', async () => {
    answer = { status: 200, body: '{"crons":[],"next_cursor":null}' }
    expect((await run(['crons', '-o', 'json'])).out).toBe(`${answer.body}\n`)
  })

  test('one is a page, in which a name steers no terminal', async () => {
    answer = { status: 200, body: JSON.stringify(cron) }
    expect((await run(['crons', 'show', '3'])).out).toBe(page)
    expect(received[0]).toMatchObject({ method: 'GET', url: '/api/crons/3' })
  })

  test.each(['pause', 'resume'])('%s shows what became of it', async (verb) => {
    answer = { status: 200, body: JSON.stringify(paused) }
    const { out } = await run(['crons', verb, '3'])
    expect(received[0]).toMatchObject({ method: 'POST', url: `/api/crons/3/${verb}` })
    expect(out).toContain('0 3 * * *  UTC  (paused)\nnext -\nlast -\n')
  })

  test('run names the job, delete says so', async () => {
    answer = { status: 201, body: '{"cron_id":3,"job_id":16,"scheduled_at":"x"}' }
    expect((await run(['crons', 'run', '3'])).out).toBe('job 16 of cron 3\n')
    answer = { status: 204, body: '' }
    expect((await run(['crons', 'delete', '3'])).out).toBe('cron 3 is gone\n')
    expect(received.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /api/crons/3/run',
      'DELETE /api/crons/3',
    ])
  })

  test('runs are a table, newest first', async () => {
    const missed = { ...last, result: 'missed', job_id: null, ticks: 12 }
    const manual = { ...last, result: 'succeeded', job_id: 32, is_manual: true }
    answer = { status: 200, body: JSON.stringify({ runs: [manual, missed, last], next_cursor: null }) }
    const { out } = await run(['crons', 'runs', '3', '--limit', '3'])
    expect(received[0]?.url).toBe('/api/crons/3/runs?limit=3')
    expect(out).toBe(
      'SCHEDULED                      RESULT     JOB\n' +
        '2026-11-21T03:00:00.000+00:00  succeeded  32   by hand\n' +
        '2026-11-21T03:00:00.000+00:00  missed     -    12 ticks\n' +
        '2026-11-21T03:00:00.000+00:00  failed     16\n',
    )
  })

  test('are made with what was said', async () => {
    answer = {
      status: 201,
      body: '{"id":3,"name":"N","cron_expression":"x","next_run_at":"2026-11-22T03:00:00.000+00:00","is_active":true}',
    }
    const flags =
      '--zone Europe/Berlin --method put --header X-A:1 --payload - --queue q --timeout 5 --forbid --paused'
    const made = await run(
      ['crons', 'create', 'Nightly', '0 3 * * *', 'https://example.com', ...flags.split(' ')],
      { input: 'as it is' },
    )
    expect(made.out).toBe('cron 3, next run at 2026-11-22T03:00:00.000+00:00\n')
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({
      name: 'Nightly',
      url: 'https://example.com',
      cron_expression: '0 3 * * *',
      method: 'PUT',
      headers: { 'X-A': '1' },
      payload: 'as it is',
      timeout_seconds: 5,
      is_active: false,
      time_zone: 'Europe/Berlin',
      concurrency_policy: 'forbid',
      queue: 'q',
    })
    expect(received[0]?.headers).not.toHaveProperty('idempotency-key')
    await run(['crons', 'create', 'N', '0 3 * * *', 'https://example.com', '--idempotency-key', 'k'])
    expect(received[1]?.headers['idempotency-key']).toBe('k')
    expect(JSON.parse(received[1]?.body ?? '')).toEqual({
      name: 'N',
      url: 'https://example.com',
      cron_expression: '0 3 * * *',
    })
  })

  test('are changed where something is said', async () => {
    answer = { status: 200, body: JSON.stringify(cron) }
    const said =
      '--name N --expression x --url https://e.com --zone UTC --method put --header A:1 --header B:2 --payload - --queue q --timeout 5 --callback-url https://c.com --forbid --missed-runs all --starting-deadline 60 --jitter 7'
    expect((await run(['crons', 'edit', '3', ...said.split(' ')], { input: 'as it is' })).out).toBe(page)
    expect(received[0]).toMatchObject({ method: 'PATCH', url: '/api/crons/3' })
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({
      name: 'N',
      url: 'https://e.com',
      cron_expression: 'x',
      method: 'PUT',
      headers: { A: '1', B: '2' },
      payload: 'as it is',
      callback_url: 'https://c.com',
      timeout_seconds: 5,
      time_zone: 'UTC',
      concurrency_policy: 'forbid',
      missed_run_policy: 'all',
      starting_deadline_seconds: 60,
      jitter_seconds: 7,
      queue: 'q',
    })
    await run(['crons', 'edit', '3', '--zone', 'Asia/Tokyo'])
    expect(received[1]?.body).toBe('{"time_zone":"Asia/Tokyo"}')
  })

  test('lose what is taken from them', async () => {
    answer = { status: 200, body: JSON.stringify(cron) }
    const taken =
      '--no-header --no-payload --no-callback-url --no-forbid --no-starting-deadline --no-queue'.split(' ')
    await run(['crons', 'edit', '3', ...taken])
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({
      headers: {},
      payload: null,
      callback_url: null,
      concurrency_policy: 'allow',
      starting_deadline_seconds: null,
      queue: null,
    })
    // Of one said twice the last word counts.
    await run(['crons', 'edit', '3', '--no-header', '--header', 'A:1'])
    expect(received[1]?.body).toBe('{"headers":{"A":"1"}}')
  })

  test('an edit that says nothing is a misuse', async () => {
    expect(await run(['crons', 'edit', '3'])).toEqual({
      out: '',
      err: 'punctual: nothing to change was said (punctual crons edit --help)\n',
      code: 2,
    })
    expect(received).toEqual([])
  })

  test('one that is not there is called what it is', async () => {
    answer = { status: 404, body: '{"error":"Not found"}' }
    expect((await run(['crons', 'edit', '3', '--zone', 'UTC'])).err).toBe(
      'punctual: Not found: the team of this token has no such cron\n',
    )
  })

  test('are previewed in words', async () => {
    answer = { status: 200, body: '{"description":"At 03:00","next_runs":["a","b"]}' }
    const ran = await run(['crons', 'preview', '0 3 * * *', '--zone', 'Europe/Berlin', '--count', '2'])
    expect(ran.out).toBe('At 03:00\na\nb\n')
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({
      cron_expression: '0 3 * * *',
      time_zone: 'Europe/Berlin',
      count: 2,
    })
    expect(await run(['crons', 'preview', 'x', '--count', 'two'])).toMatchObject({
      code: 2,
      err: 'punctual: --count two is not a whole number\n',
    })
  })

  test('a mistake is told in the words of the API', async () => {
    const text = 'A cron expression is required.'
    answer = { status: 422, body: JSON.stringify({ message: text, errors: { cron_expression: [text] } }) }
    expect(await run(['crons', 'preview', ''])).toMatchObject({ code: 1, err: `punctual: ${text}\n` })
  })
})
