import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CronSettings } from '../../../../src/domain/crons/cron.ts'
import { EditRefusedError, ResourceApiError, StoreUnavailableError } from '../../../../src/domain/errors.ts'
import type { CronEditor } from '../../../../src/ports/crons.ts'
import { FakeAuditLog } from '../../../support/fake-audit-log.ts'
import { aCron, BEARER, call, OTHER_TOKEN, type RunningApi, startApi } from '../api-fixture.ts'

const JSON_TYPE = { ...BEARER, 'content-type': 'application/json' }
const GOOD = { name: 'Nightly', url: 'https://example.com/report', cron_expression: '0 3 * * *' }
const OTHER = { authorization: `Bearer ${OTHER_TOKEN}` }

let api: RunningApi
let edits: Array<Partial<CronSettings>>
const editor: CronEditor = {
  create: (team, settings, key) => {
    edits.push(settings)
    if (key === 'used') return Promise.resolve('key_used')
    return Promise.resolve(aCron(settings, { team }))
  },
  edit: (team, id, change) => {
    edits.push(change)
    return Promise.resolve(team === 'default' && id === 7 ? aCron(change) : null)
  },
  remove: (team, id) => Promise.resolve(team === 'default' && id === 7 ? 'removed' : 'not_found'),
}

beforeEach(async () => {
  edits = []
  api = await startApi({ cronEditor: editor })
})
afterEach(() => api.close())

const send = (path: string, body: unknown, method = 'POST') =>
  call(api.port, path, { method, headers: JSON_TYPE, body: JSON.stringify(body) })

describe('creating a cron', () => {
  test('is answered 201 with the bare object of the contract', async () => {
    expect(await send('/api/crons', GOOD)).toMatchObject({
      status: 201,
      text: '{"id":7,"name":"Nightly","cron_expression":"0 3 * * *","next_run_at":"2026-11-21T10:01:00.000+00:00","is_active":true}',
    })
  })

  test('paused, it has no next run', async () => {
    const { json } = await send('/api/crons', { ...GOOD, is_active: false })
    expect(json).toMatchObject({ next_run_at: null, is_active: false })
  })

  test('under a key of another cron is refused', async () => {
    const under = (key: string) =>
      call(api.port, '/api/crons', {
        method: 'POST',
        headers: { ...JSON_TYPE, 'idempotency-key': key },
        body: JSON.stringify(GOOD),
      })
    expect((await under('"new"')).status).toBe(201)
    const text = 'The idempotency key field was already used with another request.'
    expect(await under('"used"')).toMatchObject({
      status: 422,
      json: { message: text, errors: { idempotency_key: [text] } },
    })
  })

  test('refuses what is wrong without making anything', async () => {
    const text = 'A cron expression is required.'
    expect(await send('/api/crons', { ...GOOD, cron_expression: undefined })).toMatchObject({
      status: 422,
      json: { message: text, errors: { cron_expression: [text] } },
    })
    expect(await send('/api/crons', { ...GOOD, url: 'http://169.254.169.254' })).toMatchObject({
      status: 422,
      json: { message: 'The url field must not point to a blocked address.' },
    })
    expect(edits).toEqual([])
  })

  test.each([
    [new ResourceApiError('unavailable', 'away', { retryAfterMs: 7_000 }), 503, '7'],
    [new ResourceApiError('unavailable', 'away'), 503, '2'],
    [new StoreUnavailableError('gone'), 503, '2'],
    [new EditRefusedError('fix the file first.'), 409, undefined],
  ])('%s ends as %d', async (fault, status, retryAfter) => {
    const own = await startApi({ cronEditor: { ...editor, create: () => Promise.reject(fault) } })
    const body = JSON.stringify(GOOD)
    const answer = await call(own.port, '/api/crons', { method: 'POST', headers: JSON_TYPE, body })
    await own.close()
    expect([answer.status, answer.headers['retry-after']]).toEqual([status, retryAfter])
  })
})

describe('a cron', () => {
  test('is shown with all its settings, in a list without what is long', async () => {
    const { json } = await call(api.port, '/api/crons/7', { headers: BEARER })
    expect(json).toMatchObject({
      id: 7,
      name: 'Nightly',
      description: 'At 03:00',
      headers: {},
      payload: null,
      last_run: {
        scheduled_at: '2026-11-21T10:00:00.000+00:00',
        result: 'succeeded',
        job_id: 16,
        is_manual: false,
        ticks: 1,
      },
      warnings: [],
    })
    const list = await call(api.port, '/api/crons', { headers: BEARER })
    const { headers, payload, warnings, managed_by: managedBy, ...summary } = json as Record<string, unknown>
    expect([headers, payload, warnings, managedBy]).toEqual([{}, null, [], null])
    expect(list.json).toEqual({ crons: [summary], next_cursor: 'next' })
  })

  test('is changed by what is given only, paused and resumed', async () => {
    expect(await send('/api/crons/7', { time_zone: 'Europe/Berlin', queue: null }, 'PATCH')).toMatchObject({
      status: 200,
      json: { time_zone: 'Europe/Berlin' },
    })
    expect(await call(api.port, '/api/crons/7/pause', { method: 'POST', headers: BEARER })).toMatchObject({
      status: 200,
      json: { is_active: false, next_run_at: null },
    })
    expect(await call(api.port, '/api/crons/7/resume', { method: 'POST', headers: BEARER })).toMatchObject({
      status: 200,
      json: { is_active: true },
    })
    expect(edits).toEqual([
      { timeZone: 'Europe/Berlin', queue: null },
      { isActive: false },
      { isActive: true },
    ])
  })

  test('runs now, unless a run of it has not ended', async () => {
    const run = { method: 'POST', headers: BEARER }
    expect(await call(api.port, '/api/crons/7/run', run)).toMatchObject({
      status: 201,
      json: { cron_id: 7, job_id: 16, scheduled_at: '2026-11-21T10:00:00.000+00:00' },
    })
    const auditLog = new FakeAuditLog()
    const own = await startApi({
      auditLog,
      crons: {
        get: () => Promise.resolve(aCron()),
        runNow: () => Promise.resolve({ status: 'still_running', jobId: 16 }),
      } as never,
    })
    const answer = await call(own.port, '/api/crons/7/run', run)
    await own.close()
    expect(auditLog.asked).toMatchObject([
      { action: 'run', resource: { kind: 'cron', id: 7, name: 'Nightly' } },
    ])
    expect(answer).toMatchObject({
      status: 409,
      json: { error: 'Job 16, a run of this cron, has not ended' },
    })
  })

  test.each([
    ['GET', '/api/crons/7', OTHER],
    ['GET', '/api/crons/7/runs', OTHER],
    ['DELETE', '/api/crons/7', OTHER],
    ['POST', '/api/crons/7/run', OTHER],
    ['POST', '/api/crons/7/pause', OTHER],
    ['GET', '/api/crons/07', BEARER],
    ['GET', '/api/crons/9007199254740993', BEARER],
    ['GET', '/api/crons/nightly', BEARER],
  ])('of another team or of no known id: %s %s is a 404', async (method, path, headers) => {
    expect(await call(api.port, path, { method, headers })).toMatchObject({ status: 404 })
  })

  test('a cursor of nobody is named', async () => {
    expect(await call(api.port, '/api/crons/7/runs?cursor=x', { headers: BEARER })).toMatchObject({
      status: 422,
      json: {
        errors: { cursor: ['The cursor field must be the next_cursor of this list under the same filters.'] },
      },
    })
  })
})

describe('a preview', () => {
  test('says what either day field does, and the next ticks in the zone', async () => {
    const query = { cron_expression: '0 9 1 * MON', time_zone: 'Europe/Berlin', count: 3 }
    expect((await send('/api/crons/preview', query)).json).toEqual({
      cron_expression: '0 9 1 * MON',
      time_zone: 'Europe/Berlin',
      description: 'At 09:00, on day 1 of the month or on Monday',
      next_runs: [
        '2026-11-23T08:00:00.000+00:00',
        '2026-11-30T08:00:00.000+00:00',
        '2026-12-01T08:00:00.000+00:00',
      ],
    })
  })

  test('begins after a moment, around a change of clocks', async () => {
    const query = { cron_expression: '30 2 * * *', time_zone: 'Europe/Berlin', count: 2 }
    const { json } = await send('/api/crons/preview', { ...query, after: '2027-03-27T12:00:00+01:00' })
    expect(json).toMatchObject({
      next_runs: ['2027-03-28T01:00:00.000+00:00', '2027-03-29T00:30:00.000+00:00'],
    })
  })

  test('of a rare tick has as many as asked for', async () => {
    const { json } = await send('/api/crons/preview', { cron_expression: '0 0 29 2 *', count: 100 })
    expect((json as { next_runs: string[] }).next_runs).toHaveLength(100)
  })

  test('is no cron to be read', async () => {
    const answer = await call(api.port, '/api/crons/preview', { headers: BEARER })
    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST'])
  })
})
