import { describe, expect, test } from 'vitest'
import { answerText, OUTPUT_FORMATS } from '../../../../src/cli/output/answer-text.ts'
import { ProgressBar } from '../../../../src/cli/output/progress-bar.ts'
import { listView } from '../../../../src/cli/output/view.ts'
import { CREATED, useApi } from '../cli-fixture.ts'

const api = useApi()

const LIST = listView<
  { things: readonly { id: string; size: number }[]; next_cursor: string | null },
  { id: string; size: number }
>({
  kind: 'thing',
  items: ({ things }) => things,
  id: ({ id }) => id,
  columns: [
    { head: 'THING', cell: ({ id }) => id },
    { head: 'SIZE', cell: ({ size }) => String(size), isWide: true },
  ],
})

describe('an answer', () => {
  const text =
    '{"things":[{"id":"a","size":12345678901234567890},{"id":"b\\u001b[2J","size":1}],"next_cursor":"n"}'
  const answer = {
    text,
    body: JSON.parse(text) as { things: { id: string; size: number }[]; next_cursor: null },
  }

  test.each([
    ['table', 'THING\na\nb\\x1b[2J\nnext page: --cursor n\n'],
    ['wide', 'THING     SIZE\na         12345678901234567000\nb\\x1b[2J  1\nnext page: --cursor n\n'],
    ['json', `${text}\n`],
    [
      'yaml',
      'things:\n  - id: a\n    size: 12345678901234567890\n  - id: "b\\e[2J"\n    size: 1\nnext_cursor: n\n',
    ],
    ['name', 'thing/a\nthing/b\\x1b[2J\n'],
  ] as const)('as %s', (format, shown) => {
    expect(answerText(answer, { format, width: null }, LIST).replaceAll(/ +$/gm, '')).toBe(shown)
  })

  test('no format was left out', () => expect(OUTPUT_FORMATS).toHaveLength(5))
})

test('times in lists are to the second, unless there is room', async () => {
  const at = '2026-11-21T10:00:00.123+00:00'
  const job = { queue: 'q', status: 'pending', scheduled_at: at, method: 'GET', url: `http://e.com/${at}` }
  api.answer = { status: 200, body: JSON.stringify({ jobs: [{ ...job, tags: {} }], next_cursor: null }) }
  expect((await api.run(['jobs'])).out).toContain(`  2026-11-21T10:00:00Z  GET http://e.com/${at}\n`)
  expect((await api.run(['jobs', '-o', 'wide'])).out).toContain(`  ${at}  `)
})

describe('an empty list', () => {
  const none = { results: [], jobs: [], queues: [], crons: [], runs: [], windows: [], alerts: [], bulks: [] }
  const body = { ...none, tokens: [], signing_secrets: [], records: [], next_cursor: null as string | null }

  test.each([
    ['jobs', 'No jobs.'],
    ['queues', 'No queues.'],
    ['crons', 'No crons.'],
    ['crons runs 7', 'No runs.'],
    ['windows', 'No windows.'],
    ['alerts', 'No alerts.'],
    ['bulk', 'No bulks.'],
    ['tokens', 'No tokens.'],
    ['secrets -o wide', 'No signing secrets.'],
    ['audit', 'No records.'],
    ['notifications test', 'No channels.'],
  ])('of %s is told to people', async (line, says) => {
    api.answer = { status: 200, body: JSON.stringify(body) }
    expect(await api.run(line.split(' '))).toEqual({ out: '', err: `${says}\n`, code: 0 })
  })

  test.each(['json', 'yaml', 'name'])('is told to no script (%s)', async (format) => {
    api.answer = { status: 200, body: JSON.stringify(body) }
    expect((await api.run(['queues', '-o', format])).err).toBe('')
  })

  test('of a page that others follow is none', async () => {
    api.answer = { status: 200, body: JSON.stringify({ ...body, next_cursor: 'n' }) }
    const { out, err } = await api.run(['jobs'])
    expect(out).toMatch(/^JOB .*\nnext page: --cursor n\n$/)
    expect(err).toBe('')
  })
})

test.each([
  ['queues shwo', "unknown command 'shwo'\n(Did you mean show?)"],
  ['crons 7', "unknown command '7'"],
  ['secrets list 7', "list takes no argument such as '7'"],
])('%s is no list', async (line, says) => {
  const ran = await api.run(line.split(' '))
  expect(ran).toMatchObject({ code: 1, out: '' })
  expect(ran.err).toContain(says)
  expect(api.received).toEqual([])
})

test('help shows what may be repeated, and no empty default', async () => {
  const { out } = await api.run(['push', '--help'])
  expect(out).toMatch(/--header <name:value> .*repeatable/)
  expect(out).not.toContain('[]')
})

test('a dry run prints the request and sends nothing but questions', async () => {
  expect(await api.run(['delete', 'a/b', '--dry-run'])).toEqual({
    out: 'DELETE /api/jobs/a%2Fb\n',
    err: '',
    code: 0,
  })
  const payload = '{"n":12345678901234567890}'
  expect((await api.run(['push', 'q', 'https://e.com', '--payload', payload, '--dry-run'])).out).toBe(
    `POST /api/jobs\n{"queue":"q","url":"https://e.com","payload":${payload}}\n`,
  )
  expect((await api.run(['alerts', 'delete', '--all', '--dry-run'])).out).toBe(
    'DELETE /api/alerts?all=true\n',
  )
  expect(api.received).toEqual([])
})

test('what was pushed can be named alone', async () => {
  expect((await api.run(['push', 'q', 'https://e.com', '-o', 'name'])).out).toBe('job/16\n')
  api.answer = { status: 204, body: '' }
  expect((await api.run(['crons', 'delete', '--yes', '7', '-o', 'name'])).out).toBe('cron/7\n')
  expect((await api.run(['crons', 'delete', '--yes', '7', '-o', 'json'])).out).toBe('')
})

test.each(['.', '..', ''])('the id %j is a misuse, not another operation', async (id) => {
  expect(await api.run(['delete', '--yes', id])).toMatchObject({ code: 2, out: '' })
  expect(api.received).toEqual([])
})

describe('--watch', () => {
  /** Ends the watch after so many looks, as Ctrl-C does. */
  const looks = (count: number) => {
    let slept = 0
    return () => (++slept < count ? Promise.resolve() : Promise.reject(new Error('interrupted')))
  }
  const page = (unread: number) => ({
    status: 200,
    body: JSON.stringify({ unread, by_type: { warning: unread, failure: 0, recovery: 0, limit_warning: 0 } }),
  })
  const watch = (count: number, isTerminal = false) => {
    let out = ''
    const ended = api.run(['alerts', 'counts', '--watch'], {
      sleep: looks(count),
      stdout: { isTerminal, write: (text) => (out += text) },
    })
    return ended.then(
      (ran) => ({ ...ran, out }),
      (fault: unknown) => ({ out, fault: String(fault) }),
    )
  }

  test('prints again what has changed, and only that', async () => {
    api.firstAnswers = [page(1), page(1), page(2)]
    api.answer = page(2)
    expect(await watch(4)).toEqual({
      out: '1 unread: warning 1\n2 unread: warning 2\n',
      fault: 'Error: interrupted',
    })
    expect(api.received).toHaveLength(4)
  })

  test('tells that a list has become empty', async () => {
    const queue = {
      queue_id: 7,
      name: 'mails',
      counts: {},
      is_active: true,
      is_draining: false,
      throttled: null,
      startable: 0,
      stopped: null,
      oldest_startable_seconds: null,
      last_hour: { ended: 0, failed: 0 },
    }
    const pageOf = (queues: object[]) => ({
      status: 200,
      body: JSON.stringify({ queues, next_cursor: null }),
    })
    api.firstAnswers = [pageOf([queue]), pageOf([]), pageOf([])]
    api.answer = { status: 403, body: '{"error":"No."}' }
    const sleep = () => Promise.resolve()
    const { out, err } = await api.run(['queues', '--watch'], { sleep })
    expect(out).toMatch(/^QUEUE .*\n7 .*\n$/)
    expect(err).toBe('No queues.\npunctual: No.\n')
  })

  test('replaces it on a terminal', async () => {
    api.answer = page(1)
    expect((await watch(2, true)).out).toBe('\u001b[2J\u001b[3J\u001b[H1 unread: warning 1\n')
  })

  test('bears five failures in a row once it has begun, and no more', async () => {
    const away = { status: 503, body: '{"error":"away"}' }
    api.firstAnswers = [page(1), ...Array.from({ length: 5 }, () => away), page(2)]
    api.answer = away
    expect(await watch(20)).toEqual({
      out: '1 unread: warning 1\n2 unread: warning 2\n',
      err: 'punctual: away\n',
      code: 5,
    })
    expect(api.received).toHaveLength(13)
    expect(await watch(20)).toMatchObject({ out: '', code: 5 })
  })

  test.each(['0', '1.5', '-1', 'soon'])('of %s s is a misuse', async (seconds) => {
    api.answer = page(1)
    expect(await api.run(['alerts', 'counts', `--watch=${seconds}`])).toMatchObject({ out: '', code: 2 })
  })
})

describe('a progress bar', () => {
  const drawn = (isTerminal: boolean) => {
    const written: string[] = []
    let nowMs = 0
    const bar = new ProgressBar({ isTerminal, write: (text) => written.push(text) }, () => nowMs)
    for (const [atMs, done] of [
      [0, 0],
      [50, 1],
      [100, 5],
      [300, 10],
    ] as const) {
      nowMs = atMs
      bar.update(done, 10)
    }
    bar.end()
    bar.end()
    return written
  }

  test('is drawn ten times a second at most, and erased', () => {
    expect(drawn(true)).toEqual([
      `\r\u001b[2K${'░'.repeat(30)}   0 %  0/10`,
      `\r\u001b[2K${'█'.repeat(15)}${'░'.repeat(15)}  50 %  5/10`,
      `\r\u001b[2K${'█'.repeat(30)} 100 %  10/10`,
      '\r\u001b[2K',
    ])
  })

  test('is not drawn into a file', () => expect(drawn(false)).toEqual([]))

  test('of an unknown whole is a count', () => {
    let out = ''
    new ProgressBar({ isTerminal: true, write: (text) => (out += text) }, () => 0).update(7, null, 'jobs')
    expect(out).toBe('\r\u001b[2K7  jobs')
  })
})

test('the program names itself, as the audit log expects it', async () => {
  api.answer = { status: 201, body: CREATED }
  await api.run(['push', 'q', 'https://e.com'])
  expect(api.received[0]?.headers['user-agent']).toBe('punctual-cli/1.2.3')
})
