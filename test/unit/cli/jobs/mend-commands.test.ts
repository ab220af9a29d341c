import { expect, test } from 'vitest'
import { CREATED, inputOf, useApi } from '../cli-fixture.ts'

const api = useApi()
const SCHEDULED = 'job 16 in queue 7, scheduled at 2026-11-21T10:00:00.000+00:00\n'
const CHANGES =
  '--url https://e.com --method put --header X-A:1 --timeout 60 --callback-url https://c.com --tag a=b --payload -'

test.each([
  [['retry', '4711'], undefined, ''],
  [['replay', '4711'], undefined, '{}'],
  [['duplicate', '4711'], undefined, '{}'],
  [
    ['replay', '4711', ...CHANGES.split(' ')],
    '{"n": 12345678901234567890}',
    '{"url":"https://e.com","method":"PUT","headers":{"X-A":"1"},"callback_url":"https://c.com",' +
      '"timeout_seconds":60,"tags":{"a":"b"},"payload":{"n": 12345678901234567890}}',
  ],
  [
    'duplicate 4711 --queue other --delay 5 --no-payload --no-header --no-tag --no-callback-url'.split(' '),
    undefined,
    '{"queue":"other","headers":null,"callback_url":null,"delay":5,"tags":null,"payload":null}',
  ],
  [['replay', '4711', '--payload', '{"a":1}'], undefined, '{"payload":{"a":1}}'],
])('%j sends the fields that differ, and names the new job', async (args, stdin = '', body) => {
  expect(await api.run(args, { stdin: inputOf(stdin) })).toEqual({ out: SCHEDULED, err: '', code: 0 })
  expect(api.received).toMatchObject([{ method: 'POST', url: `/api/jobs/4711/${args[0]}`, body }])
})

test('a duplicate takes an idempotency key', async () => {
  await api.run(['duplicate', '4711', '--idempotency-key', 'k', '-o', 'name'])
  expect(api.received[0]?.headers['idempotency-key']).toBe('k')
})

test('a dry run shows the change and sends none', async () => {
  const { out } = await api.run(['replay', '4711', '--timeout', '60', '--dry-run'])
  expect(out).toBe('POST /api/jobs/4711/replay\n{"timeout_seconds":60}\n')
  expect(api.received).toEqual([])
})

test('a job is fired, cancelled and deleted', async () => {
  api.answer = { status: 200, body: CREATED }
  expect((await api.run(['cancel', '--yes', '4711', '-o', 'name'])).out).toBe('job/16\n')
  expect((await api.run(['fire', '4711', '-o', 'name'])).out).toBe('job/16\n')
  api.answer = { status: 204, body: '' }
  expect((await api.run(['delete', '--yes', '4711'])).out).toBe('job 4711 deleted\n')
  expect(api.received.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'POST /api/jobs/4711/cancel',
    'POST /api/jobs/4711/fire',
    'DELETE /api/jobs/4711',
  ])
})

test('what cannot be done is told in the words of the API', async () => {
  api.answer = { status: 409, body: '{"error":"The job is in flight."}' }
  const ran = await api.run(['delete', '--yes', '4711'])
  expect(ran).toEqual({ out: '', err: 'punctual: The job is in flight.\n', code: 1 })
})

test.each(['retry', 'replay', 'duplicate'])('%s waits for the new job', async (verb) => {
  const end = (status: string) => ({
    status: 200,
    body: JSON.stringify({
      job_id: 16,
      uuid: 'u',
      final_status: status,
      chain: [],
      calls: [],
      cron_id: null,
    }),
  })
  const wait = (status: string) => {
    api.received = []
    api.firstAnswers = [{ status: 201, body: CREATED }, end('retrying')]
    api.answer = end(status)
    return api.run([verb, '4711', '--wait', '3'], { sleep: () => Promise.resolve() })
  }
  const ran = await wait('success')
  expect(ran).toMatchObject({ err: '', code: 0 })
  expect(ran.out.startsWith(`${SCHEDULED}job 16  u\n`)).toBe(true)
  expect(api.received.map(({ url }) => url)).toEqual([
    `/api/jobs/4711/${verb}`,
    '/api/jobs/16',
    '/api/jobs/16',
  ])
  expect(await wait('dead_lettered')).toMatchObject({
    err: 'punctual: job 16 ended as dead_lettered\n',
    code: 1,
  })
  api.received = []
  expect(await api.run([verb, '4711', '--wait', 'long'])).toMatchObject({ out: '', code: 2 })
  expect(api.received).toEqual([])
})
