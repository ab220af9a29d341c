import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import type { WindowSettings } from '../../../../src/domain/windows/maintenance-window.ts'
import { aWindow, BEARER, call, editedWindow, NOW_MS, type RunningApi, startApi } from '../api-fixture.ts'

const PATH = '/api/maintenance-windows'
const ONCE = { start_at: '2026-12-01T22:00:00Z', end_at: '2026-12-01T23:30:00+01:00' }
const SCHEDULE = { cron_expression: '0 1 * * sat', time_zone: 'Europe/Berlin', duration_seconds: 7_200 }
const WIRE = {
  id: 'night',
  name: 'night',
  resource: { kind: 'queue', id: 7, name: 'emails' },
  start_at: '2026-11-21T09:59:00.000+00:00',
  end_at: '2026-11-21T10:01:00.000+00:00',
  recurring: null,
  action: 'mute',
  reason: null,
  active: true,
  active_since: '2026-11-21T09:59:00.000+00:00',
  ends_at: '2026-11-21T10:01:00.000+00:00',
  next_start_at: null,
  problem: null,
}

let api: RunningApi
let written: unknown[][]

beforeAll(async () => {
  api = await startApi({
    windowEditor: {
      create: (team, name, settings) => {
        written.push([team, name, settings])
        return Promise.resolve({ team, name: name ?? 'made-up', ...settings })
      },
      edit: async (team, name, change) => {
        const edited = await editedWindow(team, name, change)
        if (edited === null || edited === 'refused') return edited
        const { team: _team, name: _name, ...edit } = edited
        written.push([team, name, edit])
        return edited
      },
      remove: (_team, name) => Promise.resolve(name === 'night' ? 'removed' : 'not_found'),
    },
  })
})
afterAll(() => api.close())

const sending = (method: string) => (body: unknown, path: string) => {
  written = []
  const headers = { ...BEARER, 'content-type': 'application/json' }
  return call(api.port, path, { method, headers, body: JSON.stringify(body) })
}
const create = (body: unknown) => sending('POST')(body, PATH)
const edit = (body: unknown, name = 'night') => sending('PATCH')(body, `${PATH}/${name}`)
const get = (path: string) => call(api.port, path, { headers: BEARER })
const errors = (answer: { json: unknown }) => (answer.json as { errors: Record<string, string[]> }).errors
const settings = () => written[0]?.[2] as WindowSettings

test('a window shows what it is for, whether it is active, since when and until when', async () => {
  expect((await get(`${PATH}/night`)).json).toEqual(WIRE)
  expect((await get(PATH)).json).toEqual({ windows: [WIRE], next_cursor: null })
  expect((await get(`${PATH}/day`)).status).toBe(404)
})

describe('a new window', () => {
  it('opens once, under its name, for the queue of an id', async () => {
    const answer = await create({ ...ONCE, name: 'move', resource: { kind: 'queue', id: 7 }, action: 'hold' })
    expect(answer.status).toBe(201)
    expect(answer.json).toMatchObject({
      id: 'move',
      active: false,
      next_start_at: '2026-12-01T22:00:00.000+00:00',
    })
    const times = { kind: 'once', startMs: Date.parse(ONCE.start_at), endMs: Date.parse(ONCE.end_at) }
    const resource = { kind: 'queue', name: 'emails' }
    expect(written).toEqual([['default', 'move', { action: 'hold', resource, times, reason: null }]])
  })

  it('recurs, for a cron, and mutes by default', async () => {
    const answer = await create({
      recurring: [SCHEDULE],
      resource: { kind: 'cron', id: 7 },
      reason: 'Backup',
    })
    expect(answer.json).toMatchObject({
      id: 'made-up',
      start_at: null,
      end_at: null,
      recurring: [SCHEDULE],
      action: 'mute',
      reason: 'Backup',
      resource: { kind: 'cron', id: 7, name: 'Nightly' },
    })
    expect(settings().resource).toEqual({ kind: 'cron', name: 'nightly-0a1b2c3d' })
  })

  it('with every mistake is refused with all of them at once, in the order of the fields', async () => {
    const answer = await create({
      name: 'Night shift',
      resource: { kind: 'team' },
      start_at: 'tomorrow',
      end_at: 7,
      recurring: [],
      action: 'skip',
      reason: 'x'.repeat(1_025),
      extra: 1,
    })
    expect(answer.status).toBe(422)
    expect(errors(answer)).toEqual({
      name: [
        'The name field must consist of lower-case letters, digits and -, and must not begin or end with -.',
      ],
      'resource.kind': ['The selected resource.kind is invalid.'],
      'resource.id': ['The resource.id field is required.'],
      recurring: [
        'The recurring field prohibits start at from being present.',
        'The recurring field must have between 1 and 10 items.',
      ],
      action: ['The selected action is invalid.'],
      reason: ['The reason field must not be greater than 1024 characters.'],
      extra: ['The extra field is unknown.'],
    })
    expect(written).toEqual([])
  })

  test.each([
    [{}, { start_at: /required when none of recurring/, end_at: /required when none of recurring/ }],
    [{ start_at: ONCE.start_at }, { end_at: /is required/ }],
    [{ ...ONCE, end_at: ONCE.start_at }, { end_at: /must be after start at/ }],
    [{ ...ONCE, end_at: '2027-12-03T00:00:00Z' }, { end_at: /more than 366 days after start at/ }],
    [{ ...ONCE, start_at: '2026-12-01T22:00:00' }, { start_at: /ISO 8601/ }],
    [
      { recurring: [{}] },
      { 'recurring.0.cron_expression': /required/, 'recurring.0.duration_seconds': /required/ },
    ],
    [
      { recurring: [{ ...SCHEDULE, cron_expression: '0 0 31 2 *' }] },
      { 'recurring.0.cron_expression': /never comes/ },
    ],
    [{ recurring: [SCHEDULE, { ...SCHEDULE, time_zone: 'Mars/Base' }] }, { 'recurring.1.time_zone': /IANA/ }],
    [
      { recurring: [{ ...SCHEDULE, duration_seconds: 59 }] },
      { 'recurring.0.duration_seconds': /between 60/ },
    ],
    [{ recurring: [{ ...SCHEDULE, every: 1 }] }, { 'recurring.0.every': /unknown/ }],
    [{ ...ONCE, resource: { kind: 'queue', id: 9 } }, { 'resource.id': /is invalid/ }],
    [{ ...ONCE, resource: { kind: 'cron', id: 9 } }, { 'resource.id': /is invalid/ }],
  ])('%j is refused by its fields', async (body, expected) => {
    const answer = await create(body)
    expect(answer.status).toBe(422)
    const found = errors(answer)
    expect(Object.keys(found)).toEqual(Object.keys(expected))
    for (const [field, text] of Object.entries(expected)) expect(found[field]?.[0]).toMatch(text)
    expect(written).toEqual([])
  })
})

describe('an edit', () => {
  const { team: _team, name: _name, ...before } = aWindow()

  test.each([
    [{}, {}],
    [{ reason: 'Longer' }, { reason: 'Longer' }],
    [{ action: 'hold' }, { action: 'hold' }],
    [{ resource: null }, { resource: null }],
    [{ resource: { kind: 'cron', id: 7 } }, { resource: { kind: 'cron', name: 'nightly-0a1b2c3d' } }],
    [
      { end_at: '2026-11-21T12:00:00Z' },
      { times: { kind: 'once', startMs: NOW_MS - 60_000, endMs: NOW_MS + 7_200_000 } },
    ],
    [
      { start_at: '2026-11-21T10:00:30Z' },
      { times: { kind: 'once', startMs: NOW_MS + 30_000, endMs: NOW_MS + 60_000 } },
    ],
    [
      { recurring: [SCHEDULE] },
      {
        times: {
          kind: 'recurring',
          schedules: [{ cronExpression: '0 1 * * sat', timeZone: 'Europe/Berlin', durationSeconds: 7_200 }],
        },
      },
    ],
  ])('%j changes what it names', async (body, change) => {
    expect((await edit(body)).status).toBe(200)
    expect(written).toEqual([['default', 'night', { ...before, ...change }]])
  })

  test('begins with what the editor has, which may be newer than what was read', async () => {
    let kept = { ...aWindow(), reason: 'Another edit' }
    const other = await startApi({
      windowEditor: {
        create: () => Promise.reject(new Error('not asked for')),
        edit: async (_team, _name, change) => {
          const settings = await change(kept)
          return settings === 'refused'
            ? settings
            : (kept = { ...kept, ...settings, reason: settings.reason ?? '' })
        },
        remove: () => Promise.resolve('not_found'),
      },
    })
    const headers = { ...BEARER, 'content-type': 'application/json' }
    const sent = { method: 'PATCH', headers, body: '{"action":"hold"}' }
    const answer = await call(other.port, `${PATH}/night`, sent)
    await other.close()
    expect(answer.json).toMatchObject({ action: 'hold', reason: 'Another edit' })
  })

  test.each([
    [{ end_at: '2026-11-21T09:00:00Z' }, 'end_at'],
    [{ recurring: [SCHEDULE], end_at: ONCE.end_at }, 'recurring'],
    [{ name: 'day' }, 'name'],
  ])('%j is refused', async (body, field) => {
    const answer = await edit(body)
    expect(answer.status).toBe(422)
    expect(Object.keys(errors(answer))).toEqual([field])
    expect(written).toEqual([])
  })

  test('of a window that does not exist is a 404', async () => {
    expect((await edit({}, 'day')).status).toBe(404)
  })
})

test('a deletion is answered once, and then 404', async () => {
  const remove = (name: string) => call(api.port, `${PATH}/${name}`, { method: 'DELETE', headers: BEARER })
  expect((await remove('night')).status).toBe(204)
  expect((await remove('day')).status).toBe(404)
})
