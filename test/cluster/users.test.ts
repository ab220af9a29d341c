import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { parse } from 'yaml'
import { PERMISSIONS, ROLE_PERMISSIONS, ROLES } from '../../src/domain/access/permission.ts'
import { PERMISSION_RULES } from '../../src/domain/access/rbac.ts'
import { KubernetesUsers } from '../../src/kubernetes/access/kubernetes-users.ts'
import { createTransport, type Transport } from '../../src/kubernetes/client/transport.ts'
import type { Admission } from '../../src/ports/access/user-verifier.ts'
import { systemClock } from '../../src/telemetry/system-clock.ts'
import { bindRole, type Right } from '../support/cluster/bind-role.ts'
import {
  type KubernetesApi,
  newNamespace,
  newServiceAccount,
  openKubernetesApi,
} from '../support/cluster/kubernetes-api.ts'
import { quietClusterMetrics, quietLogger } from '../support/quiet.ts'
import { until } from '../support/until.ts'

/** What the chart gives; another test compares it with the templates. */
const GOLDEN = new URL('./chart/golden/rights-of-all-namespaces.yaml', import.meta.url)
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const API = 'punctual-api'

interface Rights {
  readonly kind: string
  readonly name: string
  readonly rules?: readonly object[]
}

const access = inject('clusterAccess')
let api: KubernetesApi
let shop: string
let mail: string
let own: string
let transport: Transport

beforeAll(async () => {
  api = openKubernetesApi(access)
  ;[shop, mail, own] = [await newNamespace(api), await newNamespace(api), await newNamespace(api)]
  const chart = parse(readFileSync(GOLDEN, 'utf8')) as readonly Rights[]
  const rulesOf = (name: string) =>
    chart.find((one) => one.name === name && one.kind === 'ClusterRole')?.rules
  for (const role of ROLES) {
    const rules = rulesOf(`punctual-punctual-${role}`)
    await api.send('POST', `${RBAC}/clusterroles`, { metadata: { name: `${own}-${role}` }, rules })
  }
  // The API asks with the rights that the chart gives it, and no others.
  const rules = rulesOf('punctual-punctual-api')
  await api.send('POST', `${RBAC}/clusterroles`, { metadata: { name: `${own}-api` }, rules })
  const token = await newServiceAccount(api, own, API)
  await bindInCluster('system:auth-delegator', {
    group: 'authentication.k8s.io',
    verb: 'create',
    resource: 'tokenreviews',
  })
  await bindInCluster(`${own}-api`, { group: '', verb: 'get', resource: 'namespaces' })
  transport = createTransport({
    config: {
      server: access.url,
      access: async () => ({ headers: { authorization: `Bearer ${token}` }, tls: { ca: access.caPem } }),
      renew: () => undefined,
    },
    clock: systemClock,
    metrics: quietClusterMetrics,
    userAgent: 'punctual/test',
  })
})

afterAll(async () => {
  await transport?.close()
  await api?.close()
})

/** What every role of ours allows. */
const MAY_READ: Right = { group: 'punctual.dev', ...PERMISSION_RULES.read }

function bindInCluster(role: string, right: Right): Promise<void> {
  const account = { namespace: own, name: API }
  return bindRole(api, { namespace: null, account, role: { kind: 'ClusterRole', name: role }, right })
}

function bind(account: string, role: string, right = MAY_READ): Promise<void> {
  return bindRole(api, {
    namespace: shop,
    account: { namespace: shop, name: account },
    role: { kind: 'ClusterRole', name: role },
    right,
  })
}

/** The namespaces that there are have what there is. */
const CLAIMS = { claim: async (_team: string, uid: string) => uid }

function admit(token: string, team: string, audience: string | null = null): Promise<Admission> {
  const isWatched = () => true
  const options = {
    transport,
    audience,
    namespaces: null,
    isWatched,
    claims: CLAIMS,
    clock: systemClock,
    logger: quietLogger,
  }
  return new KubernetesUsers({ tokens: 'jwt', ...options }).admit(token, { team, address: null })
}

const permissionsOf = (admission: Admission) =>
  admission.kind === 'admitted' ? [...admission.principal.permissions] : admission.kind

describe('a service account', () => {
  test.each(ROLES)(
    'that is %s in a team may do there what the role says, and finds no other',
    async (role) => {
      const token = await newServiceAccount(api, shop, `of-${role}`)
      expect(await admit(token, shop)).toEqual({ kind: 'no_team' })
      await bind(`of-${role}`, `${own}-${role}`)
      const admission = await admit(token, shop)
      expect(admission).toMatchObject({
        principal: { subject: `system:serviceaccount:${shop}:of-${role}`, team: shop, kind: 'user' },
      })
      const expected = PERMISSIONS.filter((one) => ROLE_PERMISSIONS[role].has(one))
      expect(permissionsOf(admission)).toEqual(expected)
      expect(await admit(token, mail)).toEqual({ kind: 'no_team' })
    },
  )

  test('that may change the objects themselves has no right in the API by that', async () => {
    const token = await newServiceAccount(api, shop, 'by-kubectl')
    const name = `${own}-objects`
    const rules = [{ apiGroups: ['punctual.dev'], resources: ['httpqueues', 'teamsettings'], verbs: ['*'] }]
    await api.send('POST', `${RBAC}/clusterroles`, { metadata: { name }, rules })
    await bind('by-kubectl', name, { group: 'punctual.dev', verb: 'get', resource: 'httpqueues' })
    expect(await admit(token, shop)).toEqual({ kind: 'no_team' })
  })

  test('is unknown once it is deleted', async () => {
    const token = await newServiceAccount(api, shop, 'leaver')
    await bind('leaver', `${own}-viewer`)
    expect(await admit(token, shop)).toMatchObject({ kind: 'admitted' })
    await api.delete({ apiVersion: 'v1', kind: 'ServiceAccount', name: 'leaver', namespace: shop })
    // The API server hears of it by a watch of its own.
    await until('it is unknown', async () => (await admit(token, shop)).kind === 'unknown')
  })

  test('needs a token for our audience where there is one, which the API server then does not take', async () => {
    const usual = await newServiceAccount(api, shop, 'listener')
    await bind('listener', `${own}-viewer`)
    const path = `/api/v1/namespaces/${shop}/serviceaccounts/listener/token`
    const { status } = await api.send('POST', path, { spec: { audiences: ['punctual'] } })
    const ours = String(status?.['token'])
    expect(await admit(usual, shop, 'punctual')).toEqual({ kind: 'unknown' })
    expect(await admit(ours, shop, 'punctual')).toMatchObject({ kind: 'admitted' })
    expect(await admit(ours, shop)).toEqual({ kind: 'unknown' })
  })
})

test('who may do everything everywhere finds no team that does not exist', async () => {
  const token = await newServiceAccount(api, shop, 'root')
  await bindRole(api, {
    namespace: null,
    account: { namespace: shop, name: 'root' },
    role: { kind: 'ClusterRole', name: 'cluster-admin' },
    right: MAY_READ,
  })
  expect(permissionsOf(await admit(token, mail))).toEqual([...PERMISSIONS])
  expect(await admit(token, `${mail}-not`)).toEqual({ kind: 'no_team' })
})

describe('beside a flood of made-up tokens from the same address', () => {
  const ADDRESS = '10.0.0.1'
  const asText = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

  /** Counts the tokens that the API server is asked about. */
  function openCounted(): { readonly users: KubernetesUsers; reviews(): number } {
    let reviews = 0
    const counted: Transport = {
      ...transport,
      request: (request) => {
        if (request.path.endsWith('/tokenreviews')) reviews += 1
        return transport.request(request)
      },
    }
    const users = new KubernetesUsers({
      transport: counted,
      tokens: 'jwt',
      audience: null,
      namespaces: null,
      isWatched: () => true,
      claims: CLAIMS,
      clock: systemClock,
      logger: quietLogger,
    })
    return { users, reviews: () => reviews }
  }

  test('no new token of a service account is refused, and forgeries of the cluster are not asked about', async () => {
    const first = await newServiceAccount(api, shop, 'busy')
    await bind('busy', `${own}-viewer`)
    const path = `/api/v1/namespaces/${shop}/serviceaccounts/busy/token`
    const [head = '', claims = ''] = first.split('.')
    const known = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as object
    const { users, reviews } = openCounted()
    const kinds = await Promise.all(
      Array.from({ length: 30 }, async (_, at) => {
        // A claim of each its own, so that none is remembered.
        const forged = `${head}.${asText({ ...known, jti: `made-up-${at}` })}.${'A'.repeat(342)}`
        const unsigned = `${asText({ alg: 'none' })}.${asText({ ...known, jti: `none-${at}` })}.c2ln`
        const found = await Promise.all(
          [forged, unsigned].map((token) => users.admit(token, { team: shop, address: ADDRESS })),
        )
        const { status } = await api.send('POST', path, { spec: {} })
        const { kind } = await users.admit(String(status?.['token']), { team: shop, address: ADDRESS })
        return [...found.map((one) => one.kind), kind]
      }),
    )
    expect(kinds).toEqual(Array.from({ length: 30 }, () => ['unknown', 'unknown', 'admitted']))
    expect(reviews()).toBe(30)
  })

  test('nor beside tokens of a provider that nobody knows', async () => {
    await newServiceAccount(api, shop, 'calm')
    await bind('calm', `${own}-viewer`)
    const path = `/api/v1/namespaces/${shop}/serviceaccounts/calm/token`
    const { users } = openCounted()
    const kinds: string[] = []
    for (let at = 0; at < 30; at += 1) {
      const made = Array.from({ length: 10 }, (_, of) =>
        users.admit(
          `${asText({ alg: 'RS256', kid: 'k' })}.${asText({ iss: 'x', jti: `${at} ${of}` })}.c2ln`,
          {
            team: shop,
            address: ADDRESS,
          },
        ),
      )
      const { status } = await api.send('POST', path, { spec: {} })
      kinds.push((await users.admit(String(status?.['token']), { team: shop, address: ADDRESS })).kind)
      await Promise.all(made)
    }
    expect(kinds).toEqual(Array.from({ length: 30 }, () => 'admitted'))
  })
})

test('a token that the API server did not make is unknown', async () => {
  const token = await newServiceAccount(api, shop, 'forger')
  const [head, claims, signature = ''] = token.split('.')
  const forged = `${head}.${claims}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
  expect(await admit(forged, shop)).toEqual({ kind: 'unknown' })
})

test('without the right to ask, users cannot be checked', async () => {
  const token = await newServiceAccount(api, own, 'nobody')
  const powerless = createTransport({
    config: {
      server: access.url,
      access: async () => ({ headers: { authorization: `Bearer ${token}` }, tls: { ca: access.caPem } }),
      renew: () => undefined,
    },
    clock: systemClock,
    metrics: quietClusterMetrics,
    userAgent: 'punctual/test',
  })
  const users = new KubernetesUsers({
    transport: powerless,
    tokens: 'jwt',
    audience: null,
    namespaces: null,
    isWatched: () => true,
    claims: CLAIMS,
    clock: systemClock,
    logger: quietLogger,
  })
  expect(await users.admit(token, { team: shop, address: null })).toMatchObject({ kind: 'unavailable' })
  await powerless.close()
})
