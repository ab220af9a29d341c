import { expect, test } from 'vitest'
import type { LoginEnd } from '../../../../src/ports/access/login-provider.ts'
import { createFakeSessions, FIRST_SESSION } from '../../../support/fake-sessions.ts'
import { aPrincipal } from '../../../support/principals.ts'
import { until } from '../../../support/until.ts'
import { type ApiChange, call, clock, NOW_MS, startApi, TOKEN } from '../api-fixture.ts'

const ANN = { username: 'ann', groups: [] }
const HOST = { host: 'localhost' }
const CALLBACK = '/api/login/oidc/callback'
/** In which no attempt comes back. */
const STILL = { ...clock, monotonicMs: () => 0 }

interface Provider {
  /** Searches that the provider was asked about. */
  readonly asked: string[]
  readonly parts: ApiChange
}

/** Each login has a state of its own; a code `good` is ann's. */
function aProvider(finish?: (search: string) => Promise<LoginEnd>): Provider {
  const asked: string[] = []
  let begun = 0
  const judge = async (search: string): Promise<LoginEnd> =>
    search.includes('code=good')
      ? { kind: 'done', user: ANN }
      : { kind: 'refused', reason: 'the code is not known' }
  const provider = {
    begin: async () => {
      begun += 1
      const pending = { state: `state-${begun}`, nonce: 'n', verifier: 'v' }
      return { url: `https://id.example.com/?state=${pending.state}`, pending }
    },
    finish: (search: string) => {
      asked.push(search)
      return (finish ?? judge)(search)
    },
  }
  const principal = aPrincipal('default', { kind: 'user', subject: 'ann' })
  const authorizer = { admitUser: async () => ({ kind: 'admitted', principal }) as const }
  return { asked, parts: { oidc: { name: 'id.example.com', provider, authorizer } } }
}

/** Where a browser comes back with, and its cookie. */
async function begin(port: number): Promise<{ state: string; headers: Record<string, string> }> {
  const { headers } = await call(port, '/api/login/oidc', { headers: HOST })
  const state = new URL(headers.location ?? '').searchParams.get('state') ?? ''
  return { state, headers: { ...HOST, cookie: String(headers['set-cookie']).split(';')[0] ?? '' } }
}

const statusOf = async (port: number, search: string, headers: Record<string, string> = HOST) =>
  (await call(port, `${CALLBACK}${search}`, { headers })).status

test('whoever comes back without a login that began here costs nothing, and keeps nobody out', async () => {
  const { asked, parts } = aProvider()
  const api = await startApi({ ...parts, clock: STILL })
  const mine = await begin(api.port)
  const other = await begin(api.port)
  const forged = Buffer.from('{"state":"s","nonce":"n","verifier":"v","team":null}').toString('base64url')
  for (let i = 0; i < 12; i += 1) {
    expect(await statusOf(api.port, '?code=x&state=s')).toBe(401)
    const headers = { ...HOST, cookie: `punctual-80-login=${forged}` }
    expect(await statusOf(api.port, '?code=x&state=s', headers)).toBe(401)
    expect(await statusOf(api.port, `?code=good&state=${other.state}`, mine.headers)).toBe(401)
    expect(await statusOf(api.port, '?code=good', mine.headers)).toBe(401)
  }
  expect(asked).toEqual([])
  expect(api.logged.filter(([message]) => message === 'Login refused')).toHaveLength(1)
  expect(await statusOf(api.port, `?code=good&state=${mine.state}`, mine.headers)).toBe(303)
  await api.close()
})

test('logins that the provider refuses keep out none that it does not', async () => {
  const { parts } = aProvider()
  const api = await startApi({ ...parts, clock: STILL })
  for (let i = 0; i < 30; i += 1) {
    const { state, headers } = await begin(api.port)
    expect(await statusOf(api.port, `?code=bad&state=${state}`, headers)).toBe(401)
  }
  const { state, headers } = await begin(api.port)
  expect(await statusOf(api.port, `?code=good&state=${state}`, headers)).toBe(303)
  const lines = api.logged.filter(([message]) => message === 'Login refused')
  expect(lines).toHaveLength(10)
  expect(lines[0]).toEqual(['Login refused', { address: '127.0.0.1', reason: 'the code is not known' }])
  await api.close()
})

test('a login ends once: the provider is not asked about it again', async () => {
  const { asked, parts } = aProvider()
  const api = await startApi(parts)
  const { state, headers } = await begin(api.port)
  expect(await statusOf(api.port, `?code=bad&state=${state}`, headers)).toBe(401)
  expect(await statusOf(api.port, `?code=good&state=${state}`, headers)).toBe(401)
  expect(asked).toHaveLength(1)
  await api.close()
})

test('one that the provider could not judge may come again', async () => {
  let isAway = true
  const { parts } = aProvider(async () => (isAway ? { kind: 'unavailable' } : { kind: 'done', user: ANN }))
  const api = await startApi(parts)
  const { state, headers } = await begin(api.port)
  expect(await statusOf(api.port, `?code=x&state=${state}`, headers)).toBe(503)
  isAway = false
  expect(await statusOf(api.port, `?code=x&state=${state}`, headers)).toBe(303)
  await api.close()
})

test('a login that took longer than ten minutes is late', async () => {
  let wallMs = NOW_MS
  const { parts } = aProvider()
  const api = await startApi({ ...parts, clock: { ...clock, wallMs: () => wallMs } })
  const [soon, late] = [await begin(api.port), await begin(api.port)]
  wallMs += 10 * 60_000 - 1
  expect(await statusOf(api.port, `?code=good&state=${soon.state}`, soon.headers)).toBe(303)
  wallMs += 1
  expect(await statusOf(api.port, `?code=good&state=${late.state}`, late.headers)).toBe(401)
  await api.close()
})

test('a provider is asked about so many logins at once, and no two addresses take all places', async () => {
  const going = Promise.withResolvers<void>()
  const { asked, parts } = aProvider(async () => {
    await going.promise
    return { kind: 'done', user: ANN }
  })
  const api = await startApi({ ...parts, trustedProxies: ['127.0.0.1'] })
  const comeBackFrom = async (address: string) => {
    const { state, headers } = await begin(api.port)
    return statusOf(api.port, `?code=x&state=${state}`, { ...headers, 'x-forwarded-for': address })
  }
  const all = ['192.0.2.1', '192.0.2.2'].map(() => [] as Promise<number>[])
  /** Comes back until it finds no place. */
  const fill = async (ends: Promise<number>[], address: string) => {
    for (;;) {
      const before = asked.length
      const end = comeBackFrom(address)
      const isAsked = until('it has an end or is asked about', () => asked.length > before).then(() => 0)
      if ((await Promise.race([end, isAsked])) === 503) return
      ends.push(end)
    }
  }
  await fill(all[0]!, '192.0.2.1')
  await fill(all[1]!, '192.0.2.2')
  expect(all.map(({ length }) => length)).toEqual([23, 6])
  const third = comeBackFrom('192.0.2.3')
  await until('it is asked about', () => asked.length === 30)
  going.resolve()
  expect(new Set(await Promise.all([...all.flat(), third]))).toEqual(new Set([303]))
  expect(await comeBackFrom('192.0.2.1')).toBe(303)
  await api.close()
})

test('a second login in a browser ends its first session', async () => {
  const sessions = createFakeSessions(TOKEN)
  const { parts } = aProvider()
  const api = await startApi({ ...parts, sessions })
  const { state, headers } = await begin(api.port)
  const cookie = `${headers['cookie']}; ${FIRST_SESSION.cookie}`
  expect(await statusOf(api.port, `?code=good&state=${state}`, { ...headers, cookie })).toBe(303)
  expect([...sessions.all.keys()]).toEqual(['session-1'])
  await api.close()
})
