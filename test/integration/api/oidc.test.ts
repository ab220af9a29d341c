import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { isDashboardBuilt } from '../../../src/api/dashboard/built-dashboard.ts'
import { startInstallation, type Installation } from '../../support/engine/installation.ts'
import { startOidcProvider, type OidcProvider } from '../../support/servers/oidc-provider.ts'

/** Where browsers are sent back to; the test takes that way to the real port, as a proxy does that takes the path away. */
const PUBLIC_URL = 'http://127.0.0.1:1/tools/punctual'

let here: Installation
let provider: OidcProvider

beforeAll(async () => {
  provider = await startOidcProvider()
  here = await startInstallation({
    executors: 0,
    apiEnv: {
      PUNCTUAL_PUBLIC_URL: PUBLIC_URL,
      PUNCTUAL_OIDC_ISSUER: provider.issuer,
      PUNCTUAL_OIDC_CLIENT_ID: provider.clientId,
      PUNCTUAL_OIDC_CLIENT_SECRET: provider.clientSecret,
      PUNCTUAL_OIDC_GROUP_ROLES: '{"lookers": "viewer", "devs": {"shop": "editor", "mail": "viewer"}}',
    },
  })
})
afterAll(async () => {
  await here.close()
  await provider.close()
})
beforeEach(() => {
  provider.claims = { groups: ['lookers'] }
})

interface Visit {
  readonly status: number
  readonly body: string
  readonly cookies: Readonly<Record<string, string>>
  /** Where the browser goes. */
  readonly location: string | null
}

const cookieText = (cookies: Visit['cookies']) =>
  Object.entries(cookies)
    .map((one) => one.join('='))
    .join('; ')

function cookiesOf(answer: Response): Record<string, string> {
  return Object.fromEntries(
    answer.headers.getSetCookie().map((one) => (one.split(';')[0] ?? '').split('=') as [string, string]),
  )
}

/** A browser's way by the provider. @param takeCookies whether it still has them when it comes back */
async function logIn(search = '', takeCookies = true, accept = '*/*'): Promise<Visit> {
  const options = { redirect: 'manual' } as const
  const begun = await fetch(`${here.api.url}/api/login/oidc${search}`, options)
  expect(begun.status).toBe(303)
  const back = provider.authorize(begun.headers.get('location') ?? '').replace(PUBLIC_URL, here.api.url)
  const headers = { accept, ...(takeCookies && { cookie: cookieText(cookiesOf(begun)) }) }
  const answer = await fetch(back, { ...options, headers })
  const location = answer.headers.get('location')
  return { status: answer.status, body: await answer.text(), cookies: cookiesOf(answer), location }
}

async function statusOf(path: string, visit: Visit, headers: Record<string, string> = {}): Promise<number> {
  const cookie = cookieText(visit.cookies)
  return (await fetch(`${here.api.url}${path}`, { headers: { cookie, ...headers } })).status
}

test('a user is let in with the role of its group, in its team', async () => {
  const visit = await logIn()
  expect([visit.status, visit.location]).toEqual([303, '/tools/punctual/'])
  expect(await statusOf('/api/queues', visit)).toBe(200)
  const headers = { cookie: cookieText(visit.cookies) }
  const me = await (await fetch(`${here.api.url}/api/me`, { headers })).json()
  expect(me).toMatchObject({ team: 'default', kind: 'user', subject: 'ann', roles: ['viewer'] })
  expect(await statusOf('/api/queues', visit, { 'x-punctual-team': 'shop' })).toBe(404)
  const { body } = await here.client.send<{ records: unknown[] }>('GET', '/api/audit?action=login')
  expect(body.records).toMatchObject([{ actor: { kind: 'user', name: 'ann' }, via: 'dashboard' }])
})

test('a user of several teams names one, at the login and in each request', async () => {
  provider.claims = { groups: ['devs'] }
  expect((await logIn()).status).toBe(400)
  const visit = await logIn('?team=shop')
  expect(visit.status).toBe(303)
  expect(await statusOf('/api/queues', visit)).toBe(400)
  expect(await statusOf('/api/queues', visit, { 'x-punctual-team': 'mail' })).toBe(200)
})

test('who has no role, or comes with a login of another browser, is not let in', async () => {
  provider.claims = { groups: ['others'] }
  expect(await logIn()).toMatchObject({ status: 403, cookies: {} })
  provider.claims = { groups: ['lookers'] }
  const stolen = await logIn('', false)
  expect(stolen).toMatchObject({ status: 401, cookies: {} })
  expect(stolen.body).toContain('it began in another browser')
  const reasons = here.api.program.log.filter((line) => JSON.stringify(line).includes('Login refused'))
  expect(reasons.length).toBeGreaterThanOrEqual(2)
  expect(JSON.stringify(here.api.program.log)).not.toContain(provider.clientSecret)
})

test('while the provider is away nobody logs in, and sessions go on', async () => {
  const visit = await logIn()
  provider.failsWith = 503
  expect((await logIn()).status).toBe(503)
  provider.failsWith = null
  expect(await statusOf('/api/queues', visit)).toBe(200)
})

test('a person in front of a browser learns on the page why a login was refused', async (context) => {
  if (!isDashboardBuilt()) context.skip('the dashboard is not built: make build')
  const page = await (await fetch(`${here.api.url}/`, { headers: { accept: 'text/html' } })).text()
  expect(page).toContain(`data-login-at="${new URL(provider.issuer).host}"`)
  const refused = async (groups: readonly string[], takeCookies = true) => {
    provider.claims = { groups }
    const visit = await logIn('', takeCookies, 'text/html')
    return [visit.status, visit.location, Object.keys(visit.cookies).length]
  }
  expect(await refused(['others'])).toEqual([303, '/tools/punctual/?login=role', 0])
  expect(await refused(['devs'])).toEqual([303, '/tools/punctual/?login=team', 0])
  expect(await refused(['lookers'], false)).toEqual([303, '/tools/punctual/?login=late', 0])
})
