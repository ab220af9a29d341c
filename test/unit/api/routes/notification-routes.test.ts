import { afterEach, describe, expect, test } from 'vitest'
import type { ChannelHealth, ChannelTestResult } from '../../../../src/ports/notifications.ts'
import { NO_TEAM_SETTINGS } from '../../../../src/ports/settings.ts'
import { FakeAuditLog } from '../../../support/fake-audit-log.ts'
import { createFakeClock } from '../../../support/fake-clock.ts'
import { type ApiChange, BEARER, call, type RunningApi, startApi } from '../api-fixture.ts'

const SENT: ChannelTestResult = { status: 'answered', isSent: true, answer: '200 ok', tookMs: 12.4 }
const BLOCKED = 'The egress policy blocks the host of this channel. Nothing was sent.'
const asked: string[] = []
let api: RunningApi | null = null

afterEach(async () => {
  asked.length = 0
  await api?.close()
})

async function start(change: ApiChange & { readonly answer?: ChannelTestResult } = {}): Promise<void> {
  const { answer = SENT, ...parts } = change
  api = await startApi({
    channelTester: {
      requestTest: (team, channel) => {
        asked.push(`${team}/${channel}`)
        return Promise.resolve(answer)
      },
    },
    ...parts,
  })
}

const ask = (body: object) =>
  call(api?.port ?? 0, '/api/notifications/test', {
    method: 'POST',
    headers: { ...BEARER, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

describe('a test of notifications', () => {
  test('asks every channel, but none that the egress policy blocks', async () => {
    await start()
    const answer = await ask({})
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({
      results: [
        { channel: 'mail', ok: true, answer: '200 ok', took_ms: 12 },
        { channel: 'ops', ok: true, answer: '200 ok', took_ms: 12 },
        { channel: 'inner', ok: false, answer: BLOCKED, took_ms: expect.any(Number) },
      ],
    })
    expect(asked).toEqual(['default/mail', 'default/ops'])
    expect(answer.text).not.toContain('canary')
  })

  test('is in the audit log for each channel that something is sent to, by its name', async () => {
    const auditLog = new FakeAuditLog()
    await start({ auditLog })
    await ask({})
    await ask({})
    const after = { ok: true }
    const entryOf = (name: string) => ({
      action: 'test',
      resource: { kind: 'channel', id: null, name },
      after,
    })
    expect(auditLog.ended).toMatchObject([
      { outcome: 'done', entry: entryOf('mail') },
      { outcome: 'done', entry: entryOf('ops') },
    ])
    expect(JSON.stringify(auditLog)).not.toContain('canary')
    await api?.close()
    await start({ auditLog, answer: { status: 'busy' } })
    await ask({ channel: 'ops' })
    expect(auditLog.ended.at(-1)).toBeNull()
  })

  test('asks one channel', async () => {
    await start({ answer: { ...SENT, isSent: false, answer: '404 no_service' } })
    const { json } = await ask({ channel: 'ops' })
    expect(json).toEqual({ results: [{ channel: 'ops', ok: false, answer: '404 no_service', took_ms: 12 }] })
    expect(asked).toEqual(['default/ops'])
  })

  test.each([
    ['busy', 'Another test of this channel is under way.'],
    [
      'no_executor',
      'Nothing was heard within 15 s: no executor runs, or earlier messages of the team hold it up. The test may have been sent.',
    ],
  ] as const)('says when it is %s', async (status, answer) => {
    await start({ answer: { status } })
    expect((await ask({ channel: 'ops' })).json).toMatchObject({ results: [{ ok: false, answer }] })
  })

  test('reaches a channel once in 10 s, and another at once', async () => {
    const clock = createFakeClock()
    await start({ clock: { ...clock, after: () => () => undefined } })
    await ask({ channel: 'ops' })
    const again = { results: [{ ok: false, answer: expect.stringContaining('less than 10 s ago') }] }
    expect((await ask({ channel: 'ops' })).json).toMatchObject(again)
    expect((await ask({ channel: 'mail' })).json).toMatchObject({ results: [{ ok: true }] })
    await clock.advance(9_999)
    expect((await ask({ channel: 'ops' })).json).toMatchObject(again)
    await clock.advance(1)
    expect((await ask({ channel: 'ops' })).json).toMatchObject({ results: [{ ok: true }] })
    expect(asked).toEqual(['default/ops', 'default/mail', 'default/ops'])
  })

  test.each([
    [{ channel: 'nope' }, 'The team has no channel "nope"; it has mail, ops, inner.'],
    [{ channel: 'x'.repeat(64) }, 'The channel field must not be greater than 63 characters.'],
    [{ channel: 7 }, 'The channel field must be a string.'],
    [{ channels: [] }, 'The channels field is unknown.'],
  ])('of %j is refused, and asks nobody', async (body, message) => {
    await start()
    expect(await ask(body)).toMatchObject({ status: 422, json: { message } })
    expect(asked).toEqual([])
  })

  test('of a team without channels is refused', async () => {
    await start({ teamSettings: { of: () => NO_TEAM_SETTINGS } })
    const message = 'The team has no channel that can be used.'
    for (const body of [{}, { channel: 'ops' }]) {
      expect(await ask(body)).toMatchObject({ status: 422, json: { message } })
    }
  })
})

describe('GET /api/team', () => {
  const HEALTH: readonly ChannelHealth[] = [
    {
      channel: 'ops',
      state: 'failing',
      lastAnswer: '404 no_service',
      failingSinceMs: Date.UTC(2026, 10, 21),
      lastTriedAtMs: Date.UTC(2026, 10, 21),
    },
    { channel: 'gone', state: 'ok', failingSinceMs: null, lastAnswer: '200 ok', lastTriedAtMs: 1 },
  ]
  const team = () => call(api?.port ?? 0, '/api/team', { headers: BEARER })

  test('tells how each channel does, without its URL', async () => {
    await start({ channelHealth: { healthOf: () => Promise.resolve(HEALTH) } })
    const { json, text } = await team()
    const fresh = { state: 'ok', failing_since: null, last_answer: null }
    expect(json).toMatchObject({
      notifications: [
        { channel: 'mail', type: 'email', ...fresh },
        {
          channel: 'ops',
          type: 'slack',
          state: 'failing',
          failing_since: '2026-11-21T00:00:00.000+00:00',
          last_answer: '404 no_service',
          alert_types: ['failure'],
        },
        { channel: 'inner', type: 'webhook', ...fresh },
      ],
    })
    expect(text).not.toContain('canary')
  })

  test('reads nothing more of a team without channels', async () => {
    await start({
      teamSettings: { of: () => NO_TEAM_SETTINGS },
      channelHealth: { healthOf: () => Promise.reject(new Error('must not be read')) },
    })
    expect((await team()).json).toMatchObject({ notifications: [] })
  })
})
