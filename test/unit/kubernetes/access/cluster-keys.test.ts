import { beforeEach, describe, expect, test } from 'vitest'
import { ResourceApiError } from '../../../../src/domain/errors.ts'
import {
  ClusterKeys,
  type Origin,
  READ_AGAIN_MS,
  READ_PAUSE_MS,
} from '../../../../src/kubernetes/access/cluster-keys.ts'
import { type Jwt, readToken } from '../../../../src/kubernetes/access/jwt.ts'
import type { ApiRequest, Transport } from '../../../../src/kubernetes/client/transport.ts'
import { createFakeClock, type FakeClock } from '../../../support/fake-clock.ts'
import { quietLogger } from '../../../support/quiet.ts'
import { createSigner, ISSUER, madeUp } from '../../../support/token-signer.ts'

const old = createSigner('RS256', 'old')
const next = createSigner('ES256', 'next')

let clock: FakeClock
let served: readonly object[]
let away: Promise<never> | null
let reads: number
let logged: string[]
let keys: ClusterKeys

beforeEach(() => {
  clock = createFakeClock()
  served = [old.jwk]
  ;[away, reads, logged] = [null, 0, []]
  const request = async ({ path }: ApiRequest): Promise<unknown> => {
    if (path === '/openid/v1/jwks') reads += 1
    await away
    return path === '/openid/v1/jwks' ? { keys: served } : { issuer: ISSUER }
  }
  const transport = { request } as unknown as Transport
  keys = new ClusterKeys({
    transport,
    clock,
    logger: { ...quietLogger, warn: (text) => void logged.push(text) },
  })
})

const originOf = (token: string): Promise<Origin> => keys.originOf(readToken(token) as Jwt)

/** As it is without waiting for anything that the clock or the API server must do. */
async function atOnce(token: string): Promise<Origin | 'waits'> {
  const waits = new Promise<'waits'>((resolve) => setImmediate(resolve, 'waits'))
  return Promise.race([originOf(token), waits])
}

describe('where a token comes from', () => {
  test.each([
    ['the cluster', () => old.sign({ sub: 'ann' }), 'genuine'],
    ['the cluster under another issuer', () => old.sign({ iss: 'https://before' }), 'genuine'],
    ['somebody who knows issuer and key id', () => madeUp({ iss: ISSUER }, { kid: 'old' }), 'forged'],
    ['somebody with a key of their own', () => createSigner('RS256', 'old').sign(), 'forged'],
    ['a Secret, made up', () => madeUp({ iss: 'kubernetes/serviceaccount' }, { kid: 'old' }), 'forged'],
    ['a provider', () => next.sign({ iss: 'https://id.example' }), 'open'],
    ['a provider with a key of the same id', () => createSigner('RS256', 'old').sign({ iss: 'p' }), 'open'],
    ['nobody knows, without a key id', () => old.sign({}, { kid: undefined }), 'open'],
  ])('%s', async (_what, token, expected) => {
    expect(await originOf(token())).toBe(expected)
    expect(reads).toBe(1)
  })
})

describe('the keys', () => {
  test('are read once for all that wait for them', async () => {
    const found = await Promise.all(Array.from({ length: 100 }, () => originOf(old.sign())))
    expect(new Set(found)).toEqual(new Set(['genuine']))
    expect(reads).toBe(1)
  })

  test('are read for an unknown key id of the cluster, and not again for others of that moment', async () => {
    await originOf(old.sign())
    served = [old.jwk, next.jwk]
    await clock.advance(READ_PAUSE_MS - 1)
    for (let at = 0; at < 100; at += 1) {
      expect(await originOf(madeUp({ iss: ISSUER }, { kid: `made-up-${at}` }))).toBe('open')
    }
    expect(await originOf(next.sign())).toBe('open')
    expect(reads).toBe(1)
    await clock.advance(1)
    for (let at = 0; at < 100; at += 1) await originOf(madeUp({ iss: ISSUER }, { kid: `made-up-${at}` }))
    expect(await originOf(next.sign())).toBe('genuine')
    expect(await originOf(old.sign())).toBe('genuine')
    expect(reads).toBe(2)
  })

  test('are not read for key ids of other issuers', async () => {
    await originOf(old.sign())
    await clock.advance(READ_PAUSE_MS)
    expect(await originOf(next.sign({ iss: 'https://id.example' }))).toBe('open')
    expect(reads).toBe(1)
  })

  test('are read again after a while, for which nobody waits', async () => {
    await originOf(old.sign())
    away = new Promise(() => undefined)
    await clock.advance(READ_AGAIN_MS - 1)
    expect([await atOnce(old.sign()), reads]).toEqual(['genuine', 1])
    await clock.advance(1)
    expect([await atOnce(old.sign()), reads]).toEqual(['genuine', 2])
    expect([await atOnce(old.sign()), reads]).toEqual(['genuine', 2])
  })

  test('that a cluster has replaced do not count any more', async () => {
    await originOf(old.sign())
    served = [next.jwk]
    await clock.advance(READ_AGAIN_MS)
    await originOf(old.sign())
    expect(await originOf(next.sign())).toBe('genuine')
    expect(await originOf(old.sign())).toBe('open')
  })

  test('that cannot be read are asked for at times, said once, and waited for by nobody', async () => {
    away = Promise.reject(new ResourceApiError('forbidden', 'no'))
    away.catch(() => undefined)
    expect(await originOf(old.sign())).toBe('open')
    for (let at = 0; at < 50; at += 1) expect(await atOnce(old.sign())).toBe('open')
    expect(reads).toBe(1)
    away = new Promise(() => undefined)
    await clock.advance(READ_PAUSE_MS)
    expect([await atOnce(old.sign()), reads]).toEqual(['open', 2])
    expect(logged).toEqual(['The keys that sign tokens of the cluster cannot be read'])
  })

  test('that were read once count while they cannot be read again', async () => {
    await originOf(old.sign())
    away = Promise.reject(new ResourceApiError('unavailable', 'no'))
    away.catch(() => undefined)
    await clock.advance(READ_AGAIN_MS)
    await originOf(old.sign())
    expect(await originOf(old.sign())).toBe('genuine')
  })

  test('of an API server that is silent are given up after two seconds', async () => {
    const silent = {
      request: ({ signal }: ApiRequest) =>
        new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('late')))),
    } as unknown as Transport
    keys = new ClusterKeys({ transport: silent, clock, logger: quietLogger })
    const found = originOf(old.sign())
    await clock.advance(1_999)
    expect(await Promise.race([found, Promise.resolve('waits')])).toBe('waits')
    await clock.advance(1)
    expect(await found).toBe('open')
  })
})
