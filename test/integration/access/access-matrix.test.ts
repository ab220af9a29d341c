/** Every operation of the API × every kind of sender: who is let in, who is refused, and that nobody else's is touched. */
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { askAll, gapsIn, type Headers, type Matrix, type Sender } from '../../support/access/access-matrix.ts'
import {
  ALL_OF_PAGE,
  PAGE_OPERATIONS,
  PAGE_PERMISSIONS,
  PAGE_ROLES,
  permissionsOfRole,
  permissionsOfScopes,
} from '../../support/access/access-page.ts'
import { furnish, snapshotOf } from '../../support/access/furnished-team.ts'
import { createApiClient, type ApiClient } from '../../support/servers/api-client.ts'
import { type OidcProvider, startOidcProvider } from '../../support/servers/oidc-provider.ts'
import { createStandaloneWorld } from '../../support/servers/standalone-world.ts'
import { createSigner } from '../../support/token-signer.ts'
import { until } from '../../support/until.ts'

const PUBLIC_URL = 'http://127.0.0.1:1'
const SCOPES = [...new Set(PAGE_PERMISSIONS.flatMap(({ scopes }) => scopes))]
const OURS = { 'x-punctual-request': '1', 'sec-fetch-site': 'same-origin' }

const world = createStandaloneWorld()
const tokens: Record<string, string> = {}
for (const name of ['everything', 'other', 'expired', 'revoked', 'limited', ...SCOPES]) {
  tokens[name] = randomBytes(24).toString('hex')
}

let client: ApiClient
let other: ApiClient
let provider: OidcProvider
let matrix: Matrix

beforeAll(async () => {
  const folder = world.newFolder()
  mkdirSync(join(folder, 'resources'), { recursive: true })
  writeFileSync(join(folder, 'resources/tokens.yaml'), tokenManifests())
  provider = await startOidcProvider()
  const roles = Object.fromEntries(PAGE_ROLES.map((role) => [`${role}s`, { default: role }]))
  const started = await world.start(folder, {
    // Without a test clock its operations would be a 404 to everybody.
    PUNCTUAL_TEST_CLOCK: '1',
    PUNCTUAL_PUBLIC_URL: PUBLIC_URL,
    PUNCTUAL_OIDC_ISSUER: provider.issuer,
    PUNCTUAL_OIDC_CLIENT_ID: provider.clientId,
    PUNCTUAL_OIDC_CLIENT_SECRET: provider.clientSecret,
    PUNCTUAL_OIDC_GROUP_ROLES: JSON.stringify(roles),
  })
  const { url } = await started.program.logged('Standalone runs')
  client = createApiClient(String(url), tokenOf('everything'))
  other = createApiClient(String(url), tokenOf('other'))
  for (const one of [client, other])
    await until('the tokens are known', async () => (await one.send('GET', '/api/me')).status === 200)
  const own = await furnish(client, 'ours')
  const foreign = await furnish(other, 'theirs')
  matrix = {
    url: String(url),
    own,
    foreign,
    snapshot: async () => ({ ...(await snapshotOf(client, own)), ...(await snapshotOf(other, foreign)) }),
  }
}, 60_000)
afterAll(async () => {
  await world.close()
  await provider.close()
})

function tokenOf(name: string): string {
  return tokens[name] ?? expect.fail(`no token ${name}`)
}

const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` })

const sessionOf = (token: string) => openSession(bearer(token))

async function openSession(headers: Headers): Promise<Headers> {
  const answer = await fetch(`${matrix.url}/api/session`, { method: 'POST', headers })
  expect(answer.status).toBe(201)
  return { cookie: cookiesOf(answer) }
}

async function endSession(session: Headers): Promise<void> {
  const headers = { ...session, ...OURS }
  expect((await fetch(`${matrix.url}/api/session`, { method: 'DELETE', headers })).status).toBe(204)
}

function cookiesOf(answer: Response): string {
  return answer.headers
    .getSetCookie()
    .map((one) => one.split(';')[0] ?? '')
    .join('; ')
}

/** A login at the provider, of a user whose group has this role. */
async function sessionOfRole(role: string): Promise<Headers> {
  provider.claims = { sub: `a-${role}`, groups: [`${role}s`] }
  const begun = await fetch(`${matrix.url}/api/login/oidc`, { redirect: 'manual' })
  const back = provider.authorize(begun.headers.get('location') ?? '').replace(PUBLIC_URL, matrix.url)
  const ended = await fetch(back, { redirect: 'manual', headers: { cookie: cookiesOf(begun) } })
  expect(ended.status).toBe(303)
  return { cookie: cookiesOf(ended) }
}

async function newCode(): Promise<string> {
  const { body } = await client.send<{ code: string }>('POST', '/api/session/code')
  return body.code
}

async function removedToken(name: string): Promise<Headers> {
  const made = await client.send<{ token: string }>('POST', '/api/tokens', { name })
  const session = await sessionOf(made.body.token)
  expect((await client.send('DELETE', `/api/tokens/${name}`)).status).toBe(204)
  return { ...bearer(made.body.token), ...session }
}

type Kind = readonly [name: string, make: () => Sender | Promise<Sender>]

const nobody = (name: string, headers: () => Headers | Promise<Headers>, search = ''): Kind => [
  name,
  async () => {
    const sent = await headers()
    return { name, is: 'nobody', headers: () => sent, search }
  },
]

const NOBODIES: readonly Kind[] = [
  nobody('no credentials', () => ({})),
  nobody('a token of nobody', () => bearer(randomBytes(24).toString('hex'))),
  nobody('a token without its first letter', () => bearer(tokenOf('everything').slice(1))),
  nobody('a token with a letter more', () => bearer(`${tokenOf('everything')}x`)),
  nobody('the hash of a token', () =>
    bearer(createHash('sha256').update(tokenOf('everything')).digest('hex')),
  ),
  nobody('a token that has expired', () => bearer(tokenOf('expired'))),
  nobody('a token that was revoked', async () =>
    bearer(String((await removedToken('gone'))['authorization']).slice(7)),
  ),
  nobody('a token as the password of Basic', () => ({
    authorization: `Basic ${Buffer.from(`token:${tokenOf('everything')}`).toString('base64')}`,
  })),
  nobody('a token in the query', () => ({}), `?access_token=${tokenOf('everything')}`),
  nobody('a token in the cookie', () => ({ cookie: `${cookieName()}=${tokenOf('everything')}`, ...OURS })),
  nobody('a token in other headers', () => ({
    'x-api-key': tokenOf('everything'),
    'x-punctual-token': tokenOf('everything'),
    'x-forwarded-user': 'admin',
  })),
  nobody('a made-up session', () => ({
    cookie: `${cookieName()}=h${'a'.repeat(39)}-xy.${'b'.repeat(43)}`,
    ...OURS,
  })),
  nobody('a session that was ended', async () => {
    const session = await sessionOf(tokenOf('admin'))
    await endSession(session)
    return { ...session, ...OURS }
  }),
  nobody('the session of a token that was revoked', async () => {
    const { cookie = '' } = await removedToken('gone-with-session')
    return { cookie, ...OURS }
  }),
  nobody('a login link that was used', async () => {
    const headers = { 'x-punctual-code': await newCode() }
    await openSession(headers)
    return headers
  }),
  nobody('a login link as a token', async () => bearer(await newCode())),
  nobody('a token of a cluster that is not asked', () =>
    bearer(createSigner().sign({ sub: 'system:serviceaccount:default:admin', aud: ['punctual'] })),
  ),
]

const token = (name: string, permissions: ReadonlySet<string>, more: Headers = {}): Kind => [
  name === 'everything' ? 'a token without scopes' : `a token with the scope ${name}`,
  () => ({ name, is: 'token', permissions, headers: () => ({ ...bearer(tokenOf(name)), ...more }) }),
]

const session = (
  name: string,
  { is = 'session', ...rest }: Partial<Sender>,
  open: () => Promise<Headers>,
  more: Headers = OURS,
): Kind => [
  name,
  async () => {
    const cookie = await open()
    return { name, is, ...rest, headers: () => ({ ...cookie, ...more }) }
  },
]

const SOMEBODIES: readonly Kind[] = [
  token('everything', ALL_OF_PAGE),
  ...SCOPES.map((scope) => token(scope, permissionsOfScopes(scope))),
  [
    'a token of all scopes for queues that are not there',
    () => ({
      name: 'a limited token',
      is: 'limited',
      permissions: ALL_OF_PAGE,
      headers: () => bearer(tokenOf('limited')),
    }),
  ],
  ...SCOPES.map((scope) =>
    session(`a session of the scope ${scope}`, { permissions: permissionsOfScopes(scope) }, () =>
      sessionOf(tokenOf(scope)),
    ),
  ),
  ...PAGE_ROLES.map((role) =>
    session(`a user with the role ${role}`, { permissions: permissionsOfRole(role) }, () =>
      sessionOfRole(role),
    ),
  ),
  session(
    'the session of an administrator, from the page of another site',
    { permissions: ALL_OF_PAGE, isForged: true },
    () => sessionOf(tokenOf('everything')),
    { 'x-punctual-request': '1', 'sec-fetch-site': 'cross-site' },
  ),
  session(
    'the session of an administrator, without the header of our pages',
    { permissions: ALL_OF_PAGE, isForged: true },
    () => sessionOf(tokenOf('everything')),
    { 'sec-fetch-site': 'same-origin' },
  ),
  session(
    'a token that may push, beside the session of an administrator',
    { is: 'token', hasSession: true, permissions: permissionsOfScopes('push') },
    async () => ({ ...bearer(tokenOf('push')), ...(await sessionOf(tokenOf('everything'))) }),
  ),
  [
    'a login link',
    () => {
      let spare: Promise<string> | null = null
      const headers = async (operation: string): Promise<Headers> => {
        // What it opens uses it up.
        const code = operation === 'POST /api/session' ? await newCode() : await (spare ??= newCode())
        return { 'x-punctual-code': code }
      }
      return { name: 'a login link', is: 'code', permissions: ALL_OF_PAGE, headers }
    },
  ],
  [
    'a token that names the other team',
    () => ({
      name: 'a token that names the other team',
      is: 'astray',
      headers: () => ({ ...bearer(tokenOf('everything')), 'x-punctual-team': 'other' }),
    }),
  ],
]

function cookieName(): string {
  return `punctual-${new URL(matrix.url).port}`
}

let cells = 0
let tookMs = 0

test('each operation says who may, and each id of a path has something to name', () => {
  expect(PAGE_PERMISSIONS).toHaveLength(7)
  expect(PAGE_OPERATIONS.size).toBeGreaterThanOrEqual(90)
  expect(gapsIn(matrix.own, matrix.foreign)).toEqual([])
})

test.each([...NOBODIES, ...SOMEBODIES])('%s', async (_name, make) => {
  const sender = await make()
  const startedMs = performance.now()
  const end = await askAll(matrix, sender)
  tookMs += performance.now() - startedMs
  cells += end.cells
  expect(end.faults).toEqual([])
})

test('what a sender was refused is there to be had', async () => {
  const reads = [...PAGE_OPERATIONS.keys()].filter((one) => /^GET .*\{/.test(one))
  expect(reads.length).toBeGreaterThan(10)
  for (const [belongings, owner] of [
    [matrix.own, client],
    [matrix.foreign, other],
  ] as const) {
    for (const read of reads) {
      const path = read
        .slice('GET '.length)
        .replace(/\{(\w+)\}/, (_, name: string) => belongings.ids[name] ?? '')
      expect([path, (await owner.send('GET', path)).status]).toEqual([path, 200])
    }
  }
})

test('there are thousands of cells', () => {
  process.stdout.write(`access matrix: ${cells} cells in ${(tookMs / 1000).toFixed(1)} s\n`)
  expect(cells).toBeGreaterThan(4_000)
})

function tokenManifests(): string {
  const manifest = (name: string, spec: object, namespace = 'default') =>
    JSON.stringify({
      apiVersion: 'punctual.dev/v1alpha1',
      kind: 'ApiToken',
      metadata: { name, namespace },
      spec: { sha256: createHash('sha256').update(tokenOf(name)).digest('hex'), ...spec },
    })
  const capital = (scope: string) => `${scope[0]?.toUpperCase()}${scope.slice(1)}`
  return [
    manifest('everything', {}),
    manifest('other', {}, 'other'),
    manifest('expired', { expiresAt: '2020-01-01T00:00:00Z' }),
    manifest('limited', { queues: ['of-nobody'] }),
    ...SCOPES.map((scope) => manifest(scope, { scopes: [capital(scope)] })),
  ].join('\n---\n')
}
