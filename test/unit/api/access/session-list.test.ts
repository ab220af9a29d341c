import { expect, test } from 'vitest'
import { FakeAuditLog } from '../../../support/fake-audit-log.ts'
import { createFakeSessions, FIRST_SESSION as FIRST } from '../../../support/fake-sessions.ts'
import { aPrincipal } from '../../../support/principals.ts'
import { BEARER, call, startApi, TOKEN } from '../api-fixture.ts'

const OURS = { 'x-punctual-request': '1', 'sec-fetch-site': 'same-origin' }
const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; rv:142.0) Gecko/20100101 Firefox/142.0'
const ORIGIN = { device: 'curl', address: '192.0.2.1' }
const CREDENTIAL = { kind: 'token', token: TOKEN } as const
const ANN = { kind: 'user', team: null, name: 'ann' } as const

interface Wire {
  readonly id: string
  readonly is_current: boolean
  readonly subject: string
  readonly device: string | null
  readonly address: string | null
  readonly opened_for: string | null
}
const rowsOf = (answer: { readonly json: unknown }) => (answer.json as { sessions: Wire[] }).sessions

/** The fake store, with a session of the user ann for each of the teams. */
async function storeWith(...teams: readonly string[]) {
  const sessions = createFakeSessions(TOKEN)
  for (const openedFor of teams)
    await sessions.open({ subject: ANN, credential: CREDENTIAL, openedFor }, ORIGIN)
  return sessions
}

/** An audit log with logins of the test's token and of ann. */
class Logins extends FakeAuditLog {
  readonly #count: number
  constructor(count = 2) {
    super()
    this.#count = count
  }
  override loggedIn() {
    const others = Array.from({ length: this.#count - 2 }, (_, i) => ({
      kind: 'user' as const,
      name: `u${i}`,
    }))
    const known = [
      { kind: 'user' as const, name: 'ann' },
      ...others,
      { kind: 'token' as const, name: 'test' },
    ]
    return Promise.resolve(known as never)
  }
}

test('a login notes the device and the address, and a session knows itself in the list', async () => {
  const api = await startApi()
  const headers = { ...BEARER, 'user-agent': FIREFOX, host: 'localhost' }
  const login = await call(api.port, '/api/session', { method: 'POST', headers })
  const cookie = String(login.headers['set-cookie']).split(';')[0] ?? ''
  const rows = rowsOf(await call(api.port, '/api/sessions', { headers: { host: 'localhost', cookie } }))
  expect(rows).toMatchObject([
    { id: 'listed-first', is_current: false, device: null, address: null, opened_for: null },
    {
      id: 'listed-session-1',
      is_current: true,
      subject: 'test',
      device: 'Firefox on Windows',
      address: '127.0.0.1',
      opened_for: 'default',
    },
  ])
  // A token has a list too, and is none of it, whatever cookie it comes with.
  const byToken = await call(api.port, '/api/sessions', { headers: { ...BEARER, host: 'localhost', cookie } })
  expect(rowsOf(byToken).map((row) => row.is_current)).toEqual([false, false])
  await api.close()
})

test('ends one of its own, and the record says which device was logged out', async () => {
  const [sessions, auditLog] = [createFakeSessions(TOKEN), new FakeAuditLog()]
  const api = await startApi({ sessions, auditLog })
  const subject = { kind: 'token', team: 'default', name: 'test' } as const
  await sessions.open({ subject, credential: CREDENTIAL, openedFor: 'default' }, ORIGIN)
  const end = (id: string) =>
    call(api.port, `/api/sessions/${id}`, { method: 'DELETE', headers: { ...FIRST, ...OURS } })
  const other = await end('listed-session-1')
  expect([other.status, other.headers['set-cookie']]).toEqual([204, undefined])
  expect([...sessions.all.keys()]).toEqual(['first'])
  expect(auditLog.ended).toMatchObject([
    {
      entry: {
        action: 'logout',
        resource: { kind: 'session', id: 'listed-session-1', name: 'test' },
        before: ORIGIN,
        after: null,
      },
      outcome: 'done',
    },
  ])
  expect((await end('listed-session-1')).status).toBe(404)
  // The session of the request takes its cookie along.
  const own = await end('listed-first')
  expect([own.status, String(own.headers['set-cookie'])]).toEqual([204, expect.stringContaining('Max-Age=0')])
  expect(sessions.all.size).toBe(0)
  await api.close()
})

test('nobody ends a session of somebody else as one of their own', async () => {
  const sessions = await storeWith('default')
  const api = await startApi({ sessions })
  const answer = await call(api.port, '/api/sessions/listed-session-1', { method: 'DELETE', headers: BEARER })
  expect([answer.status, sessions.all.size]).toEqual([404, 2])
  await api.close()
})

test('an admin sees the sessions of the team, and of users no session of another team', async () => {
  const api = await startApi({ sessions: await storeWith('default', 'billing'), auditLog: new Logins() })
  const answer = await call(api.port, '/api/team/sessions', { headers: BEARER })
  expect(answer.json).toMatchObject({ is_complete: true })
  expect(rowsOf(answer).map(({ subject, id }) => [subject, id])).toEqual([
    ['ann', 'listed-session-1'],
    ['test', 'listed-first'],
  ])
  await api.close()
})

test.each([
  [200, true, 2],
  [201, false, 1],
])('of %d that have logged in the list is complete: %s', async (count, isComplete, rows) => {
  const api = await startApi({ sessions: await storeWith('default'), auditLog: new Logins(count) })
  const answer = await call(api.port, '/api/team/sessions', { headers: BEARER })
  expect(answer.json).toMatchObject({ is_complete: isComplete })
  // The token logged in before all others.
  expect(rowsOf(answer)).toHaveLength(rows)
  await api.close()
})

test('an admin ends all sessions of a user for the team, or one, and none of another team', async () => {
  const sessions = await storeWith('default', 'default', 'billing')
  const auditLog = new FakeAuditLog()
  const api = await startApi({ sessions, auditLog })
  const end = async (query: string) =>
    (
      await call(api.port, `/api/team/sessions?kind=user&subject=ann${query}`, {
        method: 'DELETE',
        headers: BEARER,
      })
    ).json
  expect(await end('&id=listed-session-3')).toEqual({ ended: 0 })
  expect(await end('&id=listed-session-1')).toEqual({ ended: 1 })
  expect([...sessions.all.keys()]).toEqual(['first', 'session-2', 'session-3'])
  expect(await end('')).toEqual({ ended: 1 })
  expect([...sessions.all.keys()]).toEqual(['first', 'session-3'])
  expect(auditLog.ended.map((end) => [end?.entry.resource.id, end?.entry.resource.name])).toEqual([
    ['listed-session-1', 'ann'],
    ['listed-session-2', 'ann'],
  ])
  await api.close()
})

test('an admin ends the sessions of a token of the team, also one that an earlier version opened', async () => {
  const sessions = createFakeSessions(TOKEN)
  const api = await startApi({ sessions })
  const path = '/api/team/sessions?kind=token&subject=test'
  expect((await call(api.port, path, { method: 'DELETE', headers: BEARER })).json).toEqual({ ended: 1 })
  expect(sessions.all.size).toBe(0)
  await api.close()
})

test.each([
  ['', ['kind', 'subject']],
  ['?kind=user', ['subject']],
  ['?subject=ann', ['kind']],
  ['?kind=group&subject=ann', ['kind']],
  ['?kind=user&subject=ann&all=true', ['all']],
  [`?kind=user&subject=${'a'.repeat(1_025)}`, ['subject']],
])('the query %j is refused by its fields', async (query, fields) => {
  const api = await startApi()
  const answer = await call(api.port, `/api/team/sessions${query}`, { method: 'DELETE', headers: BEARER })
  expect(answer.status).toBe(422)
  expect(Object.keys((answer.json as { errors: object }).errors)).toEqual(fields)
  await api.close()
})

test('whoever is limited to queues sees their own sessions, and not those of the team', async () => {
  const principal = aPrincipal('default', { queues: new Set(['emails']) })
  const api = await startApi({ tokens: { principalOf: () => principal } })
  expect((await call(api.port, '/api/sessions', { headers: BEARER })).status).toBe(200)
  expect((await call(api.port, '/api/team/sessions', { headers: BEARER })).status).toBe(403)
  await api.close()
})
