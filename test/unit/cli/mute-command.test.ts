import { expect, test } from 'vitest'
import { useApi } from './cli-fixture.ts'

const api = useApi()
const answered = (body: object) => ({ status: 200, body: JSON.stringify(body) })
const alertOf = (resource: object) => answered({ id: 9, type: 'failure', resource })
const sent = () => JSON.parse(api.received.at(-1)?.body ?? '') as object

/** A window that `mute` has made. */
const WINDOW = {
  id: 'w-1',
  resource: null,
  start_at: '2026-11-21T12:00:00.000+00:00',
  end_at: '2026-11-21T14:00:00.000+00:00',
  recurring: null,
  action: 'mute',
  reason: null,
  active: true,
  ends_at: '2026-11-21T14:00:00.000+00:00',
  next_start_at: null,
  problem: null,
}
const TWO_HOURS = { start_at: '2026-11-21T12:00:00.000Z', end_at: '2026-11-21T14:00:00.000Z', action: 'mute' }

test.each([
  ['--queue 7', { resource: { kind: 'queue', id: 7 } }],
  ['--cron 3', { resource: { kind: 'cron', id: 3 } }],
  ['--all', { resource: null }],
])('mute %s creates a window', async (line, resource) => {
  api.answer = { status: 201, body: JSON.stringify(WINDOW) }
  const { out, code } = await api.run(['alerts', 'mute', ...line.split(' '), '--for', '2h'])
  expect(api.received.map(({ method, url }) => `${method} ${url}`)).toEqual(['POST /api/maintenance-windows'])
  expect(sent()).toEqual({ ...TWO_HOURS, ...resource })
  expect(code).toBe(0)
  expect(out).toBe(
    [
      'window w-1  mute',
      'all of the team',
      'once, 2026-11-21T12:00:00.000+00:00 to 2026-11-21T14:00:00.000+00:00',
      'active until 2026-11-21T14:00:00Z',
      '',
    ].join('\n'),
  )
})

test.each(['queue', 'cron'])('mute of an alert about a %s mutes that', async (kind) => {
  api.firstAnswers = [alertOf({ kind, id: 12, name: 'emails' })]
  api.answer = { status: 201, body: JSON.stringify(WINDOW) }
  await api.run(['alerts', 'mute', 'alert/9', '--until', '2h', '--reason', 'known'])
  expect(api.received[0]?.url).toBe('/api/alerts/9')
  expect(sent()).toEqual({ ...TWO_HOURS, resource: { kind, id: 12 }, reason: 'known' })
})

test.each([
  [{ kind: 'team', id: null, name: 'shop' }, 'alert 9 is about the team: --all mutes all of its alerts'],
  [
    { kind: 'queue', id: null, name: 'gone' },
    'alert 9 is about the queue gone, which does not exist any more',
  ],
])('mute of an alert about %j mutes nothing', async (resource, says) => {
  api.answer = alertOf(resource)
  expect(await api.run(['alerts', 'mute', '9', '--for', '2h'])).toEqual({
    out: '',
    err: `punctual: ${says}\n`,
    code: 1,
  })
  expect(api.received.map(({ method }) => method)).toEqual(['GET'])
})

test.each([
  ['--for 2h', 'give exactly one of an id, --queue, --cron and --all'],
  ['9 --all --for 2h', 'give exactly one of an id, --queue, --cron and --all'],
  ['--queue 7 --cron 3 --for 2h', 'give exactly one of an id, --queue, --cron and --all'],
  ['--all', 'no end given: give --for or --until'],
  ['--all --for 2h --until 3h', '--for and --until exclude each other: give one'],
  ['--all --for soon', '--for "soon" is not a duration such as 90s, 30m, 2h or 1d'],
  ['--all --until soon', '--until "soon" is neither a time with an offset'],
])('mute %s is a misuse', async (line, says) => {
  const ran = await api.run(['alerts', 'mute', ...line.split(' ')])
  expect(ran).toMatchObject({ code: 2, out: '' })
  expect(ran.err).toContain(`punctual: ${says}`)
  expect(api.received).toEqual([])
})
