/** The access matrix for users of a cluster: by their tokens, and by sessions that these have opened. */
import { createSecretKey, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SecretBox } from '../../../src/redis/base/secret-box.ts'
import { createLeaderEpochs } from '../../../src/redis/control/leader-epochs.ts'
import { askAll, type Headers, type Matrix, type Sender } from '../../support/access/access-matrix.ts'
import {
  PAGE_PERMISSIONS,
  PAGE_ROLES,
  type PageRole,
  permissionsOfRole,
} from '../../support/access/access-page.ts'
import { furnish, snapshotOf } from '../../support/access/furnished-team.ts'
import { podEnvironment, writeAccount } from '../../support/cluster/pod-environment.ts'
import { openEngine } from '../../support/engine/engine.ts'
import { startInstallation, TOKEN, type Installation } from '../../support/engine/installation.ts'
import { type FakeApiServer, startFakeApiServer } from '../../support/fake-api/fake-api-server.ts'
import { createSigner, ISSUER, madeUp } from '../../support/token-signer.ts'

const OURS = { 'x-punctual-request': '1', 'sec-fetch-site': 'same-origin' }
const TEAM = { 'x-punctual-team': 'default' }
/** So that a matrix of nothing is noticed. */
const CELLS_MIN = 2_000

const signer = createSigner()
const folder = mkdtempSync(join(tmpdir(), 'punctual-account-'))
let here: Installation
let server: FakeApiServer
let matrix: Matrix

/** An installation with a folder makes what both teams have; an API of a cluster serves the same Redis. */
beforeAll(async () => {
  here = await startInstallation()
  const other = await here.clientOfTeam('other')
  const own = await furnish(here.client, 'ours')
  const foreign = await furnish(other, 'theirs')
  const { engine, close } = await openEngine(here.redis.url)
  await createLeaderEpochs(engine, new SecretBox(createSecretKey(randomBytes(32)))).begin()
  close()
  server = await startFakeApiServer()
  server.documents.set('/openid/v1/jwks', { keys: [signer.jwk] })
  server.documents.set('/.well-known/openid-configuration', { issuer: ISSUER })
  for (const name of ['default', 'other']) {
    const metadata = { name, uid: `uid-of-${name}` }
    server.put(`/api/v1/namespaces/${name}`, { apiVersion: 'v1', kind: 'Namespace', metadata })
  }
  // Its editor looks at the API server before it reads the body.
  server.put(`/apis/punctual.dev/v1alpha1/namespaces/default/maintenancewindows/${own.ids['window_id']}`, {
    apiVersion: 'punctual.dev/v1alpha1',
    kind: 'MaintenanceWindow',
    metadata: { name: own.ids['window_id'], namespace: 'default' },
    spec: { schedules: [{ startAt: '2030-01-01T00:00:00Z', endAt: '2030-01-01T01:00:00Z' }] },
  })
  const access = { url: server.url, token: 'token-1', caPem: server.authority }
  const { url } = await here.startApi({
    ...podEnvironment(access, writeAccount(access, join(folder, 'account'))),
    PUNCTUAL_RESOURCES: 'kubernetes',
    PUNCTUAL_KUBERNETES_USERS: 'jwt',
    PUNCTUAL_SECRETS_KEY: '',
  })
  matrix = {
    url,
    own,
    foreign,
    snapshot: async () => ({
      ...(await snapshotOf(here.client, own)),
      ...(await snapshotOf(other, foreign)),
    }),
    has: (path) => path !== '/api/test/clock',
  }
}, 60_000)
afterAll(async () => {
  await here.close()
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The token of a service account that has these permissions in a namespace. */
function accountWith(name: string, permissions: ReadonlySet<string>, namespace = 'default'): string {
  const sub = `system:serviceaccount:${namespace}:${name}`
  const token = signer.sign({ sub, aud: [ISSUER] })
  server.reviews.users.set(token, { username: sub })
  for (const permission of PAGE_PERMISSIONS)
    if (permissions.has(permission.name)) server.reviews.grants.add(`${sub} ${namespace} ${permission.rule}`)
  return token
}

const accountOf = (role: PageRole) => accountWith(`a-${role}`, permissionsOfRole(role))

async function sessionOf(token: string): Promise<Headers> {
  const headers = { authorization: `Bearer ${token}`, ...TEAM }
  const answer = await fetch(`${matrix.url}/api/session`, { method: 'POST', headers })
  expect(answer.status).toBe(201)
  return { cookie: (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '' }
}

type Kind = readonly [name: string, make: () => Promise<Omit<Sender, 'name' | 'headers'> & { sent: Headers }>]

const KINDS: readonly Kind[] = [
  ...PAGE_ROLES.flatMap((role): Kind[] => [
    [
      `a service account with the role ${role}`,
      async () => ({
        is: 'token',
        permissions: permissionsOfRole(role),
        sent: { authorization: `Bearer ${accountOf(role)}`, ...TEAM },
      }),
    ],
    [
      `the session of a service account with the role ${role}`,
      async () => ({
        is: 'session',
        permissions: permissionsOfRole(role),
        sent: { ...(await sessionOf(accountOf(role))), ...OURS, ...TEAM },
      }),
    ],
  ]),
  ...PAGE_PERMISSIONS.map(({ name }): Kind => [
    `a service account that may ${name} alone`,
    async () => {
      const permissions = new Set([name])
      return {
        is: 'token',
        permissions,
        sent: { authorization: `Bearer ${accountWith(`may-${name}`, permissions)}`, ...TEAM },
      }
    },
  ]),
  [
    'an administrator of another team, who names this one',
    async () => ({
      is: 'astray',
      sent: {
        authorization: `Bearer ${accountWith('stranger', permissionsOfRole('admin'), 'other')}`,
        ...TEAM,
      },
    }),
  ],
  [
    'a service account that the API server does not know any more',
    async () => {
      const sub = 'system:serviceaccount:default:gone'
      return {
        is: 'nobody',
        sent: { authorization: `Bearer ${signer.sign({ sub, aud: [ISSUER] })}`, ...TEAM },
      }
    },
  ],
  [
    'a token that nobody signed',
    async () => ({
      is: 'nobody',
      sent: {
        authorization: `Bearer ${madeUp({ iss: ISSUER, sub: 'system:serviceaccount:default:a-admin' }, { kid: 'key-1' })}`,
        ...TEAM,
      },
    }),
  ],
  [
    'a service account whose token has expired',
    async () => {
      const sub = 'system:serviceaccount:default:late'
      const token = signer.sign({ sub, aud: [ISSUER], exp: 1_700_000_000 })
      server.reviews.users.set(token, { username: sub })
      return { is: 'nobody', sent: { authorization: `Bearer ${token}`, ...TEAM } }
    },
  ],
  ['no credentials', async () => ({ is: 'nobody', sent: TEAM })],
  [
    'a token of ours',
    async () => ({
      is: 'token',
      permissions: permissionsOfRole('admin'),
      sent: { authorization: `Bearer ${TOKEN}` },
    }),
  ],
]

let cells = 0

test.each(KINDS)('%s', async (name, make) => {
  const { sent, ...sender } = await make()
  const end = await askAll(matrix, { name, ...sender, headers: () => sent })
  cells += end.cells
  expect(end.faults).toEqual([])
})

test('all of them were asked', () => {
  process.stdout.write(`access matrix of users: ${cells} cells\n`)
  expect(cells).toBeGreaterThan(CELLS_MIN)
})
