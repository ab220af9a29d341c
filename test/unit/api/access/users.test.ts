import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { Admission, UserVerifier, Visit } from '../../../../src/ports/access/user-verifier.ts'
import { aPrincipal } from '../../../support/principals.ts'
import { BEARER, call, GOOD, startApi } from '../api-fixture.ts'

const ANN = aPrincipal('default', { kind: 'user', subject: 'ann' })
const USER = { authorization: 'Bearer user-token', 'x-punctual-team': 'default' }

function usersWho(admission: Admission | Promise<Admission>): UserVerifier & { readonly visits: Visit[] } {
  const visits: Visit[] = []
  return {
    visits,
    mayKnow: (token) => token === 'user-token',
    admit: async (_token, visit) => {
      visits.push(visit)
      return await admission
    },
  }
}

test('a user is admitted to a team, for a push with its whole body too', async () => {
  const users = usersWho({ kind: 'admitted', principal: ANN })
  const api = await startApi({ users })
  expect((await call(api.port, '/api/queues', { headers: USER })).status).toBe(200)
  const headers = { ...USER, 'content-type': 'application/json' }
  for (const path of ['/api/jobs', '/api/jobs?']) {
    const payload = { text: 'x'.repeat(200_000) }
    const body = JSON.stringify({ ...GOOD, payload })
    expect((await call(api.port, path, { method: 'POST', headers, body })).status).toBe(201)
  }
  expect(api.pushed.map(({ team }) => team)).toEqual(['default', 'default'])
  expect(users.visits[0]).toEqual({ team: 'default', address: '127.0.0.1' })
  await api.close()
})

test.each<readonly [Admission, number, string | undefined]>([
  [{ kind: 'unknown' }, 401, undefined],
  [{ kind: 'team_needed' }, 400, undefined],
  [{ kind: 'no_team' }, 404, undefined],
  [{ kind: 'too_many', retryAfterMs: 2_001 }, 429, '3'],
  [{ kind: 'unavailable', reason: 'Away', retryAfterMs: null }, 503, '2'],
  [{ kind: 'unavailable', reason: 'Away', retryAfterMs: 9_000 }, 503, '9'],
])('%o is a %i', async (admission, status, retryAfter) => {
  const api = await startApi({ users: usersWho(admission) })
  for (const [method, path] of [
    ['GET', '/api/queues'],
    ['POST', '/api/jobs'],
  ] as const) {
    const answer = await call(api.port, path, { method, headers: USER })
    expect([answer.status, answer.headers['retry-after']]).toEqual([status, retryAfter])
    expect(answer.json).toEqual({ error: expect.any(String) })
  }
  expect(api.pushed).toEqual([])
  await api.close()
})

test('a user without the permission gets a 403', async () => {
  const principal = { ...ANN, permissions: new Set(['read'] as const) }
  const api = await startApi({ users: usersWho({ kind: 'admitted', principal }) })
  const body = JSON.stringify(GOOD)
  const headers = { ...USER, 'content-type': 'application/json' }
  const answer = await call(api.port, '/api/jobs', { method: 'POST', headers, body })
  expect([answer.status, answer.json]).toEqual([403, { error: 'This needs the permission push' }])
  await api.close()
})

test('a client that has gone before its user is known pushes nothing', async () => {
  const { promise, resolve } = Promise.withResolvers<Admission>()
  const users = usersWho(promise)
  const api = await startApi({ users })
  const socket = connect(api.port, '127.0.0.1')
  const body = JSON.stringify(GOOD)
  socket.write(
    `POST /api/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer user-token\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
  )
  await expect.poll(() => users.visits.length).toBe(1)
  socket.resetAndDestroy()
  await once(socket, 'close')
  resolve({ kind: 'admitted', principal: ANN })
  expect((await call(api.port, '/api/queues', { headers: BEARER })).status).toBe(200)
  expect(api.pushed).toEqual([])
  await api.close()
})

describe('a token of ours', () => {
  test('is not asked about', async () => {
    const users = { mayKnow: () => true, admit: () => Promise.reject(new Error('asked')) }
    const api = await startApi({ users })
    expect((await call(api.port, '/api/queues', { headers: BEARER })).status).toBe(200)
    await api.close()
  })

  test('acts in no other team than its own', async () => {
    const api = await startApi()
    const statusIn = async (team: string) =>
      (await call(api.port, '/api/queues', { headers: { ...BEARER, 'x-punctual-team': team } })).status
    expect([await statusIn('default'), await statusIn('other'), await statusIn('')]).toEqual([200, 404, 404])
    await api.close()
  })
})

test('a link can be tried again where nobody could say who made it, and is used up by the login', async () => {
  const answers: Admission[] = [
    { kind: 'admitted', principal: ANN },
    { kind: 'unavailable', reason: 'The API server does not answer', retryAfterMs: null },
    { kind: 'admitted', principal: ANN },
    { kind: 'admitted', principal: ANN },
  ]
  const users = { mayKnow: () => true, admit: async () => answers.shift() as Admission }
  const api = await startApi({ users })
  const made = await call(api.port, '/api/session/code', { method: 'POST', headers: USER })
  const { code } = made.json as { readonly code: string }
  const redeem = async () =>
    (await call(api.port, '/api/session', { method: 'POST', headers: { 'x-punctual-code': code } })).status
  expect([await redeem(), await redeem(), await redeem()]).toEqual([503, 201, 401])
  await api.close()
})

test('a link that a user has made logs in for the team of the request that made it', async () => {
  const users = usersWho({ kind: 'admitted', principal: ANN })
  const api = await startApi({ users })
  const made = await call(api.port, '/api/session/code', { method: 'POST', headers: USER })
  const { code } = made.json as { readonly code: string }
  const headers = { 'x-punctual-code': code, 'x-punctual-request': '1', 'sec-fetch-site': 'same-origin' }
  expect((await call(api.port, '/api/session', { method: 'POST', headers })).status).toBe(201)
  expect(users.visits.map(({ team }) => team)).toEqual(['default', 'default'])
  await api.close()
})
