import { describe, expect, test } from 'vitest'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import type { Admission, UserVerifier } from '../../../../src/ports/access/user-verifier.ts'
import { FakeAuditLog } from '../../../support/fake-audit-log.ts'
import {
  createFakeCodes,
  createFakeSessions,
  FIRST_SESSION as FIRST,
} from '../../../support/fake-sessions.ts'
import { aPrincipal } from '../../../support/principals.ts'
import { BEARER, call, clock, GOOD, startApi, TOKEN } from '../api-fixture.ts'

const OURS = { 'x-punctual-request': '1', 'sec-fetch-site': 'same-origin' }
const JSON_TYPE = { 'content-type': 'application/json' }
/** In which no attempt comes back. */
const STILL = { ...clock, monotonicMs: () => 0 }

/** Logs in and returns the cookie's header. */
async function loggedIn(port: number, headers: Record<string, string> = BEARER): Promise<{ cookie: string }> {
  const answer = await call(port, '/api/session', { method: 'POST', headers })
  expect(answer.status).toBe(201)
  return { cookie: String(answer.headers['set-cookie']).split(';')[0] ?? '' }
}

describe('a login', () => {
  test('gives a cookie that acts as its token does, and is an entry in the audit log', async () => {
    const auditLog = new FakeAuditLog()
    const api = await startApi({ auditLog })
    const session = await loggedIn(api.port)
    expect((await call(api.port, '/api/queues', { headers: session })).status).toBe(200)
    const body = JSON.stringify(GOOD)
    const push = { method: 'POST', headers: { ...session, ...OURS, ...JSON_TYPE }, body }
    expect((await call(api.port, '/api/jobs', push)).status).toBe(201)
    expect(api.pushed).toHaveLength(1)
    const log = JSON.stringify(auditLog)
    expect(log).toContain('"login"')
    expect(log + JSON.stringify(api.logged)).not.toContain(TOKEN)
    await api.close()
  })

  test('by a link leaves an entry when the link is made, without its code', async () => {
    const auditLog = new FakeAuditLog()
    const api = await startApi({ auditLog })
    const made = await call(api.port, '/api/session/code', { method: 'POST', headers: BEARER })
    const { code, expires_at } = made.json as { readonly code: string; readonly expires_at: string }
    expect(auditLog.ended).toMatchObject([
      {
        entry: { action: 'create', resource: { kind: 'session' }, after: { expires_at } },
        outcome: 'done',
      },
    ])
    expect(JSON.stringify(auditLog)).not.toContain(code)
    const headers = { 'x-punctual-code': code }
    const answer = await call(api.port, '/api/session', { method: 'POST', headers })
    expect(answer.json).toMatchObject({ subject: 'test', team: 'default', opened_for: 'default' })
    await api.close()
  })

  test.each([
    ['127.0.0.1:8080', 'punctual-8080=session-1; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400'],
    ['[::1]:8080', 'punctual-8080=session-1; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400'],
    ['app.localhost', 'punctual-80=session-1; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400'],
    [
      'punctual.example.com',
      '__Host-punctual=session-1; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=86400',
    ],
    [
      '127.0.0.1.example.com',
      '__Host-punctual=session-1; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=86400',
    ],
  ])('at %s sets a cookie that no other site and no script reads', async (host, expected) => {
    const api = await startApi()
    const headers = { ...BEARER, host }
    const answer = await call(api.port, '/api/session', { method: 'POST', headers })
    expect(answer.headers['set-cookie']).toEqual([expected])
    await api.close()
  })

  test('takes the cookie with the prefix alone where there are other hosts', async () => {
    const api = await startApi()
    const statusWith = async (host: string, cookie: string) =>
      (await call(api.port, '/api/queues', { headers: { host, cookie } })).status
    expect(await statusWith('punctual.example.com', 'punctual=first')).toBe(401)
    expect(await statusWith('punctual.example.com', '__Host-punctual=first')).toBe(200)
    await api.close()
  })

  test('needs a token: a session opens no other', async () => {
    const api = await startApi()
    const headers = { ...FIRST, ...OURS }
    expect((await call(api.port, '/api/session', { method: 'POST', headers })).status).toBe(401)
    await api.close()
  })

  test('that is right is let in, whatever was refused from its address before', async () => {
    const loginCodes = createFakeCodes()
    const api = await startApi({ clock: STILL, loginCodes })
    const login = async (headers: Record<string, string>) =>
      (await call(api.port, '/api/session', { method: 'POST', headers })).status
    const { code } = await loginCodes.create({ token: TOKEN, team: 'default' })
    const bad = { authorization: 'Bearer unknown-token-0123456789' }
    const refused: number[] = []
    for (let i = 0; i < 12; i += 1) refused.push(await login(bad))
    expect(new Set(refused)).toEqual(new Set([401]))
    expect(await login({ 'x-punctual-code': 'x'.repeat(43) })).toBe(429)
    expect([await login(BEARER), await login({ 'x-punctual-code': code })]).toEqual([201, 201])
    const lines = api.logged.filter(([message]) => message === 'Login refused')
    expect(lines).toHaveLength(10)
    expect(JSON.stringify(lines)).not.toContain('unknown-token')
    await api.close()
  })

  test('ends the session that the same browser had, and no other', async () => {
    const sessions = createFakeSessions(TOKEN)
    const api = await startApi({ sessions })
    const other = await loggedIn(api.port)
    const former = await loggedIn(api.port)
    const now = await loggedIn(api.port, { ...BEARER, ...former })
    const statusOf = async (headers: { cookie: string }) =>
      (await call(api.port, '/api/queues', { headers })).status
    expect([await statusOf(other), await statusOf(former), await statusOf(now)]).toEqual([200, 401, 200])
    await api.close()
  })

  test('counts also where the former session cannot be ended', async () => {
    const sessions = createFakeSessions(TOKEN)
    const end = () => Promise.reject(new StoreUnavailableError('x'))
    const api = await startApi({ sessions: { ...sessions, end } })
    const headers = { ...BEARER, ...FIRST }
    expect((await call(api.port, '/api/session', { method: 'POST', headers })).status).toBe(201)
    await api.close()
  })

  test('at one port of this machine leaves the session at another alone', async () => {
    const [one, two] = [await startApi(), await startApi()]
    const here = await loggedIn(one.port)
    const there = await loggedIn(two.port)
    const cookie = `${here.cookie}; ${there.cookie}`
    expect((await call(one.port, '/api/queues', { headers: { cookie } })).status).toBe(200)
    expect((await call(two.port, '/api/queues', { headers: { cookie } })).status).toBe(200)
    expect(here.cookie.split('=')[0]).not.toBe(there.cookie.split('=')[0])
    await Promise.all([one.close(), two.close()])
  })

  test('is possible ten times for the same sender', async () => {
    const api = await startApi({ clock: STILL })
    for (let i = 0; i < 10; i += 1) await loggedIn(api.port)
    const answer = await call(api.port, '/api/session', { method: 'POST', headers: BEARER })
    expect([answer.status, Number(answer.headers['retry-after'])]).toEqual([429, 6])
    await api.close()
  })
})

describe('a change with a session', () => {
  test.each<readonly [string, Record<string, string>, number]>([
    ['from our own page', OURS, 200],
    ['without the header', { 'sec-fetch-site': 'same-origin' }, 403],
    ['from another site', { ...OURS, 'sec-fetch-site': 'cross-site' }, 403],
    ['from a neighbour in the domain', { ...OURS, 'sec-fetch-site': 'same-site' }, 403],
    ['from who knows where', { 'x-punctual-request': '1' }, 403],
  ])('%s', async (_what, headers, expected) => {
    const api = await startApi()
    const answer = await call(api.port, '/api/queues/7/pause', {
      method: 'POST',
      headers: { ...FIRST, ...headers },
    })
    expect(answer.status).toBe(expected)
    await api.close()
  })

  test('is judged by its token where it has one', async () => {
    const api = await startApi()
    const headers = { ...FIRST, ...BEARER }
    expect((await call(api.port, '/api/queues/7/pause', { method: 'POST', headers })).status).toBe(200)
    await api.close()
  })
})

describe('a session ends', () => {
  test('with its token, and is forgotten', async () => {
    const tokens = new Map([[TOKEN, aPrincipal('default')]])
    const sessions = createFakeSessions(TOKEN)
    const api = await startApi({ sessions, tokens: { principalOf: (token) => tokens.get(token) ?? null } })
    expect((await call(api.port, '/api/queues', { headers: FIRST })).status).toBe(200)
    tokens.clear()
    const answer = await call(api.port, '/api/queues', { headers: FIRST })
    expect([answer.status, answer.json]).toEqual([401, { error: 'The session has ended' }])
    expect(answer.headers['set-cookie']).toEqual(['punctual-80=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0'])
    expect(sessions.all.size).toBe(0)
    await api.close()
  })

  test('when its token expires, at that moment', async () => {
    const terms = { scopes: [], queues: null, rateLimit: null, expiresAtMs: 1 }
    const principal = aPrincipal('default', { terms })
    const api = await startApi({ tokens: { principalOf: () => principal } })
    expect((await call(api.port, '/api/session', { headers: FIRST })).status).toBe(401)
    await api.close()
  })

  test('at a logout, here or everywhere', async () => {
    const auditLog = new FakeAuditLog()
    const api = await startApi({ auditLog })
    const [one, two, three] = [await loggedIn(api.port), await loggedIn(api.port), await loggedIn(api.port)]
    const end = async (session: { cookie: string }, search = '') =>
      (await call(api.port, `/api/session${search}`, { method: 'DELETE', headers: { ...session, ...OURS } }))
        .status
    const statusOf = async (session: { cookie: string }) =>
      (await call(api.port, '/api/session', { headers: session })).status
    expect(await end(one)).toBe(204)
    expect([await statusOf(one), await statusOf(two)]).toEqual([401, 200])
    expect(await end(two, '?everywhere=1')).toBe(422)
    expect(await end(two, '?everywhere=true')).toBe(204)
    expect([await statusOf(two), await statusOf(three)]).toEqual([401, 401])
    const actor = { kind: 'token', name: 'test', via: 'dashboard', address: '127.0.0.1' }
    const logouts = auditLog.ended.filter((end) => end?.entry.action === 'logout')
    expect(logouts).toMatchObject([
      { outcome: 'done', entry: { actor, resource: { kind: 'session' }, after: null } },
      { outcome: 'done', entry: { actor, after: { everywhere: true } } },
    ])
    await api.close()
  })
})

test('a session is told as what it is in the audit log, whatever it sends beside its cookie', async () => {
  const auditLog = new FakeAuditLog()
  const api = await startApi({ auditLog })
  const session = await loggedIn(api.port)
  const stray = { authorization: 'Basic x', 'user-agent': 'punctual-cli/1' }
  const headers = { ...session, ...OURS, ...stray, 'content-type': 'application/json' }
  const body = '{"max_parallelism":3}'
  expect((await call(api.port, '/api/queues/7', { method: 'PATCH', headers, body })).status).toBe(200)
  const edits = auditLog.ended.flatMap((end) => (end?.entry.action === 'login' ? [] : [end?.entry.actor.via]))
  expect(edits).toEqual(['dashboard'])
  await api.close()
})

describe('a user of the cluster', () => {
  const JWT = 'user-token'
  const usersWho = (found: { admission: Admission }): UserVerifier => ({
    mayKnow: (token) => token === JWT,
    admit: async () => found.admission,
  })

  test('logs in for a team, and names it in each request; the session itself needs none', async () => {
    const principal = aPrincipal('default', { kind: 'user', subject: 'ann' })
    const found: { admission: Admission } = { admission: { kind: 'admitted', principal } }
    const api = await startApi({ users: usersWho(found) })
    const session = await loggedIn(api.port, { authorization: `Bearer ${JWT}`, 'x-punctual-team': 'default' })
    found.admission = { kind: 'team_needed' }
    expect((await call(api.port, '/api/queues', { headers: session })).status).toBe(400)
    const read = await call(api.port, '/api/session', { headers: session })
    expect([read.status, read.json]).toEqual([
      200,
      expect.objectContaining({ kind: 'user', subject: 'ann', team: null }),
    ])
    found.admission = { kind: 'unavailable', reason: 'Away', retryAfterMs: null }
    expect((await call(api.port, '/api/queues', { headers: session })).status).toBe(503)
    found.admission = { kind: 'unknown' }
    expect((await call(api.port, '/api/queues', { headers: session })).status).toBe(401)
    found.admission = { kind: 'admitted', principal }
    expect((await call(api.port, '/api/queues', { headers: session })).status).toBe(401)
    await api.close()
  })
})

test('other methods are named', async () => {
  const api = await startApi()
  const answer = await call(api.port, '/api/session', { method: 'PATCH' })
  expect([answer.status, answer.headers['allow']]).toEqual([405, 'GET, HEAD, POST, DELETE'])
  await api.close()
})
