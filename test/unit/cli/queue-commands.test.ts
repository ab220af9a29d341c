import { expect, test } from 'vitest'
import { contract } from '../../support/rules/contract-document.ts'
import { useApi } from './cli-fixture.ts'

const api = useApi()
type Example = Readonly<Record<string, unknown>>
/** The example of the contract. */
const exampleOf = (response: unknown): Example => {
  const { content } = response as {
    content: Record<string, { examples: Record<string, { value: Example }> }>
  }
  return Object.values(content['application/json']?.examples ?? {})[0]?.value ?? {}
}
const QUEUE = exampleOf(contract.components['responses']?.['QueueAnswer'])
const ROW = {
  ...QUEUE,
  startable: 1,
  stopped: { reason: 'at_limit', jobs: 2 },
  oldest_startable_seconds: 41,
  last_hour: { ended: 200, failed: 3 },
}
const okOf = (path: string) => exampleOf(contract.paths[path]?.['get']?.responses['200'])

test('queues are listed, and watched in wide', async () => {
  api.answer = { status: 200, body: JSON.stringify({ queues: [ROW], next_cursor: 'n' }) }
  expect((await api.run(['queues', '--limit', '1'])).out).toBe(
    'QUEUE  NAME    STATE              STARTABLE  STOPPED     OLDEST  FAILED  DELAYED  IN FLIGHT  DEAD\n' +
      '7      emails  active, throttled  1          2 at_limit  41 s    1.5 %   2        3          4\n' +
      'next page: --cursor n\n',
  )
  expect(api.received[0]?.url).toBe('/api/queues?limit=1')
  await api.run(['queues', '--sort', 'trouble', '--text', 'mail'])
  expect(api.received.at(-1)?.url).toBe('/api/queues?text=mail&sort=trouble')
  expect((await api.run(['queues', '--sort', 'depth'])).code).toBe(1)
  expect((await api.run(['queues', '-o', 'wide'])).out).toContain(
    '  10/s  30 s     retries after 60, 1800, 10800 s, up to 20 % longer, but not after 410\n',
  )
  expect((await api.run(['queues', 'list', '-o', 'name'])).out).toBe('queue/7\n')
})

test('a number that is none is told by every list', async () => {
  for (const group of ['queues', 'crons', 'windows', 'alerts', 'tokens', 'bulk']) {
    const err = 'punctual: --limit x is not a whole number\n'
    expect(await api.run([group, '--limit', 'x'])).toEqual({ out: '', err, code: 2 })
  }
  expect(await api.run(['stats', '--step', 'x'])).toMatchObject({
    err: 'punctual: --step "x" is neither a whole number of seconds nor a span such as 90s, 15m or 2h\n',
    code: 2,
  })
  expect(api.received).toEqual([])
})

test('dead letters are purged by a bulk', async () => {
  const post = contract.paths['/api/queues/{queue_id}/purge']?.['post']
  const { BulkAnswer } = contract.components['responses'] ?? {}
  expect(post?.responses['202']).toEqual({ $ref: '#/components/responses/BulkAnswer' })
  api.answer = { status: 202, body: JSON.stringify(exampleOf(BulkAnswer)) }
  expect((await api.run(['queues', 'purge', '--yes', 'queue/7', '-o', 'name'])).out).toMatch(/^bulk\/\d+\n$/)
  expect(api.received).toMatchObject([{ method: 'POST', url: '/api/queues/7/purge' }])
})

test('a queue is shown, paused, resumed and deleted', async () => {
  api.answer = { status: 200, body: JSON.stringify(QUEUE) }
  const shown = await api.run(['queues', 'show', '7'])
  expect(shown.out).toContain(
    'queue 7  emails  (active, throttled)\n1 ready, 2 delayed, 3 in flight, 4 dead letters\n',
  )
  await api.run(['queues', 'pause', '7'])
  await api.run(['queues', 'resume', '7'])
  api.answer = { status: 204, body: '' }
  expect((await api.run(['queues', 'delete', '--yes', '7'])).out).toBe('queue 7 deleted\n')
  expect(api.received.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'GET /api/queues/7',
    'POST /api/queues/7/pause',
    'POST /api/queues/7/resume',
    'DELETE /api/queues/7',
  ])
})

test('a pause and a drain take a reason', async () => {
  api.answer = { status: 200, body: JSON.stringify(QUEUE) }
  await api.run(['queues', 'pause', '7', '--reason', 'The mail server is down.'])
  await api.run(['queues', 'drain', '7'])
  expect(api.received.map(({ url, body }) => [url, body])).toEqual([
    ['/api/queues/7/pause', '{"reason":"The mail server is down."}'],
    ['/api/queues/7/drain', ''],
  ])
})

test('an edit sends what is given, and shows warnings', async () => {
  api.answer = { status: 200, body: JSON.stringify({ ...QUEUE, warnings: ['It can never pass.'] }) }
  const args =
    'queues edit 7 --max-parallelism 4 --rate-limit 600/5m --respect-retry-after on --circuit-breaker percent=50,open=30 --no-retry-statuses 410,404 --retry-jitter 20 --strict-parallelism on --timeout 10 --retries off --retry-delays 10,60 --dlq-retention-days 7 --alerts on --callback-events terminal --record-responses none'
  expect((await api.run(args.split(' '))).out).toContain('\nIt can never pass.\n')
  await api.run(['queues', 'edit', '7', '--no-max-parallelism'])
  const edits = api.received.filter(({ method }) => method === 'PATCH')
  expect(edits.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
    {
      max_parallelism: 4,
      rate_limit: { limit: 600, period_seconds: 300 },
      respect_retry_after: true,
      circuit_breaker: { failure_percent: 50, open_seconds: 30 },
      strict_parallelism: true,
      timeout_seconds: 10,
      retries_enabled: false,
      retry_delays: [10, 60],
      no_retry_statuses: [410, 404],
      retry_jitter_percent: 20,
      dlq_retention_days: 7,
      alerts_enabled: true,
      callback_events: 'terminal',
      record_responses: 'none',
    },
    { max_parallelism: null },
  ])
})

test.each([
  ['--rate-limit none', { rate_limit: null }],
  ['--rate-limit 10/s', { rate_limit: { limit: 10, period_seconds: 1 } }],
  ['--rate-limit 5/h', { rate_limit: { limit: 5, period_seconds: 3600 } }],
  ['--circuit-breaker none', { circuit_breaker: null }],
  ['--circuit-breaker default', { circuit_breaker: {} }],
  ['--circuit-breaker calls=5,window=9', { circuit_breaker: { min_calls: 5, window_seconds: 9 } }],
  ['--no-retry-statuses none', { no_retry_statuses: [] }],
  ['--respect-retry-after off', { respect_retry_after: false }],
  ['--retry-jitter 20%', { retry_jitter_percent: 20 }],
])('an edit with %s', async (flags, body) => {
  api.answer = { status: 200, body: JSON.stringify({ ...QUEUE, warnings: [] }) }
  await api.run(['queues', 'edit', '7', ...flags.split(' ')])
  const [edit] = api.received.filter(({ method }) => method === 'PATCH')
  expect(JSON.parse(edit?.body ?? '')).toEqual(body)
})

test('a throttle that only a later API knows is called by its name', async () => {
  const throttled = { reason: 'of_tomorrow', until: 'SOON' }
  api.answer = { status: 200, body: JSON.stringify({ ...QUEUE, throttled }) }
  expect((await api.run(['queues', 'show', '7'])).out).toContain('throttled: of_tomorrow until SOON\n')
})

test('a page says how fast the target is called, and why it is not', async () => {
  api.answer = { status: 200, body: JSON.stringify(QUEUE) }
  expect((await api.run(['queues', 'show', '7'])).out).toContain(
    'throttled: its circuit breaker is open until 2026-11-21T10:05:30.000+00:00\n' +
      'at most 10/s\n' +
      'waits for as long as its target asks by Retry-After\n' +
      'stops for 30 s when 50 % of at least 10 calls in 60 s fail\n',
  )
  const limited = { reason: 'rate_limited', until: 'SOON' }
  api.answer = { status: 200, body: JSON.stringify({ ...QUEUE, throttled: limited }) }
  expect((await api.run(['queues', 'show', '7'])).out).toContain('\nthrottled: rate limited until SOON\n')
  api.answer = { status: 200, body: JSON.stringify({ ...QUEUE, record_responses: 'none' }) }
  expect((await api.run(['queues', 'show', '7'])).out).toContain('\nof responses only the status is kept\n')
  const tried = { reason: 'target_asks_to_wait', until: null }
  const rest = { rate_limit: { limit: 5, period_seconds: 7200 }, circuit_breaker: null }
  const none = { respect_retry_after: false, no_retry_statuses: [], retry_jitter_percent: 0 }
  api.answer = { status: 200, body: JSON.stringify({ ...QUEUE, throttled: tried, ...rest, ...none }) }
  const { out } = await api.run(['queues', 'show', '7'])
  expect(out).toContain(
    '\nthrottled: its target asks to wait, one job tries the target\nat most 5/2h\ntimeout 30 s, retries after 60, 1800, 10800 s\n',
  )
})

test.each([
  [[], 'no change given'],
  [['--retry-delays', '10,soon'], '--retry-delays "soon" is neither a whole number'],
  [['--timeout', '1.5'], '--timeout "1.5" is neither a whole number'],
  [['--rate-limit', '10'], '--rate-limit "10" is not a rate: give one such as 10/s or 600/1m, or none'],
  [['--rate-limit', '0/s'], '--rate-limit "0/s" is not a rate'],
  [['--rate-limit', '1/0s'], '--rate-limit "0s" is not a duration'],
  [
    ['--circuit-breaker', 'on'],
    '--circuit-breaker "on" is not one of: default, none, or parts such as percent=50',
  ],
  [['--circuit-breaker', 'constructor=1'], '--circuit-breaker "constructor=1" is not one of: default'],
  [['--circuit-breaker', 'open=1m'], '--circuit-breaker open 1m is not a whole number'],
  [['--circuit-breaker', 'open=1,open=2'], '--circuit-breaker "open=1,open=2" names a part twice'],
  [['--no-retry-statuses', '4xx'], '--no-retry-statuses 4xx is not a whole number'],
  [['--retry-jitter', '0.5'], '--retry-jitter 0.5 is not a whole number'],
  [['--assert', 'ok'], '--assert ok must be type=value'],
  [['--data', '[]'], '--data is not a JSON object'],
  [['--data', '{"a":'], '--data is not JSON'],
])('an edit with %j is a misuse', async (flags, says) => {
  const ran = await api.run(['queues', 'edit', '7', ...flags])
  expect(ran).toMatchObject({ code: 2, out: '' })
  expect(ran.err).toContain(says)
  expect(api.received).toEqual([])
})

test('an edit of one version sends it as it is shown', async () => {
  const version = '"VnQtcHkT0m6Ea1Zb"'
  api.answer = { status: 200, headers: { etag: version }, body: JSON.stringify(QUEUE) }
  expect((await api.run(['queues', 'show', '7', '-o', 'wide'])).out).toContain(`\nversion ${version}\n`)
  api.answer = { status: 200, body: JSON.stringify({ ...QUEUE, warnings: [] }) }
  await api.run(['queues', 'edit', '7', '--timeout', '5', '--if-match', version])
  expect(api.received.slice(1)).toMatchObject([{ method: 'PATCH', headers: { 'if-match': version } }])
})

test('a queue that drains says so', async () => {
  api.answer = { status: 200, body: JSON.stringify({ ...QUEUE, is_draining: true }) }
  expect((await api.run(['queues', 'drain', '7'])).out).toContain(
    'queue 7  emails  (active, draining, throttled)\n',
  )
  expect(api.received).toMatchObject([{ method: 'POST', url: '/api/queues/7/drain' }])
})

test('the team and the sender are shown', async () => {
  api.answer = { status: 200, body: JSON.stringify(okOf('/api/team')) }
  expect((await api.run(['team'])).out).toMatch(/^team \S+\nQUOTA +USED +LIMIT\nqueues +\d+ +\S+\n/)
  api.answer = { status: 200, body: JSON.stringify(okOf('/api/me')) }
  expect((await api.run(['whoami'])).out).toMatch(/^token \S+ in team \S+\n(?:.*\n)*may: push, read\n/)
})

test('the state of a queue says who stopped it, and what waits in it', async () => {
  const state = okOf('/api/queues/{queue_id}/state')
  const said = async (change: object) => {
    api.answer = { status: 200, body: JSON.stringify({ ...state, ...change }) }
    return (await api.run(['queues', 'state', '7'])).out
  }
  expect(await said({})).toBe(
    'paused since 2026-11-21T10:05:00.000+00:00 by ada@example.com (dashboard): The mail server is down.\n' +
      '0 startable\n15 stopped: paused\n',
  )
  expect(api.received.at(-1)?.url).toBe('/api/queues/7/state')
  const forgotten = { at: null, by: null, via: null, reason: null }
  const draining = { at: '2026-11-21T10:05:00.000+00:00', by: 'ci', via: 'api', reason: null }
  expect(await said({ paused: forgotten, draining, stopped: null })).toBe(
    'paused; the audit log no longer says by whom\n' +
      'draining since 2026-11-21T10:05:00.000+00:00 by ci (api)\n0 startable\n',
  )
  const none = { paused: null, draining: null, stopped: null, startable: 3, oldest_startable_seconds: 41 }
  expect(await said(none)).toBe('nobody has stopped it\n3 startable, the oldest due for 41 s\n')
})

test('a queue is created by its name, with settings of its own', async () => {
  api.answer = { status: 201, body: JSON.stringify({ ...QUEUE, warnings: [] }) }
  const ran = await api.run([
    'queues',
    'create',
    'partner',
    '--rate-limit',
    '10/s',
    '--retry-delays',
    '10s,1m',
  ])
  expect(ran.out).toContain('queue 7  emails')
  expect([api.received[0]?.method, api.received[0]?.url]).toEqual(['POST', '/api/queues'])
  expect(JSON.parse(api.received[0]?.body ?? '')).toEqual({
    name: 'partner',
    rate_limit: { limit: 10, period_seconds: 1 },
    retry_delays: [10, 60],
  })
  expect((await api.run(['queues', 'create'])).code).toBe(1)
})
