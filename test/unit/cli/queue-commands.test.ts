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
const okOf = (path: string) => exampleOf(contract.paths[path]?.['get']?.responses['200'])

test('queues are listed, and watched in wide', async () => {
  api.answer = { status: 200, body: JSON.stringify({ queues: [QUEUE], next_cursor: 'n' }) }
  expect((await api.run(['queues', '--limit', '1'])).out).toBe(
    'QUEUE  NAME    STATE   READY  DELAYED  IN FLIGHT  DEAD\n' +
      '7      emails  active  1      2        3          4\nnext page: --cursor n\n',
  )
  expect(api.received[0]?.url).toBe('/api/queues?limit=1')
  expect((await api.run(['queues', '-o', 'wide'])).out).toContain(
    '  30 s     retries after 60, 1800, 10800 s\n',
  )
  expect((await api.run(['queues', 'list', '-o', 'name'])).out).toBe('queue/7\n')
})

test('dead letters are purged by a bulk', async () => {
  const post = contract.paths['/api/queues/{queue_id}/purge']?.['post']
  const { BulkAnswer } = contract.components['responses'] ?? {}
  expect(post?.responses['202']).toEqual({ $ref: '#/components/responses/BulkAnswer' })
  api.answer = { status: 202, body: JSON.stringify(exampleOf(BulkAnswer)) }
  expect((await api.run(['queues', 'purge', 'queue/7', '-o', 'name'])).out).toMatch(/^bulk\/\d+\n$/)
  expect(api.received).toMatchObject([{ method: 'POST', url: '/api/queues/7/purge' }])
})

test('a queue is shown, paused, resumed and deleted', async () => {
  api.answer = { status: 200, body: JSON.stringify(QUEUE) }
  const shown = await api.run(['queues', 'show', '7'])
  expect(shown.out).toContain('queue 7  emails  (active)\n1 ready, 2 delayed, 3 in flight, 4 dead letters\n')
  await api.run(['queues', 'pause', '7'])
  await api.run(['queues', 'resume', '7'])
  api.answer = { status: 204, body: '' }
  expect((await api.run(['queues', 'delete', '7'])).out).toBe('queue 7 deleted\n')
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
    'queues edit 7 --max-parallelism 4 --strict-parallelism on --timeout 10 --retries off --retry-delays 10,60 --dlq-retention-days 7 --alerts on --callback-events terminal'
  expect((await api.run(args.split(' '))).out).toContain('\nIt can never pass.\n')
  await api.run(['queues', 'edit', '7', '--no-max-parallelism'])
  const edits = api.received.filter(({ method }) => method === 'PATCH')
  expect(edits.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
    {
      ...{ max_parallelism: 4, strict_parallelism: true, timeout_seconds: 10, retries_enabled: false },
      ...{ retry_delays: [10, 60], dlq_retention_days: 7, alerts_enabled: true, callback_events: 'terminal' },
    },
    { max_parallelism: null },
  ])
})

test.each([
  [[], 'nothing to change was given'],
  [['--retry-delays', '10,soon'], '--retry-delays soon is not a whole number'],
  [['--timeout', '1.5'], '--timeout 1.5 is not a whole number'],
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
  expect((await api.run(['queues', 'drain', '7'])).out).toContain('queue 7  emails  (active, draining)\n')
  expect(api.received).toMatchObject([{ method: 'POST', url: '/api/queues/7/drain' }])
})

test('the team and the sender are shown', async () => {
  api.answer = { status: 200, body: JSON.stringify(okOf('/api/team')) }
  expect((await api.run(['team'])).out).toMatch(/^team \S+\nQUOTA +USED +LIMIT\nqueues +\d+ +\S+\n/)
  api.answer = { status: 200, body: JSON.stringify(okOf('/api/me')) }
  expect((await api.run(['whoami'])).out).toMatch(/^token \S+ in team \S+\n(?:.*\n)*may: push, read\n/)
})
