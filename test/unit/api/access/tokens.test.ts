import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { tokenTextOf } from '../../../../src/api/access/token-text.ts'
import type { ApiToken } from '../../../../src/domain/access/api-token.ts'
import { tokenPrincipal } from '../../../../src/domain/access/token-principal.ts'
import { NO_TERMS, type TokenTerms } from '../../../../src/domain/access/token-terms.ts'
import type { TokenStore } from '../../../../src/ports/access/tokens.ts'
import { FakeAuditLog } from '../../../support/fake-audit-log.ts'
import { anApiToken, aPrincipal } from '../../../support/principals.ts'
import { BEARER, call, NOW_MS, startApi, type RunningApi } from '../api-fixture.ts'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const valueOf = (text: string) =>
  [...text].reduce((sum, digit) => sum * 62n + BigInt(DIGITS.indexOf(digit)), 0n)

describe('the text of a token', () => {
  it('holds all 256 random bits, and a check of what stands before it', () => {
    for (const byte of [0, 1, 127, 255]) {
      const random = new Uint8Array(32).fill(byte)
      const [, head = '', body = '', check = ''] =
        /^((pun_[0-9A-Za-z]{43}))_([0-9A-Za-z]{6})$/.exec(tokenTextOf(random)) ?? []
      expect(valueOf(body.slice(4)).toString(16).padStart(64, '0')).toBe(Buffer.from(random).toString('hex'))
      expect(valueOf(check)).toBe(BigInt(crc32(head)))
    }
  })
})

let api: RunningApi | null = null
afterEach(async () => api?.close())

function memoryTokens(...given: ApiToken[]): TokenStore & { readonly all: ApiToken[] } {
  const all = [...given]
  return {
    all,
    list: () => Promise.resolve({ tokens: all, nextCursor: null }),
    get: (_team, name) => Promise.resolve(all.find((token) => token.name === name) ?? null),
    create: (token) => Promise.resolve(void all.push(token)),
    remove: (_team, name) => {
      all.splice(0, all.length, ...all.filter((token) => token.name !== name))
      return Promise.resolve('removed')
    },
  }
}

async function start(store: TokenStore, terms: Partial<TokenTerms> = {}, auditLog = new FakeAuditLog()) {
  const principal = tokenPrincipal('default', 'boss', { ...NO_TERMS, ...terms })
  api = await startApi({ tokenStore: store, tokens: { principalOf: () => principal }, auditLog })
  const { port } = api
  const headers = { ...BEARER, 'content-type': 'application/json' }
  return {
    list: () => call(port, '/api/tokens', { headers: BEARER }),
    post: (body: object) =>
      call(port, '/api/tokens', { method: 'POST', headers, body: JSON.stringify(body) }),
    remove: (name: string) => call(port, `/api/tokens/${name}`, { method: 'DELETE', headers: BEARER }),
  }
}

describe('POST /api/tokens by a user', () => {
  it.each([
    ['no end', undefined, 422],
    ['an end after 365 days', NOW_MS + 365 * 86_400_000 + 1, 422],
    ['an end in 365 days', NOW_MS + 365 * 86_400_000, 201],
  ])('with %s is answered as it should be', async (_what, endMs, status) => {
    const store = memoryTokens()
    api = await startApi({
      tokenStore: store,
      tokens: {
        principalOf: () => aPrincipal('default', { kind: 'user', subject: 'ann', roles: ['admin'] }),
      },
    })
    const expires_at = endMs === undefined ? undefined : new Date(endMs).toISOString()
    const headers = { ...BEARER, 'content-type': 'application/json' }
    const body = JSON.stringify({ name: 'mine', expires_at })
    const answer = await call(api.port, '/api/tokens', { method: 'POST', headers, body })
    expect(answer.status).toBe(status)
    expect(store.all).toHaveLength(status === 201 ? 1 : 0)
    if (status === 422) {
      const text =
        'The expires at field is required when a user creates a token, at most 365 days ahead: the token outlives the rights of its creator.'
      expect(answer.json).toEqual({ message: text, errors: { expires_at: [text] } })
    }
  })
})

describe('POST /api/tokens', () => {
  it('shows the token once, keeps its hash, and says so in the audit log', async () => {
    const store = memoryTokens()
    const auditLog = new FakeAuditLog()
    const { post, list } = await start(store, {}, auditLog)
    const { status, json } = await post({
      name: 'ci',
      description: 'CI',
      scopes: ['push', 'push'],
      queues: ['emails'],
      expires_at: '2027-01-31T00:00:00Z',
      rate_limit: { requests_per_second: 5 },
    })
    const { token, ...shown } = json as { token: string }
    expect([status, shown]).toEqual([
      201,
      {
        id: 'ci',
        name: 'ci',
        description: 'CI',
        prefix: token.slice(0, 8),
        scopes: ['push'],
        queues: ['emails'],
        expires_at: '2027-01-31T00:00:00.000+00:00',
        last_used_at: null,
        rate_limit: { requests_per_second: 5, burst: 5 },
      },
    ])
    expect(store.all).toMatchObject([
      {
        team: 'default',
        name: 'ci',
        sha256Hex: hash('sha256', token, 'hex'),
        prefix: 'pun_' + token.slice(4, 8),
      },
    ])
    for (const text of [(await list()).text, JSON.stringify(store.all), JSON.stringify(auditLog)]) {
      expect(text).toContain('"ci"')
      expect(text).not.toContain(token)
    }
  })

  it.each<[Partial<TokenTerms>, object, string]>([
    [{ queues: ['a'] }, {}, 'queues'],
    [{ queues: ['a'] }, { queues: ['a', 'b'] }, 'queues'],
    [{ expiresAtMs: NOW_MS + 60_000 }, {}, 'expires_at'],
    [{ expiresAtMs: NOW_MS + 60_000 }, { expires_at: '2026-11-21T10:01:00.001Z' }, 'expires_at'],
    [{ rateLimit: { requestsPerSecond: 2, burst: 2 } }, {}, 'rate_limit'],
  ])('gives no more than %j has: %j', async (terms, body, excess) => {
    const store = memoryTokens()
    const { post } = await start(store, terms)
    const { status, json } = await post({ name: 'ci', ...body })
    expect([status, json]).toEqual([
      403,
      { error: `A token cannot be given more than you have yourself: ${excess}` },
    ])
    expect(store.all).toEqual([])
  })

  it('gives what the maker has', async () => {
    const { post } = await start(memoryTokens(), { queues: ['a', 'b'], expiresAtMs: NOW_MS + 60_000 })
    expect((await post({ name: 'ci', queues: ['b'], expires_at: '2026-11-21T10:01:00Z' })).status).toBe(201)
  })

  it('lets what a token with a rate limit makes share that limit, and what that makes, too', async () => {
    const store = memoryTokens()
    const root = { name: 'boss', requestsPerSecond: 10, burst: 20 }
    const own = { requestsPerSecond: 10, burst: 20 }
    const body = { name: 'ci', rate_limit: { requests_per_second: 5 } }
    const { json } = await (await start(store, { rateLimit: own })).post(body)
    expect(json).toMatchObject({ rate_limit: { requests_per_second: 5, burst: 5, shared_with: ['boss'] } })
    const made = { requestsPerSecond: 5, burst: 5, sharedWith: [root] }
    expect(store.all[0]?.terms.rateLimit).toEqual(made)
    await api?.close()
    await (await start(store, { rateLimit: { ...own, sharedWith: [{ ...root, name: 'maker' }] } })).post(body)
    expect(store.all[1]?.terms.rateLimit?.sharedWith).toEqual([{ ...root, name: 'maker' }])
    await api?.close()
    await (await start(store, { rateLimit: made })).post({ ...body, rate_limit: { requests_per_second: 1 } })
    expect(store.all[2]?.terms.rateLimit?.sharedWith).toEqual([
      root,
      { name: 'boss', requestsPerSecond: 5, burst: 5 },
    ])
  })

  it('refuses a token that would share more limits than there is room for', async () => {
    const store = memoryTokens()
    const sharedWith = [9, 8, 7, 6].map((burst) => ({ name: `t-${burst}`, requestsPerSecond: 5, burst }))
    const body = { name: 'ci', rate_limit: { requests_per_second: 1 } }
    const deepest = { requestsPerSecond: 5, burst: 5, sharedWith }
    const refused = await (await start(store, { rateLimit: deepest })).post(body)
    expect([refused.status, refused.text]).toEqual([
      403,
      expect.stringContaining('the rate limits of 4 others'),
    ])
    expect(store.all).toEqual([])
    await api?.close()
    const above = { ...deepest, sharedWith: sharedWith.slice(1) }
    expect((await (await start(store, { rateLimit: above })).post(body)).status).toBe(201)
  })

  it('names every mistake', async () => {
    const { post } = await start(memoryTokens())
    const { status, json } = await post({
      name: 'C I',
      scopes: ['push', 'all'],
      queues: [],
      expires_at: '2026-11-21T10:00:00Z',
      rate_limit: { burst: 0, pace: 1 },
      token: 'mine',
    })
    expect(status).toBe(422)
    expect(Object.keys((json as { errors: object }).errors)).toEqual([
      'name',
      'scopes.1',
      'queues',
      'expires_at',
      'rate_limit.requests_per_second',
      'rate_limit.burst',
      'rate_limit.pace',
      'token',
    ])
  })
})

describe('whoever is limited to queues', () => {
  const within = anApiToken('within', { terms: { ...NO_TERMS, queues: ['a'] } })
  const beyond = anApiToken('beyond', { terms: { ...NO_TERMS, queues: ['a', 'b'] } })
  const free = anApiToken('free')

  it('sees and revokes only tokens of these', async () => {
    const store = memoryTokens(within, beyond, free)
    const { list, remove } = await start(store, { queues: ['a'] })
    expect(((await list()).json as { tokens: unknown[] }).tokens).toMatchObject([{ name: 'within' }])
    const statuses = []
    for (const { name } of [within, beyond, free]) statuses.push((await remove(name)).status)
    expect(statuses).toEqual([204, 404, 404])
    expect(store.all).toEqual([beyond, free])
  })
})
