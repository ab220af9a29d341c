import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MaintenanceWindow } from '../../../../src/domain/windows/maintenance-window.ts'
import { aWindow, BEARER, call, NOW_MS, type RunningApi, startApi } from '../api-fixture.ts'

const PATH = '/api/window-openings'
const SPAN = '?after=2026-11-21T00:00:00Z&before=2026-11-29T00:00:00Z'
const times = (cronExpression: string): MaintenanceWindow['times'] => ({
  kind: 'recurring',
  schedules: [{ cronExpression, timeZone: 'Europe/Berlin', durationSeconds: 7_200 }],
})
const WINDOWS = [aWindow(), { ...aWindow(), name: 'saturdays', resource: null, times: times('0 1 * * sat') }]

let api: RunningApi
let windows: readonly MaintenanceWindow[] = WINDOWS

beforeAll(async () => {
  api = await startApi({
    windows: { list: () => Promise.resolve({ windows, nextCursor: null }), get: () => Promise.resolve(null) },
  })
})
afterAll(() => api.close())

const get = (search: string) => call(api.port, `${PATH}${search}`, { headers: BEARER })
const preview = (body: unknown) => {
  const headers = { ...BEARER, 'content-type': 'application/json' }
  return call(api.port, PATH, { method: 'POST', headers, body: JSON.stringify(body) })
}
const errors = (answer: { json: unknown }) => (answer.json as { errors: Record<string, string[]> }).errors

test('the openings of all windows come by their start', async () => {
  const opening = (id: string, from: string, to: string) => ({
    window_id: id,
    start_at: `${from}.000+00:00`,
    end_at: `${to}.000+00:00`,
  })
  expect((await get(SPAN)).json).toEqual({
    openings: [
      opening('saturdays', '2026-11-21T00:00:00', '2026-11-21T02:00:00'),
      opening('night', '2026-11-21T09:59:00', '2026-11-21T10:01:00'),
      opening('saturdays', '2026-11-28T00:00:00', '2026-11-28T02:00:00'),
    ],
    cut: [],
  })
})

test('one that opens too often is named', async () => {
  windows = [{ ...aWindow(), name: 'minutes', times: times('* * * * *') }]
  expect((await get(SPAN)).json).toMatchObject({ openings: [{ window_id: 'minutes' }], cut: ['minutes'] })
  windows = WINDOWS
})

test.each([
  ['', ['after', 'before']],
  ['?after=2026-11-21T00:00:00Z&before=2026-11-21T00:00:00Z', ['before']],
  ['?after=2026-11-21T00:00:00Z&before=2027-01-23T00:00:00Z', ['before']],
  ['?after=soon&before=2026-11-21T00:00:00Z', ['after']],
])('the span %s is refused', async (search, fields) => {
  const answer = await get(search)
  expect(answer.status).toBe(422)
  expect(Object.keys(errors(answer))).toEqual(fields)
})

test('a preview tells schedules in English, and the next five openings', async () => {
  const schedule = { cron_expression: '0 1 * * sat', time_zone: 'Europe/Berlin', duration_seconds: 7_200 }
  const { json } = await preview({ recurring: [schedule] })
  expect(json).toMatchObject({ descriptions: ['At 01:00, only on Saturday'], openings: { length: 5 } })
  const { openings } = json as { openings: unknown[] }
  expect(openings[0]).toEqual({
    start_at: '2026-11-28T00:00:00.000+00:00',
    end_at: '2026-11-28T02:00:00.000+00:00',
  })
})

test('a preview begins now, and says when it does not know an end', async () => {
  const schedule = { cron_expression: '0 * * * *', duration_seconds: 3_600 }
  expect((await preview({ recurring: [schedule] })).json).toMatchObject({
    openings: [{ start_at: new Date(NOW_MS).toISOString().replace('Z', '+00:00'), end_at: null }],
  })
  const once = { start_at: '2026-11-01T00:00:00Z', end_at: '2026-11-02T00:00:00Z' }
  expect((await preview(once)).json).toEqual({ descriptions: [], openings: [] })
})

test('a preview is refused as a window would be', async () => {
  const answer = await preview({ recurring: [{ cron_expression: '61 * * * *', duration_seconds: 1 }] })
  expect(answer.status).toBe(422)
  expect(Object.keys(errors(answer))).toEqual(['recurring.0.cron_expression', 'recurring.0.duration_seconds'])
  expect(Object.keys(errors(await preview({ name: 'x', end_at: '2026-11-02T00:00:00Z' })))).toEqual([
    'start_at',
    'name',
  ])
})
