import { afterEach, describe, expect, it } from 'vitest'
import { tokenPrincipal } from '../../../../src/domain/access/token-principal.ts'
import type { Permission } from '../../../../src/domain/access/permission.ts'
import { NO_TERMS } from '../../../../src/domain/access/token-terms.ts'
import type { CronSettings } from '../../../../src/domain/crons/cron.ts'
import { aPrincipal } from '../../../support/principals.ts'
import { operations } from '../../../support/rules/contract-document.ts'
import {
  type ApiChange,
  aChain,
  aCron,
  anAlert,
  aQueue,
  aWindow,
  BEARER,
  call,
  GOOD,
  startApi,
  type RunningApi,
} from '../api-fixture.ts'
import { fakeQueueLists } from '../routes/fake-queue-lists.ts'

let api: RunningApi | null = null
afterEach(async () => api?.close())

const HEADERS = { ...BEARER, 'content-type': 'application/json' }

/** A token for the queues of these names. */
async function start(queues: readonly string[] | null, parts: ApiChange = {}) {
  const principal = tokenPrincipal('default', 'ci', { ...NO_TERMS, queues })
  api = await startApi({ tokens: { principalOf: () => principal }, ...parts })
  const { port } = api
  return (method: string, path: string, body?: object) =>
    call(port, path, { method, headers: HEADERS, ...(body && { body: JSON.stringify(body) }) })
}

const CRON = { name: 'n', url: GOOD.url, cron_expression: '0 9 * * *' }
const crons = (queue: string | null): ApiChange => {
  const cron = { ...aCron(), settings: { ...aCron().settings, queue } }
  const known = {
    get: () => Promise.resolve(cron),
    list: () => Promise.resolve({ crons: [cron], nextCursor: null }),
  }
  return { crons: { ...known, getByName: () => Promise.resolve(null) } as never }
}

describe('a token that is limited to queues', () => {
  const ONE_QUEUE: ReadonlyArray<[string, string]> = [
    ['GET', '/api/jobs/16'],
    ['DELETE', '/api/jobs/16'],
    ['POST', '/api/jobs/16/replay'],
    ['GET', '/api/queues/7'],
    ['DELETE', '/api/queues/7'],
    ['POST', '/api/queues/7/pause'],
    ['GET', '/api/alerts/7'],
    ['POST', '/api/alerts/7/read'],
    ['DELETE', '/api/alerts/7'],
    ['GET', '/api/maintenance-windows/night'],
  ]

  it.each(ONE_QUEUE)('%s %s of its own queue goes on, of another is a 404', async (method, path) => {
    const own = await start(['other', 'emails'])
    expect([200, 201, 204]).toContain((await own(method, path)).status)
    await api?.close()
    const other = await start(['other'])
    const { status, json } = await other(method, path)
    expect([status, json]).toEqual([404, { error: 'Not found' }])
  })

  it('makes no job in another queue by copying one, changing one or in a batch', async () => {
    const pushed: string[] = []
    const intake = {
      push: ({ queue }: { queue: string }) => {
        pushed.push(queue)
        return Promise.resolve({ status: 'created', jobId: 17, queueId: 7, scheduledAtMs: 0 })
      },
    } as never
    const send = await start(['emails'], { intake })
    expect((await send('POST', '/api/jobs/16/duplicate', { queue: 'sms' })).status).toBe(403)
    expect((await send('POST', '/api/jobs/16/duplicate')).status).toBe(201)
    // It stays in its queue.
    expect((await send('POST', '/api/jobs/16/replay', { queue: 'sms' })).status).toBe(422)
    const batch = { jobs: [GOOD, { ...GOOD, queue: 'sms' }] }
    expect((await send('POST', '/api/jobs/batch', batch)).json).toMatchObject({
      results: [{ job_id: 17 }, { status: 403 }],
    })
    expect(pushed).toEqual(['emails', 'emails'])
    await api?.close()
    const other = await start(['sms'], { intake })
    expect((await other('POST', '/api/jobs/16/duplicate', { queue: 'sms' })).status).toBe(404)
    expect((await other('POST', '/api/jobs/16/replay', { url: GOOD.url })).status).toBe(404)
    expect(pushed).toHaveLength(2)
  })

  it('sees of crons those that run through its queues, and makes no others', async () => {
    for (const [queue, status, listed] of [
      ['emails', 200, 1],
      ['sms', 404, 0],
      [null, 404, 0],
    ] as const) {
      const send = await start(['emails'], crons(queue))
      expect((await send('GET', '/api/crons/7')).status).toBe(status)
      expect((await send('GET', '/api/crons')).json).toMatchObject({ crons: { length: listed } })
      expect((await send('POST', '/api/crons', { ...CRON, queue: queue ?? undefined })).status).toBe(
        queue === 'emails' ? 201 : 403,
      )
      await api?.close()
    }
    const send = await start(['emails'], crons('emails'))
    expect((await send('PATCH', '/api/crons/7', { queue: 'sms' })).status).toBe(403)
    expect((await send('PATCH', '/api/crons/7', { queue: null })).status).toBe(403)
  })

  it('sees in lists only what is of its queues', async () => {
    const team = { kind: 'team', id: null, name: null } as const
    const cron = { kind: 'cron', id: 7, name: 'emails' } as const
    const parts: ApiChange = {
      queueLists: {
        ...fakeQueueLists(aQueue()),
        list: async () => {
          const [{ rows: own }, { rows: others }] = await Promise.all([
            fakeQueueLists(aQueue()).named('default', 'emails'),
            fakeQueueLists({ ...aQueue(), name: 'sms' }).named('default', 'sms'),
          ])
          return { rows: [...own, ...others], nextCursor: 'next', summary: null }
        },
        getByName: () => Promise.resolve(null),
      } as never,
      alerts: {
        list: () =>
          Promise.resolve({
            alerts: [anAlert(), anAlert({ resource: team as never }), anAlert({ resource: cron })],
            nextCursor: null,
          }),
      } as never,
      windows: {
        list: () =>
          Promise.resolve({
            windows: [
              aWindow(),
              aWindow({ resource: null }),
              aWindow({ resource: { kind: 'cron', name: 'emails' } }),
            ],
            nextCursor: null,
          }),
      } as never,
    }
    const send = await start(['emails'], parts)
    expect((await send('GET', '/api/queues')).json).toMatchObject({
      queues: [{ name: 'emails' }],
      next_cursor: sealed('next'),
    })
    expect((await send('GET', '/api/alerts')).json).toMatchObject({ alerts: { length: 1 } })
    expect((await send('GET', '/api/maintenance-windows')).json).toMatchObject({ windows: { length: 1 } })
    await api?.close()
    const all = await start(null, parts)
    expect((await all('GET', '/api/alerts')).json).toMatchObject({ alerts: { length: 3 } })
    expect((await all('GET', '/api/maintenance-windows')).json).toMatchObject({ windows: { length: 3 } })
  })

  it.each([
    ['queueLists', 'queues'],
    ['crons', 'crons'],
    ['windows', 'maintenance-windows'],
    ['tokenStore', 'tokens'],
  ])('reads no name in a cursor of the %s, and goes on with it', async (part, path) => {
    const asked: unknown[] = []
    const list = (query: { cursor: string | null }) => {
      asked.push(query.cursor)
      const page = { rows: [], summary: null, queues: [], crons: [], windows: [], tokens: [] }
      return Promise.resolve({ ...page, nextCursor: query.cursor === null ? 'sms' : null })
    }
    const send = await start(['emails'], { [part]: { list } })
    const first = (await send('GET', `/api/${path}`)).json as { next_cursor: string }
    expect(first.next_cursor).toBe(sealed('sms'))
    const second = await send('GET', `/api/${path}?cursor=${first.next_cursor}`)
    expect(second.json).toMatchObject({ next_cursor: null })
    expect((await send('GET', `/api/${path}?cursor=sms`)).status).toBe(422)
    expect(asked).toEqual([null, 'sms'])
    await api?.close()
    const all = await start(null, { [part]: { list } })
    expect((await all('GET', `/api/${path}`)).json).toMatchObject({ next_cursor: 'sms' })
  })

  it('is answered nothing of another queue by any operation', async () => {
    const send = await start(['other'], crons('sms'))
    const leaks: string[] = []
    for (const { method, path, operation } of operations()) {
      const concrete = path
        .replace('{job_id}', '16')
        .replace(/\{(queue|cron|alert)_id\}/, '7')
        .replace(/\{\w+\}/, 'night')
      const { status, text } = await send(
        method,
        concrete,
        method === 'POST' || method === 'PATCH' ? {} : undefined,
      )
      if (operation.operationId !== 'readContract' && /emails|sms/.test(text)) {
        leaks.push(`${operation.operationId} ${status}`)
      }
    }
    // The fake lists every job; the engine is told the queues, see `jobs.list` and `jobs.deadLetterGroups`.
    expect(leaks).toEqual(['listJobs 200', 'listDeadLetterGroups 200'])
  })
})

/** As the box of the fixture makes it. */
function sealed(cursor: string): string {
  return Buffer.from(`sealed ${cursor}`.split('').toReversed().join('')).toString('base64url')
}

describe('without the permission payloads', () => {
  const SECRET = 'canary-in-payload'
  const chain = aChain()
  const secretChain = aChain({
    request: { ...chain.request, headers: { Authorization: SECRET }, payload: `"${SECRET}"` },
    calls: chain.calls.map((one) => ({
      ...one,
      request: { ...one.request, headers: [['Authorization', SECRET]], body: SECRET },
      response: { status: 200, headers: [['Set-Cookie', SECRET]], body: SECRET, bodyTruncated: false },
    })),
  })
  const cron = aCron({ headers: { Authorization: SECRET }, payload: SECRET })

  async function answers(scopes: readonly ('read' | 'operate')[]) {
    const principal = tokenPrincipal('default', 'ci', { ...NO_TERMS, scopes })
    const jobs = { get: () => Promise.resolve(secretChain) } as never
    const known = { get: () => Promise.resolve(cron) } as never
    api = await startApi({ tokens: { principalOf: () => principal }, jobs, crons: known })
    const { port } = api
    const get = (path: string) => call(port, path, { headers: BEARER })
    return { job: await get('/api/jobs/16'), cron: await get('/api/crons/7') }
  }

  it('the version of a cron counts them, is the same for all who read it, and an edit takes it', async () => {
    const open = async (settings: Partial<CronSettings>, permissions: readonly Permission[]) => {
      await api?.close()
      const found = aCron(settings)
      const known = { get: () => Promise.resolve(found) } as never
      const cronEditor = {
        edit: async (_t: string, _id: number, _c: object, check?: (current: CronSettings) => void) => {
          check?.(found.settings)
          return found
        },
      } as never
      const principal = aPrincipal('default', { permissions: new Set(permissions) })
      api = await startApi({ tokens: { principalOf: () => principal }, crons: known, cronEditor })
      const { port } = api
      const { etag = '' } = (await call(port, '/api/crons/7', { headers: BEARER })).headers
      const headers = { ...HEADERS, 'if-match': etag }
      const edited = await call(port, '/api/crons/7', { method: 'PATCH', headers, body: '{"name":"n"}' })
      expect(edited.status).toBe(200)
      return etag
    }
    const both = [{ payload: 'guess' }, { payload: 'other' }]
    const hidden = await open(both[0] ?? {}, ['read', 'edit'])
    expect(await open(both[1] ?? {}, ['read', 'edit'])).not.toBe(hidden)
    expect(await open({ ...both[0], timeoutSeconds: 4 }, ['read', 'edit'])).not.toBe(hidden)
    expect(await open(both[0] ?? {}, ['read', 'edit', 'payloads'])).toBe(hidden)
  })

  it('payloads, headers and call records are hidden, and nothing else', async () => {
    const hidden = await answers(['read'])
    await api?.close()
    const shown = await answers(['operate'])
    for (const kind of ['job', 'cron'] as const) {
      expect(hidden[kind].status).toBe(200)
      expect(hidden[kind].text).not.toContain(SECRET)
      expect(shown[kind].text).toContain(SECRET)
      expect(hidden[kind].json).toEqual(JSON.parse(shown[kind].text.replaceAll(SECRET, '(hidden)')))
    }
  })
})
