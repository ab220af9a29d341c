import { expect, test } from 'vitest'
import { useApi } from '../cli-fixture.ts'

const api = useApi()

const TOKEN = {
  id: 'ci',
  name: 'ci',
  prefix: 'pun_4fJk',
  description: 'CI',
  scopes: ['push'],
  queues: ['mails'],
  expires_at: null,
  last_used_at: '2026-11-21T10:05:00.000+00:00',
  rate_limit: { requests_per_second: 5, burst: 9 },
}
const SECRET = `pun_${'a'.repeat(43)}_000000`
const bodies = () => api.received.map(({ body }) => JSON.parse(body) as Record<string, unknown>)

test('tokens list shows what each may do, and never a token', async () => {
  api.answer = { status: 200, body: JSON.stringify({ tokens: [TOKEN], next_cursor: null }) }
  const { out } = await api.run(['tokens', '-o', 'wide'])
  expect(out.split('\n').map((line) => line.replaceAll(/ {2,}/g, '  ').trimEnd())).toEqual([
    'TOKEN  PREFIX  SCOPES  QUEUES  EXPIRES  LAST USED  RATE  DESCRIPTION',
    'ci  pun_4fJk  push  mails  never  2026-11-21T10:05:00.000+00:00  5/s, burst 9  CI',
    '',
  ])
})

test('tokens create sends every limit and shows the token on a line of its own', async () => {
  api.answer = { status: 201, body: JSON.stringify({ ...TOKEN, token: SECRET }) }
  const flags =
    '--description CI --scope push read --queue mails sms --until 2027-01-31T00:00:00Z --rate 5 --burst 9'
  const { out } = await api.run(['tokens', 'create', 'ci', ...flags.split(' ')])
  expect(bodies()).toEqual([
    {
      name: 'ci',
      description: 'CI',
      scopes: ['push', 'read'],
      queues: ['mails', 'sms'],
      expires_at: '2027-01-31T00:00:00Z',
      rate_limit: { requests_per_second: 5, burst: 9 },
    },
  ])
  expect(out.split('\n').at(-2)).toBe(SECRET)
})

test('tokens create counts a span from now on', async () => {
  api.answer = { status: 201, body: JSON.stringify(TOKEN) }
  await api.run(['tokens', 'create', 'ci', '--until', '90d'])
  expect(bodies()[0]?.['expires_at']).toBe('2027-02-19T12:00:00.000Z')
})

test.each([
  [['--until', '90'], '--until "90" is neither a time with an offset such as'],
  [['--burst', '5'], '--burst needs --rate'],
])('tokens create %j is a misuse', async (flags, text) => {
  const { err } = await api.run(['tokens', 'create', 'ci', ...flags])
  expect(err).toContain(text)
  expect(api.received).toEqual([])
})

test('tokens revoke names what it did', async () => {
  api.answer = { status: 204, body: '' }
  const { out } = await api.run(['tokens', 'revoke', '--yes', 'ci'])
  expect(api.received[0]).toMatchObject({ method: 'DELETE', url: '/api/tokens/ci' })
  expect(out).toBe('token ci revoked\n')
})
