import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import {
  GRANTED_MS,
  KubernetesUsers,
  REFUSALS,
  REFUSED_MS,
} from '../../../../src/kubernetes/access/kubernetes-users.ts'
import { READ_PAUSE_MS } from '../../../../src/kubernetes/access/cluster-keys.ts'
import { LANE } from '../../../../src/kubernetes/access/token-lanes.ts'
import { createTransport, type Transport } from '../../../../src/kubernetes/client/transport.ts'
import type { Logger } from '../../../../src/ports/runtime.ts'
import { startFakeApiServer, type FakeApiServer } from '../../../support/fake-api/fake-api-server.ts'
import { createFakeClock, FAKE_EPOCH_MS, type FakeClock } from '../../../support/fake-clock.ts'
import { quietClusterMetrics, quietLogger } from '../../../support/quiet.ts'
import { createSigner, ISSUER, madeUp } from '../../../support/token-signer.ts'
import { until } from '../../../support/until.ts'

const KEYS = '/openid/v1/jwks'
const signer = createSigner('RS256')
const VISIT = { team: 'shop', address: '10.0.0.1' }

let server: FakeApiServer
let clock: FakeClock
let transport: Transport
let held: Map<string, string>
let logged: unknown[]

beforeEach(async () => {
  server = await startFakeApiServer()
  clock = createFakeClock()
  logged = []
  transport = createTransport({
    config: server.config,
    clock,
    metrics: quietClusterMetrics,
    userAgent: 'punctual/test',
  })
  held = new Map()
  server.documents.set(KEYS, { keys: [signer.jwk] })
  server.documents.set('/.well-known/openid-configuration', { issuer: ISSUER })
  for (const name of ['shop', 'mail']) {
    const metadata = { name, uid: 'uid-1' }
    server.put(`/api/v1/namespaces/${name}`, { apiVersion: 'v1', kind: 'Namespace', metadata })
  }
})

afterEach(async () => {
  await transport.close()
  await server.close()
})

/** Of a provider that the API server knows and we do not. */
function jwt(claims: object = {}): string {
  return madeUp({ iss: 'https://id.example', ...claims })
}

/** Of the cluster, for the service account of this name. */
function ofCluster(name: string, claims: object = {}): string {
  const sub = `system:serviceaccount:shop:${name}`
  const token = signer.sign({ sub, aud: [ISSUER], ...claims })
  server.reviews.users.set(token, { username: sub })
  server.reviews.grants.add(`${sub} shop get httpqueues/jobs`)
  return token
}

function openUsers(change: Partial<ConstructorParameters<typeof KubernetesUsers>[0]> = {}): KubernetesUsers {
  const logger: Logger = { ...quietLogger, warn: (...line) => void logged.push(line) }
  const isWatched = (namespace: string) => change.namespaces?.includes(namespace) ?? namespace !== 'left'
  const claims = { claim: async (team: string) => held.get(team) ?? 'uid-1' }
  const usual = { claims, tokens: 'jwt', audience: null, namespaces: null, isWatched } as const
  return new KubernetesUsers({ transport, clock, logger, ...usual, ...change })
}

const asked = (what: string) => server.requests.filter(({ path }) => path.endsWith(what))
const ANN = { username: 'ann', groups: ['devs'], uid: '7', extra: { 'example.com/a': ['b'] } }

describe('a user', () => {
  test('may do in the named team what its rights are there, alone or by a group', async () => {
    const token = jwt({ sub: 'ann' })
    server.reviews.users.set(token, ANN)
    server.reviews.grants
      .add('ann shop get httpqueues/jobs')
      .add('devs shop create httpqueues/jobs')
      .add('ann mail delete httpqueues/jobs')
    expect(await openUsers().admit(token, VISIT)).toEqual({
      kind: 'admitted',
      principal: {
        team: 'shop',
        kind: 'user',
        subject: 'ann',
        queues: null,
        permissions: new Set(['push', 'read']),
        roles: ['viewer'],
      },
    })
    expect(asked('subjectaccessreviews')[0]?.body).toMatchObject({ spec: { user: 'ann', ...without(ANN) } })
  })

  test.each([
    ['push', 'create httpqueues/jobs'],
    ['read', 'get httpqueues/jobs'],
    ['payloads', 'get httpqueues/payloads'],
    ['operate', 'update httpqueues/jobs'],
    ['purge', 'delete httpqueues/jobs'],
    ['edit', 'update httpqueues/settings'],
    ['admin', 'update teamsettings/access'],
  ])('gets %s by %s alone', async (permission, rule) => {
    server.reviews.users.set(jwt(), ANN)
    server.reviews.grants.add(`ann shop ${rule}`)
    const admission = await openUsers().admit(jwt(), VISIT)
    expect(admission).toMatchObject({ principal: { permissions: new Set([permission]) } })
  })

  test('finds no team without a right in it, nor one that does not exist', async () => {
    server.reviews.users.set(jwt(), ANN)
    server.reviews.grants.add('ann ghost get httpqueues/jobs')
    const users = openUsers()
    for (const team of ['shop', 'ghost', 'Not/a name', '']) {
      expect(await users.admit(jwt(), { ...VISIT, team })).toEqual({ kind: 'no_team' })
    }
    expect(asked('namespaces/ghost')).toHaveLength(1)
  })

  test('finds only the teams that are watched, and the only one by itself', async () => {
    server.reviews.users.set(jwt(), ANN)
    for (const team of ['shop', 'mail']) server.reviews.grants.add(`ann ${team} get httpqueues/jobs`)
    const one = openUsers({ namespaces: ['shop'] })
    expect(await one.admit(jwt(), { ...VISIT, team: null })).toMatchObject({ principal: { team: 'shop' } })
    expect(await one.admit(jwt(), { ...VISIT, team: 'mail' })).toEqual({ kind: 'no_team' })
    const two = openUsers({ namespaces: ['shop', 'mail'] })
    expect(await two.admit(jwt(), { ...VISIT, team: null })).toEqual({ kind: 'team_needed' })
    expect(await openUsers().admit(jwt(), { ...VISIT, team: null })).toEqual({ kind: 'team_needed' })
    const byLabel = openUsers({ isWatched: (namespace) => namespace === 'shop' })
    expect(await byLabel.admit(jwt(), { ...VISIT, team: 'mail' })).toEqual({ kind: 'no_team' })
    expect(await byLabel.admit(jwt(), { ...VISIT, team: 'shop' })).toMatchObject({ kind: 'admitted' })
  })

  test('waits until what a former namespace of the name has left is removed', async () => {
    server.reviews.users.set(jwt(), ANN)
    server.reviews.grants.add('ann shop get httpqueues/jobs')
    held.set('shop', 'uid-0')
    const users = openUsers()
    for (let i = 0; i <= REFUSALS.burst; i += 1) {
      const { kind } = await users.admit(jwt(), VISIT)
      expect(kind).toBe('unavailable')
      await clock.advance(REFUSED_MS + 1)
    }
    held.delete('shop')
    expect(await users.admit(jwt(), VISIT)).toMatchObject({ kind: 'admitted' })
  })

  test('is not said to be unknown to the Kubernetes API when it is Redis that is away', async () => {
    server.reviews.users.set(jwt(), ANN)
    server.reviews.grants.add('ann shop get httpqueues/jobs')
    const claim = () => Promise.reject(new StoreUnavailableError('away'))
    expect(await openUsers({ claims: { claim } }).admit(jwt(), VISIT)).toMatchObject({
      kind: 'unavailable',
      reason: 'The job store is unavailable, try again',
    })
    expect(logged).toEqual([])
  })

  test('is not said to be unknown to the Kubernetes API when our user of Redis may not note namespaces', async () => {
    server.reviews.users.set(jwt(), ANN)
    server.reviews.grants.add('ann shop get httpqueues/jobs')
    const claim = () => Promise.reject(new Error('NOPERM no permissions to access a key'))
    expect(await openUsers({ claims: { claim } }).admit(jwt(), VISIT)).toMatchObject({
      kind: 'unavailable',
      reason: 'Users cannot be checked at present, try again',
    })
    expect(logged).toHaveLength(1)
  })

  test('needs a token for the audience that is asked for', async () => {
    const audience = 'https://punctual.example'
    server.reviews.users.set(jwt(), ANN)
    server.reviews.users.set(jwt({ a: 1 }), { ...ANN, audiences: [audience] })
    server.reviews.grants.add('ann shop get httpqueues/jobs')
    const users = openUsers({ audience })
    expect(await users.admit(jwt(), VISIT)).toEqual({ kind: 'unknown' })
    expect(await users.admit(jwt({ a: 1 }), VISIT)).toMatchObject({ kind: 'admitted' })
    expect(asked('tokenreviews')[0]?.body).toMatchObject({ spec: { audiences: [audience] } })
  })

  test('is refused when the API server confirms a token without saying for which audience', async () => {
    server.reviews.users.set(jwt(), { ...ANN, audiences: null })
    server.reviews.grants.add('ann shop get httpqueues/jobs')
    expect(await openUsers({ audience: 'x' }).admit(jwt(), VISIT)).toEqual({ kind: 'unknown' })
    expect(await openUsers().admit(jwt(), VISIT)).toMatchObject({ kind: 'admitted' })
  })
})

function without({ username: _username, ...rest }: typeof ANN) {
  return rest
}

describe('which tokens are asked about', () => {
  test.each([
    ['a JWT', jwt(), true, true],
    ['a JWT by a shared secret', madeUp({}, { alg: 'HS256' }), false, true],
    ['a JWT that is not signed', madeUp({}, { alg: 'none' }), false, false],
    ['an opaque one', 'opaque-token-0123456789', false, true],
    ['three parts that are no JWT', 'a.b.c', false, false],
    ['one of more than 8 KiB', `${jwt()}${'x'.repeat(8192)}`, false, false],
  ])('%s', (_what, token, asJwt, asAny) => {
    expect(openUsers().mayKnow(token)).toBe(asJwt)
    expect(openUsers({ tokens: 'any' }).mayKnow(token)).toBe(asAny)
  })

  test('one that has expired is refused at once, even while the answer about it is remembered', async () => {
    const token = jwt({ exp: FAKE_EPOCH_MS / 1_000 + 10 })
    server.reviews.users.set(token, ANN)
    server.reviews.grants.add('ann shop get httpqueues/jobs')
    const users = openUsers()
    expect(await users.admit(token, VISIT)).toMatchObject({ kind: 'admitted' })
    await clock.advance(9_999)
    expect(await users.admit(token, VISIT)).toMatchObject({ kind: 'admitted' })
    await clock.advance(1)
    expect(await users.admit(token, VISIT)).toEqual({ kind: 'unknown' })
    expect(asked('tokenreviews')).toHaveLength(1)
  })
})

describe('what is remembered', () => {
  test('rights for half a minute, a refusal for five seconds', async () => {
    const users = openUsers()
    expect(await users.admit(jwt(), VISIT)).toEqual({ kind: 'unknown' })
    server.reviews.users.set(jwt(), ANN)
    server.reviews.grants.add('ann shop get httpqueues/jobs')
    await clock.advance(REFUSED_MS - 1)
    expect(await users.admit(jwt(), VISIT)).toEqual({ kind: 'unknown' })
    await clock.advance(1)
    expect(await users.admit(jwt(), VISIT)).toMatchObject({ kind: 'admitted' })
    server.reviews.users.clear()
    server.reviews.grants.clear()
    await clock.advance(GRANTED_MS - 1)
    expect(await users.admit(jwt(), VISIT)).toMatchObject({ kind: 'admitted' })
    await clock.advance(1)
    expect(await users.admit(jwt(), VISIT)).toEqual({ kind: 'unknown' })
    expect(asked('tokenreviews')).toHaveLength(3)
  })

  test('one question, however many wait for its answer', async () => {
    server.reviews.users.set(jwt(), ANN)
    server.reviews.grants.add('ann shop get httpqueues/jobs')
    const users = openUsers()
    const found = await Promise.all(Array.from({ length: 100 }, () => users.admit(jwt(), VISIT)))
    expect(new Set(found.map(({ kind }) => kind))).toEqual(new Set(['admitted']))
    expect(asked('tokenreviews')).toHaveLength(1)
    expect(asked('subjectaccessreviews')).toHaveLength(7)
  })
})

describe('a flood', () => {
  const tokensOf = (count: number) =>
    Array.from({ length: count }, (_, i) => jwt({ jti: `random-${i}`, sub: `random-${i}` }))

  test('of random tokens from an address asks the API server little, and hurts no other', async () => {
    server.reviews.users.set(jwt(), ANN)
    server.reviews.grants.add('ann shop get httpqueues/jobs')
    const users = openUsers()
    expect(await users.admit(jwt(), VISIT)).toMatchObject({ kind: 'admitted' })
    const before = asked('tokenreviews').length
    const found = await Promise.all(tokensOf(1_000).map((token) => users.admit(token, VISIT)))
    expect(found.filter(({ kind }) => kind === 'unknown')).toHaveLength(REFUSALS.burst)
    expect(found.filter(({ kind }) => kind === 'too_many')).toHaveLength(1_000 - REFUSALS.burst)
    expect(asked('tokenreviews').length - before).toBe(REFUSALS.burst)
    // Whoever was known is asked about again, from the same address too.
    await clock.advance(GRANTED_MS)
    for (const token of tokensOf(1_000)) void users.admit(token, VISIT)
    expect(await users.admit(jwt(), VISIT)).toMatchObject({ kind: 'admitted' })
    const elsewhere = { ...VISIT, address: '10.0.0.2' }
    expect(await users.admit(jwt({ sub: 'new' }), elsewhere)).toEqual({ kind: 'unknown' })
  })

  test('from all addresses of a client with IPv6 counts as one', async () => {
    const users = openUsers()
    const found = []
    for (const [i, token] of tokensOf(100).entries()) {
      found.push((await users.admit(token, { ...VISIT, address: `2001:db8::${i.toString(16)}` })).kind)
    }
    expect(found.filter((kind) => kind === 'unknown')).toHaveLength(REFUSALS.burst)
    const elsewhere = { ...VISIT, address: '2001:db8:0:1::1' }
    expect(await users.admit(jwt({ sub: 'new' }), elsewhere)).toEqual({ kind: 'unknown' })
  })

  test('of random teams from a user asks the API server little', async () => {
    server.reviews.users.set(jwt(), ANN)
    const users = openUsers()
    const teams = Array.from({ length: 200 }, (_, i) => `team-${i}`)
    const found = []
    for (const team of teams) found.push((await users.admit(jwt(), { ...VISIT, team })).kind)
    expect(found.filter((kind) => kind === 'no_team')).toHaveLength(REFUSALS.burst)
    expect(found.at(-1)).toBe('too_many')
    expect(asked('subjectaccessreviews')).toHaveLength(7 * REFUSALS.burst)
  })

  test('from many addresses has a bounded number of questions under way', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    server.faults.add({ path: 'tokenreviews', times: 1_000, effect: { do: 'hold', until: promise } })
    const users = openUsers()
    const all = Promise.all(
      tokensOf(400).map((token, i) => users.admit(token, { ...VISIT, address: `10.1.0.${i}` })),
    )
    await until('connections are taken', () => asked('tokenreviews').length > 0)
    resolve()
    const found = await all
    expect(found.filter(({ kind }) => kind === 'unknown')).toHaveLength(LANE.atOnce + LANE.waiting)
    expect(found.filter(({ kind }) => kind === 'unavailable')).toHaveLength(400 - LANE.atOnce - LANE.waiting)
  })
})

describe('beside a flood of made-up tokens from the same address', () => {
  const forgeries: ReadonlyArray<readonly [what: string, made: (at: number) => string]> = [
    ['of nobody', (at) => madeUp({ jti: at })],
    ['not signed', (at) => madeUp({ iss: ISSUER, jti: at }, { alg: 'none' })],
    ['with a key id of the cluster', (at) => madeUp({ iss: ISSUER, jti: at }, { kid: 'key-1' })],
    ['with random key ids', (at) => madeUp({ iss: ISSUER, jti: at }, { kid: `random-${at}` })],
    ['by another key of that id', (at) => another.sign({ jti: at })],
  ]
  const another = createSigner('ES256')

  test.each(forgeries)('%s, no new token of the cluster is refused', async (_what, made) => {
    const users = openUsers()
    for (let second = 0; second < 30; second += 1) {
      const found = Promise.all([
        ...Array.from({ length: 50 }, (_, at) => users.admit(made(second * 50 + at), VISIT)),
      ])
      expect(await users.admit(ofCluster(`ci-${second}`), VISIT)).toMatchObject({ kind: 'admitted' })
      expect(new Set((await found).map(({ kind }) => kind))).not.toContain('admitted')
      await clock.advance(1_000)
    }
  })

  test('by the cluster itself as it seems, the API server is not asked about one', async () => {
    const users = openUsers()
    for (let at = 0; at < 1_000; at += 1) {
      for (const which of [1, 2]) {
        expect(await users.admit(forgeries[which]?.[1](at) ?? '', VISIT)).toEqual({ kind: 'unknown' })
      }
    }
    expect(asked('tokenreviews')).toHaveLength(0)
  })

  test('while the API server is slow, tokens of the cluster get an answer', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const users = openUsers()
    await users.admit(ofCluster('first'), VISIT)
    server.faults.add({ path: 'tokenreviews', times: 2, effect: { do: 'hold', until: promise } })
    const made = Array.from({ length: 400 }, (_, at) => madeUp({ jti: at }))
    const flood = made.map((token, at) => users.admit(token, { ...VISIT, address: `10.2.0.${at}` }))
    await until('those are asked about', () => asked('tokenreviews').length === 3)
    expect(await users.admit(ofCluster('second'), VISIT)).toMatchObject({ kind: 'admitted' })
    resolve()
    await Promise.all(flood)
  })

  test('forty new tokens of one service account are let in at once', async () => {
    const users = openUsers()
    const tokens = Array.from({ length: 40 }, (_, jti) => {
      const token = ofCluster('ci', { jti })
      const username = 'system:serviceaccount:shop:ci'
      // As the API server names token and pod of each.
      server.reviews.users.set(token, {
        username,
        extra: { 'authentication.kubernetes.io/pod-uid': [`${jti}`] },
      })
      return token
    })
    const found = await Promise.all(tokens.map((token) => users.admit(token, VISIT)))
    expect(new Set(found.map(({ kind }) => kind))).toEqual(new Set(['admitted']))
  })

  test('refused tokens of a pod that is gone keep out no token of another pod', async () => {
    const users = openUsers()
    const bound = (uid: string, jti: number) => ({ jti, 'kubernetes.io': { pod: { uid } } })
    for (let at = 0; at <= REFUSALS.burst; at += 1) {
      const token = ofCluster('ci', bound('gone', at))
      server.reviews.users.delete(token)
      const { kind } = await users.admit(token, VISIT)
      expect(kind).toBe(at < REFUSALS.burst ? 'unknown' : 'too_many')
    }
    expect(await users.admit(ofCluster('ci', bound('new', 0)), VISIT)).toMatchObject({ kind: 'admitted' })
  })

  test('a new token of a user of a provider who was here before is let in', async () => {
    const users = openUsers()
    const ofAnn = (jti: number) => {
      const token = jwt({ sub: 'ann', jti })
      server.reviews.users.set(token, ANN)
      return token
    }
    server.reviews.grants.add('ann shop get httpqueues/jobs')
    expect(await users.admit(ofAnn(1), VISIT)).toMatchObject({ kind: 'admitted' })
    await Promise.all(Array.from({ length: 500 }, (_, at) => users.admit(jwt({ sub: `x-${at}` }), VISIT)))
    expect(await users.admit(ofAnn(2), VISIT)).toMatchObject({ kind: 'admitted' })
    // What others make up in her name counts for their address.
    const inHerName = Array.from({ length: 100 }, (_, at) => jwt({ sub: 'ann', jti: `forged-${at}` }))
    await Promise.all(inHerName.map((token) => users.admit(token, { ...VISIT, address: '10.9.0.1' })))
    expect(await users.admit(ofAnn(3), VISIT)).toMatchObject({ kind: 'admitted' })
  })
})

describe('where the keys of the cluster cannot be read', () => {
  test('places are kept for those whose service account was here before', async () => {
    server.documents.clear()
    const users = openUsers()
    expect(await users.admit(ofCluster('ci', { jti: 1 }), VISIT)).toMatchObject({ kind: 'admitted' })
    for (let at = 0; at < 500; at += 1) void users.admit(madeUp({ jti: at }), VISIT)
    expect(await users.admit(madeUp({ jti: 'over' }), VISIT)).toMatchObject({ kind: 'too_many' })
    expect(await users.admit(ofCluster('ci', { jti: 2 }), VISIT)).toMatchObject({ kind: 'admitted' })
    expect(await users.admit(ofCluster('cd', { jti: 3 }), VISIT)).toMatchObject({ kind: 'admitted' })
    expect(logged).toHaveLength(1)
  })

  test('they are read once they can be', async () => {
    server.faults.add({ path: KEYS, effect: { do: 'answer', code: 403 } })
    const users = openUsers()
    await users.admit(madeUp(), VISIT)
    await clock.advance(READ_PAUSE_MS)
    await users.admit(madeUp(), VISIT)
    const isForgeryAskedAbout = async (): Promise<boolean> => {
      const before = asked('tokenreviews').length
      await users.admit(madeUp({ iss: ISSUER, jti: before }, { kid: 'key-1' }), VISIT)
      return asked('tokenreviews').length > before
    }
    await expect.poll(isForgeryAskedAbout).toBe(false)
    expect(asked(KEYS)).toHaveLength(2)
  })
})

test('whose rights are remembered does not wait while another token of the same user is asked about', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const users = openUsers()
  const [known, next] = [ofCluster('ci', { jti: 1 }), ofCluster('ci', { jti: 2 })]
  const username = 'system:serviceaccount:shop:ci'
  // As the API server names the pod of each.
  server.reviews.users.set(next, { username, extra: { 'authentication.kubernetes.io/pod-uid': ['2'] } })
  await users.admit(known, VISIT)
  const before = asked('subjectaccessreviews').length
  server.faults.add({ path: 'subjectaccessreviews', times: 7, effect: { do: 'hold', until: promise } })
  const asking = users.admit(next, VISIT)
  await until('its rights are asked for', () => asked('subjectaccessreviews').length > before)
  const found = users.admit(known, VISIT).then(({ kind }) => kind)
  const isOver = asking.then(() => 'waited')
  setImmediate(resolve)
  expect(await Promise.race([found, isOver])).toBe('admitted')
  expect(await asking).toMatchObject({ kind: 'admitted' })
})

test('who tries teams without end takes no place of other users while the API server is slow', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const users = openUsers()
  const [greedy, other] = [ofCluster('greedy'), jwt({ sub: 'ann' })]
  server.reviews.users.set(other, ANN)
  server.reviews.grants.add('ann shop get httpqueues/jobs')
  await users.admit(greedy, VISIT)
  server.faults.add({ path: 'subjectaccessreviews', times: 7, effect: { do: 'hold', until: promise } })
  const teams = Array.from({ length: 100 }, (_, at) => users.admit(greedy, { ...VISIT, team: `t-${at}` }))
  await until('some are asked about', () => asked('subjectaccessreviews').length >= 14)
  expect(await users.admit(other, VISIT)).toMatchObject({ kind: 'admitted' })
  resolve()
  await Promise.all(teams)
})

describe('an API server that is away', () => {
  test('is said to be, with when to try again, and asked again at the next request', async () => {
    server.reviews.users.set(jwt(), ANN)
    server.reviews.grants.add('ann shop get httpqueues/jobs')
    const users = openUsers()
    server.faults.add({ path: 'tokenreviews', effect: { do: 'reset' } })
    expect(await users.admit(jwt(), VISIT)).toMatchObject({ kind: 'unavailable', retryAfterMs: null })
    server.faults.add({ path: 'subjectaccessreviews', effect: { do: 'answer', code: 403 } })
    expect(await users.admit(jwt(), VISIT)).toMatchObject({ kind: 'unavailable' })
    expect(await users.admit(jwt(), VISIT)).toMatchObject({ kind: 'admitted' })
    expect(logged).toHaveLength(1)
    expect(JSON.stringify(logged)).not.toContain(jwt())
  })

  test('costs nobody an attempt', async () => {
    const users = openUsers()
    server.faults.add({ path: 'tokenreviews', times: 100, effect: { do: 'answer', code: 500 } })
    for (let i = 0; i < 100; i += 1) {
      expect(await users.admit(jwt(), VISIT)).toMatchObject({ kind: 'unavailable' })
    }
  })

  test('is given up after five seconds', async () => {
    server.faults.add({ path: 'tokenreviews', effect: { do: 'hang' } })
    const found = openUsers().admit(jwt(), VISIT)
    await until('it is asked', () => asked('tokenreviews').length === 1)
    await clock.advance(5_000)
    expect(await found).toMatchObject({ kind: 'unavailable' })
  })
})
