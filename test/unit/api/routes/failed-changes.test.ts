import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { CronSchedule } from '../../../../src/domain/crons/cron-schedule.ts'
import type { MaintenanceWindow } from '../../../../src/domain/windows/maintenance-window.ts'
import { WindowOpenings } from '../../../../src/domain/windows/window-openings.ts'
import {
  aCron,
  aQueue,
  aWindow,
  BEARER,
  call,
  editedWindow,
  type RunningApi,
  startApi,
} from '../api-fixture.ts'

const WINDOWS = '/api/maintenance-windows'
const SCHEDULE = { cron_expression: '0 3 * * *', time_zone: 'Europe/Berlin', duration_seconds: 600 }
const CRON = { name: 'Nightly', url: 'https://example.com/report', cron_expression: '0 3 * * *' }
const SPAN = '?after=2026-11-21T00:00:00Z&before=2026-11-22T00:00:00Z'

/** As stored by a version that took zones which this one refuses. */
function storedWindow(name: string, timeZone: string): MaintenanceWindow {
  const schedules = [{ cronExpression: '0 3 * * *', timeZone, durationSeconds: 600 }]
  return { ...aWindow(), name, resource: null, times: { kind: 'recurring', schedules } }
}

let api: RunningApi
let stored: string[]
let windows: readonly MaintenanceWindow[]
let cron: ReturnType<typeof aCron>
let queue: ReturnType<typeof aQueue>

beforeAll(async () => {
  api = await startApi({
    windows: {
      list: () => Promise.resolve({ windows, nextCursor: null }),
      get: (_team, name) => Promise.resolve(windows.find((window) => window.name === name) ?? null),
    },
    windowEditor: {
      create: (team, name, settings) => {
        stored.push('window')
        return Promise.resolve({ team, name: name ?? 'made-up', ...settings })
      },
      edit: async (team, name, change) => {
        const edited = await editedWindow(team, name, change)
        if (edited !== null && edited !== 'refused') stored.push('window')
        return edited
      },
      remove: () => {
        stored.push('removal')
        return Promise.resolve('removed')
      },
    },
    cronEditor: {
      create: (_team, settings) => {
        stored.push('cron')
        return Promise.resolve(aCron(settings))
      },
      edit: (_team, _id, change, check) => {
        check?.(cron.settings)
        stored.push('cron')
        return Promise.resolve(aCron({ ...cron.settings, ...change }))
      },
      remove: () => Promise.resolve('removed'),
    },
    editor: {
      create: async () => 'exists' as const,
      edit: (_team, _id, change, check) => {
        check?.(queue.settings)
        stored.push('queue')
        return Promise.resolve(aQueue(change))
      },
      remove: () => Promise.resolve('removed'),
    },
  })
})
beforeEach(() => {
  stored = []
  windows = [aWindow()]
  cron = aCron()
  queue = aQueue()
})
afterEach(() => {
  vi.restoreAllMocks()
})
afterAll(() => api.close())

const send = (method: string, path: string, body: unknown) => {
  const headers = { ...BEARER, 'content-type': 'application/json' }
  return call(api.port, path, { method, headers, body: JSON.stringify(body) })
}
const get = (path: string) => call(api.port, path, { headers: BEARER })
const broken = (): never => {
  throw new RangeError('planted')
}

describe('what the answer needs throws, and nothing is stored', () => {
  test.each([
    ['POST', WINDOWS, { name: 'w', action: 'hold', recurring: [SCHEDULE] }],
    ['PATCH', `${WINDOWS}/night`, { recurring: [SCHEDULE] }],
  ])('%s %s', async (method, path, body) => {
    expect((await send(method, path, body)).status).toBeLessThan(300)
    expect(stored).toEqual(['window'])
    vi.spyOn(WindowOpenings.prototype, 'at').mockImplementation(broken)
    expect((await send(method, path, body)).status).toBe(500)
    expect(stored).toEqual(['window'])
  })

  test.each([
    ['POST', '/api/crons', CRON],
    ['PATCH', '/api/crons/7', { cron_expression: '0 4 * * *' }],
    ['POST', '/api/crons/7/pause', {}],
  ])('%s %s', async (method, path, body) => {
    expect((await send(method, path, body)).status).toBeLessThan(300)
    expect(stored).toEqual(['cron'])
    vi.spyOn(CronSchedule.prototype, 'next').mockImplementation(broken)
    expect((await send(method, path, body)).status).toBe(500)
    expect(stored).toEqual(['cron'])
  })

  test('PATCH /api/queues/7', async () => {
    expect((await send('PATCH', '/api/queues/7', { timeout_seconds: 5 })).status).toBe(200)
    expect(stored).toEqual(['queue'])
    queue = aQueue({ successAssertions: [null as never] })
    expect((await send('PATCH', '/api/queues/7', { timeout_seconds: 6 })).status).toBe(500)
    expect(stored).toEqual(['queue'])
  })
})

describe('a zone that ICU knows and Temporal does not', () => {
  test.each([
    [
      'POST',
      WINDOWS,
      { action: 'hold', recurring: [{ ...SCHEDULE, time_zone: 'CST' }] },
      'recurring.0.time_zone',
    ],
    [
      'PATCH',
      `${WINDOWS}/night`,
      { recurring: [{ ...SCHEDULE, time_zone: 'CST' }] },
      'recurring.0.time_zone',
    ],
    [
      'POST',
      '/api/window-openings',
      { recurring: [{ ...SCHEDULE, time_zone: 'CST' }] },
      'recurring.0.time_zone',
    ],
    ['POST', '/api/crons', { ...CRON, time_zone: 'CST' }, 'time_zone'],
    ['PATCH', '/api/crons/7', { time_zone: 'CST' }, 'time_zone'],
    ['POST', '/api/crons/preview', { cron_expression: '0 3 * * *', time_zone: 'CST' }, 'time_zone'],
  ])('%s %s is refused with the zone that is meant', async (method, path, body, field) => {
    const answer = await send(method, path, body)
    expect(answer.status).toBe(422)
    const { errors } = answer.json as { errors: Record<string, string[]> }
    expect(Object.keys(errors)).toEqual([field])
    expect(errors[field]?.[0]).toMatch(/"CST" is none\. Use America\/Chicago or Asia\/Shanghai\.$/)
    expect(stored).toEqual([])
  })

  test('in a cron of before, an edit of something else is a 409 that names the field', async () => {
    cron = aCron({ timeZone: 'CST' })
    const answer = await send('POST', '/api/crons/7/pause', {})
    expect(answer).toMatchObject({ status: 409, json: { error: expect.stringContaining('time_zone') } })
    expect(stored).toEqual([])
    expect((await send('PATCH', '/api/crons/7', { time_zone: 'America/Chicago' })).status).toBe(200)
  })
})

describe('a window that cannot be computed', () => {
  test('is listed with its problem, beside its neighbours, and can be deleted', async () => {
    windows = [storedWindow('bad', 'CST'), storedWindow('good', 'America/Chicago')]
    const { json } = await get(WINDOWS)
    expect(json).toMatchObject({
      windows: [
        {
          name: 'bad',
          active: false,
          next_start_at: null,
          recurring: [{ time_zone: 'CST' }],
          problem: expect.stringMatching(/^recurring\.0\.time_zone must be .* Use America\/Chicago/),
        },
        { name: 'good', next_start_at: '2026-11-22T09:00:00.000+00:00', problem: null },
      ],
    })
    expect((await get(`${WINDOWS}/bad`)).json).toMatchObject({ name: 'bad' })
    expect((await get(`/api/window-openings${SPAN}`)).json).toMatchObject({
      openings: [{ window_id: 'good' }],
    })
    expect((await call(api.port, `${WINDOWS}/bad`, { method: 'DELETE', headers: BEARER })).status).toBe(204)
    expect(stored).toEqual(['removal'])
  })

  test('whatever throws', async () => {
    windows = [storedWindow('bad', 'Asia/Tokyo'), storedWindow('good', 'America/Chicago')]
    const { next } = CronSchedule.prototype
    vi.spyOn(CronSchedule.prototype, 'next').mockImplementation(function (this: CronSchedule, afterMs) {
      return this.zone.name === 'Asia/Tokyo' ? broken() : next.call(this, afterMs)
    })
    expect((await get(WINDOWS)).json).toMatchObject({
      windows: [
        { name: 'bad', active: false, problem: 'The openings cannot be computed.' },
        { name: 'good', problem: null },
      ],
    })
    expect((await get(`/api/window-openings${SPAN}`)).json).toMatchObject({
      openings: [{ window_id: 'good' }],
      cut: ['bad'],
    })
    expect((await call(api.port, `${WINDOWS}/bad`, { method: 'DELETE', headers: BEARER })).status).toBe(204)
  })
})
