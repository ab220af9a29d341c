import { expect, test } from 'vitest'
import { useApi } from '../cli-fixture.ts'

const api = useApi()

const SESSION = {
  id: '0f3a9c51d2b84e67',
  is_current: false,
  kind: 'user',
  subject: 'ann@example.com',
  device: 'Firefox on Windows',
  address: '203.0.113.7',
  opened_for: 'shop',
  created_at: '2026-11-21T08:00:00.000+00:00',
  last_used_at: '2026-11-21T09:12:00.000+00:00',
  idle_expires_at: '2026-11-21T17:12:00.000+00:00',
  expires_at: '2026-11-22T08:00:00.000+00:00',
}
const EARLIER = { ...SESSION, id: 'ffff000000000000', device: null, address: null, opened_for: null }
const answerWith = (body: object) => (api.answer = { status: 200, body: JSON.stringify(body) })
const linesOf = (out: string) => out.split('\n').map((line) => line.replaceAll(/ {2,}/g, '  ').trimEnd())

test('sessions shows where one is logged in, as far as it is known', async () => {
  answerWith({ sessions: [{ ...SESSION, is_current: true }, EARLIER] })
  const { out } = await api.run(['sessions'])
  expect(api.received[0]).toMatchObject({ method: 'GET', url: '/api/sessions' })
  expect(linesOf(out)).toEqual([
    'SESSION  DEVICE  FROM  LOGGED IN  LAST USED',
    '0f3a9c51d2b84e67 (this one)  Firefox on Windows  203.0.113.7  2026-11-21T08:00:00Z  2026-11-21T09:12:00Z',
    'ffff000000000000  not known  not known  2026-11-21T08:00:00Z  2026-11-21T09:12:00Z',
    '',
  ])
  expect((await api.run(['sessions', '-o', 'name'])).out).toBe(
    'session/0f3a9c51d2b84e67\nsession/ffff000000000000\n',
  )
})

test('sessions end takes what the list prints, asks first, and names what it did', async () => {
  api.answer = { status: 204, body: '' }
  const asked: string[] = []
  const ask = (answer: string) => async (question: string) => {
    asked.push(question)
    return answer
  }
  const args = ['sessions', 'end', 'session/0f3a9c51d2b84e67']
  expect(await api.run(args, { ask: ask('n') })).toMatchObject({ code: 1 })
  expect(api.received).toEqual([])
  const { out } = await api.run(args, { ask: ask('y') })
  expect(api.received).toMatchObject([{ method: 'DELETE', url: '/api/sessions/0f3a9c51d2b84e67' }])
  expect(asked[0]).toContain('End session 0f3a9c51d2b84e67?')
  expect(out).toBe('session 0f3a9c51d2b84e67 ended\n')
})

test.each([
  [true, false],
  [false, true],
])('sessions team names its subjects (complete: %s)', async (isComplete, isSaid) => {
  answerWith({ sessions: [SESSION], is_complete: isComplete })
  const { out } = await api.run(['sessions', 'team'])
  expect(api.received[0]).toMatchObject({ method: 'GET', url: '/api/team/sessions' })
  expect(linesOf(out)[1]).toContain('user/ann@example.com  0f3a9c51d2b84e67')
  expect(out.includes('There are more')).toBe(isSaid)
})

test('sessions end-all ends those of a token or a user, or one of them', async () => {
  answerWith({ ended: 2 })
  const { out } = await api.run(['sessions', 'end-all', '--yes', 'user/ann@example.com'])
  expect(out).toBe('2 sessions ended\n')
  answerWith({ ended: 1 })
  const one = await api.run(['sessions', 'end-all', '--yes', '--session', SESSION.id, 'token/ci/cd'])
  expect(one.out).toBe('1 session ended\n')
  expect(api.received.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'DELETE /api/team/sessions?kind=user&subject=ann%40example.com',
    `DELETE /api/team/sessions?kind=token&subject=ci%2Fcd&id=${SESSION.id}`,
  ])
})

test('sessions end-all asks, and refuses what names no owner a token nor a user', async () => {
  const refused = await api.run(['sessions', 'end-all', '--yes', 'ann'])
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('"ann" names no owner') as string })
  const silent = await api.run(['sessions', 'end-all', 'user/ann'])
  expect(silent).toMatchObject({ code: 2, err: expect.stringContaining('--yes') as string })
  expect(api.received).toEqual([])
})
