import { afterEach, describe, expect, it } from 'vitest'
import { PERMISSIONS, type Permission } from '../../../../src/domain/access/permission.ts'
import { tokenPrincipal } from '../../../../src/domain/access/token-principal.ts'
import { NO_TERMS, type TokenTerms } from '../../../../src/domain/access/token-terms.ts'
import { ANY_JOB } from '../../../../src/domain/jobs/job-filter.ts'
import { operations } from '../../../support/rules/contract-document.ts'
import { FIRST_SESSION } from '../../../support/fake-sessions.ts'
import { aPrincipal } from '../../../support/principals.ts'
import {
  aBulk,
  BEARER,
  call,
  GOOD,
  NOW_MS,
  push,
  rawExchange,
  startApi,
  type RunningApi,
} from '../api-fixture.ts'

let api: RunningApi | null = null
afterEach(async () => api?.close())

async function startFor(principal: ReturnType<typeof aPrincipal>): Promise<RunningApi> {
  return (api = await startApi({ tokens: { principalOf: () => principal } }))
}
const ofTerms = (terms: Partial<TokenTerms>) => tokenPrincipal('default', 'ci', { ...NO_TERMS, ...terms })

/** What each operation needs, said once more; `null` = nothing. */
const NEEDED: Readonly<Record<string, Permission | null>> = {
  pushJob: 'push',
  deleteJob: 'operate',
  retryJob: 'operate',
  fireJob: 'operate',
  duplicateJob: 'operate',
  replayJob: 'operate',
  editQueue: 'edit',
  deleteQueue: 'edit',
  createCron: 'edit',
  readMe: null,
  readContract: null,
  readJob: 'read',
}

/** What its handler needs besides. */
const ALSO: Readonly<Record<string, readonly Permission[]>> = { duplicateJob: ['push'] }

describe('permissions', () => {
  it.each(Object.entries(NEEDED))('%s needs %s and no other', async (operationId, needed) => {
    const found = operations().find(({ operation }) => operation.operationId === operationId)
    if (found === undefined) throw new Error(`no operation ${operationId}`)
    const path = found.path.replace(/\{job_id\}/, '16').replace(/\{\w+\}/, '7')
    const statuses = async (permissions: readonly Permission[]) => {
      const { port } = await startFor(aPrincipal('default', { permissions: new Set(permissions) }))
      const answer = await call(port, path, { method: found.method.toUpperCase(), headers: BEARER })
      await api?.close()
      return answer.status
    }
    const others = PERMISSIONS.filter((permission) => permission !== needed)
    if (needed === null) expect(await statuses([])).toBe(200)
    else {
      expect(await statuses(others)).toBe(403)
      expect(await statuses([needed, ...(ALSO[operationId] ?? [])])).not.toBe(403)
    }
  })

  it('are named by the refusal, and the connection of a refused push stays usable', async () => {
    const { port, pushed } = await startFor(ofTerms({ scopes: ['read'] }))
    const head = `Host: x\r\nAuthorization: ${BEARER.authorization}\r\n`
    const answers = await rawExchange(
      port,
      `POST /api/jobs HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}` +
        `GET /api/me HTTP/1.1\r\n${head}Connection: close\r\n\r\n`,
    )
    expect(answers).toMatch(/^HTTP\/1.1 403 .*"This needs the permission push".*HTTP\/1.1 200 /s)
    expect(pushed).toEqual([])
  })
})

describe('who may not push', () => {
  const headers = { ...BEARER, 'content-type': 'application/json' }
  const may = (...permissions: Permission[]) =>
    startFor(aPrincipal('default', { permissions: new Set(permissions) }))
  const send = (port: number, path: string, body?: string) =>
    call(port, path, { method: 'POST', headers, ...(body === undefined ? {} : { body }) })
  const REFUSED = { error: 'This needs the permission push' }

  it('duplicates nothing, and replays only without changes', async () => {
    const { port, pushed } = await may('read', 'payloads', 'operate', 'purge', 'edit', 'admin')
    for (const body of [undefined, '{}', '{"url":"https://example.com/mine"}']) {
      const { status, json } = await send(port, '/api/jobs/16/duplicate', body)
      expect([status, json], body).toEqual([403, REFUSED])
    }
    for (const change of ['{"url":"https://example.com/mine"}', '{"payload":{"a":1}}', '{"tags":null}']) {
      const { status, json } = await send(port, '/api/jobs/16/replay', change)
      expect([status, json], change).toEqual([403, REFUSED])
    }
    for (const body of [undefined, '{}']) {
      expect((await send(port, '/api/jobs/16/replay', body)).status, body).toBe(201)
    }
    expect(pushed).toEqual([])
  })

  it('may do both with push and operate', async () => {
    const { port, pushed } = await may('push', 'operate')
    expect((await send(port, '/api/jobs/16/duplicate', '{"tags":null}')).status).toBe(201)
    expect((await send(port, '/api/jobs/16/replay', '{"tags":null}')).status).toBe(201)
    expect(pushed).toHaveLength(1)
  })
})

describe('who may not see payloads', () => {
  const headers = { ...BEARER, 'content-type': 'application/json' }

  it('sends none to a URL of their own choice', async () => {
    const permissions = new Set(PERMISSIONS.filter((permission) => permission !== 'payloads'))
    const { port, pushed } = await startFor(aPrincipal('default', { permissions }))
    const body = '{"url":"https://example.com/mine"}'
    for (const [method, path] of [
      ['POST', '/api/jobs/16/replay'],
      ['POST', '/api/jobs/16/duplicate'],
      ['PATCH', '/api/crons/7'],
    ] as const) {
      const { status, json } = await call(port, path, { method, headers, body })
      expect([status, json], path).toEqual([403, { error: 'This needs the permission payloads' }])
    }
    expect(pushed).toEqual([])
    const named = await call(port, '/api/crons/7', { method: 'PATCH', headers, body: '{"name":"n"}' })
    expect(named.status).toBe(200)
  })
})

describe('the text that a bulk looks for', () => {
  const bulk = aBulk({ filter: { ...ANY_JOB, queue: 'emails', text: 'iban' } })
  const bulks = {
    preview: () => Promise.reject(new Error('not asked')),
    create: () => Promise.reject(new Error('not asked')),
    list: () => Promise.resolve({ bulks: [bulk], nextCursor: null }),
    get: () => Promise.resolve(bulk),
    failures: () => Promise.resolve([]),
    abort: () => Promise.resolve(bulk),
    resume: () => Promise.resolve(bulk),
  }
  const filters = async (permissions: readonly Permission[]) => {
    const principalOf = () => aPrincipal('default', { permissions: new Set(permissions) })
    const { port } = (api = await startApi({ tokens: { principalOf }, bulks }))
    const list = await call(port, '/api/bulk', { headers: BEARER })
    const answers = [
      (list.json as { bulks: unknown[] }).bulks[0],
      (await call(port, '/api/bulk/7', { headers: BEARER })).json,
      (await call(port, '/api/bulk/7/abort', { method: 'POST', headers: BEARER })).json,
    ]
    return answers.map((answer) => (answer as { filter: unknown }).filter)
  }

  it('is hidden without payloads', async () => {
    const hidden = { queue: 'emails', text: '(hidden)' }
    expect(await filters(['read', 'operate'])).toEqual([hidden, hidden, hidden])
  })

  it('is shown with payloads', async () => {
    const shown = { queue: 'emails', text: 'iban' }
    expect(await filters(['read', 'operate', 'payloads'])).toEqual([shown, shown, shown])
  })
})

describe('a token that expires', () => {
  it.each([
    [NOW_MS - 1, 401],
    [NOW_MS, 401],
    [NOW_MS + 1, 201],
  ])('at %i is answered %i', async (expiresAtMs, status) => {
    const { port } = await startFor(ofTerms({ expiresAtMs }))
    const answer = await push(port, GOOD)
    expect(answer.status).toBe(status)
    if (status === 401) {
      expect(answer.json).toEqual({ error: 'The authorization token has expired' })
      expect(answer.headers['www-authenticate']).toBe('Bearer')
    }
  })
})

describe('a token that is limited to queues', () => {
  it('pushes to these and to no other', async () => {
    const { port, pushed } = await startFor(ofTerms({ queues: ['emails'] }))
    expect((await push(port, GOOD)).status).toBe(201)
    const refused = await push(port, { ...GOOD, queue: 'emails2' })
    expect(refused.status).toBe(403)
    expect(pushed.map(({ queue }) => queue)).toEqual(['emails'])
  })

  it('is refused what is not of one queue', async () => {
    const { port } = await startFor(ofTerms({ queues: ['emails'] }))
    for (const path of ['/api/team', '/api/alerts/counts']) {
      expect((await call(port, path, { headers: BEARER })).status, path).toBe(403)
    }
  })
})

describe('GET /api/me', () => {
  it('tells a token what it may do', async () => {
    const { port } = await startFor(
      ofTerms({ scopes: ['read', 'push'], queues: ['emails'], expiresAtMs: NOW_MS + 1 }),
    )
    expect((await call(port, '/api/me', { headers: BEARER })).json).toEqual({
      team: 'default',
      subject: 'ci',
      kind: 'token',
      roles: [],
      scopes: ['read', 'push'],
      queues: ['emails'],
      expires_at: '2026-11-21T10:00:00.001+00:00',
      may: {
        push: true,
        read: true,
        payloads: false,
        operate: false,
        purge: false,
        edit: false,
        admin: false,
      },
    })
  })
})

describe('a token with a rate limit', () => {
  const limited = ofTerms({ rateLimit: { requestsPerSecond: 10, burst: 25 } })
  const answer = { isAdmitted: true, remaining: 7, fullMs: 1_801, waitMs: 0 }

  it.each([
    ['at once', answer],
    ['once Redis was asked', Promise.resolve(answer)],
  ])('learns from each answer what is left, %s', async (_when, admission) => {
    api = await startApi({ tokens: { principalOf: () => limited }, tokenRates: { admit: () => admission } })
    const answers = [await push(api.port, GOOD), await call(api.port, '/api/queues', { headers: BEARER })]
    expect(answers.map(({ status }) => status)).toEqual([201, 200])
    for (const { headers } of answers) {
      expect(headers['ratelimit-policy']).toBe('"token";q=25;w=3')
      expect(headers['ratelimit']).toBe('"token";r=7;t=2')
      expect(headers['content-type']).toBe('application/json')
    }
  })

  it('is refused beyond it, and keeps its connection', async () => {
    const refused = { isAdmitted: false, remaining: 0, fullMs: 2_500, waitMs: 99 }
    api = await startApi({ tokens: { principalOf: () => limited }, tokenRates: { admit: () => refused } })
    const { status, headers, json } = await push(api.port, GOOD)
    expect([status, json]).toEqual([
      429,
      { error: 'The rate limit of this token is reached, try again later' },
    ])
    expect(headers['retry-after']).toBe('1')
    expect(headers['ratelimit']).toBe('"token";r=0;t=3')
    expect(api.pushed).toEqual([])
  })

  it('is refused beyond the limit of its maker, which it names', async () => {
    const sharedWith = [{ name: 'maker', requestsPerSecond: 20, burst: 30 }]
    const made = ofTerms({ rateLimit: { requestsPerSecond: 10, burst: 25, sharedWith } })
    const tokenRates = {
      admit: ({ name }: { readonly name: string }) => ({
        ...answer,
        isAdmitted: name !== 'maker',
        waitMs: 5,
      }),
    }
    api = await startApi({ tokens: { principalOf: () => made }, tokenRates })
    const { status, headers, json } = await push(api.port, GOOD)
    expect([status, json]).toEqual([
      429,
      { error: 'The rate limit of the token maker, which this one shares, is reached, try again later' },
    ])
    expect(headers['ratelimit-policy']).toBe('"token";q=30;w=2')
    expect(api.pushed).toEqual([])
  })

  it('is refused beyond it by a session as well, which it may always leave', async () => {
    const refused = { isAdmitted: false, remaining: 0, fullMs: 2_500, waitMs: 99 }
    api = await startApi({ tokens: { principalOf: () => limited }, tokenRates: { admit: () => refused } })
    const headers = { ...FIRST_SESSION, 'x-punctual-request': '1', 'sec-fetch-site': 'same-origin' }
    const send = async (method: string, path: string) =>
      (await call(api!.port, path, { method, headers })).status
    expect(await send('GET', '/api/queues')).toBe(429)
    expect(await send('GET', '/api/session')).toBe(429)
    expect(await send('DELETE', '/api/session')).toBe(204)
  })

  it('is told nothing of it without one', async () => {
    const asked: unknown[] = []
    const tokenRates = { admit: (token: unknown) => (asked.push(token), answer) }
    api = await startApi({ tokens: { principalOf: () => ofTerms({}) }, tokenRates })
    expect((await push(api.port, GOOD)).headers).not.toHaveProperty('ratelimit')
    expect(asked).toEqual([])
  })
})
