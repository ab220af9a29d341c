import { describe, expect, test } from 'vitest'
import { inputOf, useApi } from '../cli-fixture.ts'

const api = useApi()

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
    managed_by: null,
  }
  const paused = { ...cron, queue: null, is_active: false, next_run_at: null, last_run: null }
  const page = [
    'cron 3  Nightly \\x1b[2J',
    'POST https://example.com',
    '0 3 * * *  UTC',
    'queue reports',
    'next 2026-11-22T03:00:00.000+00:00',
    'last 2026-11-21T03:00:00.000+00:00: failed, job 16',
    'failures in a row: 2',
    'success_assertions.0: never.',
    '',
  ].join('\n')

  test.each([
    ['crons --limit 5 --cursor c', '/api/crons?limit=5&cursor=c'],
    ['crons list', '/api/crons'],
  ])('%s is a table', async (args, url) => {
    api.answer = {
      status: 200,
      body: JSON.stringify({ crons: [{ ...cron, name: 'Nightly' }], next_cursor: 'abc' }),
    }
    const ran = await api.run(args.split(' '))
    expect(api.received[0]).toMatchObject({ method: 'GET', url })
    expect(ran.out).toBe(
      'CRON  NAME     EXPRESSION  ZONE  STATE   NEXT                  LAST    TARGET\n' +
        '3     Nightly  0 3 * * *   UTC   active  2026-11-22T03:00:00Z  failed  POST https://example.com\n' +
        'next page: --cursor abc\n',
    )
  })

  test('as JSON, exactly as answered', async () => {
    api.answer = { status: 200, body: '{"crons":[],"next_cursor":null}' }
    expect((await api.run(['crons', '-o', 'json'])).out).toBe(`${api.answer.body}\n`)
  })

  test('one is a page, in which a name steers no terminal', async () => {
    api.answer = { status: 200, body: JSON.stringify(cron) }
    expect((await api.run(['crons', 'show', '3'])).out).toBe(page)
    expect(api.received[0]).toMatchObject({ method: 'GET', url: '/api/crons/3' })
  })

  test.each(['pause', 'resume'])('%s shows what became of it', async (verb) => {
    api.answer = { status: 200, body: JSON.stringify(paused) }
    const { out } = await api.run(['crons', verb, '3'])
    expect(api.received[0]).toMatchObject({ method: 'POST', url: `/api/crons/3/${verb}` })
    expect(out).toContain('0 3 * * *  UTC  (paused)\nnext -\nlast -\n')
  })

  test('run names the job, delete says so', async () => {
    api.answer = { status: 201, body: '{"cron_id":3,"job_id":16,"scheduled_at":"x"}' }
    expect((await api.run(['crons', 'run', '3'])).out).toBe('job 16 of cron 3\n')
    api.answer = { status: 204, body: '' }
    expect((await api.run(['crons', 'delete', '--yes', '3'])).out).toBe('cron 3 deleted\n')
    expect(api.received.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /api/crons/3/run',
      'DELETE /api/crons/3',
    ])
  })

  test('runs are a table, newest first', async () => {
    const missed = { ...last, result: 'missed', job_id: null, ticks: 12 }
    const manual = { ...last, result: 'succeeded', job_id: 32, is_manual: true }
    api.answer = { status: 200, body: JSON.stringify({ runs: [manual, missed, last], next_cursor: null }) }
    const { out } = await api.run(['crons', 'runs', '3', '--limit', '3'])
    expect(api.received[0]?.url).toBe('/api/crons/3/runs?limit=3')
    expect(out).toBe(
      'SCHEDULED             RESULT     JOB\n' +
        '2026-11-21T03:00:00Z  succeeded  32   manual\n' +
        '2026-11-21T03:00:00Z  missed     -    12 ticks\n' +
        '2026-11-21T03:00:00Z  failed     16\n',
    )
  })

  test('are made with what was said', async () => {
    api.answer = {
      status: 201,
      body: '{"id":3,"name":"N","cron_expression":"x","next_run_at":"2026-11-22T03:00:00.000+00:00","is_active":true}',
    }
    const flags =
      '--zone Europe/Berlin --method put --header X-A:1 --payload - --queue q --timeout 5 --forbid --paused'
    const made = await api.run(
      ['crons', 'create', 'Nightly', '0 3 * * *', 'https://example.com', ...flags.split(' ')],
      { stdin: inputOf('as it is') },
    )
    expect(made.out).toBe('cron 3, next run at 2026-11-22T03:00:00.000+00:00\n')
    expect(JSON.parse(api.received[0]?.body ?? '')).toEqual({
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
    expect(api.received[0]?.headers).not.toHaveProperty('idempotency-key')
    const bad = ['crons', 'create', 'N', '0 3 * * *', 'https://e.com', '--idempotency-key', 'ключ']
    expect(await api.run(bad)).toEqual({
      out: '',
      err: 'punctual: --idempotency-key must be visible ASCII characters\n',
      code: 2,
    })
    await api.run(['crons', 'create', 'N', '0 3 * * *', 'https://example.com', '--idempotency-key', 'k'])
    expect(api.received[1]?.headers['idempotency-key']).toBe('k')
    expect(JSON.parse(api.received[1]?.body ?? '')).toEqual({
      name: 'N',
      url: 'https://example.com',
      cron_expression: '0 3 * * *',
    })
  })

  test('are changed where something is said', async () => {
    api.answer = { status: 200, body: JSON.stringify(cron) }
    const said =
      '--name N --expression x --url https://e.com --zone UTC --method put --header A:1 --header B:2 --payload - --queue q --timeout 5 --callback-url https://c.com --forbid --missed-runs all --starting-deadline 60 --jitter 7 --alert-threshold 2 --assert body_contains=a=b --assert status_code_equals=201 --record-responses none'
    expect(
      (await api.run(['crons', 'edit', '3', ...said.split(' ')], { stdin: inputOf('as it is') })).out,
    ).toBe(page)
    expect(api.received[1]).toMatchObject({ method: 'PATCH', url: '/api/crons/3' })
    expect(JSON.parse(api.received[1]?.body ?? '')).toEqual({
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
      alert_threshold: 2,
      success_assertions: [
        { type: 'body_contains', value: 'a=b' },
        { type: 'status_code_equals', value: '201' },
      ],
      queue: 'q',
      record_responses: 'none',
    })
    await api.run(['crons', 'edit', '3', '--zone', 'Asia/Tokyo'])
    expect(api.received.at(-1)?.body).toBe('{"time_zone":"Asia/Tokyo"}')
  })

  test('lose what is taken from them', async () => {
    api.answer = { status: 200, body: JSON.stringify(cron) }
    const taken =
      '--no-header --no-payload --no-callback-url --no-forbid --no-starting-deadline --no-queue --no-assert'.split(
        ' ',
      )
    await api.run(['crons', 'edit', '3', ...taken])
    expect(JSON.parse(api.received.at(-1)?.body ?? '')).toEqual({
      headers: {},
      payload: null,
      callback_url: null,
      concurrency_policy: 'allow',
      starting_deadline_seconds: null,
      success_assertions: [],
      queue: null,
    })
    // Of one said twice the last word counts.
    await api.run(['crons', 'edit', '3', '--no-header', '--header', 'A:1'])
    expect(api.received.at(-1)?.body).toBe('{"headers":{"A":"1"}}')
  })

  test.each([
    ['create', 'n', '0 3 * * *', 'https://e.com'],
    ['edit', '3'],
  ])('a header given twice is a misuse of %s', async (...args) => {
    expect(await api.run(['crons', ...args, '--header', 'X-A:1', '--header', 'x-a:2'])).toEqual({
      out: '',
      err: 'punctual: --header x-a is given more than once\n',
      code: 2,
    })
    expect(api.received).toEqual([])
  })

  test('an edit that says nothing is a misuse', async () => {
    expect(await api.run(['crons', 'edit', '3'])).toEqual({
      out: '',
      err: 'punctual: no change given (see punctual crons edit --help)\n',
      code: 2,
    })
    expect(api.received).toEqual([])
  })

  test('one that is not there is called what it is', async () => {
    api.answer = { status: 404, body: '{"error":"Not found"}' }
    expect((await api.run(['crons', 'edit', '3', '--zone', 'UTC'])).err).toBe(
      'punctual: Not found: the team of this token has no cron with the id 3 (one named 3 is given as name:3)\n',
    )
  })

  test('are previewed in words', async () => {
    api.answer = { status: 200, body: '{"description":"At 03:00","next_runs":["a","b"]}' }
    const ran = await api.run(['crons', 'preview', '0 3 * * *', '--zone', 'Europe/Berlin', '--count', '2'])
    expect(ran.out).toBe('At 03:00\na\nb\n')
    expect(JSON.parse(api.received[0]?.body ?? '')).toEqual({
      cron_expression: '0 3 * * *',
      time_zone: 'Europe/Berlin',
      count: 2,
    })
    for (const [given, after] of [
      ['2027-03-28T00:00:00Z', '2027-03-28T00:00:00Z'],
      ['7d', '2026-11-28T12:00:00.000Z'],
    ] as const) {
      await api.run(['crons', 'preview', '0 3 * * *', '--after', given])
      expect(JSON.parse(api.received.at(-1)?.body ?? '')).toEqual({ cron_expression: '0 3 * * *', after })
    }
    expect(await api.run(['crons', 'preview', 'x', '--count', 'two'])).toMatchObject({
      code: 2,
      err: 'punctual: --count two is not a whole number\n',
    })
  })

  test('a mistake is told in the words of the API', async () => {
    const text = 'A cron expression is required.'
    api.answer = { status: 422, body: JSON.stringify({ message: text, errors: { cron_expression: [text] } }) }
    expect(await api.run(['crons', 'preview', ''])).toMatchObject({ code: 1, err: `punctual: ${text}\n` })
  })
})
