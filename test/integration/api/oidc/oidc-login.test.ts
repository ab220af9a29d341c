import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createOidcLogin, type OidcClient } from '../../../../src/oidc/oidc-login.ts'
import type { LoginEnd, LoginProvider, PendingLogin } from '../../../../src/ports/access/login-provider.ts'
import { systemClock } from '../../../../src/telemetry/system-clock.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { startOidcProvider, type OidcProvider } from '../../../support/servers/oidc-provider.ts'

let provider: OidcProvider
let login: LoginProvider

beforeEach(async () => {
  provider = await startOidcProvider()
  login = open()
})
afterEach(() => provider.close())

function open(
  change: Partial<OidcClient> = {},
  parts: Partial<Parameters<typeof createOidcLogin>[1]> = {},
): LoginProvider {
  const { issuer, clientId, clientSecret } = provider
  const client: OidcClient = {
    issuer,
    clientId,
    clientSecret,
    scopes: 'openid groups',
    redirectUrl: 'https://punctual.example.com/api/login/oidc/callback',
    userClaim: 'sub',
    groupsClaim: 'groups',
    userPrefix: '',
    groupsPrefix: '',
    ...change,
  }
  return createOidcLogin(client, { clock: systemClock, logger: quietLogger, ...parts })
}

/** The way to the provider and back. */
async function visit(at = login): Promise<{ search: string; pending: PendingLogin }> {
  const begun = await at.begin()
  if (begun === null) throw new Error('the provider is away')
  return { search: new URL(provider.authorize(begun.url)).search, pending: begun.pending }
}

async function endOf(at = login, change: Partial<PendingLogin> = {}): Promise<LoginEnd> {
  const { search, pending } = await visit(at)
  return at.finish(search, { ...pending, ...change })
}

test('a login is for the user and the groups that the claims name', async () => {
  provider.claims = { groups: ['ops', 'devs', 7] }
  expect(await endOf()).toEqual({ kind: 'done', user: { username: 'ann', groups: ['ops', 'devs'] } })
  provider.claims = { email: 'ann@example.com', roles: 'ops' }
  const other = open({ userClaim: 'email', groupsClaim: 'roles', userPrefix: 'oidc:', groupsPrefix: 'oidc:' })
  expect(await endOf(other)).toEqual({
    kind: 'done',
    user: { username: 'oidc:ann@example.com', groups: ['oidc:ops'] },
  })
})

test('the provider is asked for a code, with a challenge, a state and a nonce', async () => {
  const url = new URL((await login.begin())?.url ?? '')
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    response_type: 'code',
    client_id: 'punctual',
    scope: 'openid groups',
    code_challenge_method: 'S256',
    redirect_uri: 'https://punctual.example.com/api/login/oidc/callback',
    state: expect.stringMatching(/.{40}/),
    nonce: expect.stringMatching(/.{40}/),
  })
  const again = new URL((await login.begin())?.url ?? '')
  for (const name of ['state', 'nonce', 'code_challenge']) {
    expect(again.searchParams.get(name)).not.toBe(url.searchParams.get(name))
  }
})

describe('a login is refused', () => {
  const refused = { kind: 'refused', reason: expect.any(String) }

  test.each<readonly [string, Partial<PendingLogin>]>([
    ['of another state', { state: 'x'.repeat(43) }],
    ['of another nonce', { nonce: 'x'.repeat(43) }],
    ['of another verifier', { verifier: 'x'.repeat(43) }],
  ])('%s', async (_what, change) => {
    expect(await endOf(login, change)).toEqual(refused)
  })

  test.each<readonly [string, Readonly<Record<string, unknown>>]>([
    ['for another audience', { aud: 'another' }],
    ['by another issuer', { iss: 'https://another.example.com' }],
    ['that has expired', { exp: Math.floor(Date.now() / 1_000) - 60 }],
    ['without a name', { sub: '' }],
    ['of a name of Kubernetes itself', { sub: 'system:admin' }],
    ['of a name with a zero byte', { sub: 'ann\u0000' }],
    ['of a name that reads backwards', { sub: 'nna\u202e' }],
    ['of a name over two lines', { sub: 'ann\nbob' }],
    ['with more groups than anybody has', { groups: Array.from({ length: 501 }, (_, i) => `g${i}`) }],
  ])('%s', async (_what, claims) => {
    provider.claims = claims
    expect(await endOf()).toEqual(refused)
  })

  test.each([false, 'false', 'true', 0, 1, null, [], {}])(
    'by an e-mail address whose check is %j',
    async (verified) => {
      provider.claims = { email: 'ann@example.com', email_verified: verified }
      expect(await endOf(open({ userClaim: 'email' }))).toEqual(refused)
    },
  )

  test('when the token is signed by somebody else', async () => {
    provider.isForging = true
    expect(await endOf()).toEqual(refused)
  })

  test('when its code is used again', async () => {
    const { search, pending } = await visit()
    expect(await login.finish(search, pending)).toMatchObject({ kind: 'done' })
    expect(await login.finish(search, pending)).toEqual(refused)
  })

  test('when the provider says so', async () => {
    const { pending } = await visit()
    const search = `?error=access_denied&state=${pending.state}`
    expect(await login.finish(search, pending)).toEqual(refused)
  })

  test('with the wrong secret, which is in no reason', async () => {
    const secret = 'wrong-secret-canary'
    const end = await endOf(open({ clientSecret: secret }))
    expect(end).toEqual(refused)
    expect(JSON.stringify(end)).not.toContain(secret)
  })
})

test('an e-mail address that the provider has checked counts', async () => {
  provider.claims = { email: 'ann@example.com', email_verified: true }
  expect(await endOf(open({ userClaim: 'email' }))).toMatchObject({ kind: 'done' })
})

test('the first login after the provider has changed its keys is let in', async () => {
  const clock = createFakeClock()
  login = open({}, { clock })
  expect(await endOf()).toMatchObject({ kind: 'done' })
  provider.changeKeys()
  const { search, pending } = await visit()
  await clock.advance(2_000)
  const before = provider.requests
  expect(await login.finish(search, pending)).toMatchObject({ kind: 'done' })
  // What it says about itself, the token and the keys.
  expect(provider.requests - before).toBe(3)
})

test('logins that end together share what they read', async () => {
  const visits = [await visit(), await visit(), await visit()] as const
  const finish = ({ search, pending }: (typeof visits)[number]) => login.finish(search, pending)
  await finish(visits[0])
  const before = provider.requests
  const ends = await Promise.all(visits.slice(1).map(finish))
  expect(ends).toMatchObject([{ kind: 'done' }, { kind: 'done' }])
  expect(provider.requests - before).toBe(2)
})

test('groups of Kubernetes itself, and those with characters that nobody sees, are left out', async () => {
  provider.claims = { groups: ['system:masters', 'ops', 'devs\u200b', 'a\u0000'] }
  expect(await endOf()).toMatchObject({ user: { groups: ['ops'] } })
})

describe('a provider that is away', () => {
  test('is said to be, and asked again at the next login', async () => {
    const clock = createFakeClock()
    login = open({}, { clock })
    provider.failsWith = 500
    expect(await login.begin()).toBeNull()
    provider.failsWith = null
    await clock.advance(1_000)
    expect(await endOf()).toMatchObject({ kind: 'done' })
  })

  test('is asked once a second and said to be away once a minute, however many want to log in', async () => {
    const clock = createFakeClock()
    const lines: unknown[][] = []
    login = open({}, { clock, logger: { ...quietLogger, warn: (...line) => void lines.push(line) } })
    provider.failsWith = 500
    const before = provider.requests
    for (let i = 0; i < 20; i += 1) expect(await login.begin()).toBeNull()
    expect(provider.requests - before).toBe(1)
    await clock.advance(1_000)
    expect(await login.begin()).toBeNull()
    expect(provider.requests - before).toBe(2)
    expect(lines).toMatchObject([[expect.any(String), { logins: 1 }]])
    await clock.advance(60_000)
    expect(await login.begin()).toBeNull()
    expect(lines.slice(1)).toMatchObject([[expect.any(String), { logins: 21 }]])
  })

  test('in the middle of a login refuses nobody', async () => {
    const { search, pending } = await visit()
    provider.failsWith = 503
    expect(await login.finish(search, pending)).toEqual({ kind: 'unavailable' })
    await provider.close()
    expect(await login.finish(search, pending)).toEqual({ kind: 'unavailable' })
    provider = await startOidcProvider()
  })
})
