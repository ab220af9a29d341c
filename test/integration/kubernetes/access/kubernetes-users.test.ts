import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { StoreUnavailableError } from '../../../../src/domain/errors.ts'
import {
  GRANTED_MS,
  KubernetesUsers,
  REFUSALS,
  REFUSED_MS,
} from '../../../../src/kubernetes/access/kubernetes-users.ts'
import { createTransport, type Transport } from '../../../../src/kubernetes/client/transport.ts'
import type { Logger } from '../../../../src/ports/runtime.ts'
import { startFakeApiServer, type FakeApiServer } from '../../../support/fake-api/fake-api-server.ts'
import { createFakeClock, FAKE_EPOCH_MS, type FakeClock } from '../../../support/fake-clock.ts'
import { quietClusterMetrics, quietLogger } from '../../../support/quiet.ts'
import { until } from '../../../support/until.ts'

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
    ...{ config: server.config, clock, metrics: quietClusterMetrics, userAgent: 'punctual/test' },
  })
  held = new Map()
  for (const name of ['shop', 'mail']) {
    const metadata = { name, uid: 'uid-1' }
    server.put(`/api/v1/namespaces/${name}`, { apiVersion: 'v1', kind: 'Namespace', metadata })
  }
})

afterEach(async () => {
  await transport.close()
  await server.close()
})

function jwt(claims: object = {}): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'none' })}.${part(claims)}.c2ln`
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
        ...{ team: 'shop', kind: 'user', subject: 'ann', queues: null },
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
  const tokensOf = (count: number) => Array.from({ length: count }, (_, i) => jwt({ jti: `random-${i}` }))

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
    expect(await users.admit(jwt({ jti: 'new' }), elsewhere)).toEqual({ kind: 'unknown' })
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
      tokensOf(200).map((token, i) => users.admit(token, { ...VISIT, address: `10.1.0.${i}` })),
    )
    await until('connections are taken', () => asked('tokenreviews').length > 0)
    resolve()
    const found = await all
    expect(found.filter(({ kind }) => kind === 'unknown')).toHaveLength(32)
    expect(found.filter(({ kind }) => kind === 'unavailable')).toHaveLength(168)
  })
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
