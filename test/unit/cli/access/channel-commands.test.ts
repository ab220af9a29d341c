import { expect, test } from 'vitest'
import { useApi } from '../cli-fixture.ts'

const api = useApi()

const OPS = {
  name: 'ops',
  type: 'slack',
  alert_types: ['warning', 'failure'],
  secret_ref: { name: 'punctual-channel-a', key: 'url' },
}
const answer = (status: number, body: object): void =>
  void (api.answer = { status, body: JSON.stringify(body) })

test('channels are listed without their URLs', async () => {
  const mail = { ...OPS, name: 'mail', type: 'email', secret_ref: null }
  answer(200, { channels: [OPS, mail], next_cursor: null })
  const { out } = await api.run(['channels', '-o', 'wide'])
  expect(out.split('\n').map((line) => line.replaceAll(/ {2,}/g, '  '))).toEqual([
    'CHANNEL  TYPE  ALERTS  SECRET',
    'ops  slack  warning, failure  punctual-channel-a:url',
    'mail  email  warning, failure  -',
    '',
  ])
  expect(api.received[0]).toMatchObject({ method: 'GET', url: '/api/notification-channels' })
})

test('a channel is created with a test, unless one asks for none', async () => {
  answer(201, OPS)
  const args =
    'channels create ops --type slack --url https://hooks.slack.com/services/x --alerts warning failure'
  const { out } = await api.run(args.split(' '))
  expect(out).toBe('channel ops: slack\nalerts: warning, failure\nsecret: punctual-channel-a:url\n')
  const given = { name: 'ops', type: 'slack', url: 'https://hooks.slack.com/services/x' }
  expect(JSON.parse(api.received[0]?.body ?? '')).toEqual({ ...given, alert_types: ['warning', 'failure'] })
  await api.run(['channels', 'create', 'mail', '--type', 'email', '--no-test'])
  expect(JSON.parse(api.received.at(-1)?.body ?? '')).toEqual({ name: 'mail', type: 'email', test: false })
})

test('edit changes the alerts, and needs some', async () => {
  answer(200, OPS)
  await api.run(['channels', 'edit', 'channel/ops', '--alerts', 'failure'])
  expect(api.received[0]).toMatchObject({ method: 'PATCH', url: '/api/notification-channels/ops' })
  expect(JSON.parse(api.received[0]?.body ?? '')).toEqual({ alert_types: ['failure'] })
  const { code, err } = await api.run(['channels', 'edit', 'ops'])
  expect([code, err]).toEqual([2, expect.stringContaining('no change given')])
  expect(api.received).toHaveLength(1)
})

test('delete and test name one channel', async () => {
  api.answer = { status: 204, body: '' }
  await api.run(['channels', 'delete', 'ops', '--yes'])
  expect(api.received[0]).toMatchObject({ method: 'DELETE', url: '/api/notification-channels/ops' })
  answer(200, { results: [{ channel: 'ops', ok: true, answer: '200 ok', took_ms: 12 }] })
  await api.run(['channels', 'test', 'ops'])
  expect(api.received.at(-1)).toMatchObject({ method: 'POST', url: '/api/notifications/test' })
})
