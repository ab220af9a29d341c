import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AlertFilter, AlertStore } from '../../../../src/ports/alerts.ts'
import { anAlert, BEARER, call, OTHER_TOKEN, type RunningApi, startApi } from '../api-fixture.ts'

const JSON_TYPE = { ...BEARER, 'content-type': 'application/json' }
const OTHER = { authorization: `Bearer ${OTHER_TOKEN}` }
const ANY: AlertFilter = {
  type: null,
  reason: null,
  resourceKind: null,
  resourceId: null,
  isRead: null,
  afterMs: null,
  beforeMs: null,
}
const WIRE = {
  id: 7,
  type: 'failure',
  reason: 'timeout',
  resource: { kind: 'queue', id: 7, name: 'emails' },
  job_id: 16,
  message: 'A job of queue "emails" failed for good.',
  count: 3,
  first_at: '2026-11-21T10:00:00.000+00:00',
  last_at: '2026-11-21T10:00:01.500+00:00',
  read: false,
  suppressed_by: null,
  deliveries: [{ channel: 'ops', state: 'sent', answer: '200 ok', at: '2026-11-21T10:00:02.000+00:00' }],
}

let api: RunningApi
let asked: unknown[][]
const store: AlertStore = {
  list: (query) => {
    asked.push(['list', query])
    return Promise.resolve(
      query.cursor === 'foreign' ? 'bad_cursor' : { alerts: [anAlert()], nextCursor: 'next' },
    )
  },
  get: (team, id) => Promise.resolve(team === 'default' && id === 7 ? anAlert() : null),
  counts: (team) => {
    asked.push(['counts', team])
    return Promise.resolve({
      unread: 10,
      byType: { warning: 1, failure: 2, recovery: 3, limit_warning: 4 },
    })
  },
  markRead: (team, id) => Promise.resolve(team === 'default' && id === 7 ? anAlert({ isRead: true }) : null),
  markAllRead: (team, filter) => {
    asked.push(['markAllRead', team, filter])
    return Promise.resolve(5)
  },
  remove: (team, id) => Promise.resolve(team === 'default' && id === 7),
  removeAll: (team, filter) => {
    asked.push(['removeAll', team, filter])
    return Promise.resolve(6)
  },
}

beforeEach(async () => {
  asked = []
  api = await startApi({ alerts: store })
})
afterEach(() => api.close())

const send = (method: string, path: string, body?: string) =>
  call(api.port, path, { method, headers: JSON_TYPE, ...(body !== undefined && { body }) })

test('a list is asked for as the filters say, and a cursor of another list is named', async () => {
  const search = '?type=failure&read=false&limit=3'
  expect(await send('GET', `/api/alerts${search}`)).toMatchObject({
    status: 200,
    json: { alerts: [WIRE], next_cursor: 'next' },
  })
  const filter = { ...ANY, type: 'failure', isRead: false }
  expect(asked).toEqual([['list', { team: 'default', filter, limit: 3, cursor: null }]])
  expect(await send('GET', '/api/alerts?cursor=foreign')).toMatchObject({
    status: 422,
    json: { message: 'The cursor field must be the next_cursor of this list under the same filters.' },
  })
})

test('an alert is shown and marked as read', async () => {
  expect(await send('GET', '/api/alerts/7')).toMatchObject({ status: 200, json: WIRE })
  expect(await send('POST', '/api/alerts/7/read')).toMatchObject({
    status: 200,
    json: { ...WIRE, read: true },
  })
})

test('what no job caused and a window kept back is shown as such', async () => {
  const alert = anAlert({
    resource: { kind: 'team', id: null, name: 'default' },
    jobId: null,
    suppressedBy: 'release',
  })
  const own = await startApi({
    alerts: { ...store, get: () => Promise.resolve(alert) },
    deliveries: {
      deliveriesOf: (team, alerts) => {
        asked.push([team, alerts])
        return Promise.resolve(new Map())
      },
    },
  })
  const { json } = await call(own.port, '/api/alerts/7', { headers: BEARER })
  await own.close()
  expect(json).toMatchObject({
    resource: { kind: 'team', id: null, name: 'default' },
    job_id: null,
    suppressed_by: 'release',
    deliveries: [],
  })
  expect(asked).toEqual([['default', [alert]]])
})

test('the unread ones are counted for the team of the token', async () => {
  expect(await send('GET', '/api/alerts/counts')).toMatchObject({
    status: 200,
    json: { unread: 10, by_type: { warning: 1, failure: 2, recovery: 3, limit_warning: 4 } },
  })
  expect(asked).toEqual([['counts', 'default']])
})

test('marking and deleting by filter answer how many there were', async () => {
  expect(await send('POST', '/api/alerts/read', '{"type":"warning"}')).toMatchObject({
    status: 200,
    json: { updated: 5 },
  })
  expect(await send('DELETE', '/api/alerts?read=true')).toMatchObject({ status: 200, json: { deleted: 6 } })
  expect(asked).toEqual([
    ['markAllRead', 'default', { ...ANY, type: 'warning' }],
    ['removeAll', 'default', { ...ANY, isRead: true }],
  ])
})

describe('nothing is changed', () => {
  test('by a deletion of everything that does not say so', async () => {
    expect((await send('DELETE', '/api/alerts')).status).toBe(422)
    expect((await send('DELETE', '/api/alerts?type=')).status).toBe(422)
    expect(asked).toEqual([])
  })

  test('by a body that is wrong', async () => {
    expect((await send('POST', '/api/alerts/read', '{')).status).toBe(400)
    expect((await send('POST', '/api/alerts/read', '{"typ":"warning"}')).status).toBe(422)
    expect(asked).toEqual([])
  })
})

test('one alert is deleted without an answer', async () => {
  expect(await send('DELETE', '/api/alerts/7')).toMatchObject({ status: 204, text: '' })
})

test.each([
  ['GET', '/api/alerts/7', OTHER],
  ['DELETE', '/api/alerts/7', OTHER],
  ['POST', '/api/alerts/7/read', OTHER],
  ['GET', '/api/alerts/8', BEARER],
  ['DELETE', '/api/alerts/8', BEARER],
  ['POST', '/api/alerts/8/read', BEARER],
  ['GET', '/api/alerts/07', BEARER],
  ['GET', '/api/alerts/last', BEARER],
])('of another team or of no known id: %s %s is a 404', async (method, path, headers) => {
  expect(await call(api.port, path, { method, headers })).toMatchObject({ status: 404 })
})

test('other methods are refused', async () => {
  expect(await send('PATCH', '/api/alerts/7')).toMatchObject({
    status: 405,
    headers: { allow: 'GET, HEAD, DELETE' },
  })
})
