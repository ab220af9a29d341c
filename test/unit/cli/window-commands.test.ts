import { describe, expect, test } from 'vitest'
import { useApi } from './cli-fixture.ts'

const api = useApi()

const WINDOW = {
  id: 'night',
  name: 'night',
  resource: { kind: 'queue', id: 12, name: 'mail \u001b[2J' },
  start_at: '2026-11-21T10:00:00.000+00:00',
  end_at: '2026-11-21T12:00:00.000+00:00',
  recurring: null,
  action: 'hold',
  reason: 'move',
  active: true,
  active_since: '2026-11-21T10:00:00.000+00:00',
  ends_at: '2026-11-21T12:00:00.000+00:00',
  next_start_at: null as string | null,
  problem: null,
}
const sent = () => JSON.parse(String(api.received.at(-1)?.body)) as Record<string, unknown>
const create = (...args: string[]) => {
  api.answer = { status: 201, body: JSON.stringify(WINDOW) }
  return api.run(['windows', 'create', ...args])
}

test('windows are a table, in which a name steers no terminal', async () => {
  const over = { ...WINDOW, id: 'old', resource: null, active: false, ends_at: null, reason: null }
  const later = { ...over, id: 'late', next_start_at: '2026-12-01T00:00:00.000+00:00', action: 'mute' }
  api.answer = { status: 200, body: JSON.stringify({ windows: [WINDOW, over, later], next_cursor: null }) }
  const { out } = await api.run(['windows'])
  expect(api.received[0]).toMatchObject({ method: 'GET', url: '/api/maintenance-windows' })
  expect(out.split('\n').map((line) => line.replaceAll(/ {2,}/g, '  '))).toEqual([
    'WINDOW  ACTION  RESOURCE  STATE  REASON',
    'night  hold  queue mail \\x1b[2J (12)  active until 2026-11-21T12:00:00Z  move',
    'old  hold  all of the team  over',
    'late  mute  all of the team  next at 2026-12-01T00:00:00Z',
    '',
  ])
})

describe('a new window', () => {
  test('begins now and lasts as long as it is told', async () => {
    const { out } = await create('--for', '2h', '--queue', '12', '--action', 'hold', '--reason', 'move')
    expect(sent()).toEqual({
      start_at: '2026-11-21T12:00:00.000Z',
      end_at: '2026-11-21T14:00:00.000Z',
      resource: { kind: 'queue', id: 12 },
      action: 'hold',
      reason: 'move',
    })
    expect(out).toContain('window night  hold\n')
  })

  test('begins at a time, and ends after a duration or at another', async () => {
    await create('--from', '2026-12-24T18:00:00+01:00', '--for', '30m', '--name', 'eve')
    expect(sent()).toEqual({
      name: 'eve',
      start_at: '2026-12-24T18:00:00+01:00',
      end_at: '2026-12-24T17:30:00.000Z',
    })
    await create('--from', '2026-12-24T18:00:00+01:00', '--until', '2026-12-25T18:00:00+01:00')
    expect(sent()).toMatchObject({ end_at: '2026-12-25T18:00:00+01:00' })
    await create('--from', '1h', '--for', '30m')
    expect(sent()).toEqual({ start_at: '2026-11-21T13:00:00.000Z', end_at: '2026-11-21T13:30:00.000Z' })
    await create('--until', '90m')
    expect(sent()).toEqual({ start_at: '2026-11-21T12:00:00.000Z', end_at: '2026-11-21T13:30:00.000Z' })
  })

  test('recurs', async () => {
    await create('--every', '0 1 * * sat', '--zone', 'Europe/Berlin', '--for', '1d', '--cron', '3')
    const schedule = { cron_expression: '0 1 * * sat', time_zone: 'Europe/Berlin', duration_seconds: 86_400 }
    expect(sent()).toEqual({ resource: { kind: 'cron', id: 3 }, recurring: [schedule] })
  })

  test.each([
    [[], 'no end given: give --for or --until'],
    [['--for', '2h', '--until', '2026-12-25T18:00:00Z'], '--for and --until exclude each other'],
    [['--for', 'soon'], 'is not a duration such as'],
    [['--for', '2h', '--from', 'soon'], '--from "soon" is neither a time with an offset'],
    [['--for', '2h', '--queue', '1', '--cron', '1'], 'exclude each other'],
    [['--every', '0 1 * * *'], 'needs --for'],
    [['--for', '2h', '--zone', 'UTC'], '--zone needs --every'],
  ])('with %j is called wrongly', async (args, text) => {
    const { err, code } = await create(...args)
    expect(err).toContain(text)
    expect(code).toBe(2)
    expect(api.received).toEqual([])
  })
})

test.each(['--queue', '--cron'])(
  'an edit for all of the team and for one %s is called wrongly',
  async (option) => {
    const { err, code } = await api.run(['windows', 'edit', 'night', '--no-resource', option, '5'])
    expect(err).toBe('punctual: --no-resource excludes --queue and --cron: give one of the three\n')
    expect(code).toBe(2)
    expect(api.received).toEqual([])
  },
)

test('a window is shown and deleted, and a missing one is called by its kind', async () => {
  api.answer = { status: 200, body: JSON.stringify(WINDOW) }
  expect((await api.run(['windows', 'show', 'night'])).out).toContain(
    'once, 2026-11-21T10:00:00.000+00:00 to ',
  )
  api.answer = { status: 204, body: '' }
  expect((await api.run(['windows', 'delete', '--yes', 'night'])).out).toBe('window night deleted\n')
  expect(api.received.at(-1)).toMatchObject({ method: 'DELETE', url: '/api/maintenance-windows/night' })
  api.answer = { status: 404, body: '{"error":"Not found"}' }
  expect((await api.run(['windows', 'show', 'day'])).err).toContain('no such window')
})
